package express

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// alike returns an item without its partition key, in which homes differ.
func alike(item Item) Item {
	own := maps.Clone(item)
	delete(own, "pk")
	return own
}

func sameSlot(a, b forward.Slot[Item]) bool {
	return a.State == b.State && attribute.Same(alike(a.Content), alike(b.Content))
}

func showSlot(s forward.Slot[Item]) string { return fmt.Sprint(s.State, " ", show(s.Content)) }

func show(item Item) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		all = append(all, fmt.Sprintf("%s=%+v", name, item[name]))
	}
	return "{" + strings.Join(all, " ") + "}"
}

// hidden fails if an item shows a mark.
func hidden(t *rapid.T, item Item) {
	for _, name := range Marks() {
		if item[name] != nil {
			t.Fatalf("the user sees the mark %s: %s", name, show(item))
		}
	}
}

// Every request does to every slot what forward.Apply says. A request of the user stores and answers what DynamoDB would without
// marks, where a dead item is absent.
func TestRequestsDoWhatApplySays(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		h := b.homes()
		act := forward.Act(rapid.IntRange(0, int(forward.Thaw)).Draw(t, "act"))
		if rapid.Bool().Draw(t, "user's act") {
			act = rapid.SampledFrom(usersActs).Draw(t, "which")
		}
		home := forward.Home(rapid.IntRange(0, 1).Draw(t, "home"))
		key := []Item{h.Old, h.New}[home]
		slot := forward.Slot[Item]{State: rapid.SampledFrom(states).Draw(t, "state")}
		switch slot.State {
		case forward.Live, forward.Frozen, forward.Leaving:
			slot.Content = drawContent(t, "stored")
			maps.Copy(slot.Content, key)
			slot.Copied = rapid.Uint64Range(0, 3).Draw(t, "copied")
		}
		if item := stored(t, slot, key); item != nil {
			b.store(t, item)
		}
		r := forward.Request[Item]{Home: home, Act: act, Generation: rapid.Uint64Range(1, 3).Draw(t, "generation")}
		if act == forward.Copy || act == forward.Return {
			r.Content = drawContent(t, "copied")
			maps.Copy(r.Content, []Item{h.New, h.Old}[home]) // as it is in the other home
		}
		if slices.Contains(usersActs, act) {
			b.checkUser(t, h, r, slot, key)
		} else {
			b.checkAct(t, h, r, slot, key)
		}
	})
}

// checkAct checks a request of the protocol.
func (b *bench) checkAct(t *rapid.T, h Homes, r forward.Request[Item], slot forward.Slot[Item], key Item) {
	want, done := forward.Apply(r, forward.User[Item]{}, slot, &forward.Breaks{})
	request, err := h.Express(r, nil)
	if err != nil {
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	}
	answer, err := b.send(request, false, "").answer(request)
	if err != nil {
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	}
	b.checkSlots(t, r, slot, key, want, done, answer)
	item := b.load(t, key)
	if _, copied := item[moved]; r.Act == forward.Copy && done && !copied {
		t.Fatalf("a copy without %s: %s", moved, show(item))
	}
	switch {
	case r.Act == forward.Read && !sameSlot(answer.Slot, slot):
		t.Fatalf("read: got %s, want %s", showSlot(answer.Slot), showSlot(slot))
	case done && (r.Act == forward.Freeze || r.Act == forward.FreezeBack) && !sameSlot(answer.Slot, want):
		t.Fatalf("%v: got %s, want %s", r.Act, showSlot(answer.Slot), showSlot(want))
	}
	hidden(t, answer.Slot.Content)
}

// checkSlots compares what is stored, and what the answer says of it.
func (b *bench) checkSlots(t *rapid.T, r forward.Request[Item], slot forward.Slot[Item], key Item, want forward.Slot[Item], done bool, answer forward.Answer[Item]) {
	t.Helper()
	got, err := b.table.Slot(b.load(t, key))
	switch {
	case err != nil:
		t.Fatalf("%v of %v: %v", r.Act, slot.State, err)
	case answer.Done != done:
		t.Fatalf("%v of %s: done is %v, want %v", r.Act, showSlot(slot), answer.Done, done)
	case !sameSlot(got, want):
		t.Fatalf("%v of %s: got %s, want %s", r.Act, showSlot(slot), showSlot(got), showSlot(want))
	case !done && !sameSlot(answer.Slot, slot):
		t.Fatalf("%v of %s: the answer has %s", r.Act, showSlot(slot), showSlot(answer.Slot))
	}
}

// checkUser checks a request of the user beside the same request for an item that has no marks.
func (b *bench) checkUser(t *rapid.T, h Homes, r forward.Request[Item], slot forward.Slot[Item], key Item) {
	a := drawAsked(t)
	if (r.Act == forward.Kill || r.Act == forward.WriteOwn) && !a.remove {
		r.Act = forward.Write
	}
	plainKey := Item{"pk": text("plain"), "sk": key["sk"]}
	before := Item(nil)
	if slot.State == forward.Live || slot.State == forward.Frozen || slot.State == forward.Leaving {
		before = maps.Clone(slot.Content)
		maps.Copy(before, plainKey)
		b.store(t, before)
	}
	plain := b.send(a.plain(plainKey), a.transact, a.onFailure)
	after := b.load(t, plainKey)
	plainItem, plainFailed := plain.failed()

	u, err := a.user(b.table, plainKey)
	if err != nil {
		if plain.invalid() == "" && !plainFailed || !errors.Is(err, ErrRequest) {
			t.Fatalf("%s: refused with %v, DynamoDB takes it: %+v", a.text, err, plain)
		}
		return
	}
	request, err := h.Express(r, u)
	if err != nil {
		t.Fatalf("%s: %v", a.text, err)
	}
	got := b.send(request, a.transact, "")

	user := forward.User[Item]{
		Kind:  u.Kind(),
		Holds: func(Item) bool { return !plainFailed },
		Write: func(Item, bool) Item { return after },
	}
	want, done := forward.Apply(r, user, slot, &forward.Breaks{})
	if done && plain.invalid() != "" {
		if got.invalid() != plain.invalid() {
			t.Fatalf("%s %v of %s: got %+v, want %q", a.text, r.Act, showSlot(slot), got, plain.invalid())
		}
		if left, _ := b.table.Slot(b.load(t, key)); !sameSlot(left, slot) {
			t.Fatalf("%s %v of %s: it is %s after an error", a.text, r.Act, showSlot(slot), showSlot(left))
		}
		return
	}
	answer, err := got.answer(request)
	if err != nil {
		t.Fatalf("%s %v %v of %s: %v", a.text, u.Kind(), r.Act, showSlot(slot), err)
	}
	if done && request.Check != nil {
		want = slot // it changes nothing
	}
	b.checkSlots(t, r, slot, key, want, done, answer)
	hidden(t, answer.Slot.Content)
	switch returned := request.Returned(got.returned); {
	case done:
		hidden(t, returned)
		if plainFailed || !attribute.Same(alike(returned), alike(plain.returned)) {
			t.Fatalf("%s %v of %s: got %s, want %s", a.text, r.Act, showSlot(slot), show(returned), show(plain.returned))
		}
	case slot.State.Forwarded(), r.Act == forward.WriteExisting && slot.State == forward.Absent,
		r.Act == forward.WriteOwn && slot.Copied > r.Generation: // another request follows
	default:
		refused := u.Refused(answer)
		item, failed := outcome{err: refused}.failed()
		hidden(t, item)
		if failed != plainFailed || !attribute.Same(alike(item), alike(plainItem)) || !attribute.Same(before, after) || len(plain.returned) > 0 {
			t.Fatalf("%s %v of %s: got %v with %s, want %+v with %s", a.text, r.Act, showSlot(slot), refused, show(item), plain, show(plainItem))
		}
	}
}
