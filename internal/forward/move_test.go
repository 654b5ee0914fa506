package forward

import (
	"fmt"
	"testing"
)

// pair is the two homes of an id, whose content is a number; 0 is none.
type pair [2]Slot[int]

// send does to the homes what a machine asks for.
func (p *pair) send(r Request[int]) Answer[int] {
	before := p[r.Home]
	after, done := Apply(r, User[int]{}, before, &Breaks{})
	p[r.Home] = after
	if done && r.Act != Freeze && r.Act != FreezeBack {
		return Answer[int]{Done: true, Slot: before}
	}
	return Answer[int]{Done: done, Slot: after}
}

// content returns what the id is.
func (p *pair) content() int {
	switch p[New].State {
	case Live, Leaving:
		return p[New].Content
	case Dead, Left:
		return 0
	}
	return p[Old].Content
}

// Moves end whatever state others have left an id in, with the content in the right home. Two at once do as well, whoever is
// faster.
func TestMovesEnd(t *testing.T) {
	live := Slot[int]{State: Live, Content: 7}
	frozen := Slot[int]{State: Frozen, Content: 7}
	stub, dead, none := Slot[int]{State: Stub}, Slot[int]{State: Dead}, Slot[int]{}
	for name, c := range map[string]struct {
		back bool
		from pair
	}{
		"live":                       {false, pair{live, none}},
		"frozen":                     {false, pair{frozen, none}},
		"copied":                     {false, pair{frozen, live}},
		"copied and deleted":         {false, pair{frozen, dead}},
		"moved":                      {false, pair{stub, live}},
		"deleted":                    {false, pair{stub, dead}},
		"stub alone":                 {false, pair{stub, none}},
		"nothing":                    {false, pair{}},
		"back: live":                 {true, pair{live, none}},
		"back: frozen":               {true, pair{frozen, none}},
		"back: copied":               {true, pair{frozen, live}},
		"back: copied and deleted":   {true, pair{frozen, dead}},
		"back: moved":                {true, pair{stub, live}},
		"back: deleted":              {true, pair{stub, dead}},
		"back: stub alone":           {true, pair{stub, none}},
		"back: marked":               {true, pair{stub, Slot[int]{State: Leaving, Content: 7}}},
		"back: marked while deleted": {true, pair{stub, Slot[int]{State: Left}}},
		"back: nothing":              {true, pair{}},
	} {
		for order := range 1 << 12 { // which of the two sends the next request
			homes, want := c.from, c.from.content()
			machines := [2]Move[int]{NewMove[int](&Breaks{}), NewMove[int](&Breaks{})}
			if c.back {
				machines = [2]Move[int]{NewReturn[int](&Breaks{}), NewReturn[int](&Breaks{})}
			}
			text := fmt.Sprintf("%s, order %b", name, order)
			for n := 0; !machines[0].Over || !machines[1].Over; n++ {
				i := order >> min(n, 11) & 1
				if machines[i].Over {
					i = 1 - i
				}
				machines[i] = machines[i].Take(homes.send(machines[i].Next()))
				if n > 40 || machines[i].Stale {
					t.Fatalf("%s: no end after %d requests: %+v", text, n, homes)
				}
				if got := homes.content(); got != want {
					t.Fatalf("%s: the id is %d on the way, want %d: %+v", text, got, want, homes)
				}
			}
			old := homes[Old].State
			if c.back && (old.Forwarded() || homes[Old].Content != want) || !c.back && (old == Live || old == Frozen) {
				t.Fatalf("%s: got %+v, want the content in its home", text, homes)
			}
		}
	}
}
