package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// shape is one kind of collection whose items move.
type shape struct {
	name  string
	test  string // which moves it
	items int    // of the full size
	wcu   float64
	rate  float64 // calls of users a second while items move
	every time.Duration
}

var shapes = map[string]shape{
	"index": {name: "index", test: "TestIndex", items: indexItems, wcu: fullWCU, rate: fullRate, every: fullEvery},
	"id":    {name: "id", test: "TestByID", items: idItems, wcu: fullWCU, rate: fullRate, every: fullEvery},
	"count": {name: "count", test: "TestCounter", items: countItems, wcu: fullWCU, rate: fullRate, every: fullEvery},
	"list":  {name: "list", test: "TestList", items: listItems, wcu: listWCU, rate: listRate, every: listEvery},
}

// show moves a shape, and notes its figures.
func (s shape) show(ctx context.Context, p *proof) error {
	items := s.items
	if p.items > 0 {
		items = p.items
	}
	var r shapeResult
	cpu, err := p.inBubble(ctx, &r, s.test, "-items", fmt.Sprint(items), "-rate", fmt.Sprint(s.rate), "-wcu", fmt.Sprint(s.wcu),
		"-quiet", fullQuiet.String(), "-every", s.every.String())
	if err != nil {
		return err
	}
	r.CPU = cpu.Seconds()
	p.Shapes[s.name] = r
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "calls\tp50 and p99, ms: before\titems move\tmover waits\tafter\tcalls while items move")
	row := func(kind string, t times) {
		fmt.Fprint(w, kind)
		for _, x := range []waits{t.Before, t.Moving, t.Waiting, t.After} {
			fmt.Fprintf(w, "\t%.1f  %.1f", x.P50, x.P99)
		}
		fmt.Fprintf(w, "\t%d\n", t.Moving.Calls)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		row(kind, r.Kinds[kind])
	}
	row("all", r.times)
	w.Flush()

	p.None("reads of single items that show something else than the last acknowledged write", r.Faults.Stale, r.Reads)
	p.None("acknowledged items that a read, a list or the table in the end does not have", r.Faults.Lost, r.Reads+r.Listed+items)
	p.None("items that a list or the table has twice", r.Faults.Doubled, r.Listed+items)
	p.None("calls that fail, or succeed although they must not", r.Faults.Errors, r.Calls)
	p.None("items that Verify finds in a wrong place", int(r.Damaged), items)
	p.None("items with marks, or that nobody has written, in the end", r.Left, items)
	if r.Faults.First != "" {
		p.Tell("the first fault", r.Faults.First)
	}
	p.moved(r)
	p.slower(r)
	p.Tell("the move, in virtual time", fmt.Sprintf("%.0f minutes, %d calls of users, %d lists with %d items", r.Virtual/60, r.Calls, r.Lists, r.Listed))
	p.Tell("CPU", fmt.Sprintf("%.0f s", r.CPU))
	return nil
}

// moved notes how many items have moved, and what that took.
func (p *proof) moved(r shapeResult) {
	least := int64(float64(r.Items) * leastMoved)
	p.Must("items that the mover has moved", fmt.Sprint(r.Moved), fmt.Sprintf(">= %d", least), r.Moved >= least)
	for _, u := range []struct {
		what      string
		got, said float64
	}{{"write", r.Writing, r.Forecast.Writing}, {"read", r.Reading, r.Forecast.Reading}} {
		share := off(u.got, u.said)
		p.Must("the mover's "+u.what+" units, and its forecast", fmt.Sprintf("%.0f and %.0f: %+.1f %%", u.got, u.said, 100*share),
			fmt.Sprintf("within %.0f %%", 100*mostOff), math.Abs(share) <= mostOff)
	}
}

// slower notes how much longer users wait while items move, by the kind of call. Writes to ids that are not there take the protocol's two
// requests.
func (p *proof) slower(r shapeResult) {
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		t := r.Kinds[kind]
		most, bound := mostSlow*t.Before.P99, fmt.Sprintf("<= %.1f x", mostSlow)
		if strings.HasSuffix(kind, absentID) {
			most, bound = absentRequests*milliseconds(latency), fmt.Sprintf("<= %.0f requests", absentRequests)
		}
		p.Must("p99 of "+kind+" with and without a mover", fmt.Sprintf("%.1f and %.1f ms", t.Moving.P99, t.Before.P99), bound,
			t.Before.Calls > 0 && t.Moving.P99 <= most)
	}
	p.Tell("users' mean with and without a mover", fmt.Sprintf("%.2f and %.2f ms", r.Moving.Mean, r.Before.Mean))
}
