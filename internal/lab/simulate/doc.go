// Package simulate runs scenarios in virtual time on the physics of internal/partition.
//
// Run makes one run for each layout of a scenario. In mode requests, an operation is a client of internal/partition/sim: it
// is admitted or throttled by itself, waits, and tries again. In mode aggregate, what a key's shard is offered in a tick is
// one quantity, of which the partition takes a part.
//
// Both modes use heatsink's own code where that decides without a network: layouts spell the keys, a place.Chooser draws
// shards and avoids throttled ones, a ledger.Law lets keys grow, and dispatch.Retry has the figures of retries. They do not
// simulate the requests for control items, lost answers, or the time until all processes know of a growth.
package simulate
