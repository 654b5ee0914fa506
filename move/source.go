package move

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

// source is where a pass over a movable collection finds its items, always with strong consistency: the whole table, or the shards of
// those keys whose number of shards changes. DynamoDB has no way to look for a prefix of partition keys, so those that begin with one are
// found by a scan.
type source struct {
	trip  *trip
	keys  []string // the partition keys to query; nil: the whole table is scanned
	scope *scope   // what is taken of that; nil: everything
	whole bool     // whole items are read, and not only their keys and marks
	total int      // segments of each table

	tables []string // to read, as passage.Arrangement has them
}

// maxQueried is how many shards are queried one by one. A scan of the table is simpler from then on.
const maxQueried = 10_000

// newSource returns where to find the items that move between two arrangements.
func (t *trip) newSource(now passage.Arrangement, next *passage.Arrangement, whole bool) (*source, error) {
	s := &source{trip: t, whole: whole, total: t.options.Segments}
	s.read(&now, next)
	if next == nil {
		return s, nil
	}
	return s, s.only(newScope(t.options.Collection.PartitionKey, now, *next))
}

// read makes the tables of arrangements the ones to read. Those that are nil do not count.
func (s *source) read(in ...*passage.Arrangement) {
	s.tables = nil
	for _, a := range in {
		if a != nil && !slices.Contains(s.tables, a.Table) {
			s.tables = append(s.tables, a.Table)
		}
	}
}

// segments returns the parts to read.
func (s *source) segments() (all []*segment) {
	for _, table := range s.tables {
		for _, part := range newSegments(s.total) {
			part.in = table
			all = append(all, part)
		}
	}
	return all
}

// only limits a source to a scope.
func (s *source) only(scope *scope) error {
	s.scope = scope
	if scope == nil || len(scope.prefixes) > 0 {
		return nil
	}
	s.keys = []string{}
	for _, key := range scope.keys {
		for _, a := range scope.in {
			shards, err := a.For(key).ShardKeys(key, time.Time{}, time.Time{})
			if err != nil {
				return err
			}
			s.keys = append(s.keys, shards...)
		}
	}
	slices.Sort(s.keys)
	s.keys = slices.Compact(s.keys)
	if len(s.keys) > maxQueried {
		s.keys = nil
		return nil
	}
	s.total = min(s.total, max(len(s.keys), 1))
	return nil
}

// page returns the next page of a segment.
func (s *source) page(ctx context.Context, part *segment) (*dynamodb.ScanOutput, error) {
	if s.keys != nil {
		return s.query(ctx, part)
	}
	out, err := s.scan(ctx, part)
	if err == nil {
		out.Items = slices.DeleteFunc(out.Items, func(item place.Item) bool { return !s.scope.has(item) })
	}
	return out, err
}

// names returns what is read of each item, and a projection of that.
func (s *source) names() (projection *string, names map[string]string) {
	if s.whole {
		return nil, nil
	}
	o := &s.trip.options.Collection
	var parts []string
	names = map[string]string{}
	for i, name := range append([]string{o.PartitionKey, o.SortKey}, express.Marks()...) {
		alias := "#a" + strconv.Itoa(i)
		names[alias] = name
		parts = append(parts, alias)
	}
	return aws.String(strings.Join(parts, ", ")), names
}

// limit returns how many items a page may have, nil for as many as fit, and the read units that it is expected to take.
func (s *source) limit() (limit *int32, units float64) {
	t := s.trip
	size := 1024.0
	if items, bytes := aws.ToInt64(t.work.table.ItemCount), aws.ToInt64(t.work.table.TableSizeBytes); items > 0 && bytes > 0 {
		size = max(1, float64(bytes)/float64(items))
	}
	page := t.pageBytes(size)
	if page < pageSize {
		limit = aws.Int32(int32(max(1, page/size)))
	}
	expected := min(page, float64(aws.ToInt64(t.work.table.TableSizeBytes))/float64(s.total))
	return limit, max(expected/readUnit, 1)
}

func (s *source) scan(ctx context.Context, part *segment) (*dynamodb.ScanOutput, error) {
	t := s.trip
	in := &dynamodb.ScanInput{
		TableName: aws.String(t.name(part.in)), Segment: aws.Int32(int32(part.number)), TotalSegments: aws.Int32(int32(s.total)),
		ExclusiveStartKey: part.start, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	in.ProjectionExpression, in.ExpressionAttributeNames = s.names()
	limit, units := s.limit()
	in.Limit = limit
	var out *dynamodb.ScanOutput
	err := t.send(ctx, t.reads, units, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) {
		if out, err = t.client.Scan(ctx, in, dispatch.Once); err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	})
	if err != nil {
		return nil, fmt.Errorf("scan segment %d of %d: %w", part.number, s.total, err)
	}
	return out, nil
}

// query reads a page of one shard. A segment has every so manieth of the shards. Behind the last page of a shard, the position is the
// partition key of the next one alone.
func (s *source) query(ctx context.Context, part *segment) (*dynamodb.ScanOutput, error) {
	t := s.trip
	pk, sk := t.options.Collection.PartitionKey, t.options.Collection.SortKey
	var own []string
	for i := part.number; i < len(s.keys); i += s.total {
		own = append(own, s.keys[i])
	}
	if len(own) == 0 {
		return &dynamodb.ScanOutput{}, nil
	}
	at := 0
	var start place.Item
	if v, ok := part.start[pk].(*types.AttributeValueMemberS); ok {
		if i, found := slices.BinarySearch(own, v.Value); found {
			at = i
			if part.start[sk] != nil {
				start = part.start
			}
		}
	}
	in := &dynamodb.QueryInput{
		TableName: aws.String(t.name(part.in)), ConsistentRead: aws.Bool(true), ExclusiveStartKey: start,
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeValues: place.Item{":pk": text(own[at])}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	in.ProjectionExpression, in.ExpressionAttributeNames = s.names()
	if in.ExpressionAttributeNames == nil {
		in.ExpressionAttributeNames = map[string]string{}
	}
	in.ExpressionAttributeNames["#pk"] = pk
	limit, units := s.limit()
	in.Limit = limit
	var out *dynamodb.QueryOutput
	err := t.send(ctx, t.reads, units, func(ctx context.Context) (_ *types.ConsumedCapacity, err error) {
		if out, err = t.client.Query(ctx, in, dispatch.Once); err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	})
	if err != nil {
		return nil, fmt.Errorf("query shard %s: %w", own[at], err)
	}
	last := out.LastEvaluatedKey
	if len(last) == 0 && at+1 < len(own) {
		last = place.Item{pk: text(own[at+1])}
	}
	return &dynamodb.ScanOutput{Items: out.Items, ScannedCount: out.ScannedCount, ConsumedCapacity: out.ConsumedCapacity, LastEvaluatedKey: last}, nil
}

// once returns the read units of a pass over so many bytes.
func (s *source) once(items int64, bytes float64) float64 {
	size := bytes / float64(max(items, 1))
	pages := max(float64(s.total), float64(len(s.keys)), math.Ceil(bytes/s.trip.pageBytes(size)))
	return pages * max(1, bytes/pages/readUnit+0.5) // each page is rounded up
}

// String says what a pass reads, for people.
func (s *source) String() string {
	if s.keys == nil {
		return "the whole table"
	}
	return figure.Count(len(s.keys), "shard")
}
