package attr

import (
	"errors"
	"testing"
)

// Damage is found whether an item is decoded or walked, and no field of it is
// made up.
func TestRawOfDamage(t *testing.T) {
	whole := NewRaw(Item{{"a", List(String("x"), Num(parsed(t, "12")), Map(Item{{"b", Set(NS, []Value{Num(parsed(t, "1"))})}}))}})
	if _, err := whole.Decode(); err != nil {
		t.Fatal(err)
	}
	damaged := []Raw{append(whole[:len(whole):len(whole)], 0)}
	for i := range whole {
		damaged = append(damaged, whole[:i:i])
	}
	for _, tag := range []byte{byte(Invalid), falseTag + 1, 0xFF} {
		damaged = append(damaged, Raw{1, 1, 1, 'a', tag})
	}
	number := Raw{2, 1, 1, 'a', byte(N), 1, 'x'}
	for _, raw := range append(damaged, number) {
		if it, err := raw.Decode(); !errors.Is(err, ErrDamaged) {
			t.Errorf("% x: got %v, %v, want damage", []byte(raw), it, err)
		}
	}
	if got := number.Get("a"); got.Kind != Invalid {
		t.Errorf("a damaged number: got %#v, want no value", got)
	}
}

// A Cursor reads what Raw's comment says, in that order.
func TestCursor(t *testing.T) {
	raw := NewRaw(NewItem(Field{"b", Boolean(false)}, Field{"n", Num(parsed(t, "12"))}, Field{"s", Set(SS, []Value{String("x")})}))
	c := raw.Cursor()
	if n := c.Count(); n != 3 {
		t.Fatalf("got %d fields, want 3", n)
	}
	if name := c.Text(); name != "b" {
		t.Errorf("got field %q, want b", name)
	}
	if kind, truth := c.Kind(); kind != Bool || truth {
		t.Errorf("got %v %v, want BOOL false", kind, truth)
	}
	if err := c.End(); !errors.Is(err, ErrDamaged) {
		t.Errorf("before the end: got %v, want damage", err)
	}
	name := c.Text()
	if kind, _ := c.Kind(); name != "n" || kind != N {
		t.Errorf("got %q of %v, want n of N", name, kind)
	}
	if n := c.Number(); n != parsed(t, "12") {
		t.Errorf("got %s, want 12", n)
	}
	name = c.Text()
	if kind, _ := c.Kind(); name != "s" || kind != SS {
		t.Errorf("got %q of %v, want s of SS", name, kind)
	}
	if n, elem := c.Count(), c.Text(); n != 1 || elem != "x" {
		t.Errorf("got %d elements, the first %q, want 1, x", n, elem)
	}
	if err := c.End(); err != nil {
		t.Error(err)
	}
}
