package heatsink

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// A probe is strong, takes the largest stamp of all shards wherever it is, sees items that have expired, and looks as far as it is
// told to.
func TestProbeSeesEverything(t *testing.T) {
	client := faulty.On(t, onItems(t), nil)
	c := openItems(t, client, adaptive(func(o *Options) { o.TTL = "ttl" }))
	widen(t, c, "k", 512)
	largest, past := 0, time.Now().Add(-time.Hour).Unix()
	for i := range 60 {
		done, err := c.Put(t.Context(), ov("pk", "k", "sk", fmt.Sprintf("%04d", i), "ttl", int(past)))
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, done.Shard)
	}
	for sk, stamp := range map[string]int{"0000": 0, "9999": 7} { // in shard 0
		item := ov("pk", "k", "sk", sk)
		if stamp > 0 {
			item["_hs_g"] = number(fmt.Sprint(stamp))
		}
		if _, err := client.Direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	got, generation, err := c.Ledgers().Probe(t.Context(), "k", time.Time{}, 512)
	if err != nil || got != largest || generation != 7 {
		t.Errorf("got shard %d and generation %d, %v, want %d and 7", got, generation, err, largest)
	}
	for _, r := range client.Requests() {
		if in, ok := r.Input.(*dynamodb.QueryInput); ok && !aws.ToBool(in.ConsistentRead) {
			t.Fatal("a shard was probed with eventual consistency")
		}
	}
}

// The ledger of a time bucket is repaired as any other, and says who has done it and when.
func TestRepairOfABucket(t *testing.T) {
	client := onItems(t)
	open := func() *Collection[Item] {
		return openItems(t, client, adaptive(func(o *Options) {
			o.Layout.Bucket, o.EventTime = layout.Day, EventTime{Attribute: "at", Unit: UnixSeconds}
		}))
	}
	c, noon := open(), baseTime.Add(12*time.Hour)
	if _, err := c.Ledgers().Grow(t.Context(), "k", noon, 8, "a test"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 40 {
		want = append(want, fmt.Sprintf("%04d", i))
		if _, err := c.Put(t.Context(), ov("pk", "k", "sk", want[i], "at", int(noon.Unix()))); err != nil {
			t.Fatal(err)
		}
	}
	_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", "_hs#L#table#2024-12-02#k", "sk", "-")})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Key: "k", Consistent: true, From: baseTime, To: baseTime.AddDate(0, 0, 1)}
	if got, err := sortsOf(c, q); !errors.Is(err, ErrLedgerLost) {
		t.Fatalf("got %d items, %v, want ErrLedgerLost", len(got), err)
	}
	l, err := open().Ledgers().Repair(t.Context(), "k", noon, 0, "deleted by mistake")
	if err != nil || l.Width.Read != 8 || l.Generation != 2 || !l.Bucket.Equal(baseTime) {
		t.Fatalf("got %+v, %v, want 8 shards at generation 2", l, err)
	}
	if l.By == "" || time.Since(l.At) > time.Hour || l.Why != "deleted by mistake" {
		t.Errorf("got %+v, want who has repaired it, when and why", l)
	}
	if got, err := sortsOf(open(), q); err != nil || !slices.Equal(got, want) {
		t.Errorf("after the repair: got %d items, %v, want %d", len(got), err, len(want))
	}
}

// What all processes must agree on is in the charter, so that one which differs is refused.
func TestCharterHasWhatProcessesAgreeOn(t *testing.T) {
	fixed := func(edit func(*Options)) func(*Options) {
		return func(o *Options) {
			o.Adaptive, o.Recorded = nil, true
			o.Layout.Shards, o.Layout.Strategy = 4, layout.Calculated
			edit(o)
		}
	}
	for name, edits := range map[string][2]func(*Options){
		"ShardBy": {calculated, func(o *Options) { calculated(o); o.ShardBy = []string{"who"} }},
		"Version": {fixed(func(*Options) {}), fixed(func(o *Options) { o.Version, o.TTL = "v", "ttl" })},
		"Table": {
			func(o *Options) { o.ControlTable = "control" },
			func(o *Options) { o.ControlTable, o.Table = "control", "more" },
		},
	} {
		client := onItems(t)
		makeTable(t, client, "more")
		if err := SetupControlTable(t.Context(), client, "control"); err != nil {
			t.Fatal(err)
		}
		for i, want := range []error{nil, ErrCharter} {
			_, err := sortsOf(openItems(t, client, adaptive(edits[i])), Query{Key: "k"})
			if want == nil && err != nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s, process %d: got %v, want %v", name, i, err, want)
			}
		}
	}
}

// A plan of a repair is what the repair does, and writes nothing.
func TestPlanRepair(t *testing.T) {
	client := faulty.On(t, onItems(t), nil)
	c := openItems(t, client.Direct, adaptive())
	widen(t, c, "k", 8)
	putSome(t, c, "k", 0, 60)
	if _, err := client.Direct.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", "_hs#L#table##k", "sk", "-")}); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{0, 32} {
		plan, err := openItems(t, client, adaptive()).Ledgers().PlanRepair(t.Context(), "k", time.Time{}, width, "a test")
		if err != nil || plan.Largest != 7 || plan.Generation != 1 || plan.Stored.Generation != 0 || plan.Stored.Width.Read != 1 ||
			plan.Repaired.Generation != 2 || plan.Repaired.Width.Read != max(8, width) || plan.Repaired.Why != "a test" || plan.Repaired.Key != "k" {
			t.Errorf("got %+v, %v, want 8 shards or %d at generation 2", plan, err, width)
		}
	}
	if n := client.Count("PutItem") + client.Count("UpdateItem"); n > 0 {
		t.Errorf("%d writes were sent, want none", n)
	}
	plan, err := c.Ledgers().PlanRepair(t.Context(), "none", time.Time{}, 0, "")
	if err != nil || plan.Largest != -1 || plan.Repaired.Generation != 0 || plan.Stored.Generation != 0 {
		t.Errorf("a key without items: got %+v, %v, want nothing to write", plan, err)
	}
	if _, err := c.Ledgers().PlanRepair(t.Context(), "k", time.Time{}, -1, ""); !errors.Is(err, ErrOptions) {
		t.Errorf("width -1: got %v, want ErrOptions", err)
	}
}
