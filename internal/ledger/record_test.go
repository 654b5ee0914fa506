package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

func grown() Record {
	return Record{
		Generation: 3, Epoch: 1, Read: 16, Write: 8, State: Active, Strategy: layout.Calculated, Hash: layout.FNV, Frozen: true,
		Why: "hot", By: "host", At: 1234, History: []Past{{0, 1, 1}, {2, 16, 16}},
	}
}

// with returns the values with one replaced, or added.
func with(values []Value, v Value) []Value {
	values = slices.Clone(values)
	for i := range values {
		if values[i].Name == v.Name {
			values[i] = v
			return values
		}
	}
	return append(values, v)
}

func without(values []Value, name string) []Value {
	return slices.DeleteFunc(slices.Clone(values), func(v Value) bool { return v.Name == name })
}

func TestRecordIsReadAsWritten(t *testing.T) {
	for _, r := range []Record{grown(), {Generation: 1, Read: 1, Write: 1, State: Active}} {
		values := r.Encode()
		slices.Reverse(values)
		got, err := Parse(values)
		if err != nil || !got.Equal(r) {
			t.Errorf("got %+v, %v, want %+v", got, err, r)
		}
	}
}

// The stored form is a promise to other versions.
func TestRecordEncoding(t *testing.T) {
	var b strings.Builder
	for _, v := range grown().Encode() {
		b.WriteString(v.Name + "=" + v.Text + ";")
	}
	if got, want := b.String(), "v=1;g=3;e=1;R=16;W=8;st=A;s=calculated;h=fnv;z=1;why=hot;by=host;at=1234;hist=0:1/1 2:16/16;"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	number := func(name, text string) []Value { return with(grown().Encode(), Value{name, true, text}) }
	text := func(name, text string) []Value { return with(grown().Encode(), Value{name, false, text}) }
	for _, c := range []struct {
		name   string
		values []Value
		want   error
		says   string
	}{
		{"nothing", nil, ErrRecord, "v is missing"},
		{"a newer version", number("v", "2"), ErrNewer, "upgrade heatsink"},
		{"a newer version with other names", []Value{{"v", true, "7"}, {"width", true, "4"}}, ErrNewer, "version 7"},
		{"version 0", number("v", "0"), ErrRecord, "version 0"},
		{"an unknown state", text("st", "P"), ErrRecord, `state "P"`},
		{"more written than read", number("W", "32"), ErrRecord, "32/16"},
		{"nothing read", number("R", "0"), ErrRecord, "8/0"},
		{"nothing written", number("W", "0"), ErrRecord, "0/16"},
		{"a negative width", number("W", "-8"), ErrRecord, "-8/16"},
		{"too wide", number("R", "131072"), ErrRecord, "65536"},
		{"far too wide", number("R", "9223372036854775807"), ErrRecord, "65536"},
		{"no power of two", number("W", "7"), ErrRecord, "powers of two"},
		{"generation 0", number("g", "0"), ErrRecord, "generation 0"},
		{"a negative generation", number("g", "-1"), ErrRecord, "generation -1"},
		{"a negative epoch", number("e", "-1"), ErrRecord, "epoch -1"},
		{"a fraction", number("g", "3.5"), ErrRecord, "whole number"},
		{"a huge number", number("g", "1E+30"), ErrRecord, "whole number"},
		{"a string for a number", text("g", "3"), ErrRecord, "want a number"},
		{"a number for a string", number("st", "1"), ErrRecord, "want a string"},
		{"an unknown strategy", text("s", "magic"), ErrRecord, "magic"},
		{"an unknown hash", text("h", "sha3"), ErrRecord, "sha3"},
		{"a flag of 2", number("z", "2"), ErrRecord, "want 0 or 1"},
		{"an unknown name", text("zz", ""), ErrRecord, `"zz"`},
		{"a name twice", append(grown().Encode(), Value{"g", true, "3"}), ErrRecord, "twice"},
		{"history of the future", text("hist", "5:4/4"), ErrRecord, "out of order"},
		{"history backwards", text("hist", "2:4/4 1:4/4"), ErrRecord, "out of order"},
		{"history with a width that cannot be", text("hist", "1:4/2"), ErrRecord, "4/2"},
		{"history of something else", text("hist", "one"), ErrRecord, `"one"`},
		{"history with more behind it", text("hist", "1:4/4x"), ErrRecord, "4/4x"},
		{"a long reason", text("why", strings.Repeat("x", MaxAudit+1)), ErrRecord, "201 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse(c.values)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want %v that says %q", r, err, c.want, c.says)
			}
		})
	}
	for _, v := range grown().Encode() {
		if _, err := Parse(without(grown().Encode(), v.Name)); !errors.Is(err, ErrRecord) {
			t.Errorf("without %s: got %v, want ErrRecord", v.Name, err)
		}
	}
}

func TestRecordHistoryIsBounded(t *testing.T) {
	r := Absent(layout.Random, layout.XXHash)
	for n := 2; n <= 4096; n *= 2 {
		r = r.next(n, n)
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(r.History); got != MaxHistory {
		t.Errorf("got a history of %d, want %d", got, MaxHistory)
	}
	if got, want := r.History[MaxHistory-1], (Past{11, 2048, 2048}); got != want {
		t.Errorf("got %+v last, want %+v", got, want)
	}
}

// A record costs one write unit: 1 KB at most, whatever it holds.
func TestRecordIsSmall(t *testing.T) {
	r := Record{Generation: 1 << 62, Epoch: 1 << 62, Read: layout.MaxShards, Write: layout.MaxShards, State: Active, Strategy: layout.Calculated, Hash: layout.Product, At: 1 << 62}
	r.Why, r.By = strings.Repeat("w", MaxAudit), strings.Repeat("b", MaxAudit)
	for i := range int64(MaxHistory) {
		r.History = append(r.History, Past{1<<62 - 10 + i, layout.MaxShards, layout.MaxShards})
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, v := range r.Encode() {
		size += len(v.Name) + len(v.Text)
	}
	if size > 800 { // the key needs room, too
		t.Errorf("got %d bytes, want 800 at most", size)
	}
}

// Whatever is stored, Parse neither panics nor takes a record that it would store differently.
func FuzzParse(f *testing.F) {
	f.Add("g", true, "3", "hist", "0:1/1")
	f.Add("W", true, "32", "R", "32")
	f.Add("v", true, "2", "st", "P")
	f.Fuzz(func(t *testing.T, name string, number bool, value, other, text string) {
		values := with(with(grown().Encode(), Value{name, number, value}), Value{other, false, text})
		r, err := Parse(values)
		if err != nil {
			if !errors.Is(err, ErrRecord) && !errors.Is(err, ErrNewer) {
				t.Fatalf("got %v", err)
			}
			return
		}
		again, err := Parse(r.Encode())
		if err != nil || !again.Equal(r) || r.Write > r.Read || r.Write < 1 {
			t.Fatalf("got %+v, then %+v, %v", r, again, err)
		}
	})
}
