package ledger

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestHintWidth(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		peak  float64
		max   int
		want  int
	}{
		{"cold", 1, 0, 0, 1},
		{"warm, and one shard was enough", 1, 600, 0, 1},
		{"one shard was not enough", 1, 800, 0, 2},
		{"quiet", 16, 0, 0, 8},
		{"still busy", 16, 6000, 0, 16},
		{"wide enough, and no wider", 16, 11_000, 0, 16},
		{"too hot", 16, 12_000, 0, 32},
		{"much too hot", 1, 20_000, 0, 64},
		{"no power of two", 3, 0, 0, 2},
		{"as wide as no power of two", 24, 16_000, 0, 32},
		{"at the maximum", 256, 1e9, 0, 256},
		{"a maximum that is no power of two", 8, 1e9, 24, 16},
		{"no finite rate", 4, math.Inf(1), 0, 256},
		{"no rate at all", 4, math.NaN(), 0, 2},
	} {
		law, err := NewLaw(LawOptions{MaxWidth: c.max})
		if err != nil {
			t.Fatal(err)
		}
		if got := law.Hint(c.width, c.peak); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	hour := func(n int) Span {
		return Span{t0.Add(time.Duration(n) * time.Hour), t0.Add(time.Duration(n+1) * time.Hour)}
	}
	type write struct {
		bucket, minute, width int
		rate                  float64 // told before the write
		times                 int     // how often it is written before, with no hint; 0: not at all
		want                  string
	}
	for _, c := range []struct {
		name   string
		writes []write
	}{
		{"nothing is known", []write{{bucket: 0, width: 16}}},
		{"from 90 % on, once", []write{
			{bucket: 0, width: 16, rate: 6000},
			{bucket: 0, minute: 53, width: 16},
			{bucket: 0, minute: 54, width: 16, want: "1 to 16"},
			{bucket: 0, minute: 55, width: 16},
			{bucket: 1, width: 16},
			{bucket: 1, minute: 1, width: 16},
		}},
		{"on the first write", []write{{bucket: 0, width: 16, rate: 6000}, {bucket: 1, minute: 5, width: 1, want: "1 to 16"}, {bucket: 1, minute: 6, width: 16}}},
		{"the peak is the bucket's", []write{
			{bucket: 0, width: 16, rate: 6000}, {bucket: 1, width: 1, want: "1 to 16"}, {bucket: 1, minute: 30, width: 16}, {bucket: 2, width: 1, want: "2 to 8"},
		}},
		{"a width that is learned later", []write{{bucket: 0, width: 1}, {bucket: 0, width: 16}, {bucket: 1, width: 1, want: "1 to 8"}}},
		{"one shard needs no ledger", []write{{bucket: 0, width: 2}, {bucket: 0, minute: 59, width: 2}, {bucket: 1, width: 1}, {bucket: 1, minute: 59, width: 1}}},
		{"late items", []write{{bucket: 5, width: 16}, {bucket: 3, width: 1}, {bucket: 4, minute: 59, width: 1}, {bucket: 6, width: 1, want: "6 to 8"}}},
		{"a gap", []write{{bucket: 0, width: 64, rate: 30_000}, {bucket: 3, width: 1, times: 99, want: "3 to 8"}, {bucket: 3, width: 8}, {bucket: 4, width: 1, want: "4 to 4"}}},
		{"a long gap", []write{{bucket: 0, width: 64, rate: 30_000}, {bucket: 1_000_000, width: 1, times: 200}, {bucket: 1_000_001, width: 1}}},
		{"a wrong time", []write{
			{bucket: 0, width: 16, rate: 6000},
			{bucket: 1_000_000, minute: 59, width: 1, times: 50},
			{bucket: 2, minute: 59, width: 1, times: 47},
			{bucket: 0, minute: 30, width: 16, rate: 6000},
			{bucket: 2, minute: 59, width: 1, times: 98},
			{bucket: 0, minute: 54, width: 16, want: "1 to 16"},
			{bucket: 2, minute: 59, width: 1, times: 98},
			{bucket: 1, minute: 1, width: 16, rate: 6000},
			{bucket: 1_000_000, minute: 59, width: 1, times: 98},
			{bucket: 2, width: 1, want: "2 to 16"},
		}},
		{"a wrong time at first", []write{
			{bucket: 1_000_000, minute: 59, width: 1},
			{bucket: 0, minute: 1, width: 16, times: 100},
			{bucket: 0, minute: 30, width: 16, rate: 6000},
			{bucket: 1, width: 1, want: "1 to 16"},
		}},
		{"wrong times for long, then right ones", []write{
			{bucket: 1_000_000, minute: 30, width: 64, times: 1000},
			{bucket: 1_000_001, minute: 30, width: 64, want: "1000001 to 32"},
			{bucket: 0, minute: 55, width: 1, times: 98},
			{bucket: 0, minute: 55, width: 16, want: "1 to 8"},
			{bucket: 0, minute: 56, width: 16},
		}},
		{"first write at the end", []write{{bucket: 0, width: 64}, {bucket: 1, minute: 59, width: 1, want: "1 to 32"}, {bucket: 1, minute: 59, width: 32, want: "2 to 16"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			law, err := NewLaw(LawOptions{})
			if err != nil {
				t.Fatal(err)
			}
			h := NewHints(law)
			for i, w := range c.writes {
				s := hour(w.bucket)
				for n := range w.times {
					if hint, ok := h.Writes(s, s.Start.Add(time.Duration(w.minute)*time.Minute), w.width); ok {
						t.Errorf("write %d.%d: got %+v, want no hint", i, n, hint)
					}
				}
				got := ""
				if hint, ok := h.Writes(s, s.Start.Add(time.Duration(w.minute)*time.Minute), w.width); ok {
					got = fmt.Sprintf("%d to %d", int(hint.Bucket.Sub(t0).Hours()), hint.To)
				}
				if got != w.want {
					t.Errorf("write %d: got %q, want %q", i, got, w.want)
				}
				h.Rate(s.Start, w.rate)
			}
		})
	}
}

// A ledger is created only if there is none. Who comes late learns it.
func TestGrowCreates(t *testing.T) {
	v := NewView(ViewOptions{Key: "k"})
	m := NewGrow(v, Growth{To: 8, Now: t0, Create: true})
	next(t, m, "store 1 8/8 if 0 most 8")
	m.Handle(LedgerWritten{Outcome: Refused, Record: widths(1, 2, 2)})
	if r, grown, err := m.Result(); !m.Over() || grown || err != nil || r.Write != 2 {
		t.Errorf("got %+v, %v, %v, want what is stored", r, grown, err)
	}

	if again := NewGrow(v, Growth{To: 8, Now: t0, Create: true}); !again.Over() || again.Next() != nil {
		t.Error("a ledger that is known is written again")
	}
	if one := NewGrow(NewView(ViewOptions{}), Growth{To: 1, Now: t0, Create: true}); !one.Over() || one.Next() != nil {
		t.Error("a ledger of one shard is written")
	}

	lost := NewGrow(NewView(ViewOptions{}), Growth{To: 8, Now: t0, Create: true})
	next(t, lost, "store 1 8/8 if 0 most 8")
	lost.Handle(LedgerWritten{Outcome: Unknown, Err: errSome})
	next(t, lost, "ledger strong=true floor=0")
	lost.Handle(strongRead(Absent(0, 0)))
	next(t, lost, "store 1 8/8 if 0 most 8")
	lost.Handle(LedgerWritten{Outcome: Done})
	if r, grown, err := lost.Result(); !grown || err != nil || r.Write != 8 {
		t.Errorf("after a lost answer: got %+v, %v, %v", r, grown, err)
	}
}

// A Grow that only creates, or only once, heeds what others in its process have learnt since its answer was sent.
func TestGrowMeetsAnotherOfItsProcess(t *testing.T) {
	for _, g := range []Growth{{To: 8, Now: t0, Create: true}, {To: 8, Now: t0, Once: true}} {
		v := NewView(ViewOptions{Key: "k"})
		v.known = true
		m := NewGrow(v, g)
		next(t, m, "store 1 8/8 if 0 most 8")
		m.Handle(LedgerWritten{Outcome: Unknown, Err: errSome})
		asked := m.Next()[0].(ReadLedger)
		if err := v.Learn(v.Ask(t0, true), widths(1, 2, 2)); err != nil {
			t.Fatal(err)
		}
		m.Handle(LedgerRead{Asked: asked, Record: Absent(0, 0)}) // as it was before
		if r, grown, err := m.Result(); !m.Over() || grown || err != nil || r.Write != 2 {
			t.Errorf("%+v: got %+v, %v, %v, want what the other has stored", g, r, grown, err)
		}
	}
}
