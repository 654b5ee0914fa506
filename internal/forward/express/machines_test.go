package express

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// do sends what a machine asks for, and returns the answer.
func (b *bench) do(t *rapid.T, h Homes, r forward.Request[Item]) forward.Answer[Item] {
	request, err := h.Express(r, nil)
	if err != nil {
		t.Fatalf("%v: %v", r.Act, err)
	}
	answer, err := b.send(request, false, "").answer(request)
	if err != nil {
		t.Fatalf("%v: %v", r.Act, err)
	}
	return answer
}

// operate runs a user's request to its end, and returns what the user gets.
func (b *bench) operate(t *rapid.T, h Homes, u *User, a asked, phase forward.Phase) outcome {
	first := forward.First(rapid.IntRange(0, int(forward.StubFirst)).Draw(t, "first"))
	machine := forward.NewOperation[Item](u.Kind(), phase, first, &forward.Breaks{})
	for range 20 {
		r := machine.Next()
		request, err := h.Express(r, userOf(r.Act, u))
		if err != nil {
			t.Fatalf("%s: %v: %v", a.text, r.Act, err)
		}
		got := b.send(request, a.transact && userOf(r.Act, u) != nil, "")
		if got.invalid() != "" {
			return got
		}
		answer, err := got.answer(request)
		if err != nil {
			t.Fatalf("%s: %v: %v", a.text, r.Act, err)
		}
		machine = machine.Take(answer)
		switch machine.Outcome {
		case forward.Running:
		case forward.Done:
			return outcome{returned: request.Returned(got.returned)}
		case forward.Refused:
			return outcome{err: u.Refused(answer)}
		default:
			t.Fatalf("%s: %v: outcome %d", a.text, r.Act, machine.Outcome)
		}
	}
	t.Fatalf("%s: no end after 20 requests", a.text)
	return outcome{}
}

// userOf returns the user's request for the acts that are the user's.
func userOf(a forward.Act, u *User) *User {
	if a == forward.Write || a == forward.WriteExisting || a == forward.Kill {
		return u
	}
	return nil
}

// An item that moves, or moves back, answers as one that stays where it is.
func TestMovingItemsAnswerAsOthersDo(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		h := b.homes()
		plainKey := Item{"pk": text("plain"), "sk": h.Old["sk"]}
		var breaks forward.Breaks
		stage := forward.Stage{}
		home := h.Old // of the settled key
		if rapid.Bool().Draw(t, "there is an item") {
			for _, key := range []Item{h.Old, plainKey} {
				item := drawContent(t, "at first")
				if key["pk"] == plainKey["pk"] {
					item = alike(b.load(t, h.Old))
				}
				maps.Copy(item, key)
				b.store(t, item)
			}
		}
		move := forward.NewMove[Item](&breaks)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0: // the next stage, once all is done that this one has to do
				b.chore(t, h, stage, move)
				_, next, ok := stage.Next(true, &breaks)
				if !ok {
					t.Fatalf("%+v stays", stage)
				}
				if stage.Phase == forward.Split && rapid.Bool().Draw(t, "back") {
					next = forward.Stage{Phase: forward.Back}
				}
				if stage.Phase == forward.Settling {
					h.Old, h.New = h.New, h.Old // the next move goes the other way
					home = h.Old
				}
				stage, move = next, forward.NewMove[Item](&breaks)
				if stage.Phase == forward.Back {
					move = forward.NewReturn[Item](&breaks)
				}
			case 1: // a part of a move
				moving := stage.Phase == forward.Split || stage.Phase == forward.Closed || stage.Phase == forward.Back
				if moving && !move.Over {
					move = move.Take(b.do(t, h, move.Next()))
				} else if moving {
					move = forward.NewMove[Item](&breaks)
					if stage.Phase == forward.Back {
						move = forward.NewReturn[Item](&breaks)
					}
				}
			default:
				b.compare(t, h, plainKey, stage)
			}
			b.compareGet(t, h, plainKey, stage)
		}
		if stage == (forward.Stage{}) { // no mark is left
			item, plain := b.load(t, home), b.load(t, plainKey)
			delete(item, moved)
			if !attribute.Same(alike(item), alike(plain)) {
				t.Fatalf("settled: got %s, want %s", show(item), show(plain))
			}
		}
	})
}

// chore does what is to be done before the next stage.
func (b *bench) chore(t *rapid.T, h Homes, s forward.Stage, move forward.Move[Item]) {
	chore, _, _ := s.Next(true, &forward.Breaks{})
	switch chore {
	case forward.MoveAll, forward.ReturnAll:
		for range 20 {
			if move.Over || move.Stale {
				break
			}
			move = move.Take(b.do(t, h, move.Next()))
		}
		// A move that was over before an operation is no proof.
		move = forward.NewMove[Item](&forward.Breaks{})
		if chore == forward.ReturnAll {
			move = forward.NewReturn[Item](&forward.Breaks{})
		}
		for n := 0; !move.Over; n++ {
			if n > 20 || move.Stale {
				t.Fatalf("%+v: the move does not end", s)
			}
			move = move.Take(b.do(t, h, move.Next()))
		}
	case forward.DropStubs:
		b.do(t, h, forward.Request[Item]{Home: forward.Old, Act: forward.DropStub})
	case forward.DropDeads:
		b.do(t, h, forward.Request[Item]{Home: forward.Old, Act: forward.DropDead})
	case forward.DropBacks:
		b.do(t, h, forward.Request[Item]{Home: forward.New, Act: forward.DropBack})
	}
}

// compare sends one request of a user to both items.
func (b *bench) compare(t *rapid.T, h Homes, plainKey Item, s forward.Stage) {
	a := drawAsked(t)
	plain := b.send(a.plain(plainKey), a.transact, a.onFailure)
	u, err := a.user(b.table, plainKey)
	if err != nil {
		if plain.invalid() == "" {
			t.Fatalf("%s: %v", a.text, err)
		}
		return
	}
	got := b.operate(t, h, u, a, s.Phase)
	gotItem, gotFailed := got.failed()
	plainItem, plainFailed := plain.failed()
	switch {
	case got.invalid() != plain.invalid(), gotFailed != plainFailed, !attribute.Same(alike(gotItem), alike(plainItem)),
		!attribute.Same(alike(got.returned), alike(plain.returned)):
		t.Fatalf("%s %v in %+v: got %+v with %s, %s, want %+v with %s, %s",
			a.text, u.Kind(), s, got, show(gotItem), show(got.returned), plain, show(plainItem), show(plain.returned))
	}
}

// compareGet reads both items.
func (b *bench) compareGet(t *rapid.T, h Homes, plainKey Item, s forward.Stage) {
	first := forward.First(rapid.IntRange(0, 1).Draw(t, "first"))
	machine := forward.NewOperation[Item](forward.Get, s.Phase, first, &forward.Breaks{})
	for machine.Outcome == forward.Running {
		machine = machine.Take(b.do(t, h, machine.Next()))
	}
	want := b.load(t, plainKey)
	if found := machine.Outcome == forward.Found; found != (want != nil) || !attribute.Same(alike(machine.Content), alike(want)) {
		t.Fatalf("get in %+v: outcome %d, got %s, want %s", s, machine.Outcome, show(machine.Content), show(want))
	}
}
