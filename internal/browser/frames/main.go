// Frames measures how long the page keeps a browser busy, with 10,000 keys and an hour of history. Run it in internal/browser:
//
//	go run ./frames
//
// Each sample is the processor time that the main thread of the page took for one thing, everything included: reading the frame,
// tables, drawing, style, layout and paint. The last line is a JSON document. The exit code is 1 if a figure is above its budget.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// budget is how many milliseconds something may take, at the median and at the 99th percentile.
type budget struct{ p50, p99 float64 }

var (
	// gesture is for pointing, scrolling and clicking, which go on from frame to frame: a screen has one in 16 ms.
	gesture = budget{16, 50}

	// round is for what the server tells, once a second. It draws the whole picture anew. Below 100 ms, people notice no delay.
	round = budget{50, 100}
)

func main() {
	keys := flag.Int("keys", 10_000, "keys, each with traffic in every second")
	samples := flag.Int("samples", 100, "samples of each kind")
	strict := flag.Bool("budget", true, "exit with 1 if a figure is above its budget")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	result, err := measure(ctx, *keys, *samples)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "frames:", err)
		os.Exit(2)
	}
	if *strict && !result.Within {
		for name, f := range result.Millis {
			if !f.Within {
				fmt.Fprintf(os.Stderr, "frames: %s takes %v ms at the median and %v ms at the 99th percentile: want %v and %v at most\n", name, f.P50, f.P99, f.MostP50, f.MostP99)
			}
		}
		os.Exit(1)
	}
}
