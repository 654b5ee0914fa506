package adapt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// throttle returns the error of a write that was throttled for some reasons.
func throttle(resource string, reasons ...string) error {
	e := &types.ProvisionedThroughputExceededException{}
	for _, r := range reasons {
		e.ThrottlingReasons = append(e.ThrottlingReasons, types.ThrottlingReason{Reason: aws.String(r), Resource: aws.String(resource)})
	}
	return faulty.Answer(400, e)
}

const (
	ofTable   = "arn:aws:dynamodb:us-east-1:123456789012:table/items"
	ofListing = ofTable + "/index/listing"
	ofOther   = ofTable + "/index/another"
)

// Only a throttle of the key range that is spread, in the table or in its index, is about the key.
func TestReason(t *testing.T) {
	tooMany := func(e error) error { return faulty.Answer(400, e) }
	reason := []types.ThrottlingReason{{Reason: aws.String("TableWriteKeyRangeThroughputExceeded"), Resource: aws.String(ofTable)}}
	for name, c := range map[string]struct {
		err            error
		table, listing ledger.Throttle // for a collection of the table, and of its index
	}{
		"partition of the table":          {throttle(ofTable, "TableWriteKeyRangeThroughputExceeded"), ledger.KeyRange, ledger.Other},
		"the same, on demand":             {tooMany(&types.ThrottlingException{ThrottlingReasons: reason}), ledger.KeyRange, ledger.Other},
		"the same, of the request limit":  {tooMany(&types.RequestLimitExceeded{ThrottlingReasons: reason}), ledger.KeyRange, ledger.Other},
		"partition of the index":          {throttle(ofListing, "IndexWriteKeyRangeThroughputExceeded"), ledger.IndexKey, ledger.KeyRange},
		"partition of another index":      {throttle(ofOther, "IndexWriteKeyRangeThroughputExceeded"), ledger.IndexKey, ledger.IndexKey},
		"provisioned table":               {throttle(ofTable, "TableWriteProvisionedThroughputExceeded"), ledger.Table, ledger.Table},
		"provisioned index":               {throttle(ofListing, "IndexWriteProvisionedThroughputExceeded"), ledger.Table, ledger.Table},
		"maximum of the table":            {throttle(ofTable, "TableWriteMaxOnDemandThroughputExceeded"), ledger.Table, ledger.Table},
		"maximum of the index":            {throttle(ofListing, "IndexWriteMaxOnDemandThroughputExceeded"), ledger.Table, ledger.Table},
		"account, of the table":           {throttle(ofTable, "TableWriteAccountLimitExceeded"), ledger.Account, ledger.Account},
		"account, of the index":           {throttle(ofListing, "IndexWriteAccountLimitExceeded"), ledger.Account, ledger.Account},
		"both, the table first":           {throttle(ofTable, "TableWriteProvisionedThroughputExceeded", "TableWriteKeyRangeThroughputExceeded"), ledger.KeyRange, ledger.Table},
		"no reason":                       {throttle(ofTable), ledger.Other, ledger.Other},
		"a reason that is none":           {faulty.Answer(400, &types.ProvisionedThroughputExceededException{ThrottlingReasons: make([]types.ThrottlingReason, 1)}), ledger.Other, ledger.Other},
		"a new reason":                    {throttle(ofTable, "TableWriteMoonPhase"), ledger.Other, ledger.Other},
		"left unprocessed by a batch":     {&dispatch.UnprocessedError{Left: 3, Of: 25}, ledger.Other, ledger.Other},
		"index without a resource's name": {throttle("", "IndexWriteKeyRangeThroughputExceeded"), ledger.IndexKey, ledger.IndexKey},
	} {
		if got := Reason(c.err, ""); got != c.table {
			t.Errorf("%s: for the table %s, want %s", name, got, c.table)
		}
		if got := Reason(c.err, "listing"); got != c.listing {
			t.Errorf("%s: for the index %s, want %s", name, got, c.listing)
		}
	}
}

// load writes to a key for some seconds, at so many units a second, of which each tenth write fails first.
func (b book) load(key string, perSecond float64, seconds int, failed error) {
	for n := range seconds * 100 {
		w := b.Watch(context.Background(), key, none)
		if n%10 == 0 {
			w.Failed(failed)
		}
		w.Failed(nil)
		w.End(perSecond / 100)
		time.Sleep(10 * time.Millisecond)
	}
}

// decisions collects what a law has decided.
type decisions struct {
	mu  sync.Mutex
	all []ledger.Decision
}

func (d *decisions) option(o *Options) {
	o.Decided = func(_ context.Context, made ledger.Decision) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all = append(d.all, made)
	}
}

func (d *decisions) reasons() (all []ledger.Reason) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, made := range d.all {
		all = append(all, made.Reason)
	}
	return all
}

// phase makes processes report one after another.
func phase(i int) func(*Options) {
	return func(o *Options) { o.Law.Phase = time.Duration(1+i) * 490 * time.Millisecond }
}

// What throttles decide about a key that is hot, or not. Only those of its own partitions make it grow.
func TestThrottlesThatGrow(t *testing.T) {
	partition := throttle(ofTable, "TableWriteKeyRangeThroughputExceeded")
	for name, c := range map[string]struct {
		rate   float64
		failed error
		want   ledger.Reason // "": nothing is said
		grows  bool
	}{
		"cold":                      {20, nil, "", false},
		"warm":                      {400, nil, "", false},
		"hot":                       {2000, nil, ledger.Grows, true},
		"throttled by partition":    {400, partition, ledger.Grows, true},
		"throttled, and too little": {50, partition, ledger.Futility, false},
		"throttled by the table":    {400, throttle(ofTable, "TableWriteProvisionedThroughputExceeded"), ledger.NotKey, false},
		"throttled by the account":  {400, throttle(ofTable, "TableWriteAccountLimitExceeded"), ledger.NotKey, false},
		"throttled by an index":     {400, throttle(ofListing, "IndexWriteKeyRangeThroughputExceeded"), ledger.NotKey, false},
		"left by a batch":           {400, &dispatch.UnprocessedError{Left: 1, Of: 2}, ledger.NotKey, false},
		"another error":             {400, errors.New("no"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var made decisions
				client := start(t)
				b := newBook(t, client, made.option)
				b.load("k", c.rate, 30, c.failed)
				if got := made.reasons(); c.want == "" && len(got) > 0 || c.want != "" && !slices.Contains(got, c.want) {
					t.Errorf("decided %v, want %q", got, c.want)
				}
				w, _ := b.Known("k", none)
				if (w.Write > 1) != c.grows {
					t.Errorf("the key has %d shards now, want growth: %v", w.Write, c.grows)
				}
				if stored := controlItems(t, client, "items"); slices.Contains(stored, "_hs#L#orders##k") != c.grows {
					t.Errorf("stored: %q, want a ledger: %v", stored, c.grows)
				} else if slices.Contains(stored, "_hs#H#orders##k") != (c.rate >= 25 && c.rate > 20) {
					t.Errorf("stored: %q, want an accumulator only if the key is warm", stored)
				}
				if c.want != "" && !strings.Contains(b.logs.String(), string(c.want)) {
					t.Errorf("logged %q, want the decision", b.logs)
				}
			})
		})
	}
}

// The load of a key is that of all processes: none of these is hot by itself.
func TestLoadOfManyProcesses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		var wg sync.WaitGroup
		books := make([]book, 10)
		for i := range books {
			books[i] = newBook(t, client, phase(i))
			wg.Go(func() { books[i].load("k", 300, 60, nil) })
		}
		wg.Wait()
		r, err := books[0].Show(context.Background(), "k", none)
		if err != nil || r.Write != 8 && r.Write != 16 { // 1.25 × 3,000 / 500, as measured
			t.Errorf("got %+v, %v, want 8 shards for 3,000 units a second", r, err)
		}
		if r.Generation > 3 {
			t.Errorf("generation %d, want three growths at most: %+v", r.Generation, r)
		}
	})
}

// A growth is told by the process that has made it, and by no other.
func TestGrowthIsToldOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		var wg sync.WaitGroup
		var made decisions
		for i := range 10 {
			b := newBook(t, client, made.option, phase(i))
			wg.Go(func() { b.load("k", 300, 25, nil) })
		}
		wg.Wait()
		r, err := newBook(t, client).Show(context.Background(), "k", none)
		told := slices.DeleteFunc(made.reasons(), func(r ledger.Reason) bool { return r != ledger.Grows })
		if n := len(told); err != nil || int64(n) != r.Generation {
			t.Errorf("%d growths were told of generation %d, %v", n, r.Generation, err)
		}
	})
}

// Decisions that repeat themselves are told once.
func TestDecisionsAreToldOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var made decisions
		b := newBook(t, start(t), made.option, func(o *Options) { o.Law.Frozen = true })
		b.load("k", 2000, 60, nil)
		if got := made.reasons(); len(got) != 1 || got[0] != ledger.FrozenHold {
			t.Errorf("told %v, want %q once", got, ledger.FrozenHold)
		}
		if n := strings.Count(b.logs.String(), "frozen"); n == 0 || n > 2 {
			t.Errorf("logged it %d times", n)
		}
	})
}

// If a table has too few partitions, the advice is a command with its price.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		index string
		price float64
		want  []string
	}{
		{"", 0, []string{"aws dynamodb update-table --table-name items --warm-throughput WriteUnitsPerSecond=1000,ReadUnitsPerSecond=3000", "once"}},
		{"listing", 0.5, []string{"--table-name items", `"IndexName":"listing"`, "500.00 dollars"}},
	} {
		bubble.Test(t, func(t *testing.T) {
			var made decisions
			b := newBook(t, start(t), made.option, func(o *Options) { o.Index, o.WarmPrice = c.index, c.price })
			reason, resource := "TableWriteKeyRangeThroughputExceeded", ofTable
			if c.index != "" {
				reason, resource = "IndexWriteKeyRangeThroughputExceeded", ofListing
			}
			b.load("k", 60, 20, throttle(resource, reason))
			if got := made.reasons(); !slices.Contains(got, ledger.Futility) {
				t.Fatalf("decided %v, want futility", got)
			}
			for _, d := range made.all {
				for _, want := range c.want {
					if d.Reason == ledger.Futility && !strings.Contains(d.Text, want) {
						t.Errorf("the advice %q lacks %q", d.Text, want)
					}
				}
			}
		})
	}
}

// A key that should grow and cannot is warned about, and tried again. The write that it runs beside does not suffer.
func TestGrowthThatFails(t *testing.T) {
	for name, c := range map[string]struct{ operation, text string }{
		"ledger":      {"PutItem", "its growth could not be stored"},
		"accumulator": {"UpdateItem", "the rate of a key was not reported"},
	} {
		bubble.Test(t, func(t *testing.T) {
			client := faulty.On(t, start(t), nil)
			b := newBook(t, client)
			if err := b.Ready(context.Background()); err != nil {
				t.Fatal(err)
			}
			client.Decide(faulty.Always(faulty.Denied).Of(c.operation))
			b.load("k", 2000, 40, nil)
			if text := b.logs.String(); !strings.Contains(text, c.text) || !strings.Contains(text, "AccessDenied") || !strings.Contains(text, "level=WARN") {
				t.Errorf("%s: logged %q, want a warning", name, text)
			}
			client.Decide(nil)
			b.load("k", 2000, 80, nil)
			if w, _ := b.Known("k", none); w.Write < 4 {
				t.Errorf("%s: the key has %d shards, want it to grow when it can", name, w.Write)
			}
		})
	}
}

// What a watch starts has ended when End returns, also if it takes longer than the write.
func TestWatchWaits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client)
		b.load("k", 2000, 4, nil)
		client.Delay(faulty.Exactly(time.Second))
		sent := client.Count("UpdateItem")
		time.Sleep(5 * time.Second)
		begin := time.Now()
		w := b.Watch(context.Background(), "k", none)
		w.End(10)
		if took := time.Since(begin); client.Count("UpdateItem") != sent+1 || took < time.Second {
			t.Errorf("%d reports, and End returned after %v, want it to wait for one", client.Count("UpdateItem")-sent, took)
		}
		client.Delay(faulty.Exactly(time.Hour)) // an answer that never comes
		time.Sleep(5 * time.Second)
		begin = time.Now()
		w = b.Watch(context.Background(), "k", none)
		w.End(10)
		if took := time.Since(begin); took > besideTimeout {
			t.Errorf("a write waited for %v beside a report that is not answered, want %v at most", took, besideTimeout)
		}
	})
}

// The gate opens for keys that have had as many units in a second as are worth a report, and closes again.
func TestGate(t *testing.T) {
	g := &gate{report: 25}
	at := time.Unix(1_000_000, 0)
	for i, c := range []struct {
		after time.Duration
		units float64
		hot   bool
	}{
		{0, 24, false},
		{900 * time.Millisecond, 0.9, false},
		{950 * time.Millisecond, 0.1, true}, // 25 in one second
		{time.Second, 1, true},              // the second before was hot
		{2 * time.Second, 1, false},         // the second before was not
		{10 * time.Second, 1e9, true},       // more than a slot holds
		{10 * time.Second, 1e9, true},
		{12 * time.Second, 1, false}, // a second in between
		{13 * time.Second, -5, false},
	} {
		if got := g.hot("k", c.units, at.Add(c.after)); got != c.hot {
			t.Errorf("step %d: hot is %v, want %v", i, got, c.hot)
		}
	}
}

// No unit is lost when many goroutines count.
func TestGateCountsAll(t *testing.T) {
	g := &gate{report: 1000}
	at := time.Unix(1_000_000, 0)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			for range 99 {
				g.hot("k", 1, at)
			}
		})
	}
	wg.Wait()
	for n := range 10 { // 990 so far
		if g.hot("k", 1, at) != (n == 9) {
			t.Errorf("after %d units: hot is %v", 991+n, n != 9)
		}
	}
}

// Cold keys are not in the way: neither the law nor the book knows them.
func TestColdKeysCostNothing(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client)
	for i := range 10_000 {
		w := b.Watch(t.Context(), fmt.Sprint("k", i), none)
		w.End(1)
	}
	if n := b.law.Watched(); n > 300 { // those that share a slot with others
		t.Errorf("the law watches %d keys", n)
	}
	if n := len(client.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// A second that takes more than a slot holds is hot for the next second, and not for the one after it.
func TestGateHoldsNoMoreThanItCan(t *testing.T) {
	g := &gate{report: 25}
	at := time.Unix(1_000_000, 0)
	for _, units := range []float64{1e6, 1e6, (maxMilli + 2 - 2e9) / 1000.0} { // a little more than a slot holds
		if !g.hot("k", units, at) {
			t.Fatalf("%v units are not hot", units)
		}
	}
	for after, want := range []bool{true, true, false} {
		if got := g.hot("k", 0, at.Add(time.Duration(after)*time.Second)); got != want {
			t.Errorf("after %d s: hot is %v, want %v", after, got, want)
		}
	}
}

// A write counts under the reason of its first throttle, however often it is tried.
func TestFirstThrottleCounts(t *testing.T) {
	b := newBook(t, start(t))
	w := b.Watch(t.Context(), "k", none)
	w.Failed(throttle(ofTable, "TableWriteAccountLimitExceeded"))
	w.Failed(throttle(ofTable, "TableWriteKeyRangeThroughputExceeded"))
	w.Failed(nil)
	if !w.throttled || w.reason != ledger.Account {
		t.Errorf("throttled is %v because of the %s, want the account", w.throttled, w.reason)
	}
	w.End(1)
}

// A key is watched from its first throttle on, also if it takes less than is worth a report.
func TestThrottledKeyIsWatched(t *testing.T) {
	b := newBook(t, start(t))
	w := b.Watch(t.Context(), "k", none)
	w.Failed(throttle(ofTable, "TableWriteKeyRangeThroughputExceeded"))
	w.End(1)
	if w = b.Watch(t.Context(), "k", none); !w.Hot() {
		t.Error("a key that is throttled is not watched")
	}
	w.End(1)
}

// Each growth of a key is told, also if nothing else was decided in between.
func TestEachGrowthIsTold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var made decisions
		client := start(t)
		b := newBook(t, client, made.option)
		for w := 1; w == 1; {
			b.load("k", 2000, 1, nil)
			width, _ := b.Known("k", none)
			w = width.Write
		}
		b.load("k", 20_000, 40, nil)
		r, err := b.Show(context.Background(), "k", none)
		told := slices.DeleteFunc(made.reasons(), func(r ledger.Reason) bool { return r != ledger.Grows })
		if err != nil || r.Generation < 2 || int64(len(told)) != r.Generation {
			t.Errorf("told %v, want each of %d growths, %v", made.reasons(), r.Generation, err)
		}
	})
}

// A growth that was not stored starts no cooldown: the next report asks for it again.
func TestGrowthThatFailsIsTriedAtTheNextReport(t *testing.T) {
	for told, prevent := range map[string]func(book, *faulty.Client) (end func() error){
		"its growth could not be stored": func(_ book, client *faulty.Client) func() error {
			client.Decide(faulty.Always(faulty.Denied).Of("PutItem"))
			return func() error { client.Decide(nil); return nil }
		},
		"the collection is frozen": func(b book, _ *faulty.Client) func() error {
			if err := b.Freeze(context.Background(), "a test"); err != nil {
				panic(err)
			}
			return func() error { return b.Thaw(context.Background()) }
		},
	} {
		bubble.Test(t, func(t *testing.T) {
			client := faulty.On(t, start(t), nil)
			b := newBook(t, client)
			if err := b.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			end := prevent(b, client)
			for second := 0; !strings.Contains(b.logs.String(), told); second++ {
				if second == 60 {
					t.Fatalf("logged %q, want %q", b.logs, told)
				}
				b.load("k", 2000, 1, nil)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			b.load("k", 2000, 7, nil) // one report, and less than the cooldown
			if w, _ := b.Known("k", none); w.Write < 2 {
				t.Errorf("%s: the key has %d shards, want it to grow with the next report", told, w.Write)
			}
		})
	}
}
