package partitions_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/local/partitions"
)

// Programs read the JSON of /partitions by these names. A field without a value in this test is found, so that none is
// added without its name being decided here.
func TestJSON(t *testing.T) {
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	heat := partitions.Heat{
		Table: "orders", Index: "by-status", ReadTokens: 1, WriteTokens: -2, PartitionReads: 3000, PartitionWrites: 1000,
		Partitions: []partitions.Partition{{
			ID: 7, Lower: "80", Upper: "c0", Bytes: 5, ReadTokens: 6, WriteTokens: -7, Heat: 0.5, Obstacle: "single item",
			Seconds: []partitions.Second{{Start: at, ReadUnits: 1, WriteUnits: 2, ReadThrottled: 3, WriteThrottled: 4}},
		}},
		Splits:  []partitions.Split{{At: at, Cause: "heat", Parent: 1, Children: [2]uint64{2, 3}, Point: "a0"}},
		Minutes: []partitions.Minute{{Start: at, Metrics: map[string]float64{"ConsumedWriteCapacityUnits": 9}}},
	}
	for _, v := range []any{heat, heat.Partitions[0], heat.Partitions[0].Seconds[0], heat.Splits[0], heat.Minutes[0]} {
		for field, value := range reflect.ValueOf(v).Fields() {
			if value.IsZero() {
				t.Errorf("%T.%s has no value in this test", v, field.Name)
			}
		}
	}
	got, err := json.Marshal(heat)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"table":"orders","index":"by-status","readTokens":1,"writeTokens":-2,"partitionReads":3000,"partitionWrites":1000,` +
		`"partitions":[{"id":7,"lower":"80","upper":"c0","bytes":5,"readTokens":6,"writeTokens":-7,"heat":0.5,"obstacle":"single item",` +
		`"seconds":[{"start":"2026-11-15T12:00:00Z","readUnits":1,"writeUnits":2,"readThrottled":3,"writeThrottled":4}]}],` +
		`"splits":[{"at":"2026-11-15T12:00:00Z","cause":"heat","parent":1,"children":[2,3],"point":"a0"}],` +
		`"minutes":[{"start":"2026-11-15T12:00:00Z","metrics":{"ConsumedWriteCapacityUnits":9}}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
