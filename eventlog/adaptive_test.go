package eventlog_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A tail whose process knows one shard is given the events of shards that another process has just added, by the first
// poll that they are settled for: none is missing, none comes twice, all are in order.
func TestTailSeesNewShards(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		options := eventlog.Options{Adaptive: &heatsink.Adaptive{}, Settle: time.Second}
		writer := setup(t, client, options)
		tail := newTail(t, open(t, client, options), "LOG", eventlog.TailOptions{MinPoll: time.Second, MaxPoll: time.Second})
		var want []event
		append10 := func() {
			for range 10 {
				receipt, err := writer.Append(t.Context(), event{Log: "LOG", Body: op{N: len(want)}})
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, event{Log: "LOG", At: receipt.At, ID: receipt.ID, Body: op{N: len(want)}})
				time.Sleep(10 * time.Millisecond)
			}
		}
		var got []event
		for _, width := range []int{1, 2, 8, 64} {
			if _, err := writer.Ledgers().Grow(t.Context(), "LOG", time.Now(), width, "a test"); err != nil {
				t.Fatal(err)
			}
			append10()
			got = append(got, follow(t, tail, 3*time.Second)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("followed %d events, want these %d in order", len(got), len(want))
		}
	})
}

// A log that gets more than a partition takes becomes wide in every bucket, and the next bucket begins wide. Nothing is
// lost on the way.
func TestAdaptiveLogFollowsItsLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(layout.Hour.Next(time.Now()).Add(-15 * time.Second)))
		db, err := local.New(local.Options{Physics: &local.Physics{OnDemandPartitions: 64, NoSplits: true, TableWrites: -1, TableReads: -1}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		options := eventlog.Options{Bucket: layout.Hour, Adaptive: &heatsink.Adaptive{}}
		setup(t, db.Client(), options)
		logs := make([]*eventlog.Log[op], 4)
		for i := range logs {
			logs[i] = open(t, db.Client(), options)
		}
		start, body := time.Now(), op{Agent: strings.Repeat("x", 7500)} // 8 write units each
		var appended sync.WaitGroup
		var mu sync.Mutex
		perSecond, stored, failed := map[int]int{}, 0, 0
		const seconds, rate = 25, 500
		for i := range seconds * rate {
			appended.Go(func() {
				var meter heatsink.Meter
				_, err := logs[i%len(logs)].Append(heatsink.WithMeter(t.Context(), &meter), event{Log: "LOG", Body: body})
				mu.Lock()
				defer mu.Unlock()
				if perSecond[i/rate] += meter.Cost().Throttles; err == nil {
					stored++
				} else {
					failed++
				}
			})
			time.Sleep(time.Second / rate)
		}
		appended.Wait()
		before, err := logs[0].Ledgers().Show(t.Context(), "LOG", start)
		if err != nil {
			t.Fatal(err)
		}
		after, err := logs[0].Ledgers().Show(t.Context(), "LOG", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("widths %v and %v; %d stored, %d failed; throttles by second: %v", before.Width, after.Width, stored, failed, perSecond)
		if before.Width.Write < 8 || after.Width.Write < 8 {
			t.Errorf("got widths %v and %v, want 8 or more: 4,000 units a second are offered", before.Width, after.Width)
		}
		for s := 10; s < seconds; s++ {
			if perSecond[s] > rate/20 {
				t.Errorf("in second %d there were %d throttles of %d appends, want a few at most: also where a bucket begins", s, perSecond[s], rate)
			}
		}
		options.Retry = heatsink.Retry{Attempts: 100, Max: time.Second, Budget: 1} // so much data takes a while to read
		n, err := open(t, db.Client(), options).Count(t.Context(), eventlog.Query{Log: "LOG", From: start, Consistent: true})
		if err != nil || n != stored {
			t.Errorf("counted %d events, %v, want %d", n, err, stored)
		}
	})
}

// What was written with a fixed number of shards is read by an adaptive log: with buckets once the ledgers of those
// buckets say how wide they are, and without buckets also if Older has the layout.
func TestAdaptiveReadsFixedShards(t *testing.T) {
	client := local.Start(t).Client()
	fixed := eventlog.Options{Bucket: layout.Day, Shards: 4}
	events := every(time.Hour, noon, "LOG", 200)
	appendAll(t, setup(t, client, fixed), events[:100])
	fixed.Shards = 16
	appendAll(t, open(t, client, fixed), events[100:]) // from the fifth day on

	adaptive := open(t, client, eventlog.Options{Bucket: layout.Day, Shards: 16, Adaptive: &heatsink.Adaptive{}})
	end := noon.Add(200 * time.Hour)
	for start := range layout.Day.Starts(noon, end) {
		if _, err := adaptive.Ledgers().Grow(t.Context(), "LOG", start, 16, "they were fixed"); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := read(t, adaptive, eventlog.Query{Log: "LOG", From: noon, To: end}); !slices.Equal(got, events) {
		t.Errorf("read %d events, want these %d", len(got), len(events))
	}
	for _, e := range events[100:] { // with their ids, they are where they were
		if receipt, err := adaptive.Append(t.Context(), e); err != nil || !receipt.Duplicate {
			t.Fatalf("got %+v, %v", receipt, err)
		}
	}

	plain := eventlog.Options{Table: "plain", Shards: 16, Begin: noon}
	appendAll(t, setup(t, client, plain), events)
	for name, edit := range map[string]func(*eventlog.Options){
		"older": func(o *eventlog.Options) {
			o.Name, o.Older = "older", []layout.Layout{{Shards: 16, Format: layout.Format{BareZero: true}}}
		},
		"grown": func(o *eventlog.Options) { o.Name = "grown" },
	} {
		o := plain
		o.Shards, o.Adaptive = 0, &heatsink.Adaptive{}
		edit(&o)
		logs := open(t, client, o)
		if name == "grown" {
			if _, err := logs.Ledgers().Grow(t.Context(), "LOG", time.Time{}, 16, "it was fixed"); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := read(t, logs, eventlog.Query{Log: "LOG", To: end}); !slices.Equal(got, events) {
			t.Errorf("%s: read %d events, want these %d", name, len(got), len(events))
		}
		if n, err := logs.Count(t.Context(), eventlog.Query{Log: "LOG", To: end, Consistent: true}); err != nil || n != len(events) {
			t.Errorf("%s: counted %d, %v", name, n, err)
		}
	}
}

// Control items are no events: no read returns one or an attribute of heatsink's, and no log has the name of one.
func TestControlItemsAreNoEvents(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		options := eventlog.Options{
			Table: "logs", Bucket: layout.Day, Shards: 2, Adaptive: &heatsink.Adaptive{}, Index: eventlog.Index{Name: "GSI1"}, Begin: time.Now().Add(-time.Hour),
		}
		if err := eventlog.Setup(t.Context(), client, options); err != nil {
			t.Fatal(err)
		}
		logs, err := eventlog.Open[heatsink.Item](client, options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := logs.Ledgers().Grow(t.Context(), "LOG", time.Now(), 4, "a test"); err != nil {
			t.Fatal(err)
		}
		tail, err := logs.Tail("LOG", eventlog.TailOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			e := eventlog.Event[heatsink.Item]{Log: "LOG", Body: heatsink.Item{"n": number(i)}}
			if i%2 == 0 {
				e.ID, e.At = fmt.Sprint(i), time.Now()
			}
			if _, err := logs.Append(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		check := func(what string, body heatsink.Item) {
			t.Helper()
			if len(body) != 1 || body["n"] == nil {
				t.Errorf("%s: got the body %v, want n alone", what, body)
			}
		}
		for _, index := range []bool{false, true} {
			n := 0
			for e, err := range logs.Events(t.Context(), eventlog.Query{Log: "LOG", Index: index}) {
				if err != nil {
					t.Fatal(err)
				}
				n++
				check(fmt.Sprint("index ", index), e.Body)
			}
			if count, err := logs.Count(t.Context(), eventlog.Query{Log: "LOG", Index: index}); err != nil || n != 20 || count != 20 {
				t.Errorf("index %v: read %d, counted %d, %v, want 20", index, n, count, err)
			}
		}
		time.Sleep(time.Minute)
		n := 0
		for e, err := range tail.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			check("tail", e.Body)
			if n++; n == 20 {
				break
			}
		}
		control := "_hs#L#table#" + time.Now().Format(time.DateOnly) + "#LOG"
		if _, err := logs.Append(t.Context(), eventlog.Event[heatsink.Item]{Log: control}); err == nil || !strings.Contains(err.Error(), "control items") {
			t.Errorf("append to %s: got %v", control, err)
		}
		for _, err := range logs.Events(t.Context(), eventlog.Query{Log: control}) {
			if err == nil || !strings.Contains(err.Error(), "control item") {
				t.Errorf("read %s: got %v", control, err)
			}
		}
		if _, err := logs.Append(t.Context(), eventlog.Event[heatsink.Item]{Log: "LOG", Body: heatsink.Item{"_hs_g": number(7)}}); err == nil {
			t.Error("a body with heatsink's own attribute was appended")
		}
	})
}

// When many events with ids come at once for a new bucket, one of them reads and writes its ledger.
func TestLedgerOfANewBucketIsWrittenOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		reads, writes := 0, 0
		db := local.Start(t)
		client := faulty.On(t, db.Client(), nil)
		client.Delay(func(r faulty.Request) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			switch in := r.Input.(type) {
			case *dynamodb.GetItemInput:
				if strings.HasPrefix(attribute(in.Key, "pk"), "_hs#L#") {
					reads++
				}
			case *dynamodb.PutItemInput:
				if strings.HasPrefix(attribute(in.Item, "pk"), "_hs#L#") {
					writes++
				}
			case *dynamodb.UpdateItemInput:
				if strings.HasPrefix(attribute(in.Key, "pk"), "_hs#L#") {
					writes++
				}
			}
			return 5 * time.Millisecond
		})
		options := eventlog.Options{Bucket: layout.Day, Shards: 4, Adaptive: &heatsink.Adaptive{}}
		setup(t, db.Client(), options)
		logs := open(t, client, options)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				if _, err := logs.Append(t.Context(), event{Log: "LOG", At: time.Now(), ID: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if reads != 1 || writes != 1 {
			t.Errorf("the ledger was read %d times and written %d times, want once each", reads, writes)
		}
		if n, err := open(t, db.Client(), options).Count(t.Context(), eventlog.Query{Log: "LOG", From: time.Now().Add(-time.Hour), Consistent: true}); n != 100 || err != nil {
			t.Errorf("counted %d, %v, want 100", n, err)
		}
		if n := len(partitions(t, db.Client(), "logs")); n != 4 {
			t.Errorf("events are in %d shards, want 4", n)
		}
	})
}

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
