package counter

import (
	"reflect"
	"testing"
)

// What an owner makes of the answers to its flushes. That this is right is shown by exploring it: see protocol_test.go.
func TestOwnerLands(t *testing.T) {
	total := func(n int64) amount { return amount{up: n, adds: n} }
	stored := func(n, seq, frozen int64) *slot { return &slot{id: "0-a", total: total(n), seq: seq, frozen: frozen} }
	// 10 are stored, with flush 1; flushes 2 and 3, of 1 each, are in doubt; flush 4 is of 5.
	doubtful := owner{
		shards: 1, width: 1, id: "0-a", open: true, seq: 3, stored: total(10),
		doubts: []flush{{2, total(11)}, {3, total(12)}},
	}
	without := owner{shards: 1, width: 1, seq: 4}
	with := func(n int64, doubts ...flush) owner {
		return owner{shards: 1, width: 1, id: "0-a", open: true, seq: 4, stored: total(n), doubts: doubts}
	}
	for _, c := range []struct {
		name   string
		answer answer
		owner  owner
		want   landing
	}{
		{"done", answer{}, with(17), landing{counted: 4}},
		{"unanswered", answer{outcome: unknown}, with(10, flush{2, total(11)}, flush{3, total(12)}, flush{4, total(17)}), landing{}},
		{"throttled", answer{outcome: failed}, with(10, flush{2, total(11)}, flush{3, total(12)}), landing{again: []int64{4}}},
		{"done before", answer{outcome: refused, slot: stored(17, 4, 0)}, with(17), landing{counted: 4}},
		{"done before, and frozen", answer{outcome: refused, slot: stored(17, 4, 1)}, without, landing{counted: 4}},
		{"frozen before all", answer{outcome: refused, slot: stored(10, 1, 1)}, without, landing{counted: 1, again: []int64{2, 3, 4}}},
		{"frozen in between", answer{outcome: refused, slot: stored(11, 2, 1)}, without, landing{counted: 2, again: []int64{3, 4}}},
		{"gone", answer{outcome: refused}, without, landing{again: []int64{4}, lost: []int64{2, 3}}},
		{"gone, after a lost answer", answer{outcome: refused, lost: true}, without, landing{lost: []int64{2, 3, 4}}},
		{"written by a copy", answer{outcome: refused, slot: stored(99, 4, 0)}, without, landing{lost: []int64{2, 3, 4}}},
		{"written by a copy that is ahead", answer{outcome: refused, slot: stored(99, 7, 0)}, without, landing{lost: []int64{2, 3, 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, r := doubtful.launch(total(5))
			if r.total != total(17) || r.seq != 4 {
				t.Fatalf("it flushes %+v with seq %d", r.total, r.seq)
			}
			o, got := o.landed(r, c.answer)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if len(o.doubts) == 0 {
				o.doubts = nil
			}
			if len(c.owner.doubts) == 0 {
				c.owner.doubts = nil
			}
			if !reflect.DeepEqual(o, c.owner) {
				t.Errorf("left with %+v, want %+v", o, c.owner)
			}
		})
	}
}
