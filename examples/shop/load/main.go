// Load holds a sale at a shop that runs: go run ./examples/shop/load
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/heatsink-go/heatsink/examples/shop/traffic"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "the `address` of the shop")
	length := flag.Duration("for", 30*time.Second, "how long the sale lasts")
	skip := flag.Duration("skip", 0, "the first part of that, which the table leaves out")
	scale := flag.Float64("scale", 1, "how much more or less than usual")
	flag.Parse()
	if flag.NArg() > 0 || *length <= 0 || *scale <= 0 || *skip < 0 || *skip >= *length {
		fmt.Fprintln(os.Stderr, "load: want flags only, -for and -scale above 0, and -skip below -for: see -help")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sale := traffic.Sale{URL: *url, Scale: *scale, Skip: *skip, For: *length, Progress: progress(), Problem: func(err error) {
		fmt.Fprintf(os.Stderr, "load: the first request that failed: %v\n", err)
	}}
	if err := sale.Reach(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "load: no shop answers: %v\nStart one in another terminal: go run ./examples/shop\n", err)
		stop()
		os.Exit(1)
	}
	fmt.Printf("A sale of %v. Watch it at %s/heat/\n", *length, *url)
	fmt.Printf("\n%v", sale.Run(ctx))
}

// progress returns a function that prints what has come since its last call.
func progress() func(traffic.Result) {
	var before traffic.Row
	return func(r traffic.Result) {
		now := r.Total()
		fmt.Printf("%4.0f s   done %5d   throttled %5d   limited %5d   failed %5d   unsent %5d\n", r.Elapsed.Seconds(), now.Done-before.Done,
			now.Throttled-before.Throttled, now.Limited-before.Limited, now.Failed-before.Failed, now.Unsent-before.Unsent)
		before = now
	}
}
