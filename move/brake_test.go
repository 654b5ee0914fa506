package move_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// slow starts an engine whose partitions throttle early.
func slow(t *testing.T, p local.Physics) *dynamodb.Client {
	t.Helper()
	db, err := local.New(local.Options{Physics: &p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := createOrders(t.Context(), db.Client()); err != nil {
		t.Fatal(err)
	}
	return db.Client()
}

// A move takes as long as its rates say, and no second takes more.
func TestRunKeepsToItsRates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t).Client(), nil)
		fill(t, client.Direct, collection(layout.Layout{}), 1000, 2000)
		m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), WCU: 90, RCU: 100})
		forecast, err := m.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		result, err := m.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); math.Abs(float64(took-forecast.Duration)) > 0.1*float64(took) || result.Throttles != 0 {
			t.Errorf("took %v, forecast %v, %d throttles", took, forecast.Duration, result.Throttles)
		}
		if math.Abs(forecast.ReadUnits-result.ReadUnits) > 0.1*result.ReadUnits || math.Abs(forecast.WriteUnits-result.WriteUnits) > 0.1*result.WriteUnits {
			t.Errorf("forecast %v and %v units, consumed %v and %v", forecast.ReadUnits, forecast.WriteUnits, result.ReadUnits, result.WriteUnits)
		}
		perSecond := map[int64]float64{}
		for _, r := range client.Requests() {
			if r.Operation == "UpdateItem" {
				perSecond[int64(r.At.Sub(began)/time.Second)] += result.WriteUnits / float64(result.Moved)
			}
		}
		for second, units := range perSecond {
			if units > 90*1.25+9 {
				t.Errorf("second %d took %v write units", second, units)
			}
		}
	})
}

// A table that throttles makes the mover slower than it may be, and most of what it sends is served.
func TestRunSlowsDownWhenThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, slow(t, local.Physics{PartitionWrites: 20, OnDemandPartitions: 2, Window: time.Second, NoSplits: true}), nil)
		for i := range 600 {
			put(t, client.Direct, "o"+strings.Repeat("x", i%7)+time.Duration(i).String(), "OPEN")
			time.Sleep(100 * time.Millisecond)
		}
		var slowest float64 = 1000
		m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), Progress: func(p move.Progress) { slowest = min(slowest, p.WCU) }})
		result, err := m.Run(t.Context())
		if err != nil || result.Moved != 600 || result.Right != 600 {
			t.Fatalf("%+v, %v", result, err)
		}
		// The hot key of the index takes 20 units a second, so the whole takes half a minute at least.
		if result.Throttles == 0 || slowest > 200 || result.Took < 25*time.Second || result.Took > 4*time.Minute {
			t.Errorf("%d throttles, slowest %v WCU, took %v", result.Throttles, slowest, result.Took)
		}
		if result.Throttles > result.Moved+result.Moved/2 {
			t.Errorf("%d throttles for %d moves", result.Throttles, result.Moved)
		}
		t.Logf("600 items in %v, %d throttles", result.Took, result.Throttles)
	})
}

// A table that serves nothing ends the move after a while, with an error that says so.
func TestRunGivesUpOnATableThatServesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		for fault, want := range map[faulty.Fault]string{faulty.Throttled: "nothing was served for 5m0s", faulty.LostRequest: "gave up after 8 attempts", faulty.Denied: "denied"} {
			client := faulty.On(t, start(t).Client(), faulty.Always(fault).Of("UpdateItem"))
			put(t, client.Direct, "a", "OPEN")
			began := time.Now()
			result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Run(t.Context())
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) || result.Moved != 0 || time.Since(began) > 10*time.Minute {
				t.Errorf("%v: %+v, %v", fault, result, err)
			}
		}
	})
}

// One throttle after a long time without requests of its kind is no reason to give up.
func TestRunOutlivesAThrottleAfterALongPause(t *testing.T) {
	for operation, o := range map[string]move.Options{"Scan": {WCU: 1, Segments: 1}, "UpdateItem": {RCU: 1, Segments: 1}} {
		t.Run(operation, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				sent := 0
				client := faulty.On(t, start(t).Client(), func(r faulty.Request) faulty.Fault {
					if r.Operation != operation {
						return faulty.None
					}
					sent++
					if operation == "Scan" && sent == 3 || operation == "UpdateItem" && sent == 1 { // behind the sample and the first pass
						return faulty.Throttled
					}
					return faulty.None
				})
				if operation == "Scan" {
					fill(t, client.Direct, collection(layout.Layout{}), 150, 10) // 150 moves take 7 minutes
				} else {
					fill(t, client.Direct, collection(sixteen), 800, 3000) // reading takes longer than that
				}
				o.Collection = collection(sixteen, layout.Layout{})
				m := mover(t, client, o)
				if operation == "UpdateItem" {
					if _, err := m.Plan(t.Context()); err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(7*time.Minute, func() {
						for i := range 20 {
							put(t, client.Direct, "late"+time.Duration(i).String(), "OPEN")
						}
					})
				}
				began := time.Now()
				result, err := m.Run(t.Context())
				if err != nil || result.Moved == 0 || result.Throttles != 1 || time.Since(began) < 6*time.Minute {
					t.Errorf("after %v: moved %d, %d throttles, %v", time.Since(began), result.Moved, result.Throttles, err)
				}
			})
		})
	}
}

// Programs that still write the old layout are noticed: those that stop, by the count; those that do not, by an error.
func TestOldWritersAreNoticed(t *testing.T) {
	for name, test := range map[string]struct {
		writes int
		err    error
	}{"some": {40, nil}, "forever": {1 << 30, move.ErrOldWriters}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := start(t).Client()
				fill(t, client, collection(layout.Layout{}), 300, 100)
				var late int64
				m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), RCU: 2, Progress: func(p move.Progress) { late = p.Late }})
				if _, err := m.Plan(t.Context()); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for i := 0; i < test.writes; i++ {
						select {
						case <-ctx.Done():
							return
						case <-time.After(100 * time.Millisecond):
							put(t, client, "late"+time.Duration(i%40).String(), "OPEN")
						}
					}
				}()
				result, err := m.Run(ctx)
				cancel()
				<-ended
				if !errors.Is(err, test.err) || result.Late == 0 || result.Late != late {
					t.Errorf("%d late, progress %d, %v", result.Late, late, err)
				}
				if err != nil && !strings.Contains(err.Error(), "the mover's layout is not that of the programs") {
					t.Error(err)
				}
				if test.err != nil { // the next run is a new one, and moves what they have written meanwhile
					again, err := m.Run(t.Context())
					if err != nil || again.Resumed || again.Late != 0 || again.Right != 340 {
						t.Errorf("again: %+v, %v", again, err)
					}
				}
				if test.err == nil && (result.Damaged() != 0 || result.Right != 340) {
					t.Errorf("%+v", result)
				}
			})
		})
	}
}

// An item that DynamoDB does not let change is named, and all others are moved.
func TestItemThatIsTooLarge(t *testing.T) {
	client := start(t).Client()
	fill(t, client, collection(layout.Layout{}), 20, 10)
	put(t, client, "large", "OPEN", func(item map[string]types.AttributeValue) {
		item["text"] = text(strings.Repeat("x", 400<<10-len("id")-len("large")-len("status")-len("OPEN")-len("created")-20-len("text")))
	})
	put(t, client, "odd", "_hs#L#x##y")
	result, err := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{})}).Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || result.Refused != 1 || result.Moved != 20 {
		t.Fatalf("%+v, %v", result, err)
	}
	if !strings.Contains(err.Error(), "1 item under keys that no layout explains, and 1 item that DynamoDB refused to change") {
		t.Error(err)
	}
	i := slices.IndexFunc(result.Findings, func(f move.Finding) bool { return f.Kind == "refused" })
	if i < 0 {
		t.Fatalf("%+v", result.Findings)
	}
	if f := result.Findings[i]; f.Key != `id "large"` || f.Stored != "OPEN" {
		t.Errorf("%+v", result.Findings)
	}
}

// The forecast of a large table comes from a sample, and is right within a tenth.
func TestForecastOfALargeTable(t *testing.T) {
	client := start(t, func(in *dynamodb.CreateTableInput) {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes,
			types.GlobalSecondaryIndex{
				IndexName: aws.String("byTime"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"status"}},
				KeySchema: []types.KeySchemaElement{key("created", types.KeyTypeHash)},
			},
			types.GlobalSecondaryIndex{
				IndexName: aws.String("keys"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
				KeySchema: []types.KeySchemaElement{key("created", types.KeyTypeHash), key("id", types.KeyTypeRange)},
			})
	}).Client()
	fill(t, client, collection(layout.Layout{}), 12000, 300)
	fill(t, client, collection(sixteen), 4000, 1500)
	m := mover(t, client, move.Options{Collection: collection(sixteen, layout.Layout{}), RCU: 1e5, WCU: 1e6})
	forecast, err := m.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if forecast.Exact || forecast.Sampled > 10000 || forecast.SampleUnits > 0.4*forecast.ReadUnits {
		t.Errorf("%+v", forecast)
	}
	result, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(float64(forecast.Moves - result.Moved)); forecast.MovesMargin < 20 || forecast.MovesMargin > 1000 || off > 2.5*float64(forecast.MovesMargin) {
		t.Errorf("%d moves, give or take %d, and %d were moved", forecast.Moves, forecast.MovesMargin, result.Moved)
	}
	for name, x := range map[string][2]float64{
		"moves": {float64(forecast.Moves), float64(result.Moved)}, "reads": {forecast.ReadUnits, result.ReadUnits}, "writes": {forecast.WriteUnits, result.WriteUnits},
		"index": {forecast.IndexUnits, result.IndexUnits}, "dollars": {forecast.Dollars, result.Dollars}, "items": {float64(forecast.Items), 12000},
	} {
		if math.Abs(x[0]-x[1]) > 0.1*x[1] {
			t.Errorf("%s: forecast %v, consumed %v", name, x[0], x[1])
		}
	}
}
