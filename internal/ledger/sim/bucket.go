package sim

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// The simulated table: what requests do when they are applied.

// bucketLong is how long a time bucket is. The last one never ends.
const bucketLong = 30 * time.Second

// bucket is one time bucket of the key: its ledger, and its shards. A plan without time buckets has one.
type bucket struct {
	number   int
	versions []version      // of the ledger's item, the oldest first
	shards   []map[int]item // by the numbers of their writes

	widest   int           // the largest read width that was ever stored
	lost     bool          // the ledger is not what it was
	losses   int           // how often it was lost
	repaired time.Duration // when it last was what it had to be again
}

// version is what the ledger's item was from a time on.
type version struct {
	at     time.Duration
	record ledger.Record
	err    error // why no version of the program can parse it
	schema int
	newer  error // why a program that knows schema 1 only cannot
}

// item is a stored item.
type item struct {
	at    time.Duration
	stamp int64
}

// position is a place in the order of a read: a sort key, a shard, and the number of a write. The zero position is before
// all items.
type position struct{ sort, shard, id int }

func (p position) compare(q position) int {
	if p.sort != q.sort {
		return cmp.Compare(p.sort, q.sort)
	}
	return cmp.Or(cmp.Compare(p.shard, q.shard), cmp.Compare(p.id, q.id))
}

// span returns when a bucket begins and ends.
func span(n int) ledger.Span {
	start := time.Unix(1_000_000_000, 0).Add(time.Duration(n) * bucketLong)
	return ledger.Span{Start: start, End: start.Add(bucketLong)}
}

// bucketAt returns the bucket of a time.
func bucketAt(t time.Duration, buckets int) int {
	return min(max(0, int(t/bucketLong)), buckets-1)
}

// version returns the ledger as it was at a time.
func (w *world) version(b *bucket, at time.Duration) version {
	for _, v := range slices.Backward(b.versions) {
		if v.at <= at {
			return v
		}
	}
	return version{record: w.absent(), schema: 1}
}

// current returns the ledger as it is.
func (w *world) current(b *bucket) ledger.Record { return w.version(b, w.now).record }

// parse returns what a process makes of the ledger.
func (v version) parse(p *process) (ledger.Record, error) {
	switch {
	case v.schema > p.version:
		return ledger.Record{}, v.newer
	case v.err != nil:
		return ledger.Record{}, v.err
	}
	return v.record, nil
}

// store applies a WriteLedger.
func (w *world) store(o *operation, e ledger.WriteLedger) ledger.LedgerWritten {
	b := o.bucket
	stored := w.version(b, w.now)
	before, r := stored.record, e.Record
	if !e.Any && (before.Generation != e.If || e.Most > 0 && before.Read > e.Most) {
		got, err := stored.parse(o.process)
		return ledger.LedgerWritten{Outcome: ledger.Refused, Record: got, Unparsed: err}
	}
	w.say("stored: bucket %d, generation %d, %d/%d", b.number, r.Generation, r.Write, r.Read)
	switch {
	case r.Generation <= before.Generation:
		w.wrong("generation %d was stored over generation %d", r.Generation, before.Generation)
	case r.Write > r.Read:
		w.wrong("generation %d writes %d shards and reads %d", r.Generation, r.Write, r.Read)
	case r.Epoch == before.Epoch && r.Read < before.Read:
		w.wrong("generation %d reads %d shards, generation %d read %d", r.Generation, r.Read, before.Generation, before.Read)
	case before.Frozen && r.Frozen && r.Write != before.Write:
		w.wrong("generation %d has another width, and generation %d was frozen", r.Generation, before.Generation)
	case o.creates && before.Generation > 0:
		w.wrong("%v has changed generation %d, which was there before", o, before.Generation)
	case stored.schema > o.process.version && b.losses == 0:
		w.wrong("%v has stored generation %d over a ledger that it does not understand", o, r.Generation)
	}
	w.replace(b, r, o.process.version)
	b.widest = max(b.widest, r.Read)
	if o.probe != nil {
		w.checkRepair(o, r)
	}
	w.checkShards(b)
	return ledger.LedgerWritten{Outcome: ledger.Done}
}

// replace puts a record in place of the ledger's item, or deletes it if the record is absent.
func (w *world) replace(b *bucket, r ledger.Record, schema int) {
	v := version{at: w.now, record: r, schema: schema}
	if r.Generation == 0 {
		v.schema = 1
	} else {
		values := r.Encode()
		if parsed, err := ledger.Parse(values); err != nil {
			v.err = err
		} else {
			v.record = parsed
		}
		values[0].Text = strconv.Itoa(ledger.Version + 1)
		_, v.newer = ledger.Parse(values)
	}
	b.versions = append(b.versions, v)
}

// put applies a SendItem.
func (w *world) put(id int, e ledger.SendItem) {
	b := w.writes[id].bucket
	w.say("put: write %d in shard %d of bucket %d, stamp %d", id, e.Shard, b.number, e.Stamp)
	if e.Shard >= b.widest {
		w.wrong("write %d was sent to shard %d, and no ledger ever read more than %d shards", id, e.Shard, b.widest)
	}
	for len(b.shards) <= e.Shard {
		b.shards = append(b.shards, map[int]item{})
	}
	for n, shard := range b.shards {
		if _, there := shard[id]; there && n != e.Shard {
			w.wrong("write %d is in shards %d and %d", id, n, e.Shard)
		}
	}
	if _, there := b.shards[e.Shard][id]; !there {
		b.shards[e.Shard][id] = item{w.now, e.Stamp}
	}
}

// get returns an item of a shard as it was at a time.
func (b *bucket) get(shard, id int, at time.Duration) (item, bool) {
	if shard >= len(b.shards) {
		return item{}, false
	}
	i, there := b.shards[shard][id]
	return i, there && i.at <= at
}

// list returns the items of a shard behind a position that were there at a time, in order, and their stamps.
func (w *world) list(b *bucket, shard int, after position, at time.Duration) (found []position, stamps []int64) {
	if shard >= len(b.shards) {
		return nil, nil
	}
	for id, i := range b.shards[shard] {
		p := position{w.writes[id].sort, shard, id}
		if i.at <= at && p.compare(after) > 0 && (p.sort > after.sort || !w.breaks.ResumeBySort) {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, position.compare) // a map has no order, and a run must have one
	for _, p := range found {
		stamps = append(stamps, b.shards[shard][p.id].stamp)
	}
	return found, stamps
}

// lose replaces the ledger by an earlier one, or by none.
func (w *world) lose(b *bucket, at time.Duration) {
	before := w.version(b, w.now)
	earlier := version{record: w.absent(), schema: 1}
	if at >= 0 {
		earlier = w.version(b, at)
	}
	if earlier.record.Equal(before.record) {
		return
	}
	w.say("lost: bucket %d, generation %d instead of %d", b.number, earlier.record.Generation, before.record.Generation)
	w.replace(b, earlier.record, earlier.schema)
	b.lost = true
	b.losses++
}
