package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// streamRetention is how long records can be read, and how long a stream can be
// that was disabled.
const streamRetention = 24 * time.Hour

// stream is the changes of one table's items since it was enabled, in order. It
// outlives its being disabled, and its table, by the retention.
//
// A record's sequence number is the microsecond in which it was written, or the
// next one that is free. So numbers grow also across a crash that took the last
// records with it, a time is a place in the stream, and trimming is a matter of
// comparing numbers.
type stream struct {
	id uint32

	// turns are held from taking a sequence number until what it stands for can
	// be read: then everything before the next number is there.
	turns  turns
	next   uint64
	buffer []byte // for encoding a record

	meta    atomic.Pointer[streamRecord] // replaced in turns, never changed
	trimmed time.Time                    // when the sweeper last trimmed
}

// streamRecord is what is stored of a stream.
type streamRecord struct {
	ID        uint32
	ARN       string
	Label     string
	TableName string
	ViewType  string
	KeySchema []KeyElement
	Created   time.Time
	Disabled  time.Time // zero: enabled
	Shards    []shard   // the oldest first
	NextShard uint32
}

// shard is a part of a stream that is read from its beginning to its end.
type shard struct {
	Number uint32 // tells its records from those of other shards
	ID     string
	Parent string `json:",omitempty"` // the shard's ID whose keys it goes on with
	First  uint64 // no record has a smaller sequence number
	Last   uint64 `json:",omitempty"` // or a greater one; zero: open
}

// newStream returns a stream whose next sequence number is at least next.
func newStream(r *streamRecord, next uint64) *stream {
	for _, sh := range r.Shards {
		next = max(next, sh.First+1, sh.Last+1)
	}
	s := &stream{id: r.ID, next: next, turns: newTurns()}
	s.meta.Store(r)
	return s
}

const maxSequence = math.MaxUint64

// sequenceAt is the sequence number that a time stands for.
func sequenceAt(t time.Time) uint64 { return uint64(max(t.UnixMicro(), 0)) }

// horizon is the smallest sequence number that has not been trimmed.
func horizon(now time.Time) uint64 { return sequenceAt(now.Add(-streamRetention)) }

// take returns the next sequence number. It is the caller's turn.
func (s *stream) take(now time.Time) uint64 {
	n := max(s.next, sequenceAt(now))
	s.next = n + 1
	return n
}

// tail returns a sequence number of which everything smaller can be read and
// everything greater or equal is still to come.
func (s *stream) tail(ctx context.Context, now time.Time) (uint64, error) {
	if err := s.turns.lock(ctx); err != nil {
		return 0, fmt.Errorf("wait for writers of the stream: %w", err)
	}
	defer s.turns.unlock()
	s.next = max(s.next, sequenceAt(now))
	return s.next, nil
}

// append puts the record of an item's change into a batch; old or next is nil if
// there was or is no item. It is the caller's turn until the batch is applied.
func (s *stream) append(b *store.Batch, keys attr.Item, old, next attr.Raw, expired bool) {
	m := s.meta.Load()
	s.buffer = appendRecord(s.buffer[:0], m.shardFor(keys).Number, m.ViewType, keys, old, next, expired)
	b.Set(store.RecordKey(s.id, s.take(time.Now())), s.buffer)
}

// shardFor returns the shard that a change of the item with these keys goes to.
// There is one open shard at a time for now; when tables have partitions, each
// will have its own, and here it is chosen.
func (r *streamRecord) shardFor(attr.Item) *shard { return &r.Shards[len(r.Shards)-1] }

// copy returns a copy to be changed and stored in the stream's place.
func (r *streamRecord) copy() *streamRecord {
	c := *r
	c.Shards = slices.Clone(r.Shards)
	return &c
}

// open adds a shard that begins with the sequence number first.
func (r *streamRecord) open(parent string, first uint64) {
	r.NextShard++
	name := fnv.New32a()
	fmt.Fprintf(name, "%s %d", r.ARN, r.NextShard)
	r.Shards = append(r.Shards, shard{
		Number: r.NextShard,
		ID:     fmt.Sprintf("shardId-%020d-%08x", first/1000, name.Sum32()),
		Parent: parent,
		First:  first,
	})
}

// close ends the open shards with the sequence number last, and returns their
// IDs.
func (r *streamRecord) close(last uint64) (ids []string) {
	for i := range r.Shards {
		if r.Shards[i].Last == 0 {
			r.Shards[i].Last = last
			ids = append(ids, r.Shards[i].ID)
		}
	}
	return ids
}

// save puts the stream's record into a batch.
func (r *streamRecord) save(b *store.Batch) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("save stream %s: %w", r.ARN, err)
	}
	b.Set(store.StreamKey(r.ID), text)
	return nil
}

// find returns the shard of that ID that still is to be seen, or nil.
func (r *streamRecord) find(id string, now time.Time) *shard {
	for i := range r.Shards {
		if r.Shards[i].ID == id && !r.Shards[i].gone(now) {
			return &r.Shards[i]
		}
	}
	return nil
}

// gone reports whether everything in the shard has been trimmed.
func (sh *shard) gone(now time.Time) bool { return sh.Last != 0 && sh.Last < horizon(now) }

// gone reports whether the stream was disabled so long ago that it is no more.
func (r *streamRecord) gone(now time.Time) bool {
	return !r.Disabled.IsZero() && !now.Before(r.Disabled.Add(streamRetention))
}

// createStream prepares a stream for a table. The caller holds admin, saves it
// and then adds it to the streams.
func (e *Engine) createStream(d *TableDescription, viewType string, now time.Time) *stream {
	r := &streamRecord{
		ID:        e.nextStream,
		TableName: d.TableName,
		ViewType:  viewType,
		KeySchema: d.KeySchema,
	}
	e.nextStream++
	for r.ARN == "" || e.stream(r.ARN) != nil { // a label is used once, also in one millisecond
		r.Created = now.UTC().Truncate(time.Millisecond)
		r.Label = r.Created.Format("2006-01-02T15:04:05.000")
		r.ARN = d.ARN + "/stream/" + r.Label
		now = now.Add(time.Millisecond)
	}
	r.open("", sequenceAt(r.Created))
	return newStream(r, 0)
}

// stream returns the stream of that ARN, or nil.
func (e *Engine) stream(arn string) *stream {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.streams[arn]
}

// addStream makes a stream known, once it is saved.
func (e *Engine) addStream(s *stream) {
	e.mu.Lock()
	e.streams[s.meta.Load().ARN] = s
	e.mu.Unlock()
	e.sweeper.wake(e)
}

// disable puts the end of a stream into a batch and returns what it will be like
// once that is applied. The caller keeps writers away: it holds the table.
func (s *stream) disable(ctx context.Context, b *store.Batch, now time.Time) (*streamRecord, error) {
	if err := s.turns.lock(ctx); err != nil {
		return nil, fmt.Errorf("wait for readers of the stream: %w", err)
	}
	defer s.turns.unlock()
	r := s.meta.Load().copy()
	r.close(s.take(now))
	r.Disabled = now.UTC()
	return r, r.save(b)
}

// become replaces what the stream is like. Its end is stored, so that there is no
// giving up: readers, who alone may be in the way, have their turns for moments.
func (s *stream) become(r *streamRecord) {
	_ = s.turns.lock(context.Background()) // which never ends
	defer s.turns.unlock()
	s.meta.Store(r)
}

// trimInterval is how much later than they could stream records and history are
// removed.
const trimInterval = time.Hour

// sweepStream does what time demands of a stream, and returns when to look
// again.
func (e *Engine) sweepStream(ctx context.Context, s *stream, now time.Time) (next time.Time, err error) {
	if err := e.lockAdmin(ctx); err != nil { // or a stream could be disabled in between
		return time.Time{}, err
	}
	defer e.admin.unlock()
	m := s.meta.Load()
	if m.gone(now) {
		return time.Time{}, e.removeStream(s)
	}
	if !now.Before(s.trimmed.Add(trimInterval)) {
		if err := e.trim(ctx, s, now); err != nil {
			return time.Time{}, err
		}
		s.trimmed = now
	}
	next = s.trimmed.Add(trimInterval)
	if !m.Disabled.IsZero() {
		return earlier(next, m.Disabled.Add(streamRetention)), nil
	}
	due := time.UnixMicro(int64(m.Shards[len(m.Shards)-1].First)).Add(e.options.ShardDuration)
	if !now.Before(due) {
		if err := e.replaceShards(ctx, s, now); err != nil {
			return time.Time{}, err
		}
		due = now.Add(e.options.ShardDuration)
	}
	return earlier(next, due), nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// replaceShards closes the open shards and opens a child of each.
func (e *Engine) replaceShards(ctx context.Context, s *stream, now time.Time) error {
	return e.edit(ctx, s, func(r *streamRecord, _ *store.Batch) {
		for _, parent := range r.close(s.take(now)) {
			r.open(parent, s.take(now))
		}
	})
}

// trim removes what the retention has passed.
func (e *Engine) trim(ctx context.Context, s *stream, now time.Time) error {
	return e.edit(ctx, s, func(r *streamRecord, b *store.Batch) {
		r.Shards = slices.DeleteFunc(r.Shards, func(sh shard) bool { return sh.gone(now) })
		b.DeleteRange(store.Records(s.id, 0, horizon(now)))
	})
}

// edit changes what a stream is like.
func (e *Engine) edit(ctx context.Context, s *stream, change func(*streamRecord, *store.Batch)) error {
	b := e.store.NewBatch()
	if err := s.edit(ctx, b, change); err != nil {
		b.Discard()
		return err
	}
	return b.Wait()
}

func (s *stream) edit(ctx context.Context, b *store.Batch, change func(*streamRecord, *store.Batch)) error {
	if err := s.turns.lock(ctx); err != nil {
		return fmt.Errorf("wait for writers of the stream: %w", err)
	}
	defer s.turns.unlock()
	r := s.meta.Load().copy()
	change(r, b)
	if err := r.save(b); err != nil {
		return err
	}
	if err := b.Apply(); err != nil {
		return err
	}
	s.meta.Store(r)
	return nil
}

// removeStream ends a stream for good.
func (e *Engine) removeStream(s *stream) error {
	b := e.store.NewBatch()
	b.Delete(store.StreamKey(s.id))
	b.DeleteRange(store.Records(s.id, 0, maxSequence))
	if err := b.Commit(); err != nil {
		return err
	}
	e.mu.Lock()
	delete(e.streams, s.meta.Load().ARN)
	e.mu.Unlock()
	return nil
}
