package expr

import (
	"errors"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// What each fuzz target makes sure of first: whatever the text, the answer is an
// expression or a fault.
func checkParsed(t *testing.T, src string, err error) bool {
	var fault attr.Fault
	if err != nil && (!errors.As(err, &fault) || fault == "") {
		t.Fatalf("%q: got %#v, want an attr.Fault", src, err)
	}
	return err == nil
}

func FuzzParseCondition(f *testing.F) {
	for _, src := range []string{
		"n = :one", "(NOT (n < :nine)) AND s BETWEEN :a AND :b OR n IN (:one, (same))",
		"attribute_exists(m.inner_.x) and attribute_not_exists(l[2])", "begins_with(s, :he) OR contains(ss, :a)",
		"size(s) >= size(:hello) AND attribute_type(#n, :N)", "((n)) = :one", "a..b", "l[99999999999]", "#s.#dot[0] <> :map",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		c, err := ParseCondition(FilterExpression, src, scope())
		if !checkParsed(t, src, err) {
			return
		}
		for range c.TopLevelAttributes() {
		}
		held := c.Eval(sample)
		c.Eval(nil)
		// Wrapping a condition in NOT turns it around; it may only be too long or
		// have too many operators then, or parentheses of its own.
		not, err := ParseCondition(FilterExpression, "NOT ("+src+")", scope())
		if err == nil && not.Eval(sample) == held {
			t.Errorf("%q and NOT (%q) are both %v", src, src, held)
		}
	})
}

func FuzzParseKeyCondition(f *testing.F) {
	for _, src := range []string{
		"pk = :a", "pk = :a AND sk BETWEEN :one AND :two", "(pk = :a) AND (begins_with(sk, :a))", ":one < sk AND #a = :b",
		"pk = :a OR sk = :b", "a.b = :one", "size(a) > :one",
	} {
		f.Add(src)
	}
	parts := []KeyPart{{"pk", attr.S}, {"sk", attr.N}}
	f.Fuzz(func(t *testing.T, src string) {
		k, err := ParseKeyCondition(src, scope())
		if !checkParsed(t, src, err) {
			return
		}
		terms, err := k.Terms()
		if !checkParsed(t, src, err) {
			return
		}
		hash, ranges, err := terms.Match(parts[:1], parts[1:])
		if checkParsed(t, src, err) && len(hash)+len(ranges) != len(terms) {
			t.Errorf("%q: %d terms, but %v and %v", src, len(terms), hash, ranges)
		}
	})
}

func FuzzParseProjection(f *testing.F) {
	for _, src := range []string{"n", "#n, s", "m.a, m.inner_.x, l[0], l[2]", "a, a.b", "l[0], l.a", "ss[0].x,"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := ParseProjection(src, scope())
		if !checkParsed(t, src, err) {
			return
		}
		once := p.Apply(sample)
		checkCanonical(t, src, once)
		for name := range p.TopLevelAttributes() {
			once = without(once, name)
		}
		if len(once) > 0 {
			t.Errorf("%q: got %s too", src, show(once))
		}
	})
}

func FuzzParseUpdate(f *testing.F) {
	for _, src := range []string{
		"SET n = n + :one, m.a = if_not_exists(m.x, :a) REMOVE l[0], s", "SET l = list_append(l, :list) ADD ns :ns DELETE ss :ba",
		"SET l[5] = (:one), l[9] = l[0] - n", "remove m.inner_.x add l[7] :one", "SET a = :one SET b = :two", "SET a = ((b))",
	} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		u, err := ParseUpdate(src, scope())
		if !checkParsed(t, src, err) {
			return
		}
		before := show(sample)
		for _, it := range []attr.Item{sample, nil} {
			got, err := u.Apply(it)
			if checkParsed(t, src, err) {
				checkCanonical(t, src, got)
				checkCanonical(t, src, u.Touched(got))
			}
			checkCanonical(t, src, u.Touched(it))
		}
		if after := show(sample); after != before {
			t.Fatalf("%q changed its item\n from %s\n to   %s", src, before, after)
		}
	})
}

// checkCanonical makes sure that an item is in the one form that attr allows.
func checkCanonical(t *testing.T, src string, it attr.Item) {
	t.Helper()
	got, err := attr.NewRaw(it).Decode()
	if err != nil || !got.Equal(it) {
		t.Errorf("%q made an item that is not stored as it is: %s, %v", src, show(it), err)
	}
}
