package jsonpull

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"object", ` { "a" : [ 1 , -0.5e+3 , true , false , null ] , "b" : { } } `, true},
		{"scalar", `"x"`, true},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, true},
		{"utf-8", `"é😀"`, true},
		{"delete is no control character", "\"\x7f\"", true},
		{"deep enough", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), true},
		{"name twice", `{"a":1,"a":2}`, true},
		{"zero", `0`, true},
		{"minus zero", `-0`, true},

		{"nothing", ``, false},
		{"white space", " \t\r\n", false},
		{"other white space", "\u00a01", false},
		{"two values", `1 2`, false},
		{"garbage after", `{}x`, false},
		{"unclosed object", `{"a":1`, false},
		{"unclosed array", `[1,`, false},
		{"unclosed string", `"abc`, false},
		{"unclosed escape", `"abc\`, false},
		{"trailing comma in object", `{"a":1,}`, false},
		{"trailing comma in array", `[1,]`, false},
		{"no name", `{1:2}`, false},
		{"no colon", `{"a" 1}`, false},
		{"no value", `{"a":}`, false},
		{"wrong bracket", `[1}`, false},
		{"single quotes", `'a'`, false},
		{"control character", "\"a\nb\"", false},
		{"control character far in", `"` + strings.Repeat("x", 21) + "\x01\"", false},
		{"unknown escape", `"\x41"`, false},
		{"short escape", `"\u12"`, false},
		{"escape of no digits", `"\u12g4"`, false},
		{"signed escape", `"\u+123"`, false},
		{"lone high surrogate", `"\ud83d"`, false},
		{"lone low surrogate", `"\ude00"`, false},
		{"high surrogate before text", `"\ud83dx"`, false},
		{"two high surrogates", `"\ud83d\ud83d"`, false},
		{"invalid utf-8", "\"\xff\"", false},
		{"encoded surrogate", "\"\xed\xa0\x80\"", false},
		{"leading zero", `01`, false},
		{"plus", `+1`, false},
		{"bare minus", `-`, false},
		{"no digit after point", `1.`, false},
		{"no digit before point", `.5`, false},
		{"no exponent", `1e`, false},
		{"infinity", `Infinity`, false},
		{"half a word", `tru`, false},
		{"word and more", `nullx`, false},
		{"byte order mark", "\ufeff1", false},
		{"too deep", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), false},
		{"much too deep", strings.Repeat(`{"a":`, 1_000_000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Valid(c.text); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestInvalidUTF8IsFound(t *testing.T) {
	err := New("[\"\ufffd\xff\"]").Err()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 5 {
		t.Errorf("got %v, want a syntax error at byte 5", err)
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`""`, ""},
		{`"plain"`, "plain"},
		{`"a quote \" right here"`, `a quote " right here`},
		{`"é\u00e9\ud83d\ude00\u0000"`, "éé😀\x00"},
		{`"\b\f\n\r\t\/\\"`, "\b\f\n\r\t/\\"},
		{` null`, ""},
	} {
		d := New(c.text)
		if got := d.Text(); got != c.want || d.End() != nil {
			t.Errorf("%s: got %q, %v, want %q", c.text, got, d.Err(), c.want)
		}
	}
}

func TestStringsAreNotCopied(t *testing.T) {
	text, thing := `{"name":"value"}`, &Type{Struct, "Thing"}
	allocs := testing.AllocsPerRun(100, func() {
		var d Decoder
		d.Reset(text)
		for range d.Members(thing) {
			_ = d.Text()
		}
		if d.End() != nil {
			t.Error(d.Err())
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

func TestSingle(t *testing.T) {
	for text, want := range map[string]string{
		`{"S":"a"}`: "Sa", `{"N":""}`: "N", `{"S":"{\"}`: "", `{"S":"a\n"}`: "", `{"S":"a"`: "", `{"S":"a`: "", `{"S":"`: "", `{"S":"a"} `: "Sa",
		`{"S":"a" }`: "", ` {"S":"a"}`: "", `{"X":"a"}`: "", `{"\":"a"}`: "", `{"S":"a","N":"b"}`: "", `{"SS":"a"}`: "", `{"S":1}`: "", `{}`: "",
	} {
		d := New(text)
		name, value, ok := d.Single("SN")
		got := ""
		if ok {
			got = string(name) + value
		}
		if got != want || d.Err() != nil {
			t.Errorf("%s: got %q, %v, want %q", text, got, d.Err(), want)
		}
		if ok != (d.End() == nil) {
			t.Errorf("%s: what was not read is still to be read", text)
		}
	}
	d := New(`{"S":"a"}`)
	d.Fail(ErrDepth)
	if _, _, ok := d.Single("S"); ok {
		t.Error("it reads after an error")
	}
}

func TestMembersLeaveNullsOut(t *testing.T) {
	read := func(d *Decoder, members func(*Type) func(func(string) bool)) (names []string) {
		for name := range members(&Type{}) {
			names = append(names, name)
			d.Skip()
		}
		if d.End() != nil {
			t.Error(d.Err())
		}
		return names
	}
	for _, c := range []struct {
		text             string
		members, entries []string
	}{
		{`{"a":null,"b":1,"c":null,"d":[null],"e": null }`, []string{"b", "d"}, []string{"a", "b", "c", "d", "e"}},
		{`{"a":null}`, nil, []string{"a"}},
		{`{}`, nil, nil},
		{`null`, nil, nil},
	} {
		d := New(c.text)
		if got := read(d, func(t *Type) func(func(string) bool) { return d.Members(t) }); !reflect.DeepEqual(got, c.members) {
			t.Errorf("%s: got members %q, want %q", c.text, got, c.members)
		}
		d = New(c.text)
		if got := read(d, func(t *Type) func(func(string) bool) { return d.Entries(t) }); !reflect.DeepEqual(got, c.entries) {
			t.Errorf("%s: got entries %q, want %q", c.text, got, c.entries)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"0", 0},
		{"-0", 0},
		{"-12", -12},
		{"9223372036854775807", math.MaxInt64},
		{"9223372036854775808", math.MaxInt64},
		{"-9223372036854775809", math.MinInt64},
		{"1e400", math.MaxInt64},
		{"-1e400", math.MinInt64},
		{"1.9", 1},
		{"-1.1", -2},
		{"2.5e1", 25},
		{"null", 0},
	} {
		d := New(c.text)
		if got := d.Long(); got != c.want || d.End() != nil {
			t.Errorf("%s: got %d, %v, want %d", c.text, got, d.Err(), c.want)
		}
	}
	d := New("1700000000.25")
	if got := d.DoubleOf(&Type{Scalar, "Double"}); got != 1700000000.25 || d.End() != nil {
		t.Errorf("got %v, %v", got, d.Err())
	}
}

func TestBooleans(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, `"true"`: true, `"YES"`: true, `"1"`: true,
		"false": false, `"False"`: false, `"no"`: false, `"0"`: false, "null": false,
	} {
		d := New(text)
		if got := d.Bool(); got != want || d.End() != nil {
			t.Errorf("%s: got %v, %v, want %v", text, got, d.Err(), want)
		}
	}
}

func TestTypeErrors(t *testing.T) {
	structure := &Type{Struct, "Thing"}
	readers := map[string]struct {
		read  func(*Decoder)
		right []Kind
		want  string
	}{
		"string":  {func(d *Decoder) { d.Text() }, []Kind{String}, "String"},
		"bool":    {func(d *Decoder) { d.Bool() }, []Kind{True, False}, "Boolean"},
		"integer": {func(d *Decoder) { d.Integer() }, []Kind{Integer, Decimal}, "Integer"},
		"long":    {func(d *Decoder) { d.Long() }, []Kind{Integer, Decimal}, "Long"},
		"double":  {func(d *Decoder) { d.DoubleOf(&Type{Scalar, "Double"}) }, []Kind{Integer, Decimal}, "Double"},
		"object":  {func(d *Decoder) { drainMembers(d, structure) }, []Kind{Object}, "Thing"},
		"array":   {func(d *Decoder) { drainElements(d, structure) }, []Kind{Array}, "Thing"},
	}
	for name, r := range readers {
		for text, kind := range map[string]Kind{
			"false": False, "true": True, "23": Integer, "-2.5": Decimal, "1e3": Decimal,
			`"abc"`: String, `["a"]`: Array, `{"a":1}`: Object,
		} {
			d := New(" " + text)
			r.read(d)
			err := d.End()
			right := false
			for _, k := range r.right {
				right = right || k == kind
			}
			if right {
				if err != nil {
					t.Errorf("%s of %s: %v", name, text, err)
				}
				continue
			}
			var wrong *TypeError
			if !errors.As(err, &wrong) || wrong.Found != kind || wrong.Wanted.Class != r.want || wrong.Offset != 1 {
				t.Errorf("%s of %s: got %+v, want a type error for %d", name, text, err, kind)
			}
		}
		d := New(" ")
		if r.read(d); !IsSyntax(d.Err()) {
			t.Errorf("%s of nothing: got %v, want a syntax error", name, d.Err())
		}
	}
}

func drainMembers(d *Decoder, t *Type) {
	for range d.Members(t) {
		d.Skip()
	}
}

func drainElements(d *Decoder, t *Type) {
	for range d.Elements(t) {
		d.Skip()
	}
}

func TestFirstErrorStays(t *testing.T) {
	d := New(`{"a":[1,"x"],"b":true}`)
	for range d.Members(&Type{}) {
		for range d.Elements(&Type{}) {
			d.Long()
		}
	}
	first := d.Err()
	d.Text()
	d.Fail(errors.New("another"))
	if first == nil || d.End() != first {
		t.Errorf("got %v then %v", first, d.End())
	}
	if got := d.Long(); got != 0 || d.Null() {
		t.Errorf("got %d after an error", got)
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{
		"", "plain", `a "quoted" \ word`, "\x00\x1f\n\r\t\b\f\x7f", "é😀\u2028", strings.Repeat("x", 23) + `"` + strings.Repeat("y", 9),
	} {
		got := string(AppendString(nil, s))
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != s {
			t.Errorf("%q: got %s, which reads %q, %v", s, got, back, err)
		}
	}
}

// Every byte at every distance from the eight that are looked at at once.
func TestPlain(t *testing.T) {
	for at := range 24 {
		for c := range 256 {
			s := []byte(strings.Repeat("\x80", 24))
			s[at] = byte(c)
			want := 24
			if c < ' ' || c == '"' || c == '\\' {
				want = at
			}
			if got := plain(string(s)); got != want {
				t.Fatalf("byte %#x at %d: got %d, want %d", c, at, got, want)
			}
		}
	}
}
