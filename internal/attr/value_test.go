package attr

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyValue draws a value of any kind, nested no deeper than depth.
func anyValue(t *rapid.T, depth int) Value {
	kinds := []Kind{S, N, B, SS, NS, BS, Null, Bool}
	if depth > 0 {
		kinds = append(kinds, M, L)
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch kind {
	case M:
		return Map(anyItem(t, depth-1))
	case L:
		list := make([]Value, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = anyValue(t, depth-1)
		}
		return List(list...)
	case Null:
		return Value{Kind: Null}
	case Bool:
		return Boolean(rapid.Bool().Draw(t, "bool"))
	case SS, NS, BS:
		elems := make([]Value, rapid.IntRange(1, 3).Draw(t, "length"))
		for i := range elems {
			elems[i] = anyScalar(t, kind.Elem())
		}
		return Set(kind, elems)
	}
	return anyScalar(t, kind)
}

func anyScalar(t *rapid.T, kind Kind) Value {
	switch kind {
	case N:
		n, err := ParseNumber(anyNumber(t))
		if err != nil {
			t.Fatal(err)
		}
		return Num(n)
	case B:
		return Binary(string(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "binary")))
	}
	return String(rapid.StringN(0, 5, -1).Draw(t, "string"))
}

func anyItem(t *rapid.T, depth int) Item {
	fields := make([]Field, rapid.IntRange(0, 4).Draw(t, "fields"))
	for i := range fields {
		fields[i] = Field{rapid.StringN(1, 4, -1).Draw(t, "name"), anyValue(t, depth)}
	}
	return NewItem(fields...)
}

func TestRawReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it, other := anyItem(t, 3), anyItem(t, 3)
		raw := NewRaw(it)
		got, err := raw.Decode()
		if err != nil || !got.Equal(it) {
			t.Fatalf("got %v, %v, want %v", got, err, it)
		}
		if raw.Size() != it.Size() {
			t.Fatalf("size %d, want %d", raw.Size(), it.Size())
		}
		if it.Equal(other) != bytes.Equal(raw, NewRaw(other)) {
			t.Fatalf("%v and %v: equal items must have equal bytes", it, other)
		}
		for _, f := range it {
			if got := raw.Get(f.Name); !got.Equal(f.Value) {
				t.Fatalf("Get(%q) = %v, want %v", f.Name, got, f.Value)
			}
		}
		if got := raw.Get("no such field"); got.Kind != Invalid {
			t.Fatalf("Get of a missing field = %v", got)
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add([]byte(NewRaw(NewItem(Field{"a", String("x")}, Field{"b", List(Boolean(false), Num(Zero))}))))
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := Raw(b).Decode()
		if err != nil {
			return
		}
		again, err := NewRaw(it).Decode()
		if err != nil || !again.Equal(it) {
			t.Fatalf("%v reads back as %v, %v", it, again, err)
		}
	})
}

func FuzzKey(f *testing.F) {
	f.Add("a", "b", "a\x00", "")
	f.Add("", "\x00", "\x00\xff", "\x00\x01")
	f.Fuzz(func(t *testing.T, a1, a2, b1, b2 string) {
		key := func(first, second string) []byte {
			return AppendKey(AppendKey(nil, String(first)), Binary(second))
		}
		want := cmp.Or(strings.Compare(a1, b1), strings.Compare(a2, b2))
		if got := bytes.Compare(key(a1, a2), key(b1, b2)); got != want {
			t.Fatalf("(%q, %q) and (%q, %q) compare as %d, want %d", a1, a2, b1, b2, got, want)
		}
		if starts := strings.HasPrefix(a1, b1); starts != bytes.HasPrefix(key(a1, a2), AppendKeyPrefix(nil, b1)) {
			t.Fatalf("%q begins with %q: %v, their keys differ", a1, b1, starts)
		}
	})
}

func TestCompositeKeysOfNumbersAreInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := anyScalar(rt, N), anyScalar(rt, N)
		x, y := anyScalar(rt, S), anyScalar(rt, S)
		want, _ := a.Compare(b)
		if want == 0 {
			want, _ = x.Compare(y)
		}
		if got := bytes.Compare(AppendKey(AppendKey(nil, a), x), AppendKey(AppendKey(nil, b), y)); got != want {
			rt.Fatalf("(%s, %q) and (%s, %q) compare as %d, want %d", a.Number(), x.Str, b.Number(), y.Str, got, want)
		}
	})
}

func TestItemSize(t *testing.T) {
	one := parsed(t, "1")
	for _, c := range []struct {
		name string
		it   Item
		want int
	}{
		{"empty", nil, 0},
		{"string", NewItem(Field{"name", String("value")}), 4 + 5},
		{"utf-8", NewItem(Field{"é", String("€")}), 2 + 3},
		{"binary", NewItem(Field{"b", Binary("\x00\x01")}), 1 + 2},
		{"bool and null", NewItem(Field{"a", Boolean(false)}, Field{"b", Value{Kind: Null}}), 2 + 2},
		{"string set", NewItem(Field{"s", Set(SS, []Value{String("a"), String("bc")})}), 1 + 3},
		{"number set", NewItem(Field{"s", Set(NS, []Value{Num(one), Num(Zero)})}), 1 + 2 + 1},
		{"empty list", NewItem(Field{"l", List()}), 1 + 3},
		{"list", NewItem(Field{"l", List(String("ab"), Num(one))}), 1 + 3 + 2 + 2 + 2},
		{"map", NewItem(Field{"m", Map(NewItem(Field{"k", String("v")}))}), 1 + 3 + 1 + 1 + 1},
	} {
		if got := c.it.Size(); got != c.want {
			t.Errorf("%s: size %d, want %d", c.name, got, c.want)
		}
	}
}

func TestNewItemSortsAndKeepsTheLast(t *testing.T) {
	it := NewItem(Field{"b", String("1")}, Field{"a", String("2")}, Field{"b", String("3")})
	want := Item{{"a", String("2")}, {"b", String("3")}}
	if !it.Equal(want) {
		t.Errorf("got %v, want %v", it, want)
	}
	same := NewItem(Field{"a", String("1")}, Field{"a", String("2")})
	if want := (Item{{"a", String("2")}}); !same.Equal(want) {
		t.Errorf("got %v, want %v", same, want)
	}
}

func TestItemWithLeavesTheItemAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := anyItem(t, 1)
		before := slices.Clone(it)
		name := rapid.StringN(1, 4, -1).Draw(t, "name")
		with := it.With(name, Boolean(true))
		if got := with.Get(name); !got.Equal(Boolean(true)) {
			t.Fatalf("With: got %v", got)
		}
		for _, f := range it {
			if f.Name != name && !with.Get(f.Name).Equal(f.Value) {
				t.Fatalf("With: got %v of %v", with, it)
			}
		}
		if !it.Equal(before) {
			t.Fatalf("the item itself changed from %v to %v", before, it)
		}
	})
}

func BenchmarkRaw(b *testing.B) {
	it := NewItem(
		Field{"pk", String("user-12345")}, Field{"sk", String("2026-11-15T00:00:00Z#17")},
		Field{"count", Num(parsed(b, "1234567"))}, Field{"payload", String(strings.Repeat("x", 120))},
		Field{"tags", Set(SS, []Value{String("a"), String("b")})}, Field{"ok", Boolean(true)})
	raw := NewRaw(it)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewRaw(it)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := raw.Decode(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
