package sim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// staleness is how long ago a write is that every eventual read returns: the time that a record is kept by a clock that is
// 5 % slow, and the lag of the replicas that the record and the items were read from.
const staleness = ledger.DefaultKeep*1000/950 + MaxLag + time.Millisecond

// checkErr sees whether an error tells the truth.
func (w *world) checkErr(o *operation, err error) {
	switch {
	case err == nil:
		return
	case errors.Is(err, ledger.ErrNewer):
		w.stats.Newer++
		if w.plan.Old == 0 {
			w.wrong("%v: there is no newer version: %v", o, err)
		}
	case errors.Is(err, ledger.ErrLost):
		w.stats.Lost++
		if o.bucket.losses == 0 {
			w.wrong("%v: the ledger was never lost: %v", o, err)
		}
	case errors.Is(err, ledger.ErrRecord):
		w.wrong("%v: %v", o, err)
	}
	w.stats.Failed++
}

// check is what the observer knows of a bucket when a read of it begins.
type check struct {
	bucket  *bucket
	mode    ledger.Mode
	start   time.Duration
	must    []int // writes that the read has to return
	atLeast int64 // the largest generation that a causal read was told of
	losses  int
	lost    bool
	stale   bool // a page said that it may miss something
}

// newCheck returns what a read that begins now is held to.
func (w *world) newCheck(b *bucket, mode ledger.Mode, r *rand.Rand) check {
	c := check{bucket: b, mode: mode, start: w.now, losses: b.losses, lost: b.lost}
	for id, g := range w.writes {
		switch {
		case g.bucket != b || !w.owed(g, mode):
		case mode == ledger.Causal && r.IntN(3) == 0: // the caller has not heard of this one
		default:
			c.must = append(c.must, id)
			c.atLeast = max(c.atLeast, g.generation)
		}
	}
	return c
}

// owed reports whether a read that begins now has to return a write.
func (w *world) owed(g *write, mode ledger.Mode) bool {
	return g.acked && (mode != ledger.Eventual || g.at < w.now-staleness)
}

// sight is what the observer knows of a process when its operation begins.
type sight struct {
	losses int
	lost   bool
	known  int64 // the largest generation that the process was told
	told   bool  // it was told that the ledger is of a newer version
	newer  bool  // the ledger is
}

func (w *world) look(o *operation) sight {
	b, m := o.bucket, o.memory()
	return sight{losses: b.losses, lost: b.lost, known: m.known, told: m.newer, newer: w.version(b, w.now).schema > o.process.version}
}

// checkNewer sees that a process does not go on with a ledger that it does not understand.
func (w *world) checkNewer(o *operation, s sight, strong bool) {
	if s.newer && (s.told || strong) && o.bucket.losses == 0 {
		w.wrong("%v has succeeded, and the ledger is of a newer version", o)
	}
}

// checkPage sees whether a strong page has noticed what it could: that the ledger went back behind what the process knew,
// behind the stamps of the items, or behind the page before.
func (w *world) checkPage(o *operation, before sight, s *scan, result ledger.ReadResult) {
	b := o.bucket
	w.checkNewer(o, before, s.mode == ledger.Strong)
	if s.width > 0 && result.Shards < s.width {
		w.wrong("%v has read %d shards, and the page before %d", o, result.Shards, s.width)
	}
	if s.mode != ledger.Strong || !before.lost || before.losses != b.losses || !b.lost {
		return
	}
	now := w.current(b)
	if now.Generation < before.known {
		w.wrong("%v has not noticed that the ledger went back to generation %d, from %d", o, now.Generation, before.known)
	}
	for _, p := range o.got {
		if stamp := b.shards[p.shard][p.id].stamp; stamp > now.Generation {
			w.wrong("%v has not noticed that write %d has stamp %d, and the ledger generation %d", o, p.id, stamp, now.Generation)
		}
	}
}

// checkScan holds the pages of a bucket to their promise: each write that is owed is there once, and all are in order.
func (w *world) checkScan(o *operation, s *scan, c *check) {
	var ids []int
	for i, p := range s.got {
		if i > 0 && p.compare(s.got[i-1]) <= 0 {
			w.wrong("%v has returned %v behind %v", o, p, s.got[i-1])
		}
		ids = append(ids, p.id)
	}
	slices.Sort(ids)
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			w.wrong("%v has returned write %d twice", o, id)
		}
	}
	if w.excused(c) {
		return
	}
	for _, id := range c.must {
		if _, there := slices.BinarySearch(ids, id); !there {
			g := w.writes[id]
			w.wrong("%v, begun at %v, has missed write %d, acknowledged in shard %d at %v", o, c.start, id, g.shard, g.at)
			return
		}
	}
}

// excused reports whether a read may miss items: it says so itself, or the ledger was lost and nobody told the process.
// What the process could have known is never excused; see checkPage.
func (w *world) excused(c *check) bool {
	b := c.bucket
	touched := c.lost || c.losses != b.losses || b.lost
	switch c.mode {
	case ledger.Strong:
		return touched
	case ledger.Causal: // the process may know a generation of the same number from after the loss
		return b.losses > 0
	}
	return c.stale || touched || b.losses > 0 && c.start < b.repaired+staleness
}

// checkShards sees whether every acknowledged write is in a shard that is read. After a loss and a repair, a process may
// still know the ledger of before and write where the repaired one does not look; then the ledger counts as lost again.
func (w *world) checkShards(b *bucket) {
	if b.lost {
		return
	}
	r := w.current(b)
	for id, g := range w.writes {
		if g.bucket != b || !g.acked || g.shard < r.Read {
			continue
		}
		if b.losses > 0 {
			b.lost = true
			return
		}
		w.wrong("write %d was acknowledged in shard %d, and generation %d reads %d shards", id, g.shard, r.Generation, r.Read)
	}
}

// probe is what the observer knows of a repair.
type probe struct {
	must  []int // writes that were acknowledged before the probe began
	stamp int64 // the largest that the probe has seen
}

// checkRepair sees whether a repaired record covers what the probe could see. The loss is over if nobody knows anything that
// the record does not cover.
func (w *world) checkRepair(o *operation, r ledger.Record) {
	b := o.bucket
	for _, id := range o.probe.must {
		if g := w.writes[id]; g.shard >= r.Read {
			w.wrong("%v reads %d shards, and write %d was in shard %d before", o, r.Read, id, g.shard)
		}
	}
	if r.Generation <= o.probe.stamp {
		w.wrong("%v has stored generation %d, and has seen an item with stamp %d", o, r.Generation, o.probe.stamp)
	}
	for _, shard := range b.shards {
		for _, i := range shard {
			if i.stamp > r.Generation {
				return
			}
		}
	}
	for _, p := range w.processes {
		known, _ := p.memories[b.number].view.Record()
		if known.Write > r.Read || p.memories[b.number].known > r.Generation {
			return
		}
	}
	for _, g := range w.writes {
		if g.bucket == b && g.shard >= r.Read {
			return
		}
	}
	if b.lost {
		b.lost, b.repaired = false, w.now
	}
	w.stats.Repaired++
}
