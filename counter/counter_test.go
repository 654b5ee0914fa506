package counter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

func TestAddIsStoredWhenItReturns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, other := open(t, client, Options{}), open(t, client, Options{})
		isTotal(t, other, "VIEWS", 0)
		for i := range int64(10) {
			mustAdd(t, c, "VIEWS", 1)
			isTotal(t, other, "VIEWS", i+1)
		}
		mustAdd(t, c, "VIEWS", -30, 0, 5)
		isTotal(t, other, "VIEWS", -15)
		isTotal(t, other, "LIKES", 0)
	})
}

// All Adds that wait at a time are stored in one request.
func TestAddsThatWaitTogetherAreStoredTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		mustAdd(t, c, "VIEWS", 1) // which opens the slot
		before := client.Count("UpdateItem")
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() { mustAdd(t, c, "VIEWS", 1) })
		}
		all.Wait()
		if n := client.Count("UpdateItem") - before; n > 2 {
			t.Errorf("1000 Adds took %d requests, want one or two", n)
		}
		isTotal(t, c, "VIEWS", 1001)
	})
}

func TestAddWaitsForAnIntervalAtMost(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := open(t, aTable(t), Options{})
		for range 100 {
			begun := time.Now()
			mustAdd(t, c, "VIEWS", 1)
			if took := time.Since(begun); took > defaultInterval {
				t.Fatalf("an Add took %v", took)
			}
		}
	})
}

func TestKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		for key, wants := range map[string]error{
			"VIEWS": nil, "#": nil, "a#b#c": nil, "PAGE#7": nil, "slot#": nil, "base": nil, "é": nil,
			strings.Repeat("k", 2000): nil,
			"":                        layout.ErrKey,
			"VIEWS#SHARD_3":           layout.ErrKey,
			"a\xff":                   layout.ErrKey,
			strings.Repeat("k", 2049): layout.ErrKey,
			strings.Repeat("k", 2045): layout.ErrKey,
			"a\x001":                  nil,
		} {
			err := c.Add(t.Context(), key, 1)
			if !errors.Is(err, wants) || errors.Is(err, ErrUncertain) {
				t.Errorf("add to %.20q: got %v, want %v", key, err, wants)
			}
			n, err := c.Total(t.Context(), key)
			if !errors.Is(err, wants) || wants == nil && n != 1 {
				t.Errorf("total of %.20q: got %d, %v, want %v", key, n, err, wants)
			}
		}
	})
}

// Two counters whose keys begin alike are two counters.
func TestKeysDoNotMix(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := open(t, aTable(t), Options{Shards: 1, Format: layout.Format{BareZero: true}})
		for i, key := range []string{"a", "a#", "a#SHARD", "a#SHARD_", "a#SHARD_x"} {
			mustAdd(t, c, key, int64(i+1))
		}
		for i, key := range []string{"a", "a#", "a#SHARD", "a#SHARD_", "a#SHARD_x"} {
			isTotal(t, c, key, int64(i+1))
		}
	})
}

func TestOverflow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, d := open(t, client, Options{}), open(t, client, Options{})
		for _, delta := range []int64{math.MinInt64} {
			if err := c.Add(t.Context(), "x", delta); !errors.Is(err, ErrOverflow) || errors.Is(err, ErrUncertain) {
				t.Errorf("add %d: got %v", delta, err)
			}
		}
		mustAdd(t, c, "x", math.MaxInt64)
		if err := c.Add(t.Context(), "x", 1); !errors.Is(err, ErrOverflow) {
			t.Errorf("beyond what a slot holds: got %v", err)
		}
		isTotal(t, d, "x", math.MaxInt64)
		mustAdd(t, d, "x", 1)
		if n, err := d.Total(t.Context(), "x"); !errors.Is(err, ErrOverflow) {
			t.Errorf("got %d, %v, want %v", n, err, ErrOverflow)
		}
		mustAdd(t, d, "x", -2) // and it is right again
		isTotal(t, d, "x", math.MaxInt64-1)
		if n, err := d.Reset(t.Context(), "x"); err != nil || n != math.MaxInt64-1 {
			t.Errorf("reset: got %d, %v", n, err)
		}
		isTotal(t, d, "x", 0)
	})
}

// Whatever the answers to flushes say, or do not say, each Add is counted once.
func TestAddUnderFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []faulty.Fault // of the first UpdateItem requests after the slot is open
	}{
		{"lost answer", []faulty.Fault{faulty.LostAnswer}},
		{"lost request", []faulty.Fault{faulty.LostRequest}},
		{"lost again and again", []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.LostAnswer, faulty.LostAnswer, faulty.LostRequest, faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer}},
		{"throttled", []faulty.Fault{faulty.Throttled, faulty.Throttled, faulty.Throttled}},
		{"throttled for long", slices.Repeat([]faulty.Fault{faulty.Throttled}, 12)},
		{"unanswered", []faulty.Fault{faulty.UnansweredDone, faulty.Unanswered, faulty.UnansweredDone}},
		{"all of it", []faulty.Fault{faulty.Throttled, faulty.LostAnswer, faulty.Throttled, faulty.Unanswered, faulty.LostRequest, faulty.UnansweredDone, faulty.Throttled}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				n := open(t, client, Options{})
				mustAdd(t, n, "VIEWS", 1)
				client.Decide(faulty.Script(c.faults...).Of("UpdateItem"))
				for range 5 {
					mustAdd(t, n, "VIEWS", 1)
				}
				if n := client.Wrong(); n != len(c.faults) {
					t.Errorf("%d faults of %d happened", n, len(c.faults))
				}
				isTotal(t, n, "VIEWS", 6)
			})
		})
	}
}

// The slot's opening, too, may go wrong in every way.
func TestOpeningUnderFaults(t *testing.T) {
	for _, f := range []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.Throttled, faulty.Unanswered, faulty.UnansweredDone} {
		bubble.Test(t, func(t *testing.T) {
			client := aTable(t)
			c := open(t, client, Options{})
			client.Decide(faulty.Script(f, f, f, f).Of("UpdateItem")) // the base and the slot
			mustAdd(t, c, "VIEWS", 1)
			isTotal(t, c, "VIEWS", 1)
		})
	}
}

// What can never work is said at once, and not counted; Adds that nobody waits for are kept.
func TestAddThatIsRejected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c := open(t, client, Options{})
		client.Decide(faulty.Always(faulty.Denied))
		if err := c.AddAsync("VIEWS", 10); err != nil {
			t.Fatal(err)
		}
		err := c.Add(t.Context(), "VIEWS", 1)
		if failed, ok := errors.AsType[*AddError](err); !ok || failed.Uncertain || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("got %v, want a refusal that is certain", err)
		}
		if n := c.Unflushed(); n != 1 {
			t.Errorf("%d Adds are unflushed, want 1", n)
		}
		client.Decide(nil)
		if err := c.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		isTotal(t, c, "VIEWS", 10)
	})
}

func TestMissingTable(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		c, err := Open(client, Options{Table: "nowhere"})
		if err != nil {
			t.Fatal(err)
		}
		defer crash(c)
		if err := c.Add(t.Context(), "VIEWS", 1); err == nil || errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "ResourceNotFound") {
			t.Errorf("add: got %v", err)
		}
		if _, err := c.Total(t.Context(), "VIEWS"); err == nil || !strings.Contains(err.Error(), `counter "VIEWS"`) {
			t.Errorf("total: got %v", err)
		}
	})
}

// What the error of an Add says about it is true.
func TestAddWhoseContextEnds(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		bubble.Test(t, func(t *testing.T) {
			c := open(t, aTable(t), Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("not now"))
			err := c.Add(ctx, "VIEWS", 1)
			if err == nil || errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "not now") {
				t.Errorf("got %v", err)
			}
			isTotal(t, c, "VIEWS", 0)
		})
	})
	t.Run("while it waits", func(t *testing.T) {
		bubble.Test(t, func(t *testing.T) {
			c := open(t, aTable(t), Options{Interval: time.Second})
			mustAdd(t, c, "VIEWS", 1) // so that the next one waits for a second
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			err := c.Add(ctx, "VIEWS", 10)
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUncertain) {
				t.Errorf("got %v", err)
			}
			mustAdd(t, c, "VIEWS", 100)
			isTotal(t, c, "VIEWS", 101)
		})
	})
	for name, c := range map[string]struct {
		fault faulty.Fault
		total int64 // with the next Add
	}{"while it is on its way, and is stored": {faulty.UnansweredDone, 112}, "while it is on its way, and is not": {faulty.Unanswered, 112}} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				n := open(t, client, Options{Retry: heatsink.Retry{Timeout: time.Hour}})
				mustAdd(t, n, "VIEWS", 2) // which raises the level, too
				client.Decide(faulty.Script(c.fault).Of("UpdateItem"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := n.Add(ctx, "VIEWS", 10)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUncertain) {
					t.Errorf("got %v", err)
				}
				mustAdd(t, n, "VIEWS", 100) // and with it the first
				isTotal(t, n, "VIEWS", c.total)
			})
		})
	}
}

// A process that is taken for dead finds out and goes on, with nothing lost and nothing counted twice.
func TestAddToASlotThatOthersFolded(t *testing.T) {
	for _, swept := range []bool{false, true} {
		t.Run(fmt.Sprint("swept ", swept), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				c := open(t, client, Options{Idle: 100 * time.Hour, FoldEvery: -1})
				other := open(t, client, Options{})
				mustAdd(t, c, "VIEWS", 1, 2)
				for i := range int64(3) {
					time.Sleep(11 * time.Minute)
					folds(t, other, "VIEWS", Folded{Slots: 1 + int(i)*b2i(!swept), Folded: 1})
					if swept {
						time.Sleep(25 * time.Hour)
						folds(t, other, "VIEWS", Folded{Slots: 1, Removed: 1})
					}
					isTotal(t, other, "VIEWS", 3+10*i)
					mustAdd(t, c, "VIEWS", 10)
					isTotal(t, other, "VIEWS", 3+10*(i+1))
				}
			})
		})
	}
}

func b2i(b bool) int { return map[bool]int{true: 1}[b] }

func folds(t *testing.T, c *Counter, key string, want Folded) {
	t.Helper()
	if got, err := c.Fold(context.Background(), key); err != nil || got != want {
		t.Fatalf("fold %s: got %+v, %v, want %+v", key, got, err, want)
	}
}

// A process that sleeps for longer than its folded slot stays cannot know what became of what was on its way.
func TestAddThatNobodyWillEverKnowOf(t *testing.T) {
	for name, f := range map[string]faulty.Fault{"it was stored": faulty.LostAnswer, "it was not": faulty.LostRequest} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				asleep := make(chan struct{})
				sleepy := faulty.On(t, client.Direct, nil)
				c := open(t, sleepy, Options{Idle: 100 * time.Hour, FoldEvery: -1, Retry: heatsink.Retry{Attempts: 1}})
				other := open(t, client, Options{})
				mustAdd(t, c, "VIEWS", 2)

				flushes := 0
				sleepy.Decide(func(r faulty.Request) faulty.Fault {
					if flushes++; r.Operation == "UpdateItem" && flushes == 1 {
						return f
					}
					<-asleep // the whole process sleeps
					return faulty.None
				})
				added := make(chan error)
				go func() { added <- c.Add(context.Background(), "VIEWS", 10) }()
				time.Sleep(time.Hour)
				folds(t, other, "VIEWS", Folded{Slots: 1, Folded: 1})
				time.Sleep(25 * time.Hour)
				folds(t, other, "VIEWS", Folded{Slots: 1, Removed: 1})
				close(asleep)
				if err := <-added; !errors.Is(err, ErrUncertain) {
					t.Errorf("got %v, want %v", err, ErrUncertain)
				}
				mustAdd(t, c, "VIEWS", 100)
				want := int64(102)
				if f == faulty.LostAnswer {
					want += 10
				}
				isTotal(t, other, "VIEWS", want)
			})
		})
	}
}

func TestOptions(t *testing.T) {
	client := &dynamodb.Client{}
	for name, c := range map[string]struct {
		options Options
		wants   string
	}{
		"no table":       {Options{}, "Table is empty"},
		"one key":        {Options{Table: "t", PartitionKey: "id", SortKey: "id"}, `both "id"`},
		"taken":          {Options{Table: "t", SortKey: "seq"}, `"seq" cannot be a key attribute`},
		"shards":         {Options{Table: "t", Shards: 5000}, "Shards is 5000"},
		"interval":       {Options{Table: "t", Interval: time.Millisecond}, "Interval is 1ms"},
		"slow":           {Options{Table: "t", Interval: time.Minute}, "Interval is 1m"},
		"idle":           {Options{Table: "t", Idle: -1}, "Idle, Dead and FoldEvery are -1ns"},
		"fold":           {Options{Table: "t", FoldEvery: 1}, "want 100ms or more"},
		"negative":       {Options{Table: "t", Retention: -1}, "Retention is -1ns, want 1h2m0s or more"},
		"retention":      {Options{Table: "t", Retention: time.Hour}, "Retention is 1h0m0s, want 1h2m0s or more: copies of requests"},
		"counters":       {Options{Table: "t", MaxCounters: -1}, "MaxCounters and MaxConcurrency are -1 and 64, want 0 or more"},
		"format":         {Options{Table: "t", Format: layout.Format{ShardPrefix: "#1"}}, "ends in a digit"},
		"retry":          {Options{Table: "t", Retry: heatsink.Retry{Attempts: -1}}, "want no negative values except for Budget"},
		"several faults": {Options{Shards: -1}, "Shards is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(client, c.options); err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, want %q", err, c.wants)
			}
		})
	}
	if _, err := Open(nil, Options{Table: "t"}); !errors.Is(err, heatsink.ErrOptions) {
		t.Errorf("no client: got %v", err)
	}
}
