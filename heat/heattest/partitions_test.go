package heattest_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heattest"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// place is where a key is, and in which of four partitions that is.
func place(t *testing.T, db *heattest.DB, key string) (at string, quarter uint64) {
	t.Helper()
	places, err := db.Places(t.Context(), "orders", key)
	if err != nil {
		t.Fatal(err)
	}
	first, err := strconv.ParseUint(places[key][:2], 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	return places[key], first / 64
}

// keyBeside returns a cold key whose place fits.
func keyBeside(t *testing.T, db *heattest.DB, fits func(at string, quarter uint64) bool) string {
	t.Helper()
	for i := 0; ; i++ {
		if key := fmt.Sprint("COLD#", i); fits(place(t, db, key)) {
			return key
		}
	}
}

// fullPartition offers 1,500 units a second to one key, 300 to two beside it, one on each side, and 100 to one on another partition. It
// returns the report, and these keys.
func fullPartition(t *testing.T, options heattest.Options, seconds int) (report heat.Report, beside [2]string, apart string) {
	t.Helper()
	options.Expected = true
	j := &judged{}
	db := heattest.Start(j, options)
	t.Cleanup(func() { j.end() })
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	hot, where := place(t, db, "HOT")
	beside[0] = keyBeside(t, db, func(at string, quarter uint64) bool { return quarter == where && at < hot })
	beside[1] = keyBeside(t, db, func(at string, quarter uint64) bool { return quarter == where && at > hot })
	apart = keyBeside(t, db, func(_ string, quarter uint64) bool { return quarter != where })
	write(t, db.Client(), 1900, seconds, func(i int) string {
		switch n := int(uint32(i) * 2654435761 >> 8 % 38); { // in no order
		case n < 30:
			return "HOT"
		case n < 36:
			return beside[n%2]
		}
		return apart
	})
	return db.Report(), beside, apart
}

// The engine knows partitions: a key that is throttled because a hot one fills its partition is told so, and nobody infers anything.
func TestPartitions(t *testing.T) {
	for name, options := range map[string]heattest.Options{
		"as it is":   {},
		"with split": {Engine: local.Options{Physics: &local.Physics{SplitHold: 3 * time.Second, SplitDuration: -1}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				report, beside, apart := fullPartition(t, options, 7)
				on := make(map[string]string)
				for _, k := range report.Resources[0].Writes.Keys {
					on[k.Key] = k.Partition
				}
				if on["HOT"] == "" || on["HOT"] != on[beside[0]] || on["HOT"] != on[beside[1]] || on["HOT"] == on[apart] || on[apart] == "" {
					t.Errorf("got %v", on)
				}
				findings := heat.Explain(report, heat.Rules{})
				if len(findings) < 2 || findings[0].Key != "HOT" || findings[0].Severity != heat.Critical {
					t.Fatalf("got %v", findings)
				}
				for _, f := range findings[1:] {
					if f.Severity == heat.Critical || strings.Contains(fmt.Sprint(f), "inferred") {
						t.Errorf("got %+v", f)
					}
				}
				f := findings[1]
				want := fmt.Sprintf("Partition key '%s' is throttled although it is not hot: 'HOT' fills its partition", f.Key)
				both := slices.Sorted(slices.Values(append([]string{f.Key}, f.Others...)))
				if f.Message != want || f.Severity != heat.Warning || !slices.Equal(both, slices.Sorted(slices.Values(beside[:]))) {
					t.Errorf("got %+v", f)
				}
			})
		})
	}
}

// Keys that are redacted are nowhere, and neither are those of a table that is gone.
func TestPartitionsThatNobodyKnows(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		report, _, _ := fullPartition(t, heattest.Options{Heat: heat.Options{Redact: heat.Hashed([]byte("a secret of at least 16 bytes"))}}, 2)
		for _, k := range report.Resources[0].Writes.Keys {
			if k.Partition != "" {
				t.Errorf("redacted: got %+v", k)
			}
		}
		db := heattest.Start(&judged{}, heattest.Options{Expected: true})
		if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		write(t, db.Client(), 100, 1, oneKey)
		if _, err := db.Client().DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String("orders")}); err != nil {
			t.Fatal(err)
		}
		report = db.Report()
		for i := range report.Resources {
			for _, k := range report.Resources[i].Writes.Keys {
				if k.Partition != "" {
					t.Errorf("deleted: got %+v", k)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
