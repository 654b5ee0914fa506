package plan_test

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/plan"
)

func Example() {
	p, err := plan.For(plan.Workload{Key: "PAGE_VIEWS", Writes: 5000, Reads: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Verdict)
	fmt.Printf("A read takes %d requests and %v units.\n\n", p.Read.Requests, p.Read.Units)
	fmt.Print(p.Snippet)
	// Output:
	// Spread PAGE_VIEWS over 17 shards drawn at random; first warm the table to 17,000 write units a second.
	// A read takes 17 requests and 34 units.
	//
	// // "PAGE_VIEWS" is stored as "PAGE_VIEWS#SHARD_0" to "PAGE_VIEWS#SHARD_16".
	// var options = heatsink.Options{
	// 	Table:        "items",
	// 	PartitionKey: "pk",
	// 	SortKey:      "sk",
	// 	Layout:       layout.Layout{Shards: 17},
	// }
}

// Not to shard is an answer.
func ExampleFor() {
	for _, w := range []plan.Workload{
		{Key: "BRAND_INDEX", Writes: 0.006, Reads: 1},
		{Key: "OPS_LOG", Writes: 0.1, Reads: 1, Read: plan.Reading{Pattern: plan.Times, Window: 7 * 24 * time.Hour}},
		{Key: "POST#viral", Writes: 1, Reads: 20_000, Read: plan.Reading{Pattern: plan.Mostly}},
		{Key: "ACCOUNTS", Writes: 5000, Atomic: true},
	} {
		p, err := plan.For(w)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Verdict)
	}
	// Output:
	// Do not shard BRAND_INDEX: 1 write and 12.5 read units a second fit in one partition, which takes 1,000 and 3,000.
	// Do not shard OPS_LOG; give it a key for every day, because reads ask for a time range.
	// Do not shard POST#viral; cache it: only its reads are too many for one partition.
	// ACCOUNTS is too hot for one partition, and shards cannot help: items that must stay consistent with each other cannot be sharded: shards are read one by one, not in one snapshot.
}

// The published rules disagree about 5,000 write units a second.
func ExampleFormulas() {
	p, err := plan.For(plan.Workload{Key: "PAGE_VIEWS", Writes: 5000})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := p.Formulas
	fmt.Println(f.Minimum, f.Factored, f.Cautious, f.Generous)
	// Output:
	// 5 8 10 20
}

// What shards take depends on the partitions: those of a new table are four.
func ExampleWay() {
	for _, partitions := range []int{4, 100} {
		p, err := plan.For(plan.Workload{Key: "PAGE_VIEWS", Writes: 6600, Table: plan.Table{Partitions: partitions}})
		if err != nil {
			fmt.Println(err)
			return
		}
		w := p.Ways[0] // as many shards as the published formula says
		fmt.Printf("%d shards on %d partitions: %.0f at most; %.0f sustained in 99 of 100 placements; of 6,600, %.0f accepted\n",
			w.Shards, w.Partitions, w.UpperBound, w.Sustained, w.Accepted)
	}
	// Output:
	// 10 shards on 4 partitions: 10000 at most; 3000 sustained in 99 of 100 placements; of 6,600, 3775 accepted
	// 10 shards on 100 partitions: 10000 at most; 8000 sustained in 99 of 100 placements; of 6,600, 6600 accepted
}

// What a hot key makes of a provisioned table, at the prices of us-east-1.
func ExampleWaste() {
	p, err := plan.For(plan.Workload{
		Key: "PAGE_VIEWS", Writes: 10_000, Table: plan.Table{WriteUnits: 10_000},
	})
	if err != nil {
		panic(err)
	}
	w := p.Waste
	fmt.Printf("%d usable, %d wasted: %.0f %%, %.0f dollars a month\n", w.Usable, w.Wasted, 100*w.Share, w.Dollars)
	// Output:
	// 1000 usable, 9000 wasted: 90 %, 4270 dollars a month
}

// Rates that were observed, key by key.
func ExampleForKeys() {
	plans, err := plan.ForKeys(plan.Workload{Table: plan.Table{Partitions: 20}}, []plan.KeyRate{
		{Key: "STATUS#ACTIVE", WriteUnits: 2400, ReadUnits: 100, Throttles: 300},
		{Key: "STATUS#CLOSED", WriteUnits: 30, ReadUnits: 10},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range plans {
		fmt.Println(p.Verdict)
	}
	// Output:
	// Spread STATUS#ACTIVE over 6 shards drawn at random.
	// Do not shard STATUS#CLOSED: 30 write and 10 read units a second fit in one partition, which takes 1,000 and 3,000.
}
