package main

import "time"

// The numbers that must hold. All of them are here.
const (
	// The step: one key's load jumps, and the key must be wide and calm soon after.
	stepClients    = 50
	stepPartitions = 100
	stepFrom       = 100.0    // write units a second before the step
	stepTo         = 20_000.0 // and after it
	stepSeeds      = 20
	stepMostMissed = 1 // seeds that may miss a number of the step, except for items that are lost or doubled
	stepWidth      = 64
	stepWithin     = 10 * time.Second // until that width
	calmAfter      = 20 * time.Second
	calmShare      = 0.01 // of the operations that begin from calmAfter on may be throttled
	quietAfter     = 60 * time.Second
	quietShare     = 0.001 // and from quietAfter on
	fewPartitions  = 4     // on which growth is futile

	// The rolling change.
	rollProcesses = 5
	rollFrom      = 4
	rollTo        = 16

	// Cold keys.
	coldKeys     = 10_000
	coldKeep     = 30 * time.Second // in which a process reads the ledger of a key once at most
	coldPutRatio = 0.97             // of the throughput of the bare SDK
	coldService  = time.Millisecond // that the server of these Puts takes for an answer: less than DynamoDB does

	// The simulator.
	simSeeds = 20_000
)

// What the figures were without adaptive layouts.
const (
	beforeRoll = "61 of 159 reads missed items" // five processes from 4 to 16 shards, one by one
)
