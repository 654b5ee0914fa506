package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"text/tabwriter"
)

// shape is one kind of collection whose items move.
type shape struct {
	name  string
	test  string // which moves it
	items int    // of the full size
	wcu   float64
	rate  float64 // calls of users a second while items move

	// requests is the number of requests that the p99 of a call may last while items move. 0: it may last mostSlow times as long as without a
	// mover. Items that are found by id are in one of two homes then, so that a call may have to ask both.
	requests float64
}

var shapes = map[string]shape{
	"index": {name: "index", test: "TestIndex", items: indexItems, wcu: fullWCU, rate: fullRate},
	"id":    {name: "id", test: "TestByID", items: idItems, wcu: fullWCU, rate: fullRate, requests: idRequests},
	"count": {name: "count", test: "TestCounter", items: countItems, wcu: fullWCU, rate: fullRate},
	"list":  {name: "list", test: "TestList", items: listItems, wcu: listWCU, rate: listRate, requests: listRequests},
}

// show moves a shape, and notes its figures.
func (s shape) show(ctx context.Context, p *proof) error {
	items := s.items
	if p.items > 0 {
		items = p.items
	}
	var r shapeResult
	cpu, err := p.inBubble(ctx, &r, s.test, "-items", fmt.Sprint(items), "-rate", fmt.Sprint(s.rate), "-wcu", fmt.Sprint(s.wcu),
		"-quiet", fullQuiet.String(), "-every", fullEvery.String())
	if err != nil {
		return err
	}
	r.CPU = cpu.Seconds()
	p.Shapes[s.name] = r
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "calls\tp50 and p99, ms: settled\tno mover, half moved\titems move\tmover waits")
	row := func(kind string, t times) {
		fmt.Fprint(w, kind)
		for _, x := range []waits{t.Before, t.Halfway, t.Moving, t.Waiting} {
			fmt.Fprintf(w, "\t%.1f  %.1f", x.P50, x.P99)
		}
		fmt.Fprintln(w)
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
	p.slower(s, r)
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

// slower notes how much longer users wait.
func (p *proof) slower(s shape, r shapeResult) {
	without := r.Before
	if s.requests > 0 {
		most := s.requests * milliseconds(latency)
		p.Must("users' p99 while items move, and settled", fmt.Sprintf("%.1f and %.1f ms", r.Moving.P99, r.Before.P99), fmt.Sprintf("<= %.0f ms", most), r.Moving.P99 <= most)
		without = r.Halfway
	}
	p.Must("users' p99 with and without a mover", fmt.Sprintf("%.1f and %.1f ms", r.Moving.P99, without.P99), fmt.Sprintf("<= %.1f x", mostSlow),
		without.Calls > 0 && r.Moving.P99 <= mostSlow*without.P99)
	p.Tell("users' mean with a mover, and settled", fmt.Sprintf("%.2f and %.2f ms", r.Moving.Mean, r.Before.Mean))
}
