package engine

import (
	"fmt"
	"testing"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// A Scan costs at least the smallest read for each partition that it comes to,
// with physics or without.
func TestScansCostEachPartition(t *testing.T) {
	for name, options := range map[string]Options{"without physics": {}, "with physics": {Physics: &partition.Options{}}} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, options)
			createTable(t, e, newTableInput("ondemand", "pk:S").withGlobal("byG", "g:S"))
			provisioned := newTableInput("provisioned", "pk:S")
			provisioned.BillingMode = nil
			provisioned.ProvisionedThroughput = &Throughput{Read: new(int64(5)), Write: new(int64(5))}
			createTable(t, e, provisioned)
			for _, table := range []string{"ondemand", "provisioned"} {
				putItem(t, e, table, fields("pk", "a", "g", "b"))
			}
			cost := func(in *ReadInput) float64 {
				in.ConsumedCapacity = "TOTAL"
				out, err := e.Scan(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return out.ConsumedCapacity.Units
			}
			for _, c := range []struct {
				in   *ReadInput
				want float64
			}{
				{&ReadInput{TableName: new("ondemand"), ConsistentRead: true}, 4},
				{&ReadInput{TableName: new("ondemand")}, 2},
				{&ReadInput{TableName: new("ondemand"), IndexName: new("byG")}, 2},
				{&ReadInput{TableName: new("provisioned"), ConsistentRead: true}, 1},
				{&ReadInput{TableName: new("provisioned")}, 0.5},
			} {
				if got := cost(c.in); got != c.want {
					t.Errorf("%s: got %v units, want %v", *c.in.TableName, got, c.want)
				}
			}
			all := 0.0
			for segment := range int64(8) { // two of them in each partition
				all += cost(&ReadInput{TableName: new("ondemand"), Segment: &segment, TotalSegments: new(int64(8))})
			}
			if all != 4 {
				t.Errorf("eight segments cost %v units, want 4", all)
			}
			for i := range 100 { // 120 KB: more than the least of four partitions
				putItem(t, e, "ondemand", fields("pk", fmt.Sprint(i), "pad", string(make([]byte, 1200))))
			}
			if got := cost(&ReadInput{TableName: new("ondemand"), ConsistentRead: true}); got != 30 {
				t.Errorf("120 KB: got %v units, want 30", got)
			}
		})
	}
}
