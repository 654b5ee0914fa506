package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

const (
	maxStreamPage  = 100
	maxRecords     = 1000
	maxRecordBytes = 1 << 20
)

// ListStreams names the streams, those of one table if it is given.
func (e *Engine) ListStreams(_ context.Context, in *ListStreamsInput) (*ListStreamsOutput, error) {
	var c constraints
	c.resourceName("tableName", shortName(in.TableName))
	c.page(in.Limit, maxStreamPage)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	start := ""
	if in.ExclusiveStart != nil {
		if start = *in.ExclusiveStart; !isStreamARN(start) {
			return nil, invalid("Invalid StreamArn")
		}
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	out := &ListStreamsOutput{}
	for _, r := range e.liveStreams(time.Now()) {
		if r.ARN <= start || in.TableName != nil && r.TableName != nameOf(*in.TableName) {
			continue
		}
		if len(out.Streams) == pageSize(in.Limit, maxStreamPage) {
			out.LastEvaluated = out.Streams[len(out.Streams)-1].ARN
			break
		}
		out.Streams = append(out.Streams, r.summary())
	}
	return out, nil
}

// liveStreams are the streams that are to be seen, in the order of their ARNs.
func (e *Engine) liveStreams(now time.Time) []*streamRecord {
	e.mu.RLock()
	defer e.mu.RUnlock()
	live := make([]*streamRecord, 0, len(e.streams))
	for _, s := range e.streams {
		if r := s.meta.Load(); !r.gone(now) {
			live = append(live, r)
		}
	}
	slices.SortFunc(live, func(a, b *streamRecord) int { return strings.Compare(a.ARN, b.ARN) })
	return live
}

func (r *streamRecord) summary() StreamSummary {
	return StreamSummary{ARN: r.ARN, TableName: r.TableName, Label: r.Label}
}

// DescribeStream describes a stream and its shards.
func (e *Engine) DescribeStream(_ context.Context, in *DescribeStreamInput) (*StreamDescription, error) {
	var c constraints
	c.required("streamArn", in.StreamARN != nil)
	c.page(in.Limit, maxStreamPage)
	c.text("exclusiveStartShardId", in.ExclusiveStartShard, 28, 65, false)
	if in.HasFilter {
		c.required("shardFilter.type", in.FilterType != nil)
	}
	c.word("shardFilter.type", in.FilterType, "CHILD_SHARDS")
	c.text("shardFilter.shardId", in.FilterShard, 28, 65, false)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.FilterType != nil && in.FilterShard == nil {
		return nil, invalidParameter("ShardFilter of type %s requires a ShardId", *in.FilterType)
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	now := time.Now()
	s, err := e.openStream(*in.StreamARN, now)
	if err != nil {
		return nil, err
	}
	r := s.meta.Load()
	out := &StreamDescription{
		StreamSummary: r.summary(),
		Status:        "ENABLED",
		ViewType:      r.ViewType,
		Created:       r.Created,
		KeySchema:     r.KeySchema,
	}
	if !r.Disabled.IsZero() {
		out.Status = "DISABLED"
	}
	for i := range r.Shards {
		sh := &r.Shards[i]
		after := in.ExclusiveStartShard == nil || sh.ID > *in.ExclusiveStartShard
		child := in.FilterShard == nil || sh.Parent == *in.FilterShard
		if sh.gone(now) || !after || !child {
			continue
		}
		if len(out.Shards) == pageSize(in.Limit, maxStreamPage) {
			out.LastEvaluatedShard = out.Shards[len(out.Shards)-1].ShardID
			break
		}
		out.Shards = append(out.Shards, sh.describe())
	}
	return out, nil
}

func (sh *shard) describe() Shard {
	d := Shard{ShardID: sh.ID, ParentShardID: sh.Parent, StartingSequence: showSequence(sh.First)}
	if sh.Last != 0 {
		d.EndingSequence = showSequence(sh.Last)
	}
	return d
}

func isStreamARN(arn string) bool {
	return strings.HasPrefix(arn, "arn:") && strings.Contains(arn, ":table/") && strings.Contains(arn, "/stream/")
}

// openStream returns the stream of that ARN if it is to be seen.
func (e *Engine) openStream(arn string, now time.Time) (*stream, error) {
	if !isStreamARN(arn) {
		return nil, invalid("Invalid StreamArn")
	}
	s := e.stream(arn)
	if s == nil || s.meta.Load().gone(now) {
		return nil, errorf(TypeResourceNotFound, "Requested resource not found: Stream: %s not found", arn)
	}
	return s, nil
}

// GetShardIterator returns a place in a shard to start reading from.
func (e *Engine) GetShardIterator(ctx context.Context, in *GetShardIteratorInput) (string, error) {
	if err := in.validate(); err != nil {
		return "", err
	}
	if err := e.enter(); err != nil {
		return "", err
	}
	defer e.leave()
	now := time.Now()
	s, err := e.openStream(*in.StreamARN, now)
	if err != nil {
		return "", err
	}
	sh := s.meta.Load().find(*in.ShardID, now)
	if sh == nil {
		return "", errShardNotFound()
	}
	i := iterator{arn: *in.StreamARN, shard: sh.Number, issued: now}
	switch *in.Type {
	case "TRIM_HORIZON":
		i.position, i.oldest = sh.First, true
	case "LATEST":
		if i.position, err = s.tail(ctx, now); err != nil {
			return "", err
		}
	case "AT_TIMESTAMP":
		if in.Timestamp.After(now) {
			return "", invalidParameter("Timestamp must not be in the future")
		}
		i.position, i.oldest = max(sh.First, sequenceAt(*in.Timestamp)), true
	default:
		if i.position, err = sh.positionOf(*in.SequenceNumber, now); err != nil {
			return "", err
		}
		if *in.Type == "AFTER_SEQUENCE_NUMBER" {
			i.position++
		}
	}
	return i.String(), nil
}

func errShardNotFound() *Error {
	return errorf(TypeResourceNotFound, "Requested resource not found: Shard does not exist")
}

func (in *GetShardIteratorInput) validate() error {
	var c constraints
	c.required("streamArn", in.StreamARN != nil)
	c.required("shardId", in.ShardID != nil)
	c.text("shardId", in.ShardID, 28, 65, false)
	c.required("shardIteratorType", in.Type != nil)
	c.word("shardIteratorType", in.Type, "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "TRIM_HORIZON", "LATEST", "AT_TIMESTAMP")
	c.text("sequenceNumber", in.SequenceNumber, 21, 40, false)
	if err := c.err(); err != nil {
		return err
	}
	bySequence := *in.Type == "AT_SEQUENCE_NUMBER" || *in.Type == "AFTER_SEQUENCE_NUMBER"
	byTime := *in.Type == "AT_TIMESTAMP"
	for _, p := range []struct {
		name          string
		wanted, given bool
	}{
		{"SequenceNumber", bySequence, in.SequenceNumber != nil},
		{"Timestamp", byTime, in.Timestamp != nil},
	} {
		if p.wanted && !p.given {
			return invalidParameter("%s must be specified when ShardIteratorType is %s", p.name, *in.Type)
		}
		if p.given && !p.wanted {
			return invalidParameter("%s must not be specified when ShardIteratorType is %s", p.name, *in.Type)
		}
	}
	return in.check()
}

// positionOf returns the place of a sequence number in the shard.
func (sh *shard) positionOf(number string, now time.Time) (uint64, error) {
	n, ok := parseSequence(number)
	if !ok || n < sh.First || sh.Last != 0 && n > sh.Last {
		return 0, invalidParameter("SequenceNumber %s is not in the shard %s", number, sh.ID)
	}
	if n < horizon(now) {
		return 0, errTrimmed()
	}
	return n, nil
}

func errTrimmed() *Error {
	return errorf(TypeTrimmedDataAccess, "The data you are trying to access has been trimmed")
}

// GetRecords returns a shard's records from an iterator's place on.
func (e *Engine) GetRecords(ctx context.Context, in *GetRecordsInput) (*GetRecordsOutput, error) {
	var c constraints
	c.required("shardIterator", in.ShardIterator != nil)
	c.page(in.Limit, maxRecords)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	i, ok := parseIterator(*in.ShardIterator)
	if !ok {
		return nil, invalid("Invalid ShardIterator")
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	now := time.Now()
	if now.Sub(i.issued) > e.options.IteratorLife {
		return nil, errorf(TypeExpiredIterator, "Shard iterator has expired")
	}
	s, err := e.openStream(i.arn, now)
	if err != nil {
		return nil, err
	}
	if i.position < horizon(now) {
		if !i.oldest {
			return nil, errTrimmed()
		}
		i.position = horizon(now)
	}
	return e.readRecords(ctx, s, i, pageSize(in.Limit, maxRecords), now)
}

// readRecords reads a page. The order matters: what lies before the tail can be
// read, and a shard that is closed before that gets nothing more.
func (e *Engine) readRecords(ctx context.Context, s *stream, i iterator, limit int, now time.Time) (*GetRecordsOutput, error) {
	m := s.meta.Load()
	var sh *shard
	for n := range m.Shards {
		if m.Shards[n].Number == i.shard {
			sh = &m.Shards[n]
		}
	}
	if sh == nil {
		return nil, errShardNotFound()
	}
	end, err := s.tail(ctx, now)
	if err != nil {
		return nil, err
	}
	if sh.Last != 0 {
		end = sh.Last + 1
	}
	out := &GetRecordsOutput{}
	next, err := e.collect(out, s, m, i, max(end, i.position), limit)
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", m.ARN, err)
	}
	if sh.Last == 0 || next <= sh.Last {
		i.position, i.oldest, i.issued = next, false, now
		out.NextIterator = i.String()
	}
	if len(out.Records) == 0 {
		return out, nil
	}
	return out, e.store.AwaitDurable()
}

// collect adds the shard's records from the iterator's place up to end to an
// answer, until it is full, and returns where to go on.
func (e *Engine) collect(out *GetRecordsOutput, s *stream, m *streamRecord, i iterator, end uint64, limit int) (_ uint64, err error) {
	it, err := e.store.Read(store.Records(s.id, i.position, end))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	next, size := end, int64(0)
	for ok := it.First(); ok; ok = it.Next() {
		if recordShard(it.Value()) != i.shard {
			continue
		}
		sequence := store.RecordSequence(it.Key())
		r, err := decodeRecord(it.Value(), sequence, m)
		if err != nil {
			return 0, err
		}
		size += r.SizeBytes
		if len(out.Records) == limit || len(out.Records) > 0 && size > maxRecordBytes {
			next = sequence
			break
		}
		out.Records = append(out.Records, r)
	}
	return next, nil
}
