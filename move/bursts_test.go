package move_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// Items that cost far more than others are paid for after they were written: the rate holds over ten seconds.
func TestRunKeepsToItsRateWithLargeItems(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const rate, units = 50, 30 // an item of 10 KB costs 10 units in the table, and 20 in the index
		client := faulty.On(t, start(t).Client(), nil)
		for i := range 300 {
			put(t, client.Direct, fmt.Sprint("small", i), "OPEN")
		}
		m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: rate, Segments: 1})
		if _, err := m.Plan(t.Context()); err != nil { // sees no large item
			t.Fatal(err)
		}
		for i := range 300 {
			put(t, client.Direct, fmt.Sprint("small", i), "OPEN", func(item heatsink.Item) { item["text"] = text(strings.Repeat("x", 10_000)) })
		}
		began := time.Now()
		result, err := m.Run(t.Context())
		if err != nil || result.WriteUnits != 300*units {
			t.Fatalf("%v units, %v", result.WriteUnits, err)
		}
		perTen := map[int64]float64{}
		for _, r := range client.Requests() {
			if r.Operation == "UpdateItem" {
				perTen[int64(r.At.Sub(began)/(10*time.Second))] += units
			}
		}
		for ten, used := range perTen {
			if used > 10*rate+8*units { // what is under way at a time is not settled yet
				t.Errorf("ten seconds from %d took %v units, want %d", 10*ten, used, 10*rate)
			}
		}
	})
}

// Time in which nothing was written is lost, but for a tenth of a second: the writes that follow are no burst.
func TestRunDoesNotCatchUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const rate, units = 100, 3
		client := faulty.On(t, start(t).Client(), nil)
		client.Delay(func(r faulty.Request) time.Duration {
			if scan, ok := r.Input.(*dynamodb.ScanInput); ok && scan.ProjectionExpression != nil {
				return 10 * time.Second
			}
			return 0
		})
		for i := range 300 {
			put(t, client.Direct, fmt.Sprint("o", i), "OPEN")
		}
		if _, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: rate, Segments: 1}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var first time.Time
		burst := 0
		for _, r := range client.Requests() {
			if r.Operation != "UpdateItem" {
				continue
			}
			if first.IsZero() {
				first = r.At
			}
			if r.At.Sub(first) < 10*time.Millisecond {
				burst++
			}
		}
		// A tenth of a second is worth ten units, and the one request whose turn it is comes on top.
		if most := rate/10/units + 2; burst == 0 || burst > most {
			t.Errorf("%d updates at once after ten seconds without one, want %d at most", burst, most)
		}
	})
}
