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

// The budgets of a new round, of pointing, of scrolling and of a click, in milliseconds.
const (
	budgetP50 = 16
	budgetP99 = 50
)

func main() {
	keys := flag.Int("keys", 10_000, "keys, each with traffic in every second")
	samples := flag.Int("samples", 100, "samples of each kind")
	budget := flag.Bool("budget", true, "exit with 1 if a figure is above its budget")
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
	if *budget && !result.Within {
		fmt.Fprintf(os.Stderr, "frames: above the budget of %d ms at the median and %d ms at the 99th percentile\n", budgetP50, budgetP99)
		os.Exit(1)
	}
}
