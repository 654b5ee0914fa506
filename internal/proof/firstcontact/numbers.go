package main

import "time"

// What is compared. All numbers of the comparison are here.
const (
	tablePartitions = 4    // of a new on-demand table
	partitionWrites = 1000 // write units a second that each takes
	capacity        = tablePartitions * partitionWrites

	manyShards = 200 // as in AWS's page
	fewShards  = 16
	newest     = 50 // items that are read

	itemUnits   = 5                // write units of an item
	loadTime    = 30 * time.Second // how long writes are offered
	opening     = 4 * time.Second  // as long a load as tests measure again
	pause       = time.Minute      // between a load and a read
	requestTime = 5 * time.Millisecond
	answerTime  = time.Second // how long heatsink waits for an answer to one attempt, and the SDK's HTTP client if it is told to

	faultItems = 400
	faultEvery = 4  // items, of which one meets the fault
	grown      = 16 // shards of an adaptive key before the faults: with one shard no item would be there twice
)

// shares are the loads, in parts of the table's capacity.
var shares = []float64{0.5, 0.9, 1.1}

// The contestants.
const (
	oneKey                 = "no shards, SDK"
	suffixRandom           = "200 random suffixes, SDK"
	suffixTimed            = "200 random suffixes, SDK with an HTTP timeout of 1 s"
	suffixPatient          = "200 random suffixes, SDK with an HTTP timeout of 1 s, the caller waits 4 s" // faults only
	suffixNext             = "200 random suffixes, SDK with the retries of 2026"
	suffixNextTimed        = "200 random suffixes, SDK with the retries of 2026 and an HTTP timeout of 1 s" // faults only
	suffixHashed           = "200 calculated suffixes, SDK"
	suffixFew              = "16 random suffixes, SDK"
	suffixWhole            = "200 suffixes, SDK, everything read and sorted" // reads only
	heatsinkRandom         = "heatsink, 200 random shards"
	heatsinkUntimed        = "heatsink, 200 random shards, the caller's timeout only" // faults only
	heatsinkHashed         = "heatsink, 200 calculated shards"
	heatsinkFew            = "heatsink, 16 random shards"
	heatsinkAdaptive       = "heatsink, adaptive"
	heatsinkControl        = "heatsink, adaptive, with a control table"
	heatsinkAdaptiveHashed = "heatsink, adaptive, calculated" // faults only
)

// The faults.
const (
	broken     = "the connection breaks after the write"
	unanswered = "no answer comes, and the caller writes again"
	killed     = "the process is killed after the write, and another one repeats it"
)

// Who takes part in what.
var (
	loaded  = []string{oneKey, suffixRandom, suffixTimed, suffixNext, suffixHashed, suffixFew, heatsinkRandom, heatsinkHashed, heatsinkFew, heatsinkAdaptive, heatsinkControl}
	reading = []string{oneKey, suffixWhole, suffixRandom, suffixFew, heatsinkRandom, heatsinkFew, heatsinkAdaptive}
	faulted = []string{
		oneKey, suffixRandom, suffixTimed, suffixPatient, suffixNextTimed, suffixHashed, heatsinkRandom, heatsinkUntimed, heatsinkHashed, heatsinkAdaptive, heatsinkAdaptiveHashed,
	}
	headline = []string{oneKey, suffixRandom, heatsinkRandom, heatsinkAdaptive} // those that tests measure again
	faults   = []string{broken, unanswered, killed}
)

const readShare = 0.9 // of the capacity, the load before a read
