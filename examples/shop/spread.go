package main

import "github.com/heatsink-go/heatsink/layout"

// spread says over how many partition keys the shop's hot keys go. A key has one partition, which takes 1,000 write units a
// second. These six fields are all that -naive changes.
type spread struct {
	prefix   string        // of the tables: the two ways store differently, so they share none
	statuses layout.Layout // how the index of orders spreads a status
	counters bool          // likes are counted by package counter, and not in one item for each product
	adaptive bool          // the views of a product in a day get shards when they need them
	board    int           // keys over which the index of the board goes
	lease    int           // permits of the limiter that a process takes at a time
}

var (
	cool = spread{
		prefix:   "shop-",
		statuses: layout.Layout{Shards: 16, Strategy: layout.Calculated},
		counters: true, adaptive: true, board: 16, lease: 100,
	}
	naive = spread{
		prefix:   "naive-",
		statuses: layout.Layout{Strategy: layout.Calculated},
		counters: false, adaptive: false, board: 1, lease: 1,
	}
)
