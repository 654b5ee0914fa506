package partition_test

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/partition/sim"
)

func Example() {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	account, err := partition.NewAccount(partition.Options{})
	if err != nil {
		panic(err)
	}
	orders, err := account.NewSet(now, partition.Config{Resource: "arn:aws:dynamodb:ddblocal:000000000000:table/orders"})
	if err != nil {
		panic(err)
	}

	// 3,000 writes to one key within a second: what the idle partition has saved,
	// and what it serves in a second.
	place, accepted := sim.Place("STATUS#ACTIVE", ""), 0
	var last *partition.Throttle
	for range 3000 {
		now = now.Add(time.Second / 3000)
		throttle := partition.Admit(now, partition.Charge{Set: orders, Place: place, Write: 1})
		if throttle == nil {
			accepted++
		} else {
			last = throttle
		}
	}
	fmt.Println(accepted, "accepted, the rest", last.Exception())
	for _, cause := range last.Reasons() {
		fmt.Println(cause.Reason, "on", cause.Resource())
	}
	// Output:
	// 1200 accepted, the rest ThrottlingException
	// TableWriteKeyRangeThroughputExceeded on arn:aws:dynamodb:ddblocal:000000000000:table/orders
}
