package heat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// StreamClient is the part of the SDK's streams client that reads a stream.
type StreamClient interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// StreamOptions say where to start reading a stream, and when to stop. A field at zero has its default.
type StreamOptions struct {
	// FromStart also reads the records that the stream still has, at most 24 hours of them. Default: only new records.
	FromStart bool

	// Checkpoint continues where an earlier reader stopped, whatever FromStart says. See StreamReader.Checkpoint.
	Checkpoint Checkpoint

	// UntilNow ends Run once it has caught up with all shards. Default: Run follows the stream until its context ends.
	UntilNow bool

	// Poll is the wait between reads of a shard without new records. Default: one second. DynamoDB allows five reads a
	// second.
	Poll time.Duration

	// Recorder has the options of counting: Entries, Decay, Top, Redact and Layouts.
	Recorder Options
}

// Checkpoint is the last record read of each shard of a stream, and since when records count. It can be stored as JSON.
type Checkpoint map[string]string

// checkpointSince is the name under which a checkpoint has the time since when records count. No shard has that name.
const checkpointSince = "since"

const (
	readPause     = 200 * time.Millisecond // between two reads of a shard: DynamoDB allows five a second
	discoverPause = 10 * time.Second       // between two looks for shards
	manyEmpty     = 5                      // empty pages that stand for the end of a shard; some are empty in its midst
)

// StreamReader counts the writes in a table's stream. A stream shows no reads and no throttled requests. It does not show
// the units of a write either: the reader computes them from the item's size, and those of an index from its projection.
// A stream without images shows only keys: every write then counts as one of an average item, and indexes are not counted.
type StreamReader struct {
	client  StreamClient
	arn     string
	table   *table
	options StreamOptions

	began  time.Time // when reading began
	since  time.Time // records from before are not counted; zero: all are
	shards map[string]*streamShard
	found  time.Time // when shards were last looked for

	mu      sync.Mutex
	kind    streamtypes.StreamViewType
	done    Checkpoint
	from    time.Time // of the first record, and of the last
	to      time.Time
	records int64
	wrong   int64 // of these, with a time that cannot be
	ended   bool  // nobody runs it
}

// streamShard is a shard that is being read.
type streamShard struct {
	parent   string
	iterator *string // nil: not begun, or ended
	ended    bool
	empty    int       // pages without records in a row
	last     time.Time // of its last record
	next     time.Time // when to look again
}

// OpenStream looks up a table and returns a reader of its stream.
func OpenStream(ctx context.Context, tables Describer, streams StreamClient, name string, options StreamOptions) (*StreamReader, error) {
	if err := options.Recorder.validate(); err != nil {
		return nil, err
	}
	if options.Poll < 0 {
		return nil, isNegative("Poll", options.Poll)
	}
	options.Poll = cmp.Or(options.Poll, time.Second)
	options.Recorder = options.Recorder.withDefaults()
	options.Recorder.peaks = true
	d, err := describe(ctx, tables, name)
	if err != nil {
		return nil, err
	}
	if err := checkIndexes(name, options.Recorder.Layouts, d); err != nil {
		return nil, err
	}
	if d.LatestStreamArn == nil {
		return nil, fmt.Errorf("table %q has no stream: turn one on, or examine the table with a scan", name)
	}
	t := newTable(name)
	t.learn(d)
	r := &StreamReader{
		client: streams, arn: *d.LatestStreamArn, table: t, options: options,
		done: maps.Clone(options.Checkpoint), shards: make(map[string]*streamShard),
	}
	if r.done == nil {
		r.done = make(Checkpoint)
	}
	r.began = time.Now()
	switch since, ok := r.done[checkpointSince]; {
	case ok:
		if r.since, err = time.Parse(time.RFC3339Nano, since); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	case options.Checkpoint == nil && !options.FromStart:
		r.since = r.began
		r.done[checkpointSince] = r.since.Format(time.RFC3339Nano)
	}
	return r, nil
}

// Run reads until ctx ends, or with UntilNow until it has caught up. The end of ctx is no error.
func (r *StreamReader) Run(ctx context.Context) error {
	r.setEnded(false)
	defer r.setEnded(true)
	err := r.run(ctx)
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return err
}

func (r *StreamReader) setEnded(ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = ended
}

func (r *StreamReader) setKind(kind streamtypes.StreamViewType) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kind = kind
}

func (r *StreamReader) run(ctx context.Context) error {
	for {
		if now := time.Now(); r.found.IsZero() || now.Sub(r.found) >= discoverPause {
			if err := r.discover(ctx, r.found.IsZero()); err != nil {
				return err
			}
			r.found = now
		}
		if r.options.UntilNow && r.caughtUp() {
			return nil
		}
		id, wait := r.oldest()
		if id != "" && wait <= 0 {
			if err := r.read(ctx, id, r.shards[id]); err != nil {
				return err
			}
			continue
		}
		if err := dispatch.Sleep(ctx, min(max(wait, readPause), r.options.Poll)); err != nil {
			return err
		}
	}
}

// oldest returns the shard to read next, and the wait before that read: of the shards that are due, the one with the oldest
// last record, so that all advance evenly; "" if there is none. A shard comes after its parent.
func (r *StreamReader) oldest() (next string, wait time.Duration) {
	now := time.Now()
	wait = time.Hour
	for _, id := range slices.Sorted(maps.Keys(r.shards)) {
		shard := r.shards[id]
		if shard.ended || !r.parentEnded(shard) {
			continue
		}
		due := shard.next.Sub(now)
		switch {
		case next == "", due <= 0 && wait > 0, (due <= 0) == (wait <= 0) && shard.last.Before(r.shards[next].last):
			next, wait = id, due
		}
	}
	return next, wait
}

func (r *StreamReader) parentEnded(shard *streamShard) bool {
	parent := r.shards[shard.parent]
	return parent == nil || parent.ended
}

// caughtUp reports whether all shards were read up to when reading began, or to their end.
func (r *StreamReader) caughtUp() bool {
	for _, shard := range r.shards {
		if !shard.ended && shard.empty < manyEmpty && !shard.last.After(r.began) { // a record of that very moment may not be the last
			return false
		}
	}
	return true
}

// discover finds the stream's shards. The first ones are read from where the options say. Later ones are children, and read
// from their start.
func (r *StreamReader) discover(ctx context.Context, first bool) error {
	var start *string
	for {
		out, err := r.client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: &r.arn, ExclusiveStartShardId: start})
		if err != nil {
			return fmt.Errorf("describe stream of table %q: %w", r.table.name, err)
		}
		if out.StreamDescription == nil {
			return fmt.Errorf("describe stream of table %q: the response has no stream", r.table.name)
		}
		r.setKind(out.StreamDescription.StreamViewType)
		for i := range out.StreamDescription.Shards {
			if err := r.add(ctx, &out.StreamDescription.Shards[i], first); err != nil {
				return err
			}
		}
		next := out.StreamDescription.LastEvaluatedShardId
		switch {
		case next == nil:
			return nil
		case start != nil && *start == *next:
			return fmt.Errorf("describe stream of table %q: the response repeats the same shards", r.table.name)
		}
		start = next
	}
}

// add notes a new shard. A shard that closed before reading began has no more records.
func (r *StreamReader) add(ctx context.Context, s *streamtypes.Shard, first bool) error {
	id := aws.ToString(s.ShardId)
	if r.shards[id] != nil {
		return nil
	}
	shard := &streamShard{parent: aws.ToString(s.ParentShardId)}
	r.shards[id] = shard
	if !first || r.options.FromStart || r.options.Checkpoint != nil {
		return nil
	}
	if s.SequenceNumberRange != nil && s.SequenceNumberRange.EndingSequenceNumber != nil {
		shard.ended = true
		r.mu.Lock()
		r.done[id] = *s.SequenceNumberRange.EndingSequenceNumber
		r.mu.Unlock()
		return nil
	}
	return r.begin(ctx, id, shard, streamtypes.ShardIteratorTypeLatest)
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

// read reads what a shard has next.
func (r *StreamReader) read(ctx context.Context, id string, shard *streamShard) error {
	if shard.iterator == nil {
		if err := r.begin(ctx, id, shard, streamtypes.ShardIteratorTypeTrimHorizon); err != nil {
			return err
		}
	}
	out, err := r.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: shard.iterator})
	if expired := (*streamtypes.ExpiredIteratorException)(nil); errors.As(err, &expired) {
		shard.iterator = nil // begins again behind the last record
		return nil
	}
	if err != nil {
		return fmt.Errorf("stream of table %q, shard %s: %w", r.table.name, id, err)
	}
	for i := range out.Records {
		shard.last = r.count(id, &out.Records[i])
	}
	shard.iterator = out.NextShardIterator
	shard.ended = out.NextShardIterator == nil
	if shard.ended {
		r.found = time.Time{}.Add(1) // it has children: look for them at once
	}
	shard.next = time.Now().Add(readPause)
	if len(out.Records) > 0 {
		shard.empty = 0
		return nil
	}
	shard.empty++
	if !r.options.UntilNow {
		shard.next = time.Now().Add(r.options.Poll)
	}
	return nil
}

// maxAhead is how far the time of a record may be ahead of this machine's clock. Rates are of the newest time: one record with
// a time of next year would hide all others.
const maxAhead = 5 * time.Minute

// count counts a record as a write to the table and to the item's indexes, and returns its time. A record whose time cannot
// be counts as one of now. DynamoDB's own deletions of expired items cost nothing.
func (r *StreamReader) count(shard string, record *streamtypes.Record) time.Time {
	d := record.Dynamodb
	at := time.Now()
	if d == nil {
		return at
	}
	wrong := false
	if t := d.ApproximateCreationDateTime; t != nil {
		if wrong = t.Unix() <= 0 || t.Unix() > at.Add(maxAhead).Unix(); !wrong { // Sub would overflow
			at = *t
		}
	}
	// Times are whole seconds at DynamoDB.
	free := record.UserIdentity != nil && aws.ToString(record.UserIdentity.PrincipalId) == "dynamodb.amazonaws.com"
	if free || at.Before(r.since.Truncate(time.Second)) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done[shard] = aws.ToString(d.SequenceNumber)
		return at
	}
	c := newCall()
	defer c.free()
	c.direction, c.attempts = Write, 1
	c.streamed(r.table.view.Load(), d)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.record(&r.options.Recorder, at.UnixNano(), 0)
	r.done[shard] = aws.ToString(d.SequenceNumber)
	r.records++
	if wrong {
		r.wrong++
	}
	if r.from.IsZero() || at.Before(r.from) {
		r.from = at
	}
	if at.After(r.to) {
		r.to = at
	}
	return at
}

// Checkpoint returns how far the stream was read.
func (r *StreamReader) Checkpoint() Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.done)
}

// Records returns the number of records read.
func (r *StreamReader) Records() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records
}

// until returns the end of what was read. DynamoDB's times are whole seconds, so the last record may be from the end of its
// second. Without that second, writes of two seconds would look like those of one.
func (r *StreamReader) until() time.Time {
	to := r.to
	if to.IsZero() {
		return to
	}
	if to.Nanosecond() == 0 {
		to = to.Add(time.Second)
	}
	now := time.Now()
	if now.After(r.to) && (now.Before(to) || !r.options.UntilNow) {
		to = now
	}
	return to
}

// Report returns what the reader has counted. Rates are current while Run follows the stream; with UntilNow they are as
// of the last record.
func (r *StreamReader) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.until()
	report := Report{Source: Stream, From: r.from.UTC(), To: to.UTC(), Ended: r.ended, Limits: r.options.Recorder.Limits, Notes: []string{
		"a stream shows no reads and no throttled requests; units are computed from sizes",
	}}
	if r.wrong > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("%d of %d records had a time before 1970, or more than %.0f minutes ahead of this machine's clock: they count as of when they were read", r.wrong, r.records, maxAhead.Minutes()))
	}
	view := r.table.view.Load()
	if note := keysNote(r.kind, view.own.capacity); note != "" {
		report.Notes = append(report.Notes, note)
	}
	for _, v := range append([]resourceView{view.own}, view.indexes...) {
		if resource, seen := v.report(to.UnixNano(), r.options.Recorder.Top); seen {
			resource.Writes.Latency, resource.Writes.Durations = Latency{}, Durations{} // nobody waited
			if r.ended {
				resource.Writes.shareWhole()
			}
			report.Resources = append(report.Resources, resource)
		}
	}
	return report
}
