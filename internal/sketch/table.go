package sketch

import "math/bits"

// table finds the entry of a hash: open addressing with linear probing, twice as large as its content at least.
type table struct {
	slots []slot
	shift uint
}

type slot struct {
	hash  uint64
	entry int32 // plus one; 0 is an empty slot
}

func newTable(entries int) table {
	n := bits.Len(uint(2*entries - 1))
	return table{slots: make([]slot, 1<<n), shift: uint(64 - n)}
}

// home returns where a hash belongs. Its high bits are used, after a multiplication that mixes all of them in.
func (t *table) home(hash uint64) int { return int(hash * 0x9E3779B97F4A7C15 >> t.shift) }

func (t *table) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

func (t *table) get(hash uint64) (int32, bool) {
	for i := t.home(hash); t.slots[i].entry != 0; i = t.next(i) {
		if t.slots[i].hash == hash {
			return t.slots[i].entry - 1, true
		}
	}
	return 0, false
}

func (t *table) put(hash uint64, entry int32) {
	i := t.home(hash)
	for t.slots[i].entry != 0 {
		i = t.next(i)
	}
	t.slots[i] = slot{hash, entry + 1}
}

// remove empties the slot of a hash, which is there, and moves up what was put behind it for want of room.
func (t *table) remove(hash uint64) {
	i := t.home(hash)
	for t.slots[i].hash != hash || t.slots[i].entry == 0 {
		i = t.next(i)
	}
	for j := t.next(i); t.slots[j].entry != 0; j = t.next(j) {
		home := t.home(t.slots[j].hash)
		// What is at j may go to i unless its home lies behind i, on the way to j.
		if (j-home)&(len(t.slots)-1) >= (j-i)&(len(t.slots)-1) {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot{}
}
