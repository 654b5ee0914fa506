package main

import "time"

// The numbers that must hold, and the sizes. All of them are here.
const (
	latency   = 5 * time.Millisecond // of each request, in virtual time
	mostSlow  = 1.2                  // the users' p99 while items move, as a multiple of that without a mover
	mostOff   = 0.10                 // how far the mover's units may be from its forecast
	mostKills = 100                  // of movers and of clients

	leastMoved = 0.8 // of the items; the others are moved by users, who write them

	// absentID ends the kinds of writes to ids that are not there. Only both homes together show that while items move, one after the
	// other, because the old one is fenced first.
	absentID       = ", no item"
	absentRequests = 2.0 // what their p99 may last

	// Full sizes.
	idItems          = 100_000
	indexItems       = 100_000
	listItems        = 1_000_000
	countItems       = 100_000
	killItems        = 400
	fullRate         = 200.0  // calls of users a second while items move
	fullWCU          = 1000.0 // of the mover
	listRate         = 50.0   // each reads a page of up to nine shards, in several requests
	listWCU          = 4000.0
	idProcesses      = 4
	keys             = 10               // logical keys
	slowly           = 0.01             // of that rate while the mover waits
	fullQuiet        = 2 * time.Minute  // that users are measured without a mover
	fullEvery        = 10 * time.Second // between two lists of a reader
	listEvery        = 2 * time.Minute  // the same, of lists with ten times as many items
	listSlowly       = 10 * time.Minute // the same while the mover waits, at least
	counterProcesses = 3
	sharedIDs        = 20 // ids that all processes add to
)
