package move_test

import (
	"math"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A move puts every item where a Put of the present layout would, from whatever layout it comes, and costs what was forecast.
func TestRunMovesBetweenLayouts(t *testing.T) {
	day := layout.Layout{Shards: 4, Strategy: layout.Calculated, Bucket: layout.Day}
	layouts := map[string]layout.Layout{
		"unsharded":        {},
		"4 shards":         {Shards: 4, Strategy: layout.Calculated},
		"16 shards":        sixteen,
		"16 shards by fnv": {Shards: 16, Strategy: layout.Calculated, Hash: layout.FNV},
		"spelt otherwise":  {Shards: 8, Strategy: layout.Calculated, Format: layout.SharpNumber()},
		"bare zero":        {Shards: 8, Strategy: layout.Calculated, Format: layout.Format{BareZero: true}},
		"daily":            day,
		"hourly":           {Bucket: layout.Hour},
	}
	for from, before := range layouts {
		for to, now := range layouts {
			if from == to {
				continue
			}
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				db := start(t)
				client := db.Client()
				fill(t, client, collection(before), 300, 700)
				put(t, client, "unlisted", "x", func(item heatsink.Item) { delete(item, "status") })
				m := mover(t, client, move.Options{Collection: collection(now, before), From: []layout.Layout{before}, RCU: 1e5, WCU: 1e5})
				forecast, err := m.Plan(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				result, err := m.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if forecast.Moves != result.Moved || result.Late != 0 || result.Right != 300 || result.Passes != 2 {
					t.Errorf("forecast %+v, result %+v", forecast, result)
				}
				if math.Abs(forecast.WriteUnits-result.WriteUnits) > 0.001 || math.Abs(forecast.ReadUnits-result.ReadUnits) > 0.1*result.ReadUnits {
					t.Errorf("forecast %v and %v write and read units, consumed %v and %v",
						forecast.WriteUnits, forecast.ReadUnits, result.WriteUnits, result.ReadUnits)
				}
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != 300 || report.Scanned != 301 {
					t.Errorf("verified %+v, %v", report, err)
				}
				got := stored(t, client)
				fresh := start(t)
				fill(t, fresh.Client(), collection(now), 300, 700)
				for id, want := range stored(t, fresh.Client()) {
					if got[id] != want {
						t.Fatalf("%s is listed under %q, want %q", id, got[id], want)
					}
				}
				if len(got) != 301 {
					t.Errorf("%d items, want 301", len(got))
				}
				again, err := m.Run(t.Context())
				if err != nil || again.Moved != 0 || again.WriteUnits != 0 {
					t.Errorf("the second run moved %d items: %v", again.Moved, err)
				}
			})
		}
	}
}
