package move_test

import (
	"context"
	"fmt"
	"log"

	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// The views of 20 posts are an attribute of each. They become counters of package counter.
func ExampleCounters() {
	db, err := local.New(local.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx, client := context.Background(), db.Client()
	if err := createPosts(ctx, client); err != nil {
		log.Fatal(err)
	}
	for i := range 20 {
		if err := view(client, fmt.Sprint("POST#", i), "META", 100); err != nil {
			log.Fatal(err)
		}
	}

	counters, err := move.NewCounters(client, move.CounterOptions{Counter: counter.Options{
		Table:  "counters",
		Origin: &counter.Origin{Table: "posts", SortKey: "sk", SortValue: "META", Attribute: "views"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	forecast, err := counters.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d counters, %.0f write units\n", forecast.Moves, forecast.WriteUnits)
	result, err := counters.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d imported, %.0f write units\n", result.Moved, result.WriteUnits)
	if err := view(client, "POST#3", "META", 1); err != nil { // a program that was forgotten
		log.Fatal(err)
	}
	report, err := counters.Verify(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d right, %d not\n", report.Right, report.Damaged())
	fmt.Println(report.Findings[0].Why)
	// Output:
	// 20 counters, 20 write units
	// 20 imported, 20 write units
	// 19 right, 1 not
	// an older program has counted since the import
}
