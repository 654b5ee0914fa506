package heat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// StreamCounter counts records of a table's stream that somebody else reads, such as AWS Lambda. What StreamReader says of
// figures holds here as well. Its methods may be called concurrently.
type StreamCounter struct{ reader *StreamReader }

// NewStreamCounter looks up a table, with one DescribeTable, and returns a counter. With nil tables it looks up nothing:
// options.Keys must then name the partition key of the table, and indexes count only if it names theirs.
func NewStreamCounter(ctx context.Context, tables Describer, name string, options Options) (*StreamCounter, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("new stream counter: invalid options: %w", err)
	}
	t := newTable(name)
	for resource, partition := range options.Keys {
		if table, index, _ := strings.Cut(resource, "/"); table == name {
			t.setKey(index, slices.Clone(partition))
		}
	}
	switch {
	case tables != nil:
		d, err := describe(ctx, tables, name)
		if err != nil {
			return nil, err
		}
		if err := checkIndexes(name, options.Layouts, d); err != nil {
			return nil, err
		}
		t.learn(d)
	case !t.view.Load().own.names.known():
		return nil, errors.New("new stream counter: no client and no Options.Keys for table " + name + ": give one of them")
	}
	o := StreamOptions{Recorder: options.withDefaults()}
	o.Recorder.peaks = true
	return &StreamCounter{&StreamReader{table: t, options: o, done: make(Checkpoint)}}, nil
}

// Add counts records. DynamoDB's own deletions of expired items cost nothing and are not counted.
func (c *StreamCounter) Add(records ...streamtypes.Record) {
	for i := range records {
		if d := records[i].Dynamodb; d != nil && d.StreamViewType != "" {
			c.reader.setKind(d.StreamViewType)
		}
		c.reader.count("", &records[i])
	}
}

// Records returns the number of records counted.
func (c *StreamCounter) Records() int64 { return c.reader.Records() }

// Report returns what the counter has counted. Rates are current.
func (c *StreamCounter) Report() Report { return c.reader.Report() }
