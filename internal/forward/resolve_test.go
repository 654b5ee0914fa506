package forward

import (
	"fmt"
	"testing"
)

var (
	allPhases = []Phase{Settled, Split, Closed, Settling, Back}
	allStates = []State{Absent, Live, Frozen, Stub, Dead, Leaving, Left}
)

// slotOf returns a slot with a content that tells its home.
func slotOf(s State, h Home) Slot[string] {
	slot := Slot[string]{State: s}
	if s == Live || s == Frozen || s == Leaving {
		slot.Content = h.String()
	}
	return slot
}

// run lets a machine read two slots that do not change, and returns how often it has read.
func run(t *testing.T, o Operation[string], slots [2]Slot[string]) (end Operation[string], reads int) {
	for o.Outcome == Running {
		if reads++; reads > 5 {
			t.Fatalf("%v in %v does not end", o.Kind, o.Phase)
		}
		r := o.Next()
		if r.Act != Read {
			t.Fatalf("%v in %v sends %v", o.Kind, o.Phase, r)
		}
		o = o.Take(Answer[string]{Done: true, Slot: slots[r.Home]})
	}
	return o, reads
}

// Resolve decides as the machine does, in all phases and states, whichever home the machine reads first. Where the machine reads once
// more, Resolve asks for a Get, which finds the same.
func TestResolveIsTheMachine(t *testing.T) {
	var b Breaks
	followed, decided := 0, 0
	for _, phase := range allPhases {
		for _, old := range allStates {
			for _, moved := range allStates {
				slots := [2]Slot[string]{slotOf(old, Old), slotOf(moved, New)}
				got := Resolve(phase, Seen[string]{slots[Old], true}, Seen[string]{slots[New], true})
				name := fmt.Sprintf("%v: %v, %v", phase, old, moved)
				for _, first := range []First{OldFirst, NewFirst} {
					want, reads := run(t, NewOperation[string](List, phase, first, &b), slots)
					if reads == 3 && got.Outcome != Running {
						t.Errorf("%s, %d first: got %d, but the machine looks again", name, first, got.Outcome)
					}
					outcome, content := got.Outcome, got.Content
					if got.Outcome == Running {
						get, _ := run(t, NewOperation[string](Get, phase, first, &b), slots)
						outcome, content = get.Outcome, get.Content
						followed++
					} else {
						decided++
					}
					if outcome != want.Outcome || content != want.Content {
						t.Errorf("%s, %d first: got %d %q, want %d %q", name, first, outcome, content, want.Outcome, want.Content)
					}
				}
				if got.Outcome == Found && got.Content != got.Home.String() {
					t.Errorf("%s: got the content of the %s home, and says %v", name, got.Content, got.Home)
				}
				if follows := got.Outcome == Running; follows != (old == Stub && moved == Absent && (phase.both() || phase == Back)) {
					t.Errorf("%s: got %d: only a stub without a new item is followed", name, got.Outcome)
				}
			}
		}
	}
	t.Logf("%d decided, %d followed", decided, followed)
}

// What a home has that could not be read is never guessed: Resolve decides only if it would decide so whatever that home has, or had
// when the other was read.
func TestResolveWithoutAHome(t *testing.T) {
	for _, test := range []struct {
		phase      Phase
		old, moved State
		lost       Home // was not read
		want       Outcome
	}{
		{Settled, Absent, Absent, Old, Running},
		{Settled, Live, Absent, New, Found},
		{Settled, Absent, Absent, New, Missing},
		{Settling, Absent, Absent, New, Running},
		{Settling, Absent, Dead, Old, Missing},
		{Split, Live, Absent, New, Found},
		{Split, Frozen, Absent, New, Running},
		{Split, Stub, Absent, New, Running},
		{Split, Dead, Absent, New, Running},
		{Split, Absent, Absent, New, Running},
		{Split, Left, Absent, New, Stale},
		{Split, Absent, Live, Old, Found},
		{Split, Absent, Dead, Old, Missing},
		{Split, Absent, Leaving, Old, Stale},
		{Split, Absent, Absent, Old, Running},
		{Closed, Frozen, Absent, New, Running},
		{Closed, Absent, Live, Old, Found},
		{Back, Live, Absent, New, Found},
		{Back, Dead, Absent, New, Missing},
		{Back, Frozen, Absent, New, Running},
		{Back, Stub, Absent, New, Running},
		{Back, Absent, Live, Old, Found},
		{Back, Absent, Leaving, Old, Running},
		{Back, Absent, Left, Old, Running},
		{Back, Absent, Dead, Old, Running},
		{Back, Absent, Stub, Old, Stale},
		{Back, Absent, Absent, Old, Running},
	} {
		old, moved := Seen[string]{slotOf(test.old, Old), test.lost != Old}, Seen[string]{slotOf(test.moved, New), test.lost != New}
		if got := Resolve(test.phase, old, moved); got.Outcome != test.want {
			t.Errorf("%v: %v, %v without the %v home: got %d, want %d", test.phase, test.old, test.moved, test.lost, got.Outcome, test.want)
		}
	}
}
