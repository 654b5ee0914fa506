// Package heatsink keeps DynamoDB partitions cool: it is to spread a hot partition key over shards and read the
// shards back as one ordered collection.
//
// The library is under construction and exports nothing yet. What the module ships today is the ground it is built and
// tested on:
//
//   - package [github.com/heatsink-go/heatsink/local], a DynamoDB inside the process: it hands a test a real
//     *dynamodb.Client, with no network, no Docker and no account;
//   - the heatsink command, which serves the same engine on a port for any AWS SDK.
package heatsink
