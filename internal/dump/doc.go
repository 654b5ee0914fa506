// Package dump writes the items of a table into files, and reads them back, in the
// layout of DynamoDB's exports to S3:
//
//	AWSDynamoDB/ID/manifest-summary.json   which table, when, how many items; its MD5 beside it
//	AWSDynamoDB/ID/manifest-files.json     a line for each data file: its items and its MD5
//	AWSDynamoDB/ID/data/NAME.json.gz       lines such as {"Item":{"pk":{"S":"a"}}}
//	AWSDynamoDB/ID/table.json              ours: the table's keys and indexes, to create it
//	AWSDynamoDB/data/NAME.json.gz          of incremental exports, with lines such as {"Keys":{…},"NewImage":{…}}
//	AWSDynamoDB/ID/checkpoint.json         ours: how far an export has come that is not finished
//
// Reading order: folder.go (where files lie), line.go and datafile.go (items in
// files), export.go, import.go.
package dump
