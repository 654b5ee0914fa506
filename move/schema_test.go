package move_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// adaptive returns the options of orders whose keys have ledgers, and were not sharded before.
func adaptive() heatsink.Options {
	o := collection(layout.Layout{Strategy: layout.Calculated}, layout.Layout{})
	o.Adaptive = &heatsink.Adaptive{}
	return o
}

// A key that grows while its items are read does not make them look damaged.
func TestKeyThatGrowsMeanwhile(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		direct := start(t).Client()
		programs := open(t, direct, adaptive())
		put := func(prefix string, n int) {
			for i := range n {
				if _, err := programs.Put(t.Context(), order{ID: fmt.Sprint(prefix, i), Status: "OPEN", Created: "x"}); err != nil {
					t.Error(err)
				}
			}
		}
		put("a", 300)
		pages := 0
		client := faulty.On(t, direct, func(r faulty.Request) faulty.Fault {
			if r.Operation == "Scan" && r.Input.(*dynamodb.ScanInput).ExclusiveStartKey != nil {
				if pages++; pages == 1 {
					if _, err := programs.Ledgers().Grow(t.Context(), "OPEN", time.Time{}, 16, "hot"); err != nil {
						t.Error(err)
					}
					put("b", 300)
				}
			}
			return faulty.None
		})
		report, err := mover(t, client, move.Options{Collection: adaptive(), Segments: 1, RCU: 1}).Verify(t.Context())
		if err != nil || report.Damaged() != 0 || report.Right < 100 || pages == 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// Reads of ledgers keep to the rate of reads, and are among the units of the result.
func TestLedgersAreReadWithinTheRate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t).Client(), nil)
		if _, err := open(t, client.Direct, adaptive()).Count(t.Context(), heatsink.Query{Key: "OPEN"}); err != nil { // writes the charter
			t.Fatal(err)
		}
		for i := range 1000 {
			put(t, client.Direct, fmt.Sprint("o", i), fmt.Sprintf("KEY%dx", i))
		}
		m := mover(t, client, move.Options{Collection: adaptive(), RCU: 20})
		began := time.Now()
		if _, err := m.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 45*time.Second {
			t.Errorf("1,000 ledgers at 20 units per second were read in %v", took)
		}
		result, err := m.Run(t.Context())
		if err != nil || result.ReadUnits < 2000 || result.Forecast.SampleUnits < 1000 {
			t.Errorf("%v read units, %v of them for the sample, %v", result.ReadUnits, result.Forecast.SampleUnits, err)
		}
	})
}
