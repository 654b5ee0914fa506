package passage

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/golden"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// The files in testdata are records as tables hold them, in DynamoDB's JSON. Never change one: processes that ran before have stored
// them. A new version of the schema adds files, and reads the old ones or says what to do.
func TestStoredRecordsStayReadable(t *testing.T) {
	to := wide(16, map[string]int{"USER#1": 64, `q"<`: 1})
	prefixed := begins(16, map[string]int{"POST#2026": 64, `q"<`: 1}, map[string]int{"POST#2026#1": 4})
	into := Arrangement{Layout: calculated(16).Layout, Table: "users-2"}
	plain := Arrangement{Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.DotFromOne()}}
	golden.Check(t, "testdata", map[string]golden.Case[Record]{
		"v1-settled.json":   {Want: Record{Generation: 1, Now: calculated(4), At: 1767323045000, Why: "the first process of the collection", By: "host-1/4711/1"}},
		"v1-split.json":     {Want: Record{Generation: 2, Stage: split, Now: plain, Next: &to, At: 1767323045000, Why: "hot", By: "host-1/4711/1"}},
		"v1-closed.json":    {Want: Record{Generation: 3, Stage: closed, Now: plain, Next: &to, At: 1767323045000, By: "host-1/4711/1"}},
		"v1-settling.json":  {Want: Record{Generation: 4, Stage: settling, Now: plain, Next: &to, At: 1767323045000, By: "host-1/4711/1"}},
		"v1-deads.json":     {Want: Record{Generation: 5, Stage: deads, Now: to, Former: &plain, At: 1767323045000, By: "host-1/4711/1"}},
		"v1-back.json":      {Want: Record{Generation: 3, Stage: back, Now: plain, Next: &to, At: 1767323045000, By: "host-1/4711/1"}},
		"v1-returned.json":  {Want: Record{Generation: 4, Stage: returned, Now: plain, Next: &to, At: 1767323045000, By: "host-1/4711/1"}},
		"v1-prefixes.json":  {Want: Record{Generation: 2, Stage: split, Now: plain, Next: &prefixed, At: 1767323045000, Why: "hot", By: "host-1/4711/1"}},
		"v2-into.json":      {Want: Record{Generation: 2, Stage: split, Now: plain, Next: &into, At: 1767323045000, By: "host-1/4711/1"}},
		"v2-elsewhere.json": {Want: Record{Generation: 1, Seat: Elsewhere, Now: into, At: 1767323045000, Why: "items move here from table users-2", By: "host-1/4711/1"}},
		"v2-retired.json":   {Want: Record{Generation: 7, Seat: Retired, Now: into, At: 1767323045000, By: "host-1/4711/1"}},
		"v2-version.json":   {Err: ErrRecord, Says: "it has version 2, and what it says needs 1"},
		"v3-announced.json": {Want: Record{Generation: 2, Now: plain, Announced: &to, Former: &Arrangement{Layout: to.Layout}, At: 1767323045000, Why: "hot", By: "host-1/4711/1"}},
		"v3-into.json":      {Want: Record{Generation: 2, Now: plain, Announced: &into, At: 1767323045000, By: "host-1/4711/1"}},
		"v3-version.json":   {Err: ErrRecord, Says: "_hs_announced is missing"},
		"v4-version.json":   {Err: ledger.ErrNewer, Says: "it has version 4, and this process understands 3: upgrade heatsink in this process"},
		"v1-stage.json":     {Err: ErrRecord, Says: `_hs_st is "teleport": it is no stage of a move; upgrade heatsink in this process if a newer version wrote it`},
		"v1-attribute.json": {Err: ErrRecord, Says: `unknown attribute "_hs_mirrors": upgrade heatsink in this process if a newer version wrote it, else remove it`},
	}, golden.Format[Record, ledger.Value]{Parse: Parse, Encode: Record.Encode, Equal: Record.Equal})
}

// drawRecord draws one that is valid.
func drawRecord(t *rapid.T) Record {
	s := stages[rapid.IntRange(0, len(stages)-1).Draw(t, "stage")].stage
	if seat := rapid.SampledFrom([]Seat{Here, Here, Elsewhere, Retired}).Draw(t, "seat"); seat != Here {
		r := Record{
			Generation: rapid.Int64Range(1, 1<<62).Draw(t, "generation"), Seat: seat, Now: drawArrangement(t), At: rapid.Int64Range(1, maxTime).Draw(t, "at"),
		}
		r.Now.Table = "users-2"
		return r
	}
	r := Record{
		Generation: rapid.Int64Range(1, 1<<62).Draw(t, "generation"), Stage: s, Now: drawArrangement(t), At: rapid.Int64Range(1, maxTime).Draw(t, "at"),
		Why: ledger.Audit(rapid.String().Draw(t, "why")), By: ledger.Audit(rapid.String().Draw(t, "by")),
	}
	other := rapid.Custom(drawArrangement).Filter(func(a Arrangement) bool { return !a.Equal(r.Now) && !a.SameLayout(r.Now.Layout) }).Draw(t, "other")
	switch {
	case s.Phase != forward.Settled || s.Trace == forward.Returned:
		r.Next = &other
	case rapid.Bool().Draw(t, "former"):
		r.Former = &Arrangement{Layout: other.Layout}
	}
	if s == (forward.Stage{}) && rapid.Bool().Draw(t, "announced") {
		r.Announced = &other
	}
	if r.Next != nil && r.Now.Layout.Strategy == layout.Calculated && rapid.Bool().Draw(t, "into") {
		r.Next.Table = rapid.StringMatching(`[a-zA-Z0-9_.-]{3,20}`).Draw(t, "table")
	}
	return r
}

func TestRecordIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		values := r.Encode()
		rand.New(rand.NewPCG(uint64(r.Generation), 0)).Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		got, err := Parse(values)
		if err != nil || !got.Equal(r) || !slices.Equal(got.Encode(), r.Encode()) {
			t.Fatalf("got %+v, %v, want %+v", got, err, r)
		}
	})
}

// What was damaged is refused, or is another record that is stored in exactly this way: nothing is ignored or repaired.
func TestDamagedRecordsAreRefused(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		values := drawRecord(t).Encode()
		for range rapid.IntRange(1, 3).Draw(t, "damages") {
			i := rapid.IntRange(0, len(values)-1).Draw(t, "which")
			v := &values[i]
			switch rapid.IntRange(0, 6).Draw(t, "damage") {
			case 0:
				values = slices.Delete(values, i, i+1)
			case 1:
				values = append(values, ledger.Value{Name: "_hs_" + rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "name"), Text: "x"})
			case 2:
				values = append(values, *v)
			case 3:
				v.Number = !v.Number
			case 4:
				v.Text = values[rapid.IntRange(0, len(values)-1).Draw(t, "other")].Text
			case 5:
				cut := rapid.IntRange(0, len(v.Text)).Draw(t, "cut")
				v.Text = v.Text[:cut] + rapid.StringMatching(`[0-9a-z"{},: ]{0,2}`).Draw(t, "in") + v.Text[min(len(v.Text), cut+rapid.IntRange(0, 2).Draw(t, "out")):]
			case 6:
				v.Text = strings.ToUpper(v.Text)
			}
		}
		r, err := Parse(values)
		if err != nil {
			refused++
			if !errors.Is(err, ErrRecord) && !errors.Is(err, ledger.ErrNewer) {
				t.Fatalf("got %v, want ErrRecord or ErrNewer", err)
			}
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		byName := func(a, b ledger.Value) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(values, byName)
		if again := slices.SortedFunc(slices.Values(r.Encode()), byName); !slices.Equal(again, values) {
			t.Fatalf("got %+v from %+v, which is stored as %+v", r, values, again)
		}
	})
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// A record of the largest size costs 1 RCU to read.
func TestRecordStaysSmall(t *testing.T) {
	largest := func(name string) Arrangement {
		a := wide(layout.MaxShards, map[string]int{})
		for i := 0; ; i++ {
			key := name + strings.Repeat("x", 10) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)
			a.Widths[key] = layout.MaxShards - 1
			if a.Validate() != nil {
				delete(a.Widths, key)
				return a
			}
		}
	}
	r := at(split)
	now, next := largest("n"), largest("m")
	r.Now, r.Next = now, &next
	r.Why, r.By = strings.Repeat("w", ledger.MaxAudit), strings.Repeat("b", ledger.MaxAudit)
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	sizeOf := func(r Record) int {
		size := len("pk") + len("_hs#P#") + 64 + 255 + 20 // with the longest name of a sort key
		for _, v := range r.Encode() {
			size += len(v.Name) + len(v.Text)
		}
		return size
	}
	announced := r
	announced.Stage, announced.Next, announced.Announced, announced.Former = clean, nil, &next, &Arrangement{Layout: calculated(layout.MaxShards).Layout}
	if err := announced.Validate(); err != nil {
		t.Fatal(err)
	}
	if more := sizeOf(announced); more > 4096 {
		t.Errorf("announced, it has %d bytes: want at most 4096", more)
	}
	if size := sizeOf(r); len(now.text()) < MaxText-50 || size > 4096 {
		t.Errorf("%d bytes, with arrangements of %d and %d: want at most 4096", size, len(now.text()), len(next.text()))
	}
}
