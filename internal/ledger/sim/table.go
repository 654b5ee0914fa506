package sim

import (
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// The simulated table: what requests do when they are applied.

// stored returns the ledger as it was at a time.
func (w *world) stored(at time.Duration) (ledger.Record, error) {
	for _, v := range slices.Backward(w.versions) {
		if v.at <= at {
			return v.record, v.err
		}
	}
	return ledger.Absent(layout.Random, layout.XXHash), nil
}

// current returns the ledger as it is. A record that Parse refuses is the fault of who wrote it, and was found then.
func (w *world) current() ledger.Record {
	r, _ := w.stored(w.now)
	return r
}

// store applies a WriteLedger.
func (w *world) store(e ledger.WriteLedger) ledger.LedgerWritten {
	before := w.current()
	if !e.Any && (before.Generation != e.If || e.Most > 0 && before.Read > e.Most) {
		return ledger.LedgerWritten{Outcome: ledger.Refused, Record: before}
	}
	r := e.Record
	w.say("stored: generation %d, %d/%d", r.Generation, r.Write, r.Read)
	switch {
	case r.Generation <= before.Generation:
		w.wrong("generation %d was stored over generation %d", r.Generation, before.Generation)
	case r.Write > r.Read:
		w.wrong("generation %d writes %d shards and reads %d", r.Generation, r.Write, r.Read)
	case r.Epoch == before.Epoch && r.Read < before.Read:
		w.wrong("generation %d reads %d shards, generation %d read %d", r.Generation, r.Read, before.Generation, before.Read)
	case before.Frozen && r.Frozen && r.Write != before.Write:
		w.wrong("generation %d has another width, and generation %d was frozen", r.Generation, before.Generation)
	}
	w.replace(r)
	w.widest, w.newest = max(w.widest, r.Read), max(w.newest, r.Generation)
	w.checkShards()
	return ledger.LedgerWritten{Outcome: ledger.Done}
}

// replace puts a record in place of the ledger's item, or deletes it if the record is absent.
func (w *world) replace(r ledger.Record) {
	v := version{at: w.now, record: r}
	if r.Generation > 0 {
		v.record, v.err = ledger.Parse(r.Encode())
	}
	w.versions = append(w.versions, v)
}

// checkShards sees whether every acknowledged write is in a shard that is read.
func (w *world) checkShards() {
	if w.lost {
		return
	}
	r := w.current()
	for id, g := range w.writes {
		if g.acked && g.shard >= r.Read {
			w.wrong("write %d was acknowledged in shard %d, and generation %d reads %d shards", id, g.shard, r.Generation, r.Read)
		}
	}
}

// put applies a SendItem.
func (w *world) put(id int, e ledger.SendItem) {
	w.say("put: write %d in shard %d, stamp %d", id, e.Shard, e.Stamp)
	if e.Shard >= w.widest {
		w.wrong("write %d was sent to shard %d, and no ledger ever read more than %d shards", id, e.Shard, w.widest)
	}
	for len(w.shards) <= e.Shard {
		w.shards = append(w.shards, map[int]item{})
	}
	for n, shard := range w.shards {
		if _, there := shard[id]; there && n != e.Shard {
			w.wrong("write %d is in shards %d and %d", id, n, e.Shard)
		}
	}
	if _, there := w.shards[e.Shard][id]; !there {
		w.shards[e.Shard][id] = item{w.now, e.Stamp}
	}
}

// list returns the items of a shard that were there at a time, and their largest stamp.
func (w *world) list(shard int, at time.Duration) (ids []int, stamp int64) {
	if shard >= len(w.shards) {
		return nil, 0
	}
	for id := range w.writes {
		if i, there := w.shards[shard][id]; there && i.at <= at {
			ids = append(ids, id)
			stamp = max(stamp, i.stamp)
		}
	}
	return ids, stamp
}

// lose replaces the ledger by an earlier one, or by none.
func (w *world) lose(at time.Duration) {
	before := w.current()
	earlier := ledger.Absent(layout.Random, layout.XXHash)
	if at >= 0 {
		earlier, _ = w.stored(at)
	}
	if earlier.Equal(before) {
		return
	}
	w.say("lost: generation %d instead of %d", earlier.Generation, before.Generation)
	w.replace(earlier)
	w.lost = true
	w.losses++
}

// repair writes a ledger that has all shards, later than any other.
func (w *world) repair() {
	if !w.lost {
		return
	}
	w.newest++
	r := ledger.Record{Generation: w.newest, Read: w.widest, Write: w.widest, State: ledger.Active, By: "repair"}
	w.say("repaired: generation %d, %d/%d", r.Generation, r.Write, r.Read)
	w.replace(r)
	w.lost = false
	w.repaired = w.now
	w.checkShards()
}
