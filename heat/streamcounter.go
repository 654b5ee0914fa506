package heat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
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

// Add counts records. DynamoDB's own deletions of expired items cost nothing and are not counted. Records without the table's
// partition key, such as those of another table, are not counted either: the error names the first of them and their number.
func (c *StreamCounter) Add(records ...streamtypes.Record) error {
	partition := c.reader.table.view.Load().own.names.partition
	var fault error
	others := 0
	for i := range records {
		d := records[i].Dynamodb
		if err := ofTable(d, partition); err != nil {
			if others++; fault == nil {
				fault = fmt.Errorf("record %q of the stream of table %q: %w", aws.ToString(records[i].EventID), c.reader.table.name, err)
			}
			continue
		}
		if d.StreamViewType != "" {
			c.reader.setKind(d.StreamViewType)
		}
		c.reader.count("", &records[i])
	}
	if others > 1 {
		return fmt.Errorf("%w (and %d more like it)", fault, others-1)
	}
	return fault
}

// ofTable returns an error if a record cannot be of a table with these attributes of the partition key.
func ofTable(d *streamtypes.StreamRecord, partition []string) error {
	if d == nil {
		return errors.New("it has no change")
	}
	for _, name := range partition {
		if d.Keys[name] == nil {
			return fmt.Errorf("it has no key %q, but keys %q: give the records of this table's stream only", name, slices.Sorted(maps.Keys(d.Keys)))
		}
	}
	return nil
}

// Records returns the number of records counted.
func (c *StreamCounter) Records() int64 { return c.reader.Records() }

// Report returns what the counter has counted. Rates are current.
func (c *StreamCounter) Report() Report { return c.reader.Report() }
