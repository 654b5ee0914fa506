// Library prints what make proof-library shows: that the library is never silently wrong. It measures each number that an
// outside trial had found wrong, checks the table of docs/layouts.md, breaks every row of docs/requirements.md, breaks every
// public package at random, and attacks the library with random settings. It ends with one JSON object, and exits with 1 if
// a number that must hold does not.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
	"github.com/heatsink-go/heatsink/internal/proof/verdict"
)

func main() {
	breaks := flag.Int("breaks", 50, "random breaks of each public package; 0 for none")
	checks := flag.Int("checks", 20_000, "random settings of the attacks; 0 for none")
	rows := flag.Bool("rows", true, "break every row of docs/requirements.md")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &proof{out: os.Stdout, Verdict: verdict.New()}
	p.numbers(ctx)
	p.cells(ctx)
	if *checks > 0 {
		p.attacks(ctx, *checks)
	}
	if *rows {
		p.rows(ctx)
	}
	if *breaks > 0 {
		p.packages(ctx, *breaks)
	}
	if !p.End(p.out, p) {
		os.Exit(1)
	}
}

// proof collects what was shown.
type proof struct {
	out io.Writer

	Numbers  []number          `json:"numbers"`
	Cells    int               `json:"cells"`
	Attacks  map[string]int    `json:"attacks,omitempty"` // inputs tried, by attack
	Rows     *scenario.Broken  `json:"rows,omitempty"`
	Packages []scenario.Broken `json:"packages,omitempty"`
	verdict.Verdict
}

// number is one figure of the outside trial: what it was then, what it is now, and what it must be.
type number struct {
	Item   string `json:"item"` // of the list
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
	Want   string `json:"want"`
}

// numbers measures every figure of the outside trial again.
func (p *proof) numbers(ctx context.Context) {
	p.heading("figures of the outside trial, then and now")
	for _, m := range measurements {
		after, err := m.measure(ctx)
		if err != nil {
			after = "error: " + err.Error()
		}
		p.Numbers = append(p.Numbers, number{Item: m.item, What: m.what, Before: m.before, After: after, Want: m.want})
		p.Check(after == m.want, "%s: %s: got %s, want %s", m.item, m.what, after, m.want)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "item\twhat\tbefore\tafter\twant")
	for _, n := range p.Numbers {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", n.Item, n.What, n.Before, n.After, n.Want)
	}
	w.Flush()
}

// measurement is how a number is measured.
type measurement struct {
	item, what, before, want string
	measure                  func(context.Context) (string, error)
}

var measurements []measurement

func (p *proof) heading(text string) { fmt.Fprintf(p.out, "\n== %s\n", text) }
