package heat

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// StreamClient is the part of the SDK's streams client that a stream is read with.
type StreamClient interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// StreamOptions say from where on a stream is read. Fields that are zero have the defaults given here.
type StreamOptions struct {
	// FromStart reads what the stream still has, 24 hours at most. Default: what is written from now on.
	FromStart bool

	// Checkpoint goes on where an earlier reader was, whatever FromStart says. See StreamReader.Checkpoint.
	Checkpoint Checkpoint

	// UntilNow ends Run once it has caught up with all shards. Default: Run follows the stream until its context ends.
	UntilNow bool

	// Poll is how long a shard without news is left alone. Default: one second. DynamoDB allows five reads a second.
	Poll time.Duration

	// Recorder has the options of counting: Entries, Decay, Top and Redact.
	Recorder Options
}

// Checkpoint says up to which record each shard of a stream was read. It can be kept as JSON.
type Checkpoint map[string]string

// StreamReader counts the writes that a table's stream tells of. A stream shows neither reads nor what was throttled, and
// not how many units a write took: they are worked out from its size. Streams without images tell of keys only, so
// every write counts as one unit and indexes are not seen.
type StreamReader struct {
	client  StreamClient
	arn     string
	table   *table
	options StreamOptions

	mu      sync.Mutex
	done    Checkpoint
	from    time.Time // of the first record, and of the last
	to      time.Time
	records int64
	shards  map[string]*streamShard
}

// streamShard is a shard that is being read.
type streamShard struct {
	parent   string
	iterator *string // nil: not begun, or ended
	ended    bool
	caughtUp bool
	next     time.Time // when to look again
}

// OpenStream looks a table up and returns a reader of its stream.
func OpenStream(ctx context.Context, tables Describer, streams StreamClient, name string, options StreamOptions) (*StreamReader, error) {
	if err := options.Recorder.validate(); err != nil {
		return nil, err
	}
	if options.Poll < 0 {
		return nil, fmt.Errorf("Poll is negative: %v", options.Poll)
	}
	if options.Poll == 0 {
		options.Poll = time.Second
	}
	options.Recorder = options.Recorder.withDefaults()
	out, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(name)})
	if err != nil {
		return nil, fmt.Errorf("describe table %q: %w", name, err)
	}
	if out.Table.LatestStreamArn == nil {
		return nil, fmt.Errorf("table %q has no stream: turn one on, or look at the table with a scan", name)
	}
	t := newTable(name)
	t.learn(out.Table)
	r := &StreamReader{
		client: streams, arn: *out.Table.LatestStreamArn, table: t, options: options,
		done: maps.Clone(options.Checkpoint), shards: make(map[string]*streamShard),
	}
	if r.done == nil {
		r.done = make(Checkpoint)
	}
	return r, nil
}

// Run reads until ctx ends, or until it has caught up if so asked. That ctx ended is no error.
func (r *StreamReader) Run(ctx context.Context) error {
	err := r.run(ctx)
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

func (r *StreamReader) run(ctx context.Context) error {
	first := true
	for {
		if err := r.discover(ctx, first); err != nil {
			return err
		}
		first = false
		news, err := r.round(ctx)
		if err != nil {
			return err
		}
		if !news && r.options.UntilNow && r.allCaughtUp() {
			return nil
		}
		if !news {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(r.options.Poll):
			}
		}
	}
}

// round reads each shard that is due once, and reports whether any had records.
func (r *StreamReader) round(ctx context.Context) (bool, error) {
	news := false
	for _, id := range slices.Sorted(maps.Keys(r.shards)) {
		shard := r.shards[id]
		if shard.ended || time.Now().Before(shard.next) || !r.parentEnded(shard) {
			continue
		}
		n, err := r.read(ctx, id, shard)
		if err != nil {
			return news, err
		}
		news = news || n > 0
	}
	return news, nil
}

func (r *StreamReader) parentEnded(shard *streamShard) bool {
	parent := r.shards[shard.parent]
	return parent == nil || parent.ended
}

func (r *StreamReader) allCaughtUp() bool {
	for _, shard := range r.shards {
		if !shard.ended && !shard.caughtUp {
			return false
		}
	}
	return true
}

// discover finds the stream's shards. Those that are there at first are read from where the options say; those that come
// later are children, and read from their start.
func (r *StreamReader) discover(ctx context.Context, first bool) error {
	var start *string
	for {
		out, err := r.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &r.arn, ExclusiveStartShardId: start})
		if err != nil {
			return fmt.Errorf("describe stream of table %q: %w", r.table.name, err)
		}
		for _, s := range out.StreamDescription.Shards {
			id := aws.ToString(s.ShardId)
			if r.shards[id] != nil {
				continue
			}
			shard := &streamShard{parent: aws.ToString(s.ParentShardId)}
			closed := s.SequenceNumberRange != nil && s.SequenceNumberRange.EndingSequenceNumber != nil
			fromNow := first && !r.options.FromStart && r.options.Checkpoint == nil
			if fromNow && closed {
				shard.ended = true // nothing will be written to it any more
			}
			r.shards[id] = shard
			if fromNow && !closed {
				if err := r.begin(ctx, id, shard, streamtypes.ShardIteratorTypeLatest); err != nil {
					return err
				}
			}
		}
		if start = out.StreamDescription.LastEvaluatedShardId; start == nil {
			return nil
		}
	}
}

// begin gets a shard's first iterator. A checkpoint comes before what kind says; if the stream has forgotten that
// record already, the shard is read from its oldest.
func (r *StreamReader) begin(ctx context.Context, id string, shard *streamShard, kind streamtypes.ShardIteratorType) error {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &r.arn, ShardId: &id, ShardIteratorType: kind}
	r.mu.Lock()
	if sequence, ok := r.done[id]; ok {
		in.ShardIteratorType, in.SequenceNumber = streamtypes.ShardIteratorTypeAfterSequenceNumber, aws.String(sequence)
	}
	r.mu.Unlock()
	out, err := r.client.GetShardIterator(ctx, in)
	if trimmed := (*streamtypes.TrimmedDataAccessException)(nil); errors.As(err, &trimmed) {
		in.ShardIteratorType, in.SequenceNumber = streamtypes.ShardIteratorTypeTrimHorizon, nil
		out, err = r.client.GetShardIterator(ctx, in)
	}
	if err != nil {
		return fmt.Errorf("stream of table %q, shard %s: %w", r.table.name, id, err)
	}
	shard.iterator = out.ShardIterator
	return nil
}

// read reads what a shard has next and returns how many records that were.
func (r *StreamReader) read(ctx context.Context, id string, shard *streamShard) (int, error) {
	if shard.iterator == nil {
		if err := r.begin(ctx, id, shard, streamtypes.ShardIteratorTypeTrimHorizon); err != nil {
			return 0, err
		}
	}
	out, err := r.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: shard.iterator})
	if expired := (*streamtypes.ExpiredIteratorException)(nil); errors.As(err, &expired) {
		shard.iterator = nil // begins again behind the last record
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("stream of table %q, shard %s: %w", r.table.name, id, err)
	}
	for i := range out.Records {
		r.count(id, &out.Records[i])
	}
	shard.iterator = out.NextShardIterator
	shard.ended = out.NextShardIterator == nil
	shard.caughtUp = len(out.Records) == 0
	if shard.caughtUp {
		shard.next = time.Now().Add(r.options.Poll)
	}
	return len(out.Records), nil
}

// count counts a record: a write of the table, and of the indexes that the item is in.
func (r *StreamReader) count(shard string, record *streamtypes.Record) {
	d := record.Dynamodb
	if d == nil {
		return
	}
	item, keysOnly := streamItem(d)
	at := aws.ToTime(d.ApproximateCreationDateTime)
	c := newCall()
	defer c.free()
	c.direction, c.attempts = Write, 1
	view := r.table.view.Load()
	if keysOnly {
		c.item(view.own, item, 1)
	} else {
		c.written(view, item)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range c.parts {
		c.parts[i].units = c.parts[i].weight
		if !keysOnly && d.OldImage != nil { // DynamoDB charges the larger of the two
			c.parts[i].units = max(c.parts[i].units, math.Ceil(float64(itemSize(streamMap(d.OldImage)))/1024))
		}
	}
	c.record(&r.options.Recorder, at, 0)
	r.done[shard] = aws.ToString(d.SequenceNumber)
	r.records++
	if r.from.IsZero() || at.Before(r.from) {
		r.from = at
	}
	if at.After(r.to) {
		r.to = at
	}
}

// Checkpoint returns up to where the stream was read.
func (r *StreamReader) Checkpoint() Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.done)
}

// Records returns how many records were read.
func (r *StreamReader) Records() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records
}

// Report returns what was seen up to now. Rates are of the time that the records tell, not of the time of reading.
func (r *StreamReader) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := Report{Source: Stream, From: r.from.UTC(), To: r.to.UTC(), Notes: []string{
		"a stream shows no reads and no throttled requests; units are worked out from sizes",
	}}
	view := r.table.view.Load()
	for _, v := range append([]resourceView{view.own}, view.indexes...) {
		if resource, seen := v.report(r.to.UnixNano(), r.options.Recorder.Top); seen {
			resource.Writes.Latency = Latency{} // nobody waited
			report.Resources = append(report.Resources, resource)
		}
	}
	return report
}

// streamItem returns the item of a record as the table's client has it: the new one, the old one of a deletion, or the
// keys of a stream without images.
func streamItem(d *streamtypes.StreamRecord) (item map[string]types.AttributeValue, keysOnly bool) {
	switch {
	case d.NewImage != nil:
		return streamMap(d.NewImage), false
	case d.OldImage != nil && d.StreamViewType != streamtypes.StreamViewTypeOldImage:
		return streamMap(d.OldImage), false
	}
	return streamMap(d.Keys), true
}
