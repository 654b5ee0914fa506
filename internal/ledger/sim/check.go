package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// checkErr sees whether an error tells the truth.
func (w *world) checkErr(o *operation, err error) {
	switch {
	case err == nil:
		return
	case errors.Is(err, ledger.ErrLost):
		w.stats.Lost++
		if w.losses == 0 {
			w.wrong("%v: the ledger was never lost: %v", o, err)
		}
	}
	w.stats.Failed++
}

// check is what the observer knows when a read begins.
type check struct {
	mode   ledger.Mode
	start  time.Duration
	must   []int // writes that the read has to return
	losses int
	lost   bool
	known  int64 // the largest generation that the process was told
	stored int64 // the generation of the ledger
}

// checkRead holds a read to its promise.
func (w *world) checkRead(o *operation, c check, result ledger.ReadResult) {
	*[...]*int{&w.stats.Strong, &w.stats.Causal, &w.stats.Eventual}[c.mode]++
	if result.Shards > 1 {
		w.stats.Wide++
	}
	slices.Sort(o.got)
	for i := 1; i < len(o.got); i++ {
		if o.got[i] == o.got[i-1] {
			w.wrong("%v has returned write %d twice", o, o.got[i])
		}
	}
	if w.excused(o, c, result) {
		return
	}
	for _, id := range c.must {
		if _, there := slices.BinarySearch(o.got, id); !there {
			w.wrong("%v, begun at %v, has missed write %d, acknowledged in shard %d at %v", o, c.start, id, w.writes[id].shard, w.writes[id].at)
			return
		}
	}
}

// excused reports whether a read may miss items: it says so itself, or the ledger was lost and nobody told the process.
// What the process could have known is never excused.
func (w *world) excused(o *operation, c check, result ledger.ReadResult) bool {
	untouched := c.losses == w.losses && c.lost == w.lost
	if c.mode == ledger.Strong && c.lost && untouched {
		now := w.current().Generation
		if now < c.known {
			w.wrong("%v has not noticed that the ledger went back to generation %d, from %d", o, now, c.known)
		}
		for _, id := range o.got {
			if stamp := w.shards[w.writes[id].shard][id].stamp; stamp > now {
				w.wrong("%v has not noticed that write %d has stamp %d, and the ledger generation %d", o, id, stamp, now)
			}
		}
	}
	switch c.mode {
	case ledger.Strong:
		return c.lost || !untouched
	case ledger.Causal: // the process may know a generation of the same number from after the loss
		return w.losses > 0
	}
	return result.Stale || c.lost || !untouched || w.losses > 0 && c.start < w.repaired+ledger.DefaultKeep+MaxLag
}
