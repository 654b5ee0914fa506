package counter

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// slot is one writer's part of a counter as it is stored. The writer is a process for as long as it runs, or less: it
// gives a slot up when the counter is idle, and opens a new one with a new name when it needs one. Only the writer
// changes the amount, to a greater total each time, and seq is the number of that change. Once a slot is frozen nobody
// changes it.
type slot struct {
	id     slotID
	total  amount
	seq    int64
	at     int64 // when it was last written, by the writer's clock, in Unix milliseconds
	frozen int64 // when it was frozen, by the clock of whoever did, in Unix milliseconds; 0 if it is not
}

// slotID is the name of a slot: the number of the shard that it is in, and 128 random bits or more. No name is used
// twice.
type slotID string

func newSlotID(shard int) slotID { return slotID(strconv.Itoa(shard) + "-" + rand.Text()) }

// shard returns the shard that the slot is in, and false if this is no slot's name.
func (id slotID) shard() (int, bool) {
	number, _, ok := strings.Cut(string(id), "-")
	shard, err := strconv.ParseUint(number, 10, 16)
	return int(shard), ok && err == nil
}

// base is the item that a counter has once: what was folded into it, and what readers and writers must know before they
// do anything. The zero base is that of a counter without the item.
type base struct {
	sum      sum
	included set   // the slots that are part of sum, for as long as they may be seen
	version  int64 // +1 whenever something is taken away: names of included slots, or the sum at a reset
	level    level
	width    int    // how many shards may have slots
	reset    string // what the last reset was called
	imported wide   // the counts of before, as they were at the last import
	imports  int64  // how many there were
}

// set is a set of slot names. It is never changed, so copies may share it.
type set map[slotID]struct{}

func setOf(ids []slotID) set {
	s := make(set, len(ids))
	for _, id := range ids {
		s[id] = struct{}{}
	}
	return s
}

func (s set) has(id slotID) bool {
	_, ok := s[id]
	return ok
}
