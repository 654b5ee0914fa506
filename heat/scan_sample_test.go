package heat_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local"
)

// fill stores items under keys, 25 at a time.
func fill(t *testing.T, client *dynamodb.Client, table string, items map[string]int) {
	t.Helper()
	var batch []types.WriteRequest
	flush := func() {
		if len(batch) == 0 {
			return
		}
		if _, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: batch}}); err != nil {
			t.Fatal(err)
		}
		batch = nil
	}
	for pk, n := range items {
		for i := range n {
			if batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: key(pk, fmt.Sprint(i))}}); len(batch) == 25 {
				flush()
			}
		}
	}
	flush()
}

// A scan of a part of a table draws its segments by the seed, has whole keys, and says how likely a key is in it.
func TestScanSamples(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	items := make(map[string]int)
	for i := range 4000 {
		items[fmt.Sprintf("CUSTOMER#%04d", i)] = 4
	}
	fill(t, db.Client(), "orders", items)
	scan := func(seed uint64) (heat.Report, map[string]int64) {
		t.Helper()
		report, err := heat.ScanTable(t.Context(), db.Client(), "orders", heat.ScanOptions{Items: 4000, MaxRCU: 1e6, Seed: seed, Top: 5000, Entries: 5000})
		if err != nil {
			t.Fatal(err)
		}
		keys := make(map[string]int64)
		for _, k := range resource(t, report, "orders").Stored.Keys {
			keys[k.Key] = k.Items
		}
		return report, keys
	}
	report, first := scan(1)
	if fraction := resource(t, report, "orders").Stored.Fraction; math.Abs(fraction-0.25) > 0.03 {
		t.Errorf("a fraction of %v, want about a quarter", fraction)
	}
	if note := report.Notes[0]; !strings.Contains(note, "random segments out of 1,024 (seed 1); any one key is in it with a probability of 25 %") &&
		!strings.Contains(note, "with a probability of 2") {
		t.Errorf("got %q", report.Notes)
	}
	if !strings.Contains(report.Notes[1], "keys have or more is in the sample with a probability of 95 %") {
		t.Errorf("got %q", report.Notes)
	}
	cut := 0
	for _, n := range first {
		if n != 4 {
			cut++
		}
	}
	if cut > 2 {
		t.Errorf("%d keys of %d are there in part", cut, len(first))
	}
	_, again := scan(0)
	_, other := scan(2)
	if common(first, again) != len(first) || len(first) != len(again) {
		t.Errorf("the default seed is not 1: %d of %d keys in common", common(first, again), len(first))
	}
	// Two samples of a quarter have a quarter of their keys in common: 250, and by chance not 350.
	if n := common(first, other); n < 150 || n > 350 {
		t.Errorf("%d of %d keys are in common with another seed", n, len(first))
	}
}

func common(a, b map[string]int64) int {
	n := 0
	for key := range a {
		if _, ok := b[key]; ok {
			n++
		}
	}
	return n
}

// If most items are under a key that is not in the sample, the sample says that something is missing. If the key is in it,
// its share is that of the table, and not of the sample.
func TestScanSampleTellsWhatItLacks(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	items := map[string]int{"CUSTOMER#big": 6000}
	for i := range 3000 {
		items[fmt.Sprintf("CUSTOMER#%04d", i)] = 2
	}
	fill(t, db.Client(), "orders", items)
	with, without := 0, 0
	for seed := range uint64(12) {
		report, err := heat.ScanTable(t.Context(), db.Client(), "orders", heat.ScanOptions{Items: 2000, MaxRCU: 1e6, Seed: 1 + seed})
		if err != nil {
			t.Fatal(err)
		}
		lacks := strings.Contains(strings.Join(report.Notes, "; "), "likely a few large keys that are not in the sample")
		findings := heat.Explain(report, heat.Rules{})
		if r := resource(t, report, "orders"); r.Stored.Keys[0].Key == "CUSTOMER#big" {
			if with++; !strings.Contains(strings.Join(report.Notes, "; "), "likely 'CUSTOMER#big' has much of the rest") {
				t.Errorf("seed %d: got %q", seed, report.Notes)
			}
			continue
		}
		if without++; !lacks || len(findings) != 0 {
			t.Errorf("seed %d: got %q and %v", seed, report.Notes, findings)
		}
	}
	if with == 0 || without == 0 {
		t.Errorf("the large key was in %d samples, and not in %d: want both", with, without)
	}
}

// Of a table that is not larger than the sample, everything is read.
func TestScanOfASmallTableIsWhole(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	fill(t, db.Client(), "orders", map[string]int{"A": 30, "B": 20})
	report, err := heat.ScanTable(t.Context(), db.Client(), "orders", heat.ScanOptions{Items: 50, MaxRCU: 1e6})
	if err != nil || resource(t, report, "orders").Stored.Items != 50 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if cost, err := heat.EstimateScan(t.Context(), db.Client(), "orders", heat.ScanOptions{Items: 10}); err != nil || cost.Items != 10 || cost.Units < 1 || cost.Units > 20 {
		t.Errorf("got %+v, %v", cost, err)
	}
}
