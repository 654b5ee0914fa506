// Package ledger is the protocol of adaptive layouts: how a key's number of shards changes while everything runs.
//
// The nouns: a Record says how many shards of a key are written and read; the table stores one per key, the ledger. A View
// is what one process knows of it. Grow, Read and Write are machines for one operation each. A Share lets the strong reads
// of a process share reads of the ledger. The Law decides when a key grows.
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
package ledger
