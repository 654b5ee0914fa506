// Package heatlambda counts the writes of a table in an AWS Lambda function that DynamoDB Streams invokes, and tells such a
// function what a record means.
//
//	reader, err := heatlambda.New(ctx, client, "user-events", heat.Options{})
//	…
//	lambda.Start(func(ctx context.Context, event events.DynamoDBEvent) error {
//		if err := reader.Add(event); err != nil {
//			return err
//		}
//		for _, finding := range heat.Explain(reader.Report(), heat.Rules{}) {
//			slog.WarnContext(ctx, finding.Message, "remedy", finding.Remedy)
//		}
//		return nil
//	})
package heatlambda

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/heatsink-go/heatsink/heat"
)

// Reader counts the writes in stream events. Make one when the function starts, outside of the handler: a Lambda function
// lives for many invocations. Each instance of the function sees its own part of the stream. Lambda repeats a batch whose
// handler fails, and the reader then counts it again. Its methods may be called concurrently.
type Reader struct {
	counter *heat.StreamCounter
	table   string
}

// New looks up a table, with one DescribeTable, and returns a reader. A function that may not call it gives nil for tables,
// and names the partition key in options.Keys.
func New(ctx context.Context, tables heat.Describer, table string, options heat.Options) (*Reader, error) {
	counter, err := heat.NewStreamCounter(ctx, tables, table, options)
	if err != nil {
		return nil, fmt.Errorf("heatlambda: %w", err)
	}
	return &Reader{counter, table}, nil
}

// mostFaults is how many records an error names.
const mostFaults = 10

// Add counts the records of an event. It counts all records of the table that it can read. Its error names the first ten of
// the others: those that it cannot read, that lack the table's key, or that are of another table's stream.
func (r *Reader) Add(event events.DynamoDBEvent) error {
	var faults []error
	more := 0
	for i := range event.Records {
		if err := r.add(&event.Records[i]); err != nil && len(faults) < mostFaults {
			faults = append(faults, err)
		} else if err != nil {
			more++
		}
	}
	if more > 0 {
		faults = append(faults, fmt.Errorf("heatlambda: and %d more records that were not counted", more))
	}
	return errors.Join(faults...)
}

func (r *Reader) add(record *events.DynamoDBEventRecord) error {
	if of := tableOf(record.EventSourceArn); of != "" && of != tableOf(r.table) {
		return fmt.Errorf("heatlambda: record %q is of table %q, but the reader counts those of %q: make a reader for each table", record.EventID, of, tableOf(r.table))
	}
	converted, err := Record(*record)
	if err != nil {
		return err
	}
	if err := r.counter.Add(converted); err != nil {
		return fmt.Errorf("heatlambda: %w", err)
	}
	return nil
}

// tableOf returns the name of a table by its ARN or that of its stream. Anything else is a name already.
func tableOf(arn string) string {
	if _, name, is := strings.Cut(arn, ":table/"); is {
		name, _, _ = strings.Cut(name, "/")
		return name
	}
	return arn
}

// Records returns the number of records counted.
func (r *Reader) Records() int64 { return r.counter.Records() }

// Report returns what the reader has counted. Rates are current.
func (r *Reader) Report() heat.Report { return r.counter.Report() }

// ChangeOf returns what a record means to a program: the logical key, and whether a program, a move or heatsink's own
// bookkeeping has made the change. See heat.ChangeOf.
func ChangeOf(record events.DynamoDBEventRecord, partitionKey string, layouts ...heat.Layout) (heat.Change, error) {
	converted, err := Record(record)
	if err != nil {
		return heat.Change{}, err
	}
	change, err := heat.ChangeOf(converted, partitionKey, layouts...)
	if err != nil {
		return heat.Change{}, fmt.Errorf("heatlambda: record %q: %w", record.EventID, err)
	}
	return change, nil
}
