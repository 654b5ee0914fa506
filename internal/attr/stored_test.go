package attr

import (
	"encoding/hex"
	"testing"
)

// What directories hold is read by later versions: values and keys are stored as they always were. Whoever changes that
// changes the version of directories as well.
func TestStoredFormStays(t *testing.T) {
	number := func(text string) Value { return Num(parsed(t, text)) }
	for what, c := range map[string]struct {
		got  []byte
		want string
	}{
		"numbers as keys": {AppendKey(AppendKey(AppendKey(nil, number("-12.5")), number("0")), number("1e100")), "7e7cf2ccff8081e60b00"},
		"texts as keys":   {AppendKey(AppendKey(nil, String("a\x00b")), Binary("\xff")), "6100ff620001ff0001"},
		"an item": {NewRaw(NewItem(
			Field{"b", Binary("\x00")}, Field{"l", List(Boolean(true), Value{Kind: Null}, number("7"))}, Field{"m", Map(NewItem(Field{"k", String("v")}))},
			Field{"n", number("-0.001")}, Field{"ns", Set(NS, []Value{number("2"), number("10")})}, Field{"ss", Set(SS, []Value{String("x"), String("y")})},
			Field{"bs", Set(BS, []Value{Binary("1")})},
		)), "2507016203010002627306010131016c08030a09020481824700016d0701016b010176016e02047e80f4ff026e73050204818215000481830b00027373040201780179"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", what, got, c.want)
		}
	}
}

// Values that differ in one thing are not the same.
func TestEqual(t *testing.T) {
	number := Num(parsed(t, "1"))
	values := []Value{
		{},
		{Kind: Null},
		Boolean(true), Boolean(false), String("1"), String(""), Binary("1"), number, Num(parsed(t, "2")),
		List(), List(number), List(number, number), Map(nil), Map(NewItem(Field{"a", number})), Map(NewItem(Field{"b", number})),
		Map(NewItem(Field{"a", String("1")})), Set(SS, []Value{String("1")}), Set(BS, []Value{Binary("1")}), Set(NS, []Value{number}),
		List(Map(NewItem(Field{"a", number}))), List(Map(NewItem(Field{"b", number}))),
	}
	for i, v := range values {
		for j, w := range values {
			if got := v.Equal(w); got != (i == j) {
				t.Errorf("%v and %v: got %t", v, w, got)
			}
		}
	}
	for kind, want := range map[Kind]Kind{S: SS, N: NS, B: BS, SS: Invalid, Bool: Invalid} {
		if got := kind.SetOf(); got != want {
			t.Errorf("sets of %v: got %v, want %v", kind, got, want)
		}
	}
}
