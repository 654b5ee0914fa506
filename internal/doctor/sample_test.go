package doctor

import (
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What the sample will cost is said before, as far as it costs anything.
func TestAnnounce(t *testing.T) {
	db := local.Start(t)
	create(t, db.Client())
	fill(t, db.Client(), heatsink.Options{Recorded: true, Layout: layout.Layout{Shards: 2}})
	var cost heat.ScanCost
	var rate float64
	read := int64(0)
	_, err := Examine(t.Context(), Options{
		Client: db.Client(), Table: "events", MaxRCU: 5000,
		Announce: func(c heat.ScanCost, r float64) {
			if read > 0 {
				t.Errorf("%d items were read before", read)
			}
			cost, rate = c, r
		},
		Progress: func(items, _ int64) { read = items },
	})
	if err != nil || cost.Of != 61 || cost.Items != 61 || cost.Units <= 0 || rate != 5000 || read != 61 {
		t.Errorf("got %v at %v, %d items, %v", cost, rate, read, err)
	}
}

func TestOnThisMachine(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"": false, "http://127.0.0.1:8000": true, "http://localhost:8000": true, "http://[::1]:8000/": true, "http://127.1.2.3": true,
		"https://dynamodb.eu-west-1.amazonaws.com": false, "http://10.0.0.1:8000": false, "http://localhost.example:8000": false, "://": false,
	} {
		if got := onThisMachine(endpoint); got != want {
			t.Errorf("%q: got %v", endpoint, got)
		}
	}
}
