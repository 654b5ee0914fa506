package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// kept is what the file of the comparison has: the tables in the documents are written from it.
type kept struct {
	Whole   results `json:"whole"`   // what the documents show
	Opening results `json:"opening"` // the same for few contestants and seconds, which tests measure again
}

// results is everything that the comparison has measured: see TestComparison.
type results struct {
	Loads  []loadResult   `json:"loads"`
	Reads  []readResult   `json:"reads"`
	Faults []faultResult  `json:"faults"`
	Spread []spreadResult `json:"spread"`
}

// loadResult is what became of the writes of one contestant at one load.
type loadResult struct {
	Contestant string  `json:"contestant"`
	Share      float64 `json:"share"`    // of the table's capacity that was offered
	Offered    int     `json:"offered"`  // operations
	Failed     int     `json:"failed"`   // of these
	Last       float64 `json:"last"`     // seconds until the last of these began
	Finished   float64 `json:"finished"` // seconds from the first operation until all had ended
	P50        float64 `json:"p50"`      // milliseconds, of all operations, failed ones included
	P99        float64 `json:"p99"`
	Requests   int     `json:"requests"`
	Throttles  int     `json:"throttles"`      // of these
	Shards     int     `json:"shards"`         // of the key, in the end
	Grew       float64 `json:"grew,omitempty"` // seconds until an adaptive key grew first
}

// readResult is what one way to read the newest items took.
type readResult struct {
	Contestant string  `json:"contestant"`
	Stored     int     `json:"stored"` // items of the key
	Items      int     `json:"items"`  // that DynamoDB read
	Requests   int     `json:"requests"`
	Units      float64 `json:"units"`   // read units
	Seconds    float64 `json:"seconds"` // with 5 ms for each request
	Wrong      int     `json:"wrong"`   // of the items that were returned, or were missing
}

// faultResult is what became of the items of one contestant after a fault.
type faultResult struct {
	Contestant string `json:"contestant"`
	Fault      string `json:"fault"`
	Items      int    `json:"items"`   // that were to be written
	Met        int    `json:"met"`     // of these, how many met the fault
	Failed     int    `json:"failed"`  // writes whose last word to the caller was an error
	Doubled    int    `json:"doubled"` // items that are there more than once
	Lost       int    `json:"lost"`    // acknowledged items that are not there
	Keys       int    `json:"keys"`    // partition keys that the items are under
}

// spreadResult says how many of the key's shards each partition has, the busiest first.
type spreadResult struct {
	Shards     int   `json:"shards"`
	Partitions []int `json:"partitions"`
}

// busiest is the share of the shards that the busiest partition has.
func (s *spreadResult) busiest() float64 {
	if len(s.Partitions) == 0 {
		return 0
	}
	return float64(s.Partitions[0]) / float64(s.Shards)
}

// load returns a figure by its name. Those that were not measured are zero.
func (r *results) load(contestant string, share float64) loadResult {
	return find(r.Loads, func(l *loadResult) bool { return l.Contestant == contestant && l.Share == share })
}

func (r *results) read(contestant string) readResult {
	return find(r.Reads, func(l *readResult) bool { return l.Contestant == contestant })
}

func (r *results) fault(contestant, fault string) faultResult {
	return find(r.Faults, func(l *faultResult) bool { return l.Contestant == contestant && l.Fault == fault })
}

func (r *results) spread(shards int) spreadResult {
	return find(r.Spread, func(l *spreadResult) bool { return l.Shards == shards })
}

// find returns the first that is wanted.
func find[T any](all []T, wanted func(*T) bool) (none T) {
	for i := range all {
		if wanted(&all[i]) {
			return all[i]
		}
	}
	return none
}

// resultsFile is relative to the root of the repository.
const resultsFile = "internal/proof/firstcontact/testdata/comparison.json"

// readKept reads the figures of the documents.
func readKept(root string) (k kept, err error) {
	text, err := os.ReadFile(filepath.Join(root, resultsFile))
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(text, &k)
}

// write replaces them.
func (k *kept) write(root string) error {
	text, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, resultsFile), append(text, '\n'), 0o644)
}
