// Package scenario is what proofs show: scenarios that a user may choose from, each with its figures in a table.
//
// A proof embeds a Board, which has its figures and its verdict:
//
//	type proof struct {
//		scenario.Board
//	}
//
//	var all = []scenario.Scenario[*proof]{{"step", "a step of the load", step}}
//
//	p := &proof{scenario.New(os.Stdout)}
//	chosen, err := scenario.Choose(&p.Board, all, only)
//	for _, s := range chosen {
//		scenario.Show(ctx, &p.Board, p, s)
//	}
//	p.End(p.Out, p)
package scenario

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/heatsink-go/heatsink/internal/proof/verdict"
)

// Scenario is one of the things that a proof of type P shows. Run notes its figures. Its error says why they are not all there.
type Scenario[P any] struct {
	Name, Title string
	Run         func(context.Context, P) error
}

// Figure is one number: what it was, what it is, and what it must be. Without a Want it is only told.
type Figure struct {
	Scenario string  `json:"scenario"` // its name, which Show fills in
	What     string  `json:"what"`
	Before   *string `json:"before,omitempty"` // nil: there was no such number
	After    string  `json:"after"`
	Want     string  `json:"want,omitempty"`
	Holds    bool    `json:"holds"`
}

// Board collects the figures of a proof, and what they amount to. It is for one goroutine at a time.
type Board struct {
	Out      io.Writer `json:"-"` // where the tables go
	Numbered bool      `json:"-"` // the names of scenarios are numbers from 1
	Most     int       `json:"-"` // how many characters of Figure.After a table has, in one line; 0: all, as they are

	Figures []Figure `json:"figures"`
	verdict.Verdict
}

// New returns the board of a proof that begins now.
func New(out io.Writer) Board { return Board{Out: out, Figures: []Figure{}, Verdict: verdict.New()} }

// Note adds a figure to the scenario that is running.
func (b *Board) Note(f Figure) { b.Figures = append(b.Figures, f) }

// Must notes a number that must hold, and tells people.
func (b *Board) Must(what, after, want string, holds bool) {
	b.Note(Figure{What: what, After: after, Want: want, Holds: holds})
	Progress("  %s: %s", what, after)
}

// None notes a number of bad things of which there must be none, among so many.
func (b *Board) None(what string, bad, of int) {
	b.Must(what, fmt.Sprintf("%d of %d", bad, of), fmt.Sprintf("0 of %d", of), bad == 0 && of > 0)
}

// Tell notes a number that nothing is asked of.
func (b *Board) Tell(what, after string) { b.Must(what, after, "", true) }

// Choose returns the scenarios of a list of names with commas between them, in the order of the list. Without names it is all.
func Choose[P any](b *Board, all []Scenario[P], only string) ([]Scenario[P], error) {
	if only == "" {
		return all, nil
	}
	var chosen []Scenario[P]
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(s Scenario[P]) bool { return s.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("-only %q: there is no scenario %q; they are %s", only, name, names(b, all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func names[P any](b *Board, all []Scenario[P]) string {
	if b.Numbered {
		return fmt.Sprintf("1 to %d", len(all))
	}
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = s.Name
	}
	return strings.Join(list, ", ")
}

// Show runs a scenario, unless the context has ended, and prints its figures. What does not hold goes to the verdict.
func Show[P any](ctx context.Context, b *Board, proof P, s Scenario[P]) {
	heading, short := s.Name+": "+s.Title, s.Name
	if b.Numbered {
		heading = s.Name + " " + s.Title
		short = heading
	}
	fmt.Fprintf(b.Out, "\n== %s\n", heading)
	first, started := len(b.Figures), time.Now()
	err := ctx.Err()
	if err == nil {
		Progress("%s", heading)
		err = s.Run(ctx, proof)
	}
	b.Check(err == nil, "%s: %v", short, err)
	b.table(first, s.Name)
	fmt.Fprintf(b.Out, "(%.0f s)\n", time.Since(started).Seconds())
}

// table prints the figures from the first one on, which are those of a scenario.
func (b *Board) table(first int, name string) {
	w := tabwriter.NewWriter(b.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tbefore\tafter\twant\t")
	for i := first; i < len(b.Figures); i++ {
		f := &b.Figures[i]
		f.Scenario = name
		before, missed := "", ""
		if f.Before != nil {
			before = *f.Before
		}
		if !f.Holds {
			missed = "MISSED"
			b.Check(false, "%s: %s, want %s", f.What, f.After, f.Want)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.What, before, b.cut(f.After), f.Want, missed)
	}
	w.Flush()
}

// cut is a text for a table. The JSON has all of it.
func (b *Board) cut(s string) string {
	if b.Most == 0 {
		return s
	}
	line := []rune(strings.ReplaceAll(s, "\n", " "))
	if len(line) <= b.Most {
		return string(line)
	}
	return string(line[:b.Most]) + "…"
}

// Progress tells people on stderr that something is going on.
func Progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
