package forward

import "testing"

// An operation says where its id is, so that the next one asks the right home first: of every kind, at every stage with two homes, from
// each order.
func TestSight(t *testing.T) {
	for _, test := range []struct {
		name     string
		kind     Kind
		old, new Slot[int]
		want     Sight
	}{
		{"get, not moved", Get, Slot[int]{State: Live}, Slot[int]{}, Sight{At: InOld, Made: true}},
		{"get, moved", Get, Slot[int]{State: Stub}, Slot[int]{State: Live, Copied: 3}, Sight{At: InNew}},
		{"get, created", Get, Slot[int]{State: Stub}, Slot[int]{State: Live}, Sight{At: InNew, Made: true}},
		{"get, deleted", Get, Slot[int]{State: Stub}, Slot[int]{State: Dead}, Sight{At: InNew, Made: true}},
		{"get, absent", Get, Slot[int]{}, Slot[int]{}, Sight{At: Nowhere}},
		{"put, not moved", Put, Slot[int]{State: Live}, Slot[int]{}, Sight{At: InOld}},
		{"put, moved", Put, Slot[int]{State: Stub}, Slot[int]{State: Live, Copied: 3}, Sight{At: InNew}},
		{"put, absent", Put, Slot[int]{}, Slot[int]{}, Sight{At: InNew, Made: true}},
		{"delete, not moved", Delete, Slot[int]{State: Live}, Slot[int]{}, Sight{At: Nowhere}},
		{"delete, moved", Delete, Slot[int]{State: Stub}, Slot[int]{State: Live, Copied: 3}, Sight{At: InNew}},
		{"delete, absent", Delete, Slot[int]{}, Slot[int]{}, Sight{At: Nowhere}},
		{"create, not moved", Create, Slot[int]{State: Live}, Slot[int]{}, Sight{At: InOld, Made: true}},
		{"create, absent", Create, Slot[int]{}, Slot[int]{}, Sight{At: InNew, Made: true}},
	} {
		for _, phase := range []Phase{Split, Closed} {
			for _, first := range []First{OldFirst, NewFirst, StubFirst} {
				slots := [2]Slot[int]{test.old, test.new}
				u := User[int]{Kind: test.kind, Write: func(int, bool) int { return 1 }}
				o := NewOperation[int](test.kind, phase, first, &Breaks{})
				var r Request[int]
				var a Answer[int]
				creates := false
				for o.Outcome == Running {
					r = o.Next()
					a = Answer[int]{Slot: slots[r.Home]}
					slots[r.Home], a.Done = Apply(r, u, slots[r.Home], &Breaks{})
					creates = creates || test.kind != Get && r.Creates(a)
					o = o.Take(a)
				}
				got := o.Sight(r, a)
				got.Made = got.Made || creates
				if got.At != test.want.At || got.At == InNew && got.Made != test.want.Made {
					t.Errorf("%s, %v, from %d: got %+v, want %+v", test.name, phase, first, got, test.want)
				}
			}
		}
	}
}
