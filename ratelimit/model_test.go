package ratelimit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/ratelimit"
)

// event is something that was let through, at a time between begin and end.
type event struct {
	begin, end time.Time
	n          int
}

// reference is what a limiter should do, in plain arithmetic over everything that was let through.
type reference struct {
	ratelimit.Options
	events []event
}

func (r *reference) add(e event) { r.events = append(r.events, e) }

// slot is how long a part of the sliding window is.
func (r *reference) slot() time.Duration {
	return (r.Window + time.Duration(r.Slots) - 1) / time.Duration(r.Slots)
}

// room returns how much more may come now. Of a bucket it is that of one with a single shard.
func (r *reference) room(now time.Time) int {
	used := 0
	for _, e := range r.events {
		counts := false
		switch r.Algorithm {
		case ratelimit.FixedWindow:
			counts = e.begin.Truncate(r.Window).Equal(now.Truncate(r.Window))
		case ratelimit.SlidingLog:
			counts = now.UnixMilli()-e.begin.Add(time.Millisecond-1).UnixMilli() < r.Window.Milliseconds()
		case ratelimit.SlidingWindow:
			counts = now.UnixNano()/int64(r.slot())-e.begin.UnixNano()/int64(r.slot()) <= int64(r.Slots)
		}
		if counts {
			used += e.n
		}
	}
	if r.Algorithm == ratelimit.TokenBucket {
		return int(r.tokens(now))
	}
	return r.Limit - used
}

// tokens simulates a bucket with fractions of tokens, counted in nanoseconds.
func (r *reference) tokens(now time.Time) int64 {
	interval := int64(r.Window) / int64(r.Limit) // windows and limits of these tests divide
	level, at := interval*int64(r.Burst), time.Time{}
	for _, e := range append(r.events[:len(r.events):len(r.events)], event{begin: now}) {
		if !at.IsZero() {
			level = min(level+int64(e.begin.Sub(at)), interval*int64(r.Burst))
		}
		at = e.begin
		level -= interval * int64(e.n)
	}
	return level / interval
}

// over returns a stretch of time in which more was let through than the limit, or "". Whatever may have been let
// through before or after does not count.
func (r *reference) over() string {
	for _, first := range r.events {
		within := func(from, to time.Time) (sum int) {
			for _, e := range r.events {
				if !e.begin.Before(from) && e.end.Before(to) {
					sum += e.n
				}
			}
			return sum
		}
		if r.Algorithm != ratelimit.TokenBucket {
			from := first.begin
			if r.Algorithm == ratelimit.FixedWindow {
				from = first.begin.Truncate(r.Window)
			}
			if sum := within(from, from.Add(r.Window)); sum > r.Limit {
				return fmt.Sprintf("%d in the window from %v", sum, from)
			}
			continue
		}
		for _, last := range r.events {
			length := last.end.Sub(first.begin)
			if length < 0 {
				continue
			}
			sum := within(first.begin, last.end.Add(1))
			if int64(sum-r.Burst)*int64(r.Window) > int64(length+r.LeaseFor)*int64(r.Limit) {
				return fmt.Sprintf("%d in the %v from %v", sum, length, first.begin)
			}
		}
	}
	return ""
}

// drawOptions draws a limiter. Windows are divisible by all limits, so that intervals of tokens are not rounded.
func drawOptions(rt *rapid.T) ratelimit.Options {
	o := ratelimit.Options{
		Table:     table,
		Algorithm: rapid.SampledFrom(algorithms).Draw(rt, "algorithm"),
		Limit:     rapid.IntRange(1, 12).Draw(rt, "limit"),
		Window:    rapid.SampledFrom([]time.Duration{2772 * time.Millisecond, 27720 * time.Millisecond}).Draw(rt, "window"),
		Shards:    rapid.IntRange(1, 4).Draw(rt, "shards"),
		Remember:  rapid.SampledFrom([]time.Duration{-1, time.Second, time.Hour}).Draw(rt, "remember"),
		Rand:      rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0),
	}
	switch o.Algorithm {
	case ratelimit.SlidingWindow:
		o.Slots = rapid.IntRange(1, 7).Draw(rt, "slots")
	case ratelimit.TokenBucket:
		o.Burst = rapid.IntRange(1, 12).Draw(rt, "burst")
	}
	return o
}

// drawPause draws a time to wait: nothing, a little, or up to and about the borders of slots and windows.
func drawPause(rt *rapid.T, o ratelimit.Options) time.Duration {
	part := o.Window / time.Duration(max(o.Slots, 4))
	return rapid.OneOf(
		rapid.Just(time.Duration(0)),
		rapid.Map(rapid.Int64Range(0, int64(part)), func(n int64) time.Duration { return time.Duration(n) }),
		rapid.Map(rapid.Int64Range(0, 12), func(n int64) time.Duration { return time.Duration(n) * part / 4 }),
		rapid.Just(o.Window), rapid.Just(o.Window-1),
	).Draw(rt, "pause")
}

// inBubble runs a model in virtual time, on an engine of its own, with a key for each run.
func inBubble(t *testing.T, run func(rt *rapid.T, client *dynamodb.Client, key string)) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t)
		runs := 0
		// In a bubble there is no T.Deadline, for which rapid would ask.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			runs++
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))) // so that a run can be repeated
			run(rt, client, fmt.Sprint("key-", runs))
		})
	})
}

// openAll opens a limiter for each of several processes.
func openAll(rt *rapid.T, o ratelimit.Options, processes int, client ratelimit.Client) []*ratelimit.Limiter {
	var all []*ratelimit.Limiter
	for i := range processes {
		limiter, err := ratelimit.Open(client, o)
		if err != nil {
			rt.Fatal(err)
		}
		all = append(all, limiter)
		if o.Rand != nil { // each its own
			o.Rand = rand.NewPCG(uint64(i), 1)
		}
	}
	return all
}

func peek(rt *rapid.T, limiter *ratelimit.Limiter, key string) ratelimit.Decision {
	d, err := limiter.Peek(context.Background(), key)
	if err != nil {
		rt.Fatal(err)
	}
	return d
}

// Where nothing goes wrong, limiters in several processes let through exactly what the reference does, however many
// check at the same moment: all there is room for, and nothing else.
func TestModelIsExact(t *testing.T) {
	inBubble(t, func(rt *rapid.T, client *dynamodb.Client, key string) {
		r := &reference{Options: drawOptions(rt)}
		limiters := openAll(rt, r.Options, rapid.IntRange(1, 3).Draw(rt, "processes"), client)
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			time.Sleep(drawPause(rt, r.Options))
			now, room := time.Now(), r.room(time.Now())
			checks := rapid.IntRange(1, 6).Draw(rt, "checks")
			decisions := make([]ratelimit.Decision, checks)
			var running sync.WaitGroup
			for i := range checks {
				limiter := limiters[rapid.IntRange(0, len(limiters)-1).Draw(rt, "process")]
				running.Go(func() {
					var err error
					if decisions[i], err = limiter.Allow(context.Background(), key); err != nil {
						rt.Errorf("check: %v", err)
					}
				})
			}
			running.Wait()
			through := 0
			for _, d := range decisions {
				if d.Allowed {
					through++
				}
			}
			least := min(checks, room)
			if r.Algorithm == ratelimit.TokenBucket && r.Shards > 1 && len(r.events) > 0 {
				// A shard that is full collects no more while others could, and each may have a fraction of a token.
				if least = 0; through < checks && peek(rt, limiters[0], key).Remaining > 0 {
					rt.Fatalf("%d of %d let through, and there is more: %v", through, checks, decisions)
				}
			}
			if through < least || through > room && through > 0 {
				rt.Fatalf("%d of %d let through, with room for %d: %v", through, checks, room, decisions)
			}
			for range through {
				r.add(event{now, now, 1})
			}
		}
	})
}

// Peek says what Allow would, and RetryAfter when that changes: not a moment before, and then for certain.
func TestModelOfPeekAndRetryAfter(t *testing.T) {
	inBubble(t, func(rt *rapid.T, client *dynamodb.Client, key string) {
		o := drawOptions(rt)
		o.Limit, o.Burst = min(o.Limit, 4), min(o.Burst, 4) // as it is used up again and again
		limiters := openAll(rt, o, 2, client)
		r := &reference{Options: o}
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			time.Sleep(drawPause(rt, o))
			for {
				before := peek(rt, limiters[1], key)
				if room := r.room(time.Now()); before.Remaining != room && (o.Algorithm != ratelimit.TokenBucket || o.Shards == 1) {
					rt.Fatalf("peek: %v, want %d left", before, room)
				}
				d, err := limiters[0].Allow(context.Background(), key)
				if err != nil || d.Allowed != before.Allowed {
					rt.Fatalf("peek: %v, then %v, %v", before, d, err)
				}
				if !d.Allowed {
					if d.RetryAfter <= 0 || d.RetryAfter != before.RetryAfter {
						rt.Fatalf("peek: %v, then %v", before, d)
					}
					break
				}
				r.add(event{time.Now(), time.Now(), 1})
			}
			wait := peek(rt, limiters[1], key).RetryAfter
			time.Sleep(wait - time.Nanosecond)
			if d := peek(rt, limiters[1], key); d.Allowed {
				rt.Fatalf("%v before RetryAfter: %v", time.Duration(1), d)
			}
			time.Sleep(time.Nanosecond)
			if d, err := limiters[0].Allow(context.Background(), key); err != nil || !d.Allowed {
				rt.Fatalf("after RetryAfter of %v: %v, %v", wait, d, err)
			}
			r.add(event{time.Now(), time.Now(), 1})
		}
	})
}

// Whatever is throttled, lost or late, in whatever number of processes, with whatever costs and leases: no stretch of
// time has more than the limit.
func TestModelIsNeverOver(t *testing.T) {
	inBubble(t, func(rt *rapid.T, client *dynamodb.Client, key string) {
		r := &reference{Options: drawOptions(rt)}
		if rapid.Bool().Draw(rt, "leases") {
			r.Lease, r.LeaseFor = rapid.IntRange(2, 6).Draw(rt, "lease"), r.Window/7
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "faults"), 0))
		late := rapid.SampledFrom([]time.Duration{0, 20 * time.Millisecond, r.Window / 8}).Draw(rt, "late")
		flaky := faulty.On(rt, client, faulty.Random(random, 50, faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.Late))
		flaky.Delay(faulty.UpTo(random, late))
		limiters := openAll(rt, r.Options, rapid.IntRange(1, 3).Draw(rt, "processes"), flaky)
		most := r.Limit
		if r.Algorithm == ratelimit.TokenBucket {
			most = r.Burst
		}
		most = (most + r.Shards - 1) / r.Shards // the cost must fit a shard

		var mu sync.Mutex
		var running sync.WaitGroup
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			time.Sleep(drawPause(rt, r.Options))
			for range rapid.IntRange(1, 4).Draw(rt, "checks") {
				limiter := limiters[rapid.IntRange(0, len(limiters)-1).Draw(rt, "process")]
				n := rapid.IntRange(1, min(most, 3)).Draw(rt, "n")
				running.Go(func() {
					e := event{begin: time.Now(), n: n}
					d, _ := limiter.AllowN(context.Background(), key, n)
					e.end = time.Now()
					if r.Lease <= 1 && r.Algorithm != ratelimit.SlidingWindow {
						e.end = e.begin // it counts at the time it began
					}
					if d.Allowed {
						mu.Lock()
						r.add(e)
						mu.Unlock()
					}
				})
			}
		}
		running.Wait()
		if fault := r.over(); fault != "" {
			rt.Fatalf("%v of %d over %d shards: %s", r.Algorithm, r.Limit, r.Shards, fault)
		}
	})
}
