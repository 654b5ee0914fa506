package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// admit describes the table, and refuses one whose items cannot be moved.
func (m *byID) admit(ctx context.Context) (*types.TableDescription, error) {
	table, err := m.meet(ctx)
	if err != nil {
		return nil, err
	}
	if err := m.admitShape(table); err != nil {
		return nil, err
	}
	return table, m.admitTTL(ctx, m.mover.options.Collection.Table)
}

// meet describes the table, and refuses one that is not what the options say, or whose collection no program has opened yet.
func (m *byID) meet(ctx context.Context) (*types.TableDescription, error) {
	o := &m.mover.options.Collection
	table, err := m.mover.describeTable(ctx, o.Table)
	if err != nil {
		return nil, err
	}
	if got, want := keysOf(table.KeySchema), []string{o.PartitionKey, o.SortKey}; !equal(got, want) {
		return nil, fmt.Errorf("%w: the table has the key %q, but Options.Collection has %q: name the table's keys as they are", heatsink.ErrOptions, got, want)
	}
	if kind := kindOfAttribute(table, o.PartitionKey); kind != types.ScalarAttributeTypeS {
		return nil, fmt.Errorf("%w: the partition key %q has the type %s: only a string (S) can be spread, because the shard is written into it", ErrUnsupported, o.PartitionKey, kind)
	}
	return table, m.mover.ready(ctx, table)
}

// admitShape refuses replicas and indexes that do not go together with the marks in items.
func (m *byID) admitShape(table *types.TableDescription) error {
	if n := len(table.Replicas); n > 0 {
		return fmt.Errorf("%w: it is a global table with %s: conditions hold in one region only, and a move relies on them", ErrUnsupported, figure.Count(n, "replica"))
	}
	if len(table.LocalSecondaryIndexes) > 0 {
		return fmt.Errorf("%w: the table has the local index %s: an item in its new home would be in another item collection of the index than readers ask for; "+
			"move the items to a table without local indexes", ErrUnsupported, aws.ToString(table.LocalSecondaryIndexes[0].IndexName))
	}
	marks := express.Marks()[:2]
	for _, x := range table.GlobalSecondaryIndexes {
		if x.Projection == nil || x.Projection.ProjectionType == types.ProjectionTypeAll {
			continue
		}
		for _, mark := range marks {
			if !slices.Contains(x.Projection.NonKeyAttributes, mark) {
				return fmt.Errorf("%w: the index %s projects %s without the marks of a move: its readers could not tell an item that has moved on from one that is there; "+
					"project all attributes, or these as well: %s", ErrUnsupported, aws.ToString(x.IndexName), x.Projection.ProjectionType, strings.Join(marks, ", "))
			}
		}
	}
	return nil
}

// admitTimes refuses buckets by the times of a sort key that cannot hold them, or whose order is not that of time.
func (t *trip) admitTimes(to *passage.Arrangement) error {
	if !to.Timed() {
		return nil
	}
	want, name := types.ScalarAttributeTypeN, t.options.Collection.SortKey
	if to.Clock == place.RFC3339 {
		want = types.ScalarAttributeTypeS
	}
	if kind := kindOfAttribute(t.work.table, name); kind != want {
		return fmt.Errorf("%w: the sort key %q has the type %s, and the layout to move to has a bucket for every %v of times in %s: such sort keys have the type %s, "+
			"because only then their order is that of time; set EventTime.Unit as it is, or leave the bucket out", ErrUnsupported, name, kind, to.Layout.Bucket, passage.ClockName(to.Clock), want)
	}
	return nil
}

// admitTTL refuses a table whose items DynamoDB deletes by itself: it would delete what a move relies on.
func (m *byID) admitTTL(ctx context.Context, table string) error {
	var out *dynamodb.DescribeTimeToLiveOutput
	_, err := dispatch.New(dispatch.Retry{}, nil, nil).Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		out, err = m.mover.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table}, dispatch.Once)
		return err
	}})
	if err != nil {
		return fmt.Errorf("DescribeTimeToLive, which a move needs to know: %w", err)
	}
	d := out.TimeToLiveDescription
	if d == nil || d.TimeToLiveStatus == types.TimeToLiveStatusDisabled || d.TimeToLiveStatus == "" {
		return nil
	}
	return fmt.Errorf("%w: the table's time to live is %s (attribute %q): DynamoDB would delete copies and marks while items move; turn it off until the move is over",
		ErrUnsupported, strings.ToLower(string(d.TimeToLiveStatus)), aws.ToString(d.AttributeName))
}
