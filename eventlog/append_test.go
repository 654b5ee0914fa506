package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

var noon = time.Date(2026, 6, 22, 12, 0, 0, 0, time.UTC)

// X22: events of the same moment are all kept, in the order in which they were appended.
func TestAppendsKeepTheirOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // where time stands still
		logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: 4, Precision: time.Second, Retention: time.Hour})
		now := time.Now().UTC()
		for i := range 40 {
			receipt, err := logs.Append(t.Context(), event{Log: "OPS_LOG", Body: op{N: i}})
			if err != nil || !receipt.At.Equal(now) || receipt.ID == "" || receipt.Duplicate || receipt.Late {
				t.Fatalf("got %+v, %v", receipt, err)
			}
		}
		var batch []event
		for i := range 40 {
			batch = append(batch, event{Log: "OPS_LOG", Body: op{N: 40 + i}})
		}
		appendAll(t, logs, batch)
		got, _ := read(t, logs, eventlog.Query{Log: "OPS_LOG"})
		for i, e := range got {
			if e.Body.N != i || !e.At.Equal(now) || len(got) != 80 {
				t.Fatalf("event %d of %d is %+v", i, len(got), e)
			}
		}
	})
}

// Any type with attributes can be logged, and comes back as it was.
func TestBodies(t *testing.T) {
	client := local.Start(t).Client()
	options := eventlog.Options{Table: "logs"}
	if err := eventlog.Setup(t.Context(), client, options); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, client, options, &op{Agent: "a", N: 1}, func(a, b *op) bool { return *a == *b })
	roundTrip(t, client, options, map[string]int{"a": 1, "#": 2}, func(a, b map[string]int) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	roundTrip(t, client, options, struct{}{}, func(a, b struct{}) bool { return true })
	raw := heatsink.Item{"set": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}}
	roundTrip(t, client, options, raw, func(a, b heatsink.Item) bool {
		set, ok := b["set"].(*types.AttributeValueMemberSS)
		return ok && len(b) == 1 && slices.Equal(set.Value, []string{"a", "b"})
	})
	if len(raw) != 1 {
		t.Errorf("the caller's item has become %v", raw)
	}
	refuseBody(t, client, options, "text")
	refuseBody(t, client, options, 5)
	refuseBody(t, client, options, (*op)(nil))
	refuseBody(t, client, options, time.Now())
	refuseBody(t, client, options, []op{{N: 1}})
	refuseBody(t, client, options, map[string]int{"sk": 1})
	refuseBody(t, client, options, heatsink.Item{"pk": raw["set"]})
}

func roundTrip[T any](t *testing.T, client eventlog.Client, options eventlog.Options, body T, same func(a, b T) bool) {
	t.Helper()
	logs, err := eventlog.Open[T](client, options)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%T", body)
	receipt, err := logs.Append(t.Context(), eventlog.Event[T]{Log: name, Body: body})
	if err != nil {
		t.Fatalf("%T: %v", body, err)
	}
	got, err := logs.Newest(t.Context(), name, 2)
	if err != nil || len(got) != 1 || !same(body, got[0].Body) || got[0].ID != receipt.ID || !got[0].At.Equal(receipt.At) || got[0].Log != name {
		t.Errorf("%T: got %v, %v, want %v", body, got, err, body)
	}
}

func refuseBody[T any](t *testing.T, client eventlog.Client, options eventlog.Options, body T) {
	t.Helper()
	logs, err := eventlog.Open[T](client, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := logs.Append(t.Context(), eventlog.Event[T]{Log: "LOG", Body: body}); !errors.Is(err, eventlog.ErrEvent) {
		t.Errorf("%T: got %v", body, err)
	}
}

func TestWrongEventsAreRefused(t *testing.T) {
	client := faulty.On(t, local.Start(t).Client(), nil)
	logs := open(t, client, eventlog.Options{
		Bucket: layout.Day, Shards: 2, Retention: 24 * time.Hour, Begin: time.Now().Add(-30 * time.Minute),
		Index: eventlog.Index{Name: "GSI1", Key: func(log string) string { return strings.TrimPrefix(log, "EMPTY") }},
	})
	now := time.Now()
	for _, c := range []struct {
		name string
		event
		want string
	}{
		{"no log", event{}, "invalid key"},
		{"a shard key", event{Log: "OPS_LOG#2026-06-22#SHARD_1"}, "invalid key"},
		{"a bucket", event{Log: "OPS_LOG#2026-06-22"}, "invalid key"},
		{"bytes", event{Log: "\xff"}, "invalid key"},
		{"a long name", event{Log: strings.Repeat("x", 2048)}, "invalid key"},
		{"id without time", event{Log: "OPS_LOG", ID: "x"}, "give At as well"},
		{"bytes as id", event{Log: "OPS_LOG", At: now, ID: "\xff"}, "not valid UTF-8"},
		{"a long id", event{Log: "OPS_LOG", At: now, ID: strings.Repeat("x", 1024)}, "the id is too long"},
		{"before the log", event{Log: "OPS_LOG", At: now.Add(-time.Hour)}, "before Options.Begin"},
		{"a far future", event{Log: "OPS_LOG", At: time.UnixMilli(now.UnixMicro())}, "is not in the years 1970 to 9998"},
		{"the past", event{Log: "OPS_LOG", At: time.Unix(-1, 0)}, "is not in the years 1970 to 9998"},
		{"no key for the index", event{Log: "EMPTY"}, `Index.Key returned ""`},
		{"too large", event{Log: "OPS_LOG", Body: op{Agent: strings.Repeat("x", 400<<10)}}, "bytes, 409600 are the most"},
	} {
		_, err := logs.Append(t.Context(), c.event)
		if !errors.Is(err, eventlog.ErrEvent) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		_, err = logs.AppendAll(t.Context(), []event{{Log: "OPS_LOG"}, c.event})
		if !errors.Is(err, eventlog.ErrEvent) || !strings.HasPrefix(err.Error(), "event 1: ") {
			t.Errorf("%s, as one of two: got %v", c.name, err)
		}
	}
	expiring := open(t, client, eventlog.Options{Retention: time.Hour})
	if _, err := expiring.Append(t.Context(), event{Log: "OPS_LOG", At: now.Add(-61 * time.Minute)}); !errors.Is(err, eventlog.ErrEvent) {
		t.Errorf("an event that has expired: got %v", err)
	}
	if sent := client.Requests(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
	if receipts, err := logs.AppendAll(t.Context(), nil); len(receipts) != 0 || err != nil {
		t.Errorf("no events: got %v, %v", receipts, err)
	}
}

// An event that just fits is stored, with the attributes that the log adds.
func TestLargeEvents(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: 2, Retention: time.Hour})
	appendAll(t, logs, []event{{Log: "OPS_LOG", Body: op{Agent: strings.Repeat("x", 399<<10)}}, {Log: "OPS_LOG"}})
	if got, _ := read(t, logs, eventlog.Query{Log: "OPS_LOG"}); len(got) != 2 || len(got[0].Body.Agent) != 399<<10 {
		t.Errorf("got %d events", len(got))
	}
}

// An event with a time and an id is there once, whoever appends it how often, and the first body stays; also if the log
// has become adaptive and has grown in between.
func TestAppendAgain(t *testing.T) {
	client := local.Start(t).Client()
	options := eventlog.Options{Bucket: layout.Day, Shards: 7}
	logs := setup(t, client, options)
	options.Adaptive = &heatsink.Adaptive{}
	grown := open(t, client, options)
	var mu sync.Mutex
	var all sync.WaitGroup
	first := 0
	for i := range 16 {
		all.Go(func() {
			log := []*eventlog.Log[op]{logs, grown}[i%2]
			receipt, err := log.Append(t.Context(), event{Log: "OPS_LOG", At: noon, ID: "one", Body: op{N: i}})
			if err != nil || receipt.ID != "one" || !receipt.At.Equal(noon) || !receipt.Late {
				t.Errorf("got %+v, %v", receipt, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !receipt.Duplicate {
				first++
			}
		})
	}
	all.Wait()
	if items := stored(t, client, "logs"); len(items) != 1 || first != 1 {
		t.Errorf("%d items are stored, %d appends were the first", len(items), first)
	}
	if n := grown.LateAppends() + logs.LateAppends(); n != 16 {
		t.Errorf("%d late appends, want all", n)
	}
	again := event{Log: "OPS_LOG", At: noon, ID: "one"}
	receipts, err := grown.AppendAll(t.Context(), []event{again, again, {Log: "OPS_LOG", At: noon, ID: "two"}})
	if err != nil || len(receipts) != 3 || !receipts[1].Duplicate || receipts[2].Duplicate {
		t.Errorf("got %+v, %v", receipts, err)
	}
	if items := stored(t, client, "logs"); len(items) != 2 {
		t.Errorf("%d items are stored, want 2", len(items))
	}
	later := event{Log: "OPS_LOG", At: noon.AddDate(0, 0, 2)}
	for i := range 200 {
		if i == 100 {
			if _, err := grown.Ledgers().Grow(t.Context(), "OPS_LOG", later.At, 31, "a test"); err != nil {
				t.Fatal(err)
			}
			again := later
			again.ID = "99"
			if receipt, err := grown.Append(t.Context(), again); err != nil || !receipt.Duplicate {
				t.Errorf("got %+v, %v", receipt, err)
			}
		}
		later.ID = fmt.Sprint(i)
		appendAll(t, grown, []event{later, {Log: "OPS_LOG", At: later.At}})
	}
	if n := len(partitions(t, client, "logs")); n < 30 {
		t.Errorf("after the growth there are %d partition keys", n)
	}
	const requests = 7 + 1 + 31 + 1 + 2 // of the shards, and of the ledgers of two days that nobody has written to
	if got, cost := read(t, grown, eventlog.Query{Log: "OPS_LOG", From: noon, To: noon.AddDate(0, 0, 3)}); len(got) != 402 || cost.Requests != requests {
		t.Errorf("read %d events with %d requests, want 402 with %d", len(got), cost.Requests, requests)
	}
}

// Raising Shards without buckets may leave an event in two shards if it is appended again: reads return it once.
func TestCopiesAreReadOnce(t *testing.T) {
	client := local.Start(t).Client()
	var wide *eventlog.Log[op]
	for shards := range 12 {
		options := eventlog.Options{Shards: shards + 1}
		wide = setup(t, client, options)
		appendAll(t, wide, []event{{Log: "LOG", At: noon, ID: "a"}, {Log: "LOG", At: noon, ID: "b"}, {Log: "LOG", At: noon, ID: "c"}})
	}
	if n := len(stored(t, client, "logs")); n < 15 {
		t.Fatalf("%d items are stored: there are too few copies for a test", n)
	}
	for limit := range 4 {
		got, _ := read(t, wide, eventlog.Query{Log: "LOG", Limit: limit})
		if want := min(3, (limit+3)%4+1); len(got) != want || got[0].ID != "a" {
			t.Errorf("limit %d: got %v", limit, got)
		}
	}
	for _, newest := range []bool{false, true} {
		if got := inPages(t, wide, eventlog.Query{Log: "LOG", Limit: 1, Newest: newest}); len(got) != 3 || (got[0].ID == "a") == newest {
			t.Errorf("in pages, newest first %v: got %v", newest, got)
		}
	}
}

// Throttled requests, lost requests and lost answers: what is acknowledged is there once, what is not can be appended
// again if it has an id.
func TestAppendUnderFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		faults  []faulty.Fault
		unknown bool
		fails   bool
	}{
		{"none", nil, false, false},
		{"throttled", []faulty.Fault{faulty.ThrottledOnDemand, faulty.ThrottledOnDemand}, false, false},
		{"lost request", []faulty.Fault{faulty.LostRequest}, false, false},
		{"lost answer", []faulty.Fault{faulty.LostAnswer}, false, false},
		{"lost answer, then throttled", []faulty.Fault{faulty.LostAnswer, faulty.ThrottledOnDemand}, false, false},
		{"lost requests", []faulty.Fault{faulty.LostRequest, faulty.LostRequest, faulty.LostRequest}, true, true},
		{"always throttled", []faulty.Fault{faulty.ThrottledOnDemand, faulty.ThrottledOnDemand, faulty.ThrottledOnDemand}, false, true},
		{"forbidden", []faulty.Fault{faulty.Denied}, false, true},
	} {
		for _, id := range []string{"", "known"} {
			bubble.Test(t, func(t *testing.T) {
				db := local.Start(t)
				options := eventlog.Options{Bucket: layout.Day, Shards: 5, Begin: noon, Retry: heatsink.Retry{Attempts: 3}}
				setup(t, db.Client(), options)
				client := faulty.On(t, db.Client(), nil)
				logs := open(t, client, options)
				client.Decide(faulty.Script(c.faults...))
				e := event{Log: "OPS_LOG", At: noon, ID: id, Body: op{N: 1}}
				receipt, err := logs.Append(t.Context(), e)
				if (err != nil) != c.fails || errors.As(err, new(*heatsink.UnknownOutcomeError)) != c.unknown {
					t.Errorf("%s: got %v", c.name, err)
				}
				if receipt.ID == "" || !receipt.At.Equal(noon) || receipt.Duplicate {
					t.Errorf("%s: got receipt %+v", c.name, receipt)
				}
				n := len(stored(t, db.Client(), "logs"))
				if n > 1 || !c.fails && n != 1 {
					t.Errorf("%s: %d items are stored", c.name, n)
				}
				if id == "" {
					return
				}
				if again, err := logs.Append(t.Context(), e); err != nil || again.Duplicate != (n == 1) {
					t.Errorf("%s, again: got %+v, %v", c.name, again, err)
				}
				if n := len(stored(t, db.Client(), "logs")); n != 1 {
					t.Errorf("%s, again: %d items are stored", c.name, n)
				}
			})
		}
	}
}

// What a batch could not write is named by its place, duplicates included; everything else is there.
func TestAppendAllUnderFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []faulty.Fault
		fails  bool
	}{
		{"throttled", []faulty.Fault{faulty.ThrottledOnDemand, faulty.Partly, faulty.ThrottledOnDemand, faulty.Partly}, false},
		{"lost answers", []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.LostAnswer}, false},
		{"some never", append([]faulty.Fault{faulty.None}, slices.Repeat([]faulty.Fault{faulty.ThrottledOnDemand}, 100)...), true},
	} {
		bubble.Test(t, func(t *testing.T) {
			db := local.Start(t)
			options := eventlog.Options{Bucket: layout.Day, Shards: 5, Begin: noon, Retry: heatsink.Retry{Attempts: 6}}
			setup(t, db.Client(), options)
			client := faulty.On(t, db.Client(), nil)
			logs := open(t, client, options)
			events := every(time.Hour, noon, "OPS_LOG", 60)
			for i := range events {
				if i%3 == 0 {
					events[i].ID = ""
				}
			}
			events = append(events, events[1])
			client.Decide(faulty.Script(c.faults...))
			receipts, err := logs.AppendAll(t.Context(), events)
			failed := map[int]bool{}
			if batch, ok := errors.AsType[*heatsink.BatchError](err); ok == c.fails && ok {
				for _, f := range batch.Failed {
					failed[f.Position] = true
				}
				if !slices.IsSortedFunc(batch.Failed, func(a, b heatsink.BatchFailure) int { return a.Position - b.Position }) || batch.Of != 61 {
					t.Errorf("%s: got %v", c.name, err)
				}
			} else if err != nil || c.fails {
				t.Fatalf("%s: got %v", c.name, err)
			}
			if failed[1] != failed[60] || !receipts[60].Duplicate {
				t.Errorf("%s: of the same event, one failed %v, the other %v", c.name, failed[1], failed[60])
			}
			there := map[string]int{}
			for _, item := range stored(t, db.Client(), "logs") {
				there[attribute(item, "sk")]++
			}
			for i, r := range receipts {
				key := r.At.Format("2006-01-02T15:04:05.000000000Z") + "#" + r.ID
				if n := there[key]; n > 1 || n == 0 && !failed[i] {
					t.Errorf("%s: event %d is there %d times, failed %v", c.name, i, n, failed[i])
				}
			}
			if len(failed) > 0 == (len(there) == 60) {
				t.Errorf("%s: %d failed, %d are stored", c.name, len(failed), len(there))
			}
		})
	}
}

func TestAppendEndsWithItsContext(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := logs.Append(ctx, event{Log: "LOG"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := logs.AppendAll(ctx, []event{{Log: "LOG"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := logs.Newest(ctx, "LOG", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The first event of a log may be as old as Begin says, whatever digits are kept.
func TestFirstEvent(t *testing.T) {
	begin := noon.Add(700 * time.Millisecond)
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Precision: time.Second, Begin: begin})
	appendAll(t, logs, []event{{Log: "LOG", At: begin.Add(1)}})
	if got, _ := read(t, logs, eventlog.Query{Log: "LOG", To: noon.Add(time.Hour)}); len(got) != 1 || !got[0].At.Equal(noon) {
		t.Errorf("got %v", got)
	}
}

// The time of expiry is that of the event and the retention, in seconds, rounded up; 000-21.
func TestTimeOfExpiry(t *testing.T) {
	client := local.Start(t).Client()
	logs := setup(t, client, eventlog.Options{Retention: time.Hour, TTL: "expires"})
	now := time.Now()
	at := now.Truncate(time.Second)
	appendAll(t, logs, []event{{Log: "a", At: at}, {Log: "b", At: at.Add(1)}})
	for i, item := range stored(t, client, "logs") {
		if got, want := attribute(item, "expires"), fmt.Sprint(at.Unix()+3600+int64(i)); got != want {
			t.Errorf("item %d expires at %s, want %s", i, got, want)
		}
	}
}

// Of two processes that append equal events, one is told that it was the first, whichever requests and answers are lost
// on the way.
func TestDuplicateAfterLostAnswers(t *testing.T) {
	faults := []faulty.Fault{faulty.None, faulty.LostRequest, faulty.LostAnswer, faulty.UnansweredDone, faulty.ThrottledOnDemand}
	tries := 0
	for _, first := range faults {
		for _, second := range faults {
			for _, delay := range []time.Duration{0, time.Second, time.Minute} { // of the second, behind the first
				tries++
				bubble.Test(t, func(t *testing.T) {
					db := local.Start(t)
					options := eventlog.Options{
						Mark: "append", Begin: noon, Settle: 24 * 365 * 100 * time.Hour,
						Retry: heatsink.Retry{Attempts: 3, Timeout: 10 * time.Second, Base: 30 * time.Second, Max: 30 * time.Second},
					}
					setup(t, db.Client(), options)
					e := event{Log: "OPS_LOG", At: noon, ID: "known", Body: op{N: 1}}
					var all sync.WaitGroup
					var original atomic.Int64
					for i, fault := range []faulty.Fault{first, second} {
						client := faulty.On(t, db.Client(), nil)
						logs := open(t, client, options)
						client.Decide(faulty.Script(fault))
						all.Go(func() {
							time.Sleep(time.Duration(i) * delay)
							receipt, err := logs.Append(t.Context(), e)
							if err != nil {
								t.Errorf("%v and %v: got %v", first, second, err)
							}
							if !receipt.Duplicate {
								original.Add(1)
							}
						})
					}
					all.Wait()
					if items := stored(t, db.Client(), "logs"); len(items) != 1 || len(attribute(items[0], "append")) != 15 {
						t.Errorf("got %v, want one event with a mark", items)
					}
					if n := original.Load(); n != 1 {
						t.Errorf("%v and, %v behind, %v: %d appends were the first, want 1", first, delay, second, n)
					}
				})
			}
		}
	}
	t.Logf("%d pairs of faults", tries)
}

// Without a mark, an append whose answer was lost and that finds another body is most likely a duplicate, and says that it
// is not sure.
func TestUnsureAfterALostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		options := eventlog.Options{Begin: noon, Retry: heatsink.Retry{Base: time.Minute, Max: time.Minute}}
		others := setup(t, db.Client(), options)
		logs := open(t, faulty.On(t, db.Client(), faulty.Script(faulty.LostRequest)), options)
		e := event{Log: "OPS_LOG", At: noon, ID: "known", Body: op{N: 1}}
		var all sync.WaitGroup
		all.Go(func() {
			if receipt, err := logs.Append(t.Context(), e); err != nil || !receipt.Duplicate || !receipt.Unsure {
				t.Errorf("got %+v, %v, want a duplicate that is not sure", receipt, err)
			}
		})
		synctest.Wait()
		e.Body.N = 2
		if receipt, err := others.Append(t.Context(), e); err != nil || receipt.Duplicate || receipt.Unsure {
			t.Errorf("got %+v, %v, want the first", receipt, err)
		}
		all.Wait()
	})
}
