// Package ledger is the protocol of adaptive layouts: how a key's number of shards changes while everything runs.
//
// The nouns: a Record says how many shards of a key are written and read; the table stores one per key, the ledger. A View
// is what one process knows of it. Grow, Read, Get, Write and Repair are machines for one operation each. A Share lets the
// strong reads of a process share reads of the ledger. The Law decides when a key grows, and Hints how wide its next time
// bucket begins. A Clock makes one time of a process's two clocks. With time buckets, each bucket of a key has a ledger and a
// View of its own.
//
// Nothing here sends a request, looks at a clock, starts a goroutine or draws a number. A machine returns effects, which
// its caller carries out, and handles events, which say what became of them:
//
//	for !m.Over() {
//		for _, effect := range m.Next() {
//			start(effect) // its answer becomes an event
//		}
//		m.Handle(<-events)
//	}
//	result, err := m.Result()
//
// A machine changes the View of its process. Who has several at work calls them under one lock per View. Package sim runs
// the same machines on a simulated DynamoDB.
//
// Why no item is missed: a writer uses a shard only below a write width that it read, or that was acknowledged. The read
// width was at least as large then, and it never falls. A strong read reads the ledger after it has begun, so that it knows
// of every shard with an item that was acknowledged before. No clock takes part in this.
//
// What is lost with the ledger: a strong read notices it by what its process knew, by the stamps of items, or by the width
// of the page before. A process that has just started, and meets no such item, cannot. Get looks at few items, so it
// notices least. Repair writes the ledger anew from what the shards show.
package ledger
