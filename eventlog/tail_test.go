package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// follow returns what a tail returns in a stretch of time, without the positions.
func follow(t *testing.T, tail *eventlog.Tail[op], d time.Duration) []event {
	t.Helper()
	return followMetered(t, tail, d, new(heatsink.Meter))
}

func followMetered(t *testing.T, tail *eventlog.Tail[op], d time.Duration, meter *heatsink.Meter) []event {
	t.Helper()
	ctx, cancel := context.WithTimeout(heatsink.WithMeter(t.Context(), meter), d)
	defer cancel()
	var events []event
	for e, err := range tail.Events(ctx) {
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
		if e.Position == "" || e.Position != tail.Position() {
			t.Errorf("event %v has position %q, the tail %q", e, e.Position, tail.Position())
		}
		e.Position = ""
		events = append(events, e)
	}
	return events
}

func newTail(t *testing.T, logs *eventlog.Log[op], log string, options eventlog.TailOptions) *eventlog.Tail[op] {
	t.Helper()
	tail, err := logs.Tail(log, options)
	if err != nil {
		t.Fatal(err)
	}
	return tail
}

// Writers whose clocks are apart and whose appends take their time, but less than the time to settle together, over the
// turn of a day, while another process makes the log wider: a consumer that is restarted again and again, from what it stored, is given every event
// once and in order.
func TestTailMissesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(layout.Day.Next(time.Now()).Add(-10 * time.Minute)))
		db, err := local.New(local.Options{Lag: &local.Lag{Max: time.Minute, Seed: 1}}) // which a tail must not notice
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		client := db.Client()
		options := eventlog.Options{
			Bucket: layout.Day, Shards: 2, Settle: 5 * time.Second, Adaptive: &heatsink.Adaptive{},
		}
		logs := setup(t, client, options)
		var written sync.WaitGroup
		written.Go(func() { // a process that makes the log wider, before and after the turn
			grower := open(t, client, options)
			for _, width := range []int{3, 5, 16, 4, 33} {
				time.Sleep(4 * time.Minute)
				if _, err := grower.Ledgers().Grow(t.Context(), "OPS_LOG", time.Now(), width, "a test"); err != nil {
					t.Error(err)
				}
			}
		})
		for writer := range 5 {
			written.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(writer)))
				late := faulty.On(t, client, nil)
				logs := open(t, late, options)
				for i := range 80 {
					time.Sleep(time.Duration(r.Int64N(int64(30 * time.Second))))
					skew := time.Duration(r.Int64N(int64(4*time.Second))) - 2*time.Second
					took := time.Duration(r.Int64N(int64(2900 * time.Millisecond)))
					late.Delay(func(r faulty.Request) time.Duration { // of the events, or an append would take several times as long
						if in, ok := r.Input.(*dynamodb.PutItemInput); !ok || layout.IsControl(attribute(in.Item, "pk")) {
							return 0
						}
						return took
					})
					e := event{Log: "OPS_LOG", At: time.Now().UTC().Add(skew), Body: op{N: writer*80 + i}}
					if i%2 == 0 {
						e.ID = fmt.Sprintf("%d-%d", writer, i)
					}
					if receipt, err := logs.Append(t.Context(), e); err != nil || receipt.Late {
						t.Errorf("got %+v, %v", receipt, err)
					}
				}
			})
		}
		r := rand.New(rand.NewPCG(2, 2))
		tail := newTail(t, logs, "OPS_LOG", eventlog.TailOptions{From: time.Now().Add(-time.Minute)})
		var got []event
		for range 60 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.Int64N(int64(time.Minute))))
			most := r.IntN(30)
			position := tail.Position()
			for e, err := range tail.Events(ctx) {
				if err != nil {
					break
				}
				got, position = append(got, e), e.Position
				if most--; most < 0 {
					break
				}
			}
			cancel()
			if r.IntN(2) == 0 {
				position = tail.Position()
			}
			tail = newTail(t, open(t, client, options), "OPS_LOG", eventlog.TailOptions{After: position})
		}
		written.Wait()
		time.Sleep(10 * time.Second)
		got = append(got, follow(t, tail, time.Minute)...)

		for i := range got {
			got[i].Position = ""
		}
		want, _ := read(t, logs, eventlog.Query{Log: "OPS_LOG", From: got[0].At, Consistent: true})
		if len(want) != 400 || !slices.Equal(got, want) {
			t.Errorf("followed %d events, not the %d that there are, in order", len(got), len(want))
		}
	})
}

// An event that is acknowledged too late is not returned once a tail has passed its time, and the receipt says so. Who
// reads finds it.
func TestLateEvents(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		logs := setup(t, local.Start(t).Client(), eventlog.Options{Settle: 10 * time.Second})
		start := time.Now().UTC()
		tail := newTail(t, logs, "LOG", eventlog.TailOptions{MinPoll: time.Second, MaxPoll: time.Second})
		behind := newTail(t, logs, "LOG", eventlog.TailOptions{})
		if got := follow(t, tail, 30500*time.Millisecond); len(got) != 0 {
			t.Fatalf("got %v", got)
		}
		if behind := time.Since(tail.Time()); behind != 10500*time.Millisecond {
			t.Errorf("the tail is %v behind, want the time to settle and since the last poll", behind)
		}
		for _, c := range []struct {
			ago  time.Duration
			late bool
		}{{25 * time.Second, true}, {10 * time.Second, true}, {10*time.Second - 1, false}, {0, false}} {
			receipt, err := logs.Append(t.Context(), event{Log: "LOG", At: time.Now().Add(-c.ago), ID: c.ago.String()})
			if err != nil || receipt.Late != c.late {
				t.Errorf("%v ago: got %+v, %v", c.ago, receipt, err)
			}
		}
		if n := logs.LateAppends(); n != 2 {
			t.Errorf("%d late appends, want 2", n)
		}
		ids := func(events []event) (ids []string) {
			for _, e := range events {
				ids = append(ids, e.ID)
			}
			return ids
		}
		// The tail was at 20 s at its last poll, half a second ago, so the event of 10 s ago is still ahead of it.
		if got := ids(follow(t, tail, 15*time.Second)); !slices.Equal(got, []string{"10s", "9.999999999s", "0s"}) {
			t.Errorf("the tail returned %v", got)
		}
		if got := ids(follow(t, behind, time.Minute)); len(got) != 4 {
			t.Errorf("a tail that had not passed them returned %v", got)
		}
		if got, _ := read(t, logs, eventlog.Query{Log: "LOG", From: start}); len(got) != 4 {
			t.Errorf("a read returned %v", ids(got))
		}
	})
}

// An idle tail backs off: its cost is that of MaxPoll, exactly, and a little more at first and at the turn of the day.
// This is what docs/recipes/eventlog.md states.
func TestIdleTailCost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(layout.Day.Start(time.Now()).Add(11 * time.Hour)))
		for _, c := range []struct {
			shards   int
			maxPoll  time.Duration
			requests int // in an hour
		}{
			{0, 0, 120}, {8, 0, 960}, {20, time.Minute, 1200},
		} {
			logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: c.shards})
			tail := newTail(t, logs, "LOG", eventlog.TailOptions{MaxPoll: c.maxPoll})
			var backing, idle heatsink.Meter
			followMetered(t, tail, 5*time.Minute, &backing)
			if n, most := backing.Cost().Requests, c.requests/12+6*max(c.shards, 1); n > most {
				t.Errorf("%d shards: %d requests in the first five minutes, want %d at most", c.shards, n, most)
			}
			tail = newTail(t, logs, "LOG", eventlog.TailOptions{After: tail.Position(), MinPoll: tailMax(c.maxPoll), MaxPoll: tailMax(c.maxPoll)})
			followMetered(t, tail, time.Hour-1, &idle)
			requests, units := idle.Cost().Requests, idle.Cost().ReadUnits
			t.Logf("idle tail of %d shards, every %v: %d requests and %.0f read units an hour", c.shards, tailMax(c.maxPoll), requests, units)
			if requests != c.requests || units != float64(c.requests) {
				t.Errorf("%d shards: %d requests and %.1f units an hour, want %d and as many", c.shards, requests, units, c.requests)
			}
		}
	})
}

func tailMax(d time.Duration) time.Duration {
	if d == 0 {
		return 30 * time.Second
	}
	return d
}

// A tail waits twice as long after each poll that finds nothing, and MinPoll after one that finds something.
func TestTailBacksOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &slow{Client: local.Start(t).Client()}
		setup(t, client.Client, eventlog.Options{})
		var polls []time.Duration
		start := time.Now()
		client.delay = func(string) time.Duration {
			polls = append(polls, time.Since(start)/time.Second)
			return 0
		}
		logs := open(t, client, eventlog.Options{Settle: time.Second})
		go func() {
			time.Sleep(20*time.Second + 1)
			if _, err := logs.Append(t.Context(), event{Log: "LOG"}); err != nil {
				t.Error(err)
			}
		}()
		tail := newTail(t, logs, "LOG", eventlog.TailOptions{From: start.Add(-time.Hour), MinPoll: time.Second, MaxPoll: 10 * time.Second})
		if got := follow(t, tail, 45*time.Second); len(got) != 1 {
			t.Errorf("got %v", got)
		}
		if want := []time.Duration{0, 1, 3, 7, 15, 25, 26, 28, 32, 40}; !slices.Equal(polls, want) {
			t.Errorf("polled after %v seconds, want %v", polls, want)
		}
	})
}

// A tail survives polls that fail, and ends when they have failed for too long; it goes on where it was when it is
// ranged over again.
func TestTailSurvivesFailures(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		options := eventlog.Options{Bucket: layout.Hour, Shards: 3, Retention: 24 * time.Hour, Retry: heatsink.Retry{Attempts: 2}}
		setup(t, db.Client(), options)
		client := faulty.On(t, db.Client(), nil)
		logs := open(t, client, options)
		all := every(time.Minute, time.Now().Add(-3*time.Hour), "LOG", 150)
		appendAll(t, logs, all)
		tail := newTail(t, logs, "LOG", eventlog.TailOptions{From: all[0].At})

		n := 0
		client.Decide(func(faulty.Request) faulty.Fault { // every third query, and all of a minute
			if n++; n%3 == 0 || time.Since(all[0].At) < 3*time.Hour+40*time.Second {
				return faulty.ThrottledOnDemand
			}
			return faulty.None
		})
		if got := follow(t, tail, 5*time.Minute); !slices.Equal(got, all) {
			t.Errorf("got %d events, want %d", len(got), len(all))
		}

		client.Decide(faulty.Always(faulty.Denied))
		begun := time.Now()
		errs := 0
		for _, err := range tail.Events(t.Context()) {
			if failed := (*heatsink.ShardError)(nil); !errors.As(err, &failed) {
				t.Errorf("got %v", err)
			}
			errs++
		}
		if took := time.Since(begun); errs != 1 || took < time.Minute || took > 2*time.Minute {
			t.Errorf("%d errors after %v, want one after a minute or the next poll", errs, took)
		}
		begun = time.Now()
		impatient := newTail(t, logs, "LOG", eventlog.TailOptions{After: tail.Position(), GiveUp: -1})
		for _, err := range impatient.Events(t.Context()) {
			if took := time.Since(begun); err == nil || took > time.Second {
				t.Errorf("got %v after %v", err, took)
			}
		}
		client.Decide(nil)
		appendAll(t, logs, []event{{Log: "LOG", Body: op{N: 1000}}})
		if got := follow(t, tail, time.Minute); len(got) != 1 || got[0].Body.N != 1000 {
			t.Errorf("then got %v", got)
		}
	})
}

// An event that does not fit ends a tail with an error, and is skipped by ranging over it again, or from the error's
// position.
func TestTailSkipsWhatDoesNotFit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		logs := setup(t, client, eventlog.Options{Bucket: layout.Hour, Precision: time.Second, Begin: time.Now().Add(-time.Hour)})
		now := time.Now().UTC()
		appendAll(t, logs, every(time.Second, now, "LOG", 5))
		for _, key := range []string{now.Add(2*time.Second).Format(time.RFC3339) + "#a", now.Add(2*time.Second).Format("2006-01-02T15:04:05") + "z"} {
			spoil(t, client, heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: now.Format("LOG#2006-01-02T15")}, "sk": &types.AttributeValueMemberS{Value: key},
				"n": &types.AttributeValueMemberS{Value: "many"},
			})
		}
		time.Sleep(time.Minute)
		for _, restart := range []bool{false, true} {
			tail := newTail(t, logs, "LOG", eventlog.TailOptions{From: now})
			var got []int
			bad := 0
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				for e, err := range tail.Events(ctx) {
					if failed, ok := errors.AsType[*eventlog.DecodeError](err); ok {
						bad++
						if restart {
							tail = newTail(t, logs, "LOG", eventlog.TailOptions{After: failed.Position})
						}
					} else if err == nil {
						got = append(got, e.Body.N)
					}
				}
				cancel()
			}
			if want := []int{0, 1, 2, 3, 4}; !slices.Equal(got, want) || bad != 2 {
				t.Errorf("restart %v: got %v and %d that do not fit", restart, got, bad)
			}
		}
	})
}

// A tail ends with its context, at once, whatever it is doing.
func TestTailEndsWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &slow{Client: local.Start(t).Client()}
		logs := setup(t, client.Client, eventlog.Options{Shards: 2})
		appendAll(t, logs, every(time.Second, time.Now().Add(-time.Hour), "LOG", 5))
		for name, queries := range map[string]eventlog.Client{"waiting": client.Client, "reading": client} {
			tail := newTail(t, open(t, queries, eventlog.Options{Shards: 2}), "LOG", eventlog.TailOptions{From: time.Now().Add(-2 * time.Hour)})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(500*time.Millisecond, cancel)
			errs := 0
			for _, err := range tail.Events(ctx) {
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s: got %v", name, err)
				}
				if err != nil {
					errs++
				}
			}
			if errs != 1 {
				t.Errorf("%s: %d errors", name, errs)
			}
		}
	})
}

func TestWrongTailsAreRefused(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day})
	position := newTail(t, logs, "OTHER", eventlog.TailOptions{}).Position()
	for name, c := range map[string]struct {
		log     string
		options eventlog.TailOptions
		want    error
	}{
		"no log":          {"", eventlog.TailOptions{}, eventlog.ErrQuery},
		"a bucket":        {"LOG#2026-06-22", eventlog.TailOptions{}, eventlog.ErrQuery},
		"another's":       {"LOG", eventlog.TailOptions{After: position}, eventlog.ErrToken},
		"nonsense":        {"LOG", eventlog.TailOptions{After: "nonsense"}, eventlog.ErrToken},
		"a negative wait": {"LOG", eventlog.TailOptions{MinPoll: -1}, eventlog.ErrQuery},
		"waits crossed":   {"LOG", eventlog.TailOptions{MinPoll: 2, MaxPoll: 1}, eventlog.ErrQuery},
		"before 1970":     {"LOG", eventlog.TailOptions{From: time.Unix(-1, 0)}, eventlog.ErrQuery},
	} {
		if _, err := logs.Tail(c.log, c.options); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// A tail that begins ahead, as after a clock was set back, waits for its time and does not go back.
func TestTailAheadOfItsClock(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Hour, Retention: 24 * time.Hour})
		tail := newTail(t, logs, "LOG", eventlog.TailOptions{From: time.Now().Add(time.Hour)})
		position := tail.Position()
		now := time.Now().UTC()
		appendAll(t, logs, []event{{Log: "LOG", At: now, ID: "before"}, {Log: "LOG", At: now.Add(time.Hour), ID: "then"}})
		if got := follow(t, tail, 30*time.Minute); len(got) != 0 || tail.Position() != position {
			t.Errorf("got %v, and the position has moved: %v", got, tail.Position() != position)
		}
		if got := follow(t, tail, time.Hour); len(got) != 1 || got[0].ID != "then" {
			t.Errorf("got %v", got)
		}
	})
}
