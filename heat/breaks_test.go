package heat_test

import (
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// The tests of this file were written for breaks of a line that no other test noticed.

// What a folded report counts of shards are the requests that were served: those that were refused say nothing of how a key is
// spread. What no listed key accounts for may be anybody's.
func TestFoldCountsWhatWasServed(t *testing.T) {
	report := heat.Report{Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "views"},
		Writes: heat.Flow{
			Requests: 1300, Throttled: 900,
			Keys: []heat.KeyHeat{
				{Key: "a#SHARD_0", Requests: 1000, Throttled: 900, Items: 7}, {Key: "a#SHARD_1", Requests: 100, Items: 4}, {Key: "a#SHARD_2", Requests: 100, Items: 2},
			},
		},
		Stored: &heat.Stored{
			Items: 310, Fraction: 1,
			Keys: []heat.KeyItems{{Key: "a#SHARD_0", Items: 100, Low: 90}, {Key: "a#SHARD_1", Items: 100, Low: 100}, {Key: "a#SHARD_2", Items: 110, Low: 110}},
		},
	}}}
	if err := report.Fold(heat.Layout{Layout: layout.Layout{Shards: 3}}); err != nil {
		t.Fatal(err)
	}
	writes, stored := report.Resources[0].Writes.Sharded, report.Resources[0].Stored.Sharded
	if len(writes) != 1 || len(stored) != 1 || len(writes[0].Keys) != 1 || len(stored[0].Keys) != 1 {
		t.Fatalf("got %+v and %+v", writes, stored)
	}
	if k := writes[0].Keys[0]; writes[0].Count != 300 || k.Most != 100 || k.Count != 400 || k.Items != 7 || k.OtherItems != 3 {
		t.Errorf("writes: got %d with %+v, want 300, 100 of 400 in the fullest, and 7 items, 3 in the others", writes[0].Count, k)
	}
	if k := stored[0].Keys[0]; stored[0].Count != 300 || k.Most != 110 || k.Count != 310 {
		t.Errorf("stored: got %d with %+v, want 300, 110 of 310 in the fullest", stored[0].Count, k)
	}
}
