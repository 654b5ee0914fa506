// Package scale measures what many items cost the local engine: to open their directory, to serve them, to hold them in
// memory, and to read them many at a time.
//
//	go test ./internal/proof/engine/scale -run TestFigures -v -items 10000000 -timeout 0
package scale

import (
	"cmp"
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// Options say how much is measured. The zero value is what the project claims.
type Options struct {
	Dir    string // for data directories: it needs 600 bytes for each item
	Items  int    // in the large directory; zero: ten million
	Few    int    // in the small directory; zero: ten thousand
	Held   int    // in memory; zero: a million
	Rounds int    // that medians are taken over; zero: 101
}

func (o Options) withDefaults() Options {
	o.Items = cmp.Or(o.Items, 10_000_000)
	o.Few = cmp.Or(o.Few, 10_000)
	o.Held = cmp.Or(o.Held, 1_000_000)
	o.Rounds = cmp.Or(o.Rounds, 101)
	return o
}

// Measure returns all figures. It takes some minutes and, with the defaults, 6 GB of disk and 1 GB of memory.
func Measure(ctx context.Context, o Options) ([]scenario.Figure, error) {
	o = o.withDefaults()
	var all []scenario.Figure
	for _, part := range []func(context.Context, Options) ([]scenario.Figure, error){
		memory, query, scans, directories,
	} {
		figures, err := part(ctx, o)
		all = append(all, figures...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// atLeast is a ratio that must reach a bound, and atMost a number that may not pass one.
func atLeast(what string, got, bound float64) scenario.Figure {
	return scenario.Figure{What: what, After: fmt.Sprintf("%.2f", got), Want: fmt.Sprintf("at least %.2f", bound), Holds: got >= bound}
}

func atMost(what, unit string, got, bound float64) scenario.Figure {
	return scenario.Figure{
		What: what, After: fmt.Sprintf("%.0f %s", got, unit), Want: fmt.Sprintf("at most %.0f %s", bound, unit), Holds: got <= bound,
	}
}
