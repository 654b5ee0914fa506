package ratelimit

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
)

// slidingWindow counts by slots of time, in an item that has the counts of the newest slot and of the slots before it
// that may still have a part in the window. Their sum is kept beside them, so that a condition can compare it: within a
// slot a check is one update. The first in a new slot finds another number there than it guessed, is shown the item,
// and replaces the counts that have left the window.
//
// The slots of an item together are at least as long as the window and one slot longer at most; whatever was let
// through within a window is in one of them.
type slidingWindow struct {
	name  string
	slot  time.Duration
	slots int // how many there are in a window; an item has one more, for the part of the oldest
}

const (
	slotAttribute  = "slot"  // the newest slot, counted from 1970
	slotsAttribute = "slots" // counts by slot modulo their number
	sumAttribute   = "sum"   // of slots
)

// newSlidingWindow divides a window.
func newSlidingWindow(name string, window time.Duration, slots int) slidingWindow {
	return slidingWindow{name, (window + time.Duration(slots) - 1) / time.Duration(slots), slots}
}

func (s slidingWindow) sortKey(time.Time) string { return s.name }

func (s slidingWindow) lapse(now time.Time) time.Time {
	return now.Add(s.slot * time.Duration(s.slots+1))
}

func (s slidingWindow) hint(heatsink.Item) int64 { return 0 }

func (s slidingWindow) number(now time.Time) int64 { return now.UnixNano() / int64(s.slot) }

// counts is what an item says.
type counts struct {
	newest int64
	slots  []int64
}

func (c counts) sum() (sum int64) {
	for _, n := range c.slots {
		sum += n
	}
	return sum
}

func (c counts) index(slot int64) int { return modulo(slot, len(c.slots)) }

// modulo is the remainder that is not negative, for clocks that were never set as well.
func modulo(slot int64, n int) int { return int((slot%int64(n) + int64(n)) % int64(n)) }

// read returns an item's counts.
func (s slidingWindow) read(item heatsink.Item) (c counts, err error) {
	if item == nil {
		return counts{slots: make([]int64, s.slots+1)}, nil
	}
	if c.newest, err = numberIn(item, slotAttribute); err != nil {
		return c, err
	}
	if c.slots, err = numbersIn(item, slotsAttribute); err != nil {
		return c, err
	}
	if len(c.slots) != s.slots+1 {
		return c, fmt.Errorf("%w: it has %d slots, want %d", errForeign, len(c.slots), s.slots+1)
	}
	return c, nil
}

// advance returns the counts with slot as the newest. They are the same if they have that or a newer one already: a
// clock that is behind counts in the newest slot there is.
func (c counts) advance(slot int64) counts {
	if slot <= c.newest {
		return c
	}
	next := counts{newest: slot, slots: append([]int64(nil), c.slots...)}
	for passed := max(c.newest+1, slot-int64(len(c.slots))+1); passed <= slot; passed++ {
		next.slots[next.index(passed)] = 0
	}
	return next
}

func (s slidingWindow) count(q *question) expression {
	slot := s.number(q.now)
	if !q.known {
		return s.add(q, slot)
	}
	old, err := s.read(q.seen)
	if err != nil || q.seen != nil && old.newest >= slot {
		return s.add(q, max(slot, old.newest))
	}
	next := old.advance(slot)
	next.slots[next.index(slot)] += int64(q.n)
	e := expression{
		update:    "SET #slot = :slot, #slots = :slots, #sum = :sum, #ttl = :ttl",
		condition: "attribute_not_exists(#slot)",
		names:     map[string]string{"#slot": slotAttribute, "#slots": slotsAttribute, "#sum": sumAttribute},
		values: heatsink.Item{
			":slot": number(next.newest), ":slots": numbers(next.slots), ":sum": number(next.sum()),
		},
		repeatable: true,
	}
	if q.seen != nil {
		e.condition = "#slot = :oldslot AND #slots = :oldslots"
		e.values[":oldslot"], e.values[":oldslots"] = number(old.newest), numbers(old.slots)
	}
	return e
}

// add counts within the newest slot.
func (s slidingWindow) add(q *question, slot int64) expression {
	i := modulo(slot, s.slots+1)
	return expression{
		update:    fmt.Sprintf("SET #slots[%d] = #slots[%d] + :cost, #sum = #sum + :cost, #ttl = :ttl", i, i),
		condition: "#slot = :slot AND #sum <= :most",
		names:     map[string]string{"#slot": slotAttribute, "#slots": slotsAttribute, "#sum": sumAttribute},
		values:    heatsink.Item{":slot": number(slot), ":cost": number(q.n), ":most": number(q.share - q.n)},
	}
}

func (s slidingWindow) room(item heatsink.Item, share int, now time.Time) (int, error) {
	c, err := s.read(item)
	if err != nil {
		return 0, err
	}
	return max(share-int(c.advance(s.number(now)).sum()), 0), nil
}

// free returns when enough slots have left the window: a slot does when the one that takes its place begins.
func (s slidingWindow) free(item heatsink.Item, share, n int, now time.Time) time.Time {
	c, err := s.read(item)
	if err != nil {
		return now
	}
	c = c.advance(s.number(now))
	left := c.sum()
	slot := c.newest - int64(s.slots)
	for ; slot < c.newest; slot++ {
		if left -= c.slots[c.index(slot)]; left <= int64(share-n) {
			break
		}
	}
	return time.Unix(0, (slot+int64(s.slots)+1)*int64(s.slot))
}
