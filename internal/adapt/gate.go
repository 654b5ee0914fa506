package adapt

import (
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
)

// defaultReport is the rate from which the law hears of a key, as ledger.LawOptions has it.
const defaultReport = 25

// gate keeps cold keys away from the law, without a lock and in fixed memory. It counts the units of a second in a slot for
// each hash of a key. Two keys with the same slot are watched together, which costs time and nothing else.
type gate struct {
	report float64
	slots  [4096]atomic.Uint64
}

// A slot holds a second in its upper half, whether the second before was hot in one bit, and milli-units in the others.
const (
	wasHot   = 1 << 31
	maxMilli = wasHot - 1
)

// hot adds units to a key and reports whether it has had more, in this second or in the one before, than a key that is
// reported.
func (g *gate) hot(key string, units float64, now time.Time) bool {
	slot := &g.slots[xxhash.Sum64String(key)%uint64(len(g.slots))]
	second, add := uint64(uint32(now.Unix())), uint64(min(max(units, 0), 1e6)*1000)
	for {
		old := slot.Load()
		milli, before := add, uint64(0)
		switch old >> 32 {
		case second:
			milli, before = milli+old&maxMilli, old&wasHot
		case second - 1:
			if g.over(old & maxMilli) {
				before = wasHot
			}
		}
		milli = min(milli, maxMilli)
		if slot.CompareAndSwap(old, second<<32|before|milli) {
			return before != 0 || g.over(milli)
		}
	}
}

func (g *gate) over(milli uint64) bool { return float64(milli) >= g.report*1000 }
