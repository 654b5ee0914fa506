package ledger

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

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
	if got, want := b.String(), "_hs_v=1;_hs_g=3;_hs_e=1;_hs_R=16;_hs_W=8;_hs_st=A;_hs_s=calculated;_hs_h=fnv;_hs_z=1;_hs_why=hot;_hs_by=host;_hs_at=1234;_hs_hist=0:1/1 2:16/16;"; got != want {
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
		{"nothing", nil, ErrRecord, "_hs_v is missing"},
		{"a newer version", number("_hs_v", "2"), ErrNewer, "upgrade heatsink"},
		{"a newer version with other names", []Value{{"_hs_v", true, "7"}, {"_hs_width", true, "4"}}, ErrNewer, "version 7"},
		{"version 0", number("_hs_v", "0"), ErrRecord, "version 0"},
		{"an unknown state", text("_hs_st", "P"), ErrRecord, `state "P"`},
		{"more written than read", number("_hs_W", "32"), ErrRecord, "32/16"},
		{"nothing read", number("_hs_R", "0"), ErrRecord, "8/0"},
		{"nothing written", number("_hs_W", "0"), ErrRecord, "0/16"},
		{"a negative width", number("_hs_W", "-8"), ErrRecord, "-8/16"},
		{"too wide", number("_hs_R", "131072"), ErrRecord, "65536"},
		{"far too wide", number("_hs_R", "9223372036854775807"), ErrRecord, "65536"},
		{"no power of two", number("_hs_W", "7"), ErrRecord, "powers of two"},
		{"generation 0", number("_hs_g", "0"), ErrRecord, "generation 0"},
		{"a negative generation", number("_hs_g", "-1"), ErrRecord, "generation -1"},
		{"a negative epoch", number("_hs_e", "-1"), ErrRecord, "epoch -1"},
		{"a fraction", number("_hs_g", "3.5"), ErrRecord, "whole number"},
		{"a number that DynamoDB spells otherwise", number("_hs_g", "+3"), ErrRecord, "whole number"},
		{"a huge number", number("_hs_g", "1E+30"), ErrRecord, "whole number"},
		{"a string for a number", text("_hs_g", "3"), ErrRecord, "want a number"},
		{"a number for a string", number("_hs_st", "1"), ErrRecord, "want a string"},
		{"an unknown strategy", text("_hs_s", "magic"), ErrRecord, "magic"},
		{"an unknown hash", text("_hs_h", "sha3"), ErrRecord, "sha3"},
		{"a flag of 2", number("_hs_z", "2"), ErrRecord, "want 0 or 1"},
		{"an unknown name", text("_hs_zz", ""), ErrRecord, `unknown attribute "_hs_zz": upgrade heatsink`},
		{"a name twice", append(grown().Encode(), Value{"_hs_g", true, "3"}), ErrRecord, "twice"},
		{"history of the future", text("_hs_hist", "5:4/4"), ErrRecord, "out of order"},
		{"history backwards", text("_hs_hist", "2:4/4 1:4/4"), ErrRecord, "out of order"},
		{"history with a width that cannot be", text("_hs_hist", "1:4/2"), ErrRecord, "4/2"},
		{"history of something else", text("_hs_hist", "one"), ErrRecord, `"one"`},
		{"history with a gap", text("_hs_hist", "0:1/1  2:16/16"), ErrRecord, `""`},
		{"history with more behind it", text("_hs_hist", "1:4/4x"), ErrRecord, "4/4x"},
		{"a reason that is no text", text("_hs_why", "\xff"), ErrRecord, "UTF-8"},
		{"a long reason", text("_hs_why", strings.Repeat("x", MaxAudit+1)), ErrRecord, "201 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse(c.values)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want %v that says %q", r, err, c.want, c.says)
			}
		})
	}
	for _, v := range grown().Encode() {
		_, err := Parse(without(grown().Encode(), v.Name))
		if want := "invalid ledger: " + v.Name + " is missing"; !errors.Is(err, ErrRecord) || err.Error() != want {
			t.Errorf("without %s: got %v, want %s", v.Name, err, want)
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

// Freezes do not push widths out of the history, and are no widths.
func TestHistoryKeepsWidths(t *testing.T) {
	r := Absent(layout.Random, layout.XXHash)
	var want []Past
	for n := 2; n <= 64; n *= 2 {
		want = append(want, Past{r.Generation, r.Read, r.Write})
		r = r.next(n, n)
		for range 10 {
			before := r.Generation
			r = r.next(n, n)
			if err := r.Validate(); err != nil || len(r.History) > MaxHistory {
				t.Fatalf("generation %d: %v, with a history of %d", r.Generation, err, len(r.History))
			}
			if !r.Follows(before) || !r.Follows(before-1) {
				t.Fatalf("generation %d does not follow on the two before it: %v", r.Generation, r.History)
			}
		}
	}
	if got := r.Widths(); !slices.Equal(got, want) {
		t.Errorf("got the widths %v, want %v", got, want)
	}
	if r.Follows(0) {
		t.Error("a history that has left generations out shows all changes since 0")
	}
	for n := 128; n <= 2048; n *= 2 {
		want = append(want, Past{r.Generation, r.Read, r.Write})
		r = r.next(n, n)
	}
	if got, want := r.Widths(), want[len(want)-MaxHistory:]; !slices.Equal(got, want) || !slices.Equal(r.History, want) {
		t.Errorf("got the widths %v of %v, want the last %v", got, r.History, want)
	}
	if got, want := widths(1, 2, 16).next(16, 16).Widths(), []Past{{1, 16, 2}}; !slices.Equal(got, want) {
		t.Errorf("more shards are written: got the widths %v, want %v", got, want)
	}
	if got := Absent(layout.Random, layout.XXHash).next(1, 1).Widths(); got != nil {
		t.Errorf("a key that was frozen before it has grown: got the widths %v, want none", got)
	}
}

// largest returns a record that takes as many bytes as any.
func largest() Record {
	r := Record{
		Generation: math.MaxInt64, Epoch: math.MaxInt64, Read: layout.MaxShards, Write: layout.MaxShards, State: Active,
		Strategy: layout.Calculated, Hash: layout.Product, Frozen: true, At: math.MinInt64,
		Why: strings.Repeat("w", MaxAudit), By: strings.Repeat("b", MaxAudit),
	}
	for i := range int64(MaxHistory) {
		r.History = append(r.History, Past{math.MaxInt64 - 10 + i, layout.MaxShards, layout.MaxShards})
	}
	return r
}

// Writing a record costs one write unit: it has 1 KB at most, whatever it holds, and leaves 200 bytes for its key.
func TestRecordIsSmall(t *testing.T) {
	r := largest()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, v := range r.Encode() {
		size += len(v.Name) + len(v.Text) // a number takes fewer bytes than digits
	}
	if size > 1024-200 {
		t.Errorf("got %d bytes, want %d at most", size, 1024-200)
	}
}

// Whoever makes a key wider tells why and who. Texts that cannot be stored must not keep it from growing, nor be stored
// otherwise than the process remembers: it would take the ledger for lost.
func TestGrowStoresTextsThatCanBeStored(t *testing.T) {
	v := NewView(ViewOptions{Key: "k"})
	if err := v.Learn(v.Ask(time.Time{}, true), Absent(layout.Random, layout.XXHash)); err != nil {
		t.Fatal(err)
	}
	m := NewGrow(v, Growth{To: 2, Why: strings.Repeat("é", MaxAudit), By: "host\xff"})
	effects := m.Next()
	if len(effects) != 1 {
		_, _, err := m.Result()
		t.Fatalf("got %v, %v, want one effect", effects, err)
	}
	r := effects[0].(WriteLedger).Record
	if want := strings.Repeat("é", MaxAudit/2); r.Why != want || r.By != "host\uFFFD" {
		t.Errorf("got why %q and by %q, want %q and %q", r.Why, r.By, want, "host\uFFFD")
	}
}

// Whatever is stored, Parse neither panics nor takes a record that it would store differently.
func FuzzParse(f *testing.F) {
	f.Add("_hs_g", true, "3", "_hs_hist", "0:1/1")
	f.Add("_hs_g", true, "+3", "_hs_hist", "0:1/1  2:4/4")
	f.Add("_hs_W", true, "32", "_hs_R", "32")
	f.Add("_hs_v", true, "2", "_hs_st", "P")
	f.Add("_hs_at", true, "-0", "_hs_why", "\xff")
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
		if got := r.Encode(); !slices.Equal(got, values) {
			t.Fatalf("%+v was taken, and would be stored as %+v", values, got)
		}
	})
}

// The shell's conditions name these attributes, so they must be those that are stored. All of them have the prefix, so
// that none is a key attribute of a table.
func TestNamesOfAttributes(t *testing.T) {
	stored := map[string]string{}
	for _, v := range grown().Encode() {
		if !strings.HasPrefix(v.Name, Prefix) {
			t.Errorf("%s does not begin with %s", v.Name, Prefix)
		}
		stored[v.Name] = v.Text
	}
	if stored[GenerationName] != "3" || stored[ReadName] != "16" {
		t.Errorf("got generation %q and read width %q, want 3 and 16", stored[GenerationName], stored[ReadName])
	}
	if StampName != "_hs_g" {
		t.Errorf("items are stamped as %s, want _hs_g", StampName)
	}
}
