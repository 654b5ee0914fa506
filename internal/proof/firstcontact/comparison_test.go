package main

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// root is the repository's, from here.
const root = "../../.."

var (
	resultFile = flag.String("result", "", "a file for the result, as JSON")
	long       = flag.Duration("long", opening, "how long loads are; those of more than a few seconds are offered at all shares of the capacity")
)

// measure measures everything: all contestants under load, reading, and with faults.
func measure(t *testing.T, long time.Duration) (r results) {
	contestants, unlucky, offered := loaded, faulted, shares
	if long == opening {
		contestants, unlucky, offered = headline, headline, []float64{readShare}
	}
	for _, contestant := range contestants {
		for _, share := range offered {
			began := time.Now()
			load, reads := measureLoad(t, contestant, share, long, readsAfter(contestant, share)...)
			r.Loads, r.Reads = append(r.Loads, load), append(r.Reads, reads...)
			t.Logf("%+v in %v", load, time.Since(began).Round(time.Millisecond))
		}
	}
	r.Spread = measureSpread(t, manyShards, fewShards)
	for _, contestant := range unlucky {
		for _, fault := range faults {
			r.Faults = append(r.Faults, measureFault(t, contestant, fault))
		}
	}
	return r
}

// readsAfter are the ways to read that begin with the items of a load.
func readsAfter(contestant string, share float64) (ways []string) {
	if share != readShare || !slices.Contains(reading, contestant) {
		return nil
	}
	ways = []string{contestant}
	if contestant == suffixRandom {
		ways = append(ways, suffixWhole)
	}
	return ways
}

// measureSpread says on which partitions suffixes lie.
func measureSpread(t *testing.T, counts ...int) (all []spreadResult) {
	w := newWorld(t, 1)
	heat, err := w.db.Partitions(t.Context(), table, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range counts {
		keys, err := layout.Layout{Shards: count, Format: layout.DotFromOne()}.ShardKeys(key, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		places, err := w.db.Places(t.Context(), table, keys...)
		if err != nil {
			t.Fatal(err)
		}
		on := make([]int, len(heat[0].Partitions))
		for _, place := range places {
			on[slices.IndexFunc(heat[0].Partitions, func(p partitions.Partition) bool {
				return place >= p.Lower && (p.Upper == "" || place < p.Upper)
			})]++
		}
		slices.Sort(on)
		slices.Reverse(on)
		all = append(all, spreadResult{Shards: count, Partitions: on})
	}
	return all
}

// TestComparison measures for a few seconds of load, and compares with the figures that are kept. For the proof it measures as long as
// it is told, and leaves the result.
func TestComparison(t *testing.T) {
	got := measure(t, *long)
	if *resultFile != "" {
		file, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*resultFile, file, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := readKept(root)
	if err != nil {
		t.Fatal(err)
	}
	if *long == opening {
		for _, d := range differences(&got, &kept.Opening) {
			t.Errorf("%s: the documents are stale, run make proof-first-contact ONLY=comparison WRITE=1", d)
		}
	}
}
