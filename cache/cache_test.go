package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func ExampleCache() {
	orders := cache.New[int](cache.Options{TTL: 10 * time.Second})
	defer orders.Close()

	countAllShards := func(context.Context) (int, error) {
		fmt.Println("counting")
		return 1234, nil
	}
	for range 3 {
		n, err := orders.Get(context.Background(), "STATUS#ACTIVE", countAllShards)
		fmt.Println(n, err)
	}
	// Output:
	// counting
	// 1234 <nil>
	// 1234 <nil>
	// 1234 <nil>
}

// A cacheSource is what a cache is in front of: its loads return 1, 2, 3, … in the order in which they start.
type cacheSource struct {
	takes    time.Duration
	stubborn bool // does not end when it is cancelled
	err      error
	loads    atomic.Int64
	gone     atomic.Int64 // loads that were cancelled
}

func (s *cacheSource) load(ctx context.Context) (int, error) {
	n := int(s.loads.Add(1))
	err := s.err
	if s.takes > 0 {
		end := time.NewTimer(s.takes)
		defer end.Stop()
		select {
		case <-end.C:
		case <-ctx.Done():
			s.gone.Add(1)
			if s.stubborn {
				<-end.C
			} else {
				err = ctx.Err()
			}
		}
	}
	return n, err
}

// A cacheRead is Get or GetFresh.
type cacheRead = func(context.Context, string, func(context.Context) (int, error)) (int, error)

// A cacheCaller does things to a cache and knows what should come of it.
type cacheCaller struct {
	*testing.T
	cache *cache.Cache[int]
	*cacheSource
}

// withCache runs a test on virtual time, with a cache of its own. Goroutines that are left at its end fail the test.
func withCache(t *testing.T, options cache.Options, s *cacheSource, f func(cacheCaller)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		c := cacheCaller{t, cache.New[int](options), s}
		defer c.cache.Close()
		f(c)
	})
}

func (c cacheCaller) wantValue(call string, got int, err error, want int) {
	c.Helper()
	if err != nil || got != want {
		c.Errorf("%s: got %d, %v, want %d", call, got, err, want)
	}
}

func (c cacheCaller) get(want int) {
	c.Helper()
	c.getKey("key", want)
}

func (c cacheCaller) getKey(key string, want int) {
	c.Helper()
	got, err := c.cache.Get(context.Background(), key, c.load)
	c.wantValue("get "+key, got, err, want)
}

func (c cacheCaller) fresh(want int) {
	c.Helper()
	got, err := c.cache.GetFresh(context.Background(), "key", c.load)
	c.wantValue("get fresh", got, err, want)
}

func (c cacheCaller) wantLoads(want int64) {
	c.Helper()
	synctest.Wait()
	if got := c.loads.Load(); got != want {
		c.Errorf("got %d loads, want %d", got, want)
	}
}

// Checklist row 000-23: 60,000 ms by default, no load within that time, then expired.
func TestCacheKeepsForTTL(t *testing.T) {
	for _, test := range []struct{ option, ttl time.Duration }{
		{0, 60_000 * time.Millisecond},
		{5 * time.Second, 5 * time.Second},
	} {
		withCache(t, cache.Options{TTL: test.option}, &cacheSource{takes: time.Second}, func(c cacheCaller) {
			c.get(1)
			c.get(1)
			time.Sleep(test.ttl - 1)
			c.get(1)
			c.wantLoads(1)
			time.Sleep(time.Nanosecond)
			c.get(2)
			time.Sleep(test.ttl - 1) // a use does not prolong its life
			c.get(2)
			c.wantLoads(2)
		})
	}
}

func TestCacheOptionsNoneAndForever(t *testing.T) {
	for _, options := range []cache.Options{{TTL: -1}, {Entries: -1}, {TTL: -1, Stale: time.Hour}} {
		withCache(t, options, &cacheSource{}, func(c cacheCaller) {
			c.get(1)
			c.get(2)
		})
	}
	withCache(t, cache.Options{TTL: math.MaxInt64, Stale: math.MaxInt64}, &cacheSource{}, func(c cacheCaller) {
		c.get(1)
		time.Sleep(50 * 365 * 24 * time.Hour)
		c.get(1)
		c.wantLoads(1)
	})
}

// Values that are loaded together expire one by one, and none is used for longer than the TTL.
func TestCacheJitter(t *testing.T) {
	for _, test := range []struct {
		jitter   float64
		from, to time.Duration
	}{
		{0.1, 90 * time.Second, 100 * time.Second},
		{0.5, 50 * time.Second, 100 * time.Second},
		{7, 0, 100 * time.Second},
	} {
		withCache(t, cache.Options{TTL: 100 * time.Second, Jitter: test.jitter}, &cacheSource{}, func(c cacheCaller) {
			const keys = 1000
			for i := range keys {
				c.getKey(strconv.Itoa(i), i+1)
			}
			kept := func() (n int) {
				for i := range keys {
					_, err := c.cache.Get(context.Background(), strconv.Itoa(i), func(context.Context) (int, error) { return 0, errors.New("gone") })
					if err == nil {
						n++
					}
				}
				return n
			}
			time.Sleep(test.from)
			if got := kept(); got != keys {
				t.Errorf("jitter %v: got %d of %d after %v, want all", test.jitter, got, keys, test.from)
			}
			time.Sleep((test.to - test.from) / 2)
			if got := kept(); got < keys/2-100 || got > keys/2+100 { // six standard deviations
				t.Errorf("jitter %v: got %d of %d half-way, want half", test.jitter, got, keys)
			}
			time.Sleep((test.to - test.from) / 2)
			if got := kept(); got > 0 {
				t.Errorf("jitter %v: got %d of %d after %v, want none", test.jitter, got, keys, test.to)
			}
		})
	}
}

func TestCacheStale(t *testing.T) {
	options := cache.Options{TTL: time.Minute, Stale: 30 * time.Second}
	withCache(t, options, &cacheSource{takes: 5 * time.Second}, func(c cacheCaller) {
		c.get(1)
		begin := time.Now()
		time.Sleep(time.Minute)
		for range 5 { // second 60 to 64
			c.get(1)
			c.wantLoads(2)
			time.Sleep(time.Second)
		}
		synctest.Wait() // the load in the background ends right now
		c.get(2)
		if got := time.Since(begin); got != 65*time.Second {
			t.Errorf("got %v, want 65s: somebody had to wait", got)
		}
		time.Sleep(90*time.Second - 1)
		c.get(2)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		c.get(3)
		c.wantLoads(3)

		time.Sleep(90 * time.Second) // too old
		begin = time.Now()
		c.get(4)
		if got := time.Since(begin); got != 5*time.Second {
			t.Errorf("got a value after %v, want the 5s of a load", got)
		}
	})
}

// A load in the background that fails leaves the old value alone for as long as that may be used.
func TestCacheStaleFailure(t *testing.T) {
	options := cache.Options{TTL: time.Minute, Stale: 30 * time.Second}
	broken := errors.New("broken")
	for name, load := range map[string]func(context.Context) (int, error){
		"error": func(context.Context) (int, error) { return 0, broken },
		"panic": func(context.Context) (int, error) { panic(broken) },
		"exit":  func(context.Context) (int, error) { runtime.Goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			withCache(t, options, &cacheSource{}, func(c cacheCaller) {
				c.get(1)
				time.Sleep(time.Minute)
				for range 2 {
					got, err := c.cache.Get(context.Background(), "key", load)
					c.wantValue("get", got, err, 1)
					synctest.Wait()
				}
				time.Sleep(30*time.Second - 1)
				got, err := c.cache.Get(context.Background(), "key", load)
				c.wantValue("get", got, err, 1)
				time.Sleep(time.Nanosecond)
				c.get(2)
			})
		})
	}
}

// Callers join a load in the background once the old value is too old. After LoadTimeout its context ends, and callers
// get the next one.
func TestCacheStaleLoadTakesLong(t *testing.T) {
	options := cache.Options{TTL: time.Minute, Stale: 30 * time.Second, LoadTimeout: 90 * time.Second}
	for _, test := range []struct {
		name        string
		takes, come time.Duration // after the load began
		want        int
		gone        int64
	}{
		{"joined", time.Minute, 30 * time.Second, 2, 0},
		{"joined just in time", 90*time.Second - 1, 90*time.Second - 2, 2, 0},
		{"given up", 90*time.Second + 1, 90 * time.Second, 3, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &cacheSource{}
			withCache(t, options, s, func(c cacheCaller) {
				c.get(1)
				time.Sleep(time.Minute)
				s.takes = test.takes
				c.get(1)
				synctest.Wait()
				s.takes = time.Second // the next one
				time.Sleep(test.come)
				synctest.Wait()
				c.get(test.want)
				if got := s.gone.Load(); got != test.gone {
					t.Errorf("got %d cancelled loads, want %d", got, test.gone)
				}
			})
		})
	}
}

// Checklist row 000-23: concurrent misses are one load.
func TestCacheSingleFlight(t *testing.T) {
	s := &cacheSource{takes: time.Second}
	withCache(t, cache.Options{}, s, func(c cacheCaller) {
		begin := time.Now()
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() { c.get(1) })
		}
		time.Sleep(time.Second / 2)
		for range 100 {
			callers.Go(func() { c.get(1) })
		}
		callers.Wait()
		c.wantLoads(1)
		if got := time.Since(begin); got != time.Second {
			t.Errorf("took %v, want 1s", got)
		}
		for range 10 { // keys do not wait for each other
			callers.Go(func() {
				if _, err := c.cache.Get(context.Background(), strconv.FormatInt(c.loads.Load(), 10)+"x", c.load); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		callers.Wait()
		c.wantLoads(11)
		if got := time.Since(begin); got != 2*time.Second {
			t.Errorf("took %v, want 2s", got)
		}
	})
}

func TestCacheErrorsAreSharedNotKept(t *testing.T) {
	broken := errors.New("broken")
	s := &cacheSource{takes: time.Second, err: broken}
	withCache(t, cache.Options{}, s, func(c cacheCaller) {
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				if _, err := c.cache.Get(context.Background(), "key", c.load); err != broken {
					t.Errorf("got %v, want %v", err, broken)
				}
			})
		}
		callers.Wait()
		c.wantLoads(1)
		s.err = nil
		c.get(2)

		s.err = broken // of a fresh read, which does not touch what is there
		if _, err := c.cache.GetFresh(context.Background(), "key", c.load); err != broken {
			t.Errorf("got %v, want %v", err, broken)
		}
		c.get(2)
		c.wantLoads(3)
	})
}

// A fresh read shows a write that was acknowledged before it, even if a load from before the write is under way.
func TestCacheFreshShowsAcknowledgedWrites(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		kept := cache.New[string](cache.Options{})
		defer kept.Close()
		stored := "before"
		read := func(context.Context) (string, error) {
			seen := stored
			time.Sleep(10 * time.Second) // the answer's way back
			return seen, nil
		}
		want := func(get func(context.Context, string, func(context.Context) (string, error)) (string, error), want string) {
			t.Helper()
			if got, err := get(context.Background(), "key", read); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
		var callers sync.WaitGroup
		callers.Go(func() { want(kept.Get, "before") })
		time.Sleep(5 * time.Second)
		synctest.Wait()

		stored = "after"
		callers.Go(func() { want(kept.Get, "before") }) // joins; that is the difference
		want(kept.GetFresh, "after")
		want(kept.Get, "after")
		callers.Wait()
	})
}

func TestCacheFreshReadsShareTheNextLoad(t *testing.T) {
	withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
		begin := time.Now()
		var callers sync.WaitGroup
		callers.Go(func() { c.fresh(1) })
		time.Sleep(time.Second)
		for range 50 {
			callers.Go(func() { c.fresh(2) })
		}
		synctest.Wait()
		callers.Go(func() { c.get(1) }) // not in need of the next
		time.Sleep(9 * time.Second)     // the first has ended, the second started
		synctest.Wait()
		c.get(1)
		for range 50 {
			callers.Go(func() { c.fresh(3) })
		}
		callers.Wait()
		c.wantLoads(3)
		if got := time.Since(begin); got != 30*time.Second {
			t.Errorf("took %v, want 30s", got)
		}
		c.get(3)
		c.fresh(4)
		c.get(4)
	})
}

func TestCacheForget(t *testing.T) {
	withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
		c.get(1)
		c.cache.Forget("key")
		c.cache.Forget("unheard of")
		var callers sync.WaitGroup
		callers.Go(func() { c.get(2) })
		synctest.Wait()
		c.cache.Forget("key")
		for range 5 { // they share the load after the forgotten one
			callers.Go(func() { c.get(3) })
			callers.Go(func() { c.fresh(3) })
		}
		callers.Wait()
		c.get(3)

		callers.Go(func() { c.fresh(4) })
		synctest.Wait()
		c.cache.Forget("key")
		callers.Wait()
		c.get(5) // the fourth was not kept
		c.wantLoads(5)
	})
}

// Checklist row 000-23: bounded, and the least recently used goes.
func TestCacheEvicts(t *testing.T) {
	withCache(t, cache.Options{Entries: 3}, &cacheSource{}, func(c cacheCaller) {
		c.getKey("a", 1)
		c.getKey("b", 2)
		c.getKey("c", 3)
		c.getKey("a", 1)
		c.getKey("d", 4) // in the place of b
		c.getKey("a", 1)
		c.getKey("c", 3)
		c.getKey("d", 4)
		c.getKey("b", 5) // in the place of a
		c.cache.Forget("d")
		c.getKey("a", 6) // in the place of d
		c.getKey("c", 3)
		c.getKey("b", 5)
		c.wantLoads(6)
	})
	withCache(t, cache.Options{}, &cacheSource{}, func(c cacheCaller) {
		for i := range 1001 {
			c.getKey(strconv.Itoa(i), i+1)
		}
		c.getKey("1", 2)
		c.getKey("1000", 1001)
		c.wantLoads(1001)
		c.getKey("0", 1002)
	})
}

func TestCacheCancellation(t *testing.T) {
	within := func(d time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		context.AfterFunc(ctx, cancel)
		return ctx
	}
	wantGone := func(c cacheCaller, want int64) {
		c.Helper()
		synctest.Wait()
		if got := c.gone.Load(); got != want {
			c.Errorf("got %d cancelled loads, want %d", got, want)
		}
	}
	// givesUp expects the call to be over after d.
	givesUp := func(c cacheCaller, d time.Duration, get cacheRead) {
		c.Helper()
		begin := time.Now()
		_, err := get(within(d), "key", c.load)
		if took := time.Since(begin); took != d || !errors.Is(err, context.DeadlineExceeded) {
			c.Errorf("got %v after %v, want the deadline after %v", err, took, d)
		}
	}

	t.Run("others still wait", func(t *testing.T) {
		withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
			var callers sync.WaitGroup
			callers.Go(func() { givesUp(c, 2*time.Second, c.cache.Get) })
			synctest.Wait()
			callers.Go(func() { c.get(1) })
			callers.Go(func() { givesUp(c, 5*time.Second, c.cache.Get) })
			callers.Wait()
			wantGone(c, 0)
			c.wantLoads(1)
		})
	})
	t.Run("nobody waits", func(t *testing.T) {
		withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
			var callers sync.WaitGroup
			callers.Go(func() { givesUp(c, 2*time.Second, c.cache.Get) })
			callers.Go(func() { givesUp(c, 5*time.Second, c.cache.Get) })
			callers.Wait()
			wantGone(c, 0)
			c.get(1) // it went on
			c.wantLoads(1)
		})
	})
	t.Run("a stubborn load", func(t *testing.T) {
		s := &cacheSource{takes: 10 * time.Second, stubborn: true}
		withCache(t, cache.Options{LoadTimeout: 3 * time.Second}, s, func(c cacheCaller) {
			givesUp(c, 5*time.Second, c.cache.Get)
			wantGone(c, 1)
			s.takes = time.Second
			begin := time.Now()
			c.get(2) // after the first, which comes back in 5 s
			if took := time.Since(begin); took != 6*time.Second {
				t.Errorf("took %v, want 5s until the first returns and 1s", took)
			}
			c.get(2)
			c.wantLoads(2)
		})
	})
	t.Run("a load that takes too long", func(t *testing.T) {
		s := &cacheSource{takes: 10 * time.Second}
		withCache(t, cache.Options{LoadTimeout: 3 * time.Second}, s, func(c cacheCaller) {
			begin := time.Now()
			_, err := c.cache.Get(context.Background(), "key", c.load)
			if took := time.Since(begin); took != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "LoadTimeout, which is 3s") {
				t.Errorf("got %v after %v, want the load's timeout after 3s", err, took)
			}
			s.takes = time.Second
			c.get(2)
		})
	})
	t.Run("fresh reads behind one that was left", func(t *testing.T) {
		withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
			var callers sync.WaitGroup
			callers.Go(func() { givesUp(c, 2*time.Second, c.cache.Get) })
			time.Sleep(time.Second)
			begin := time.Now()
			c.fresh(2)
			if took := time.Since(begin); took != 19*time.Second {
				t.Errorf("took %v, want 9s until the first returns and 10s", took)
			}
			callers.Wait()
		})
	})
	t.Run("fresh reads that leave before it starts", func(t *testing.T) {
		withCache(t, cache.Options{}, &cacheSource{takes: 10 * time.Second}, func(c cacheCaller) {
			var callers sync.WaitGroup
			callers.Go(func() { c.get(1) })
			synctest.Wait()
			callers.Go(func() { givesUp(c, 2*time.Second, c.cache.GetFresh) })
			callers.Go(func() { givesUp(c, 3*time.Second, c.cache.GetFresh) })
			callers.Wait()
			time.Sleep(time.Minute / 2)
			c.get(1)
			c.wantLoads(1)
		})
	})
	t.Run("over before the call", func(t *testing.T) {
		withCache(t, cache.Options{}, &cacheSource{}, func(c cacheCaller) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if _, err := c.cache.Get(ctx, "key", c.load); err != context.Canceled {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			c.wantLoads(0)
			c.get(1)
			got, err := c.cache.Get(ctx, "key", c.load) // what is there costs no time
			c.wantValue("get", got, err, 1)
			if _, err := c.cache.GetFresh(ctx, "key", c.load); err != context.Canceled {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			c.wantLoads(1)
		})
	})
}

// Whatever operation a load is in when its time is up, the error is a deadline's, and says once which.
func TestCacheTimeoutOfAnOperation(t *testing.T) {
	type item = heatsink.Item
	one := item{"pk": &types.AttributeValueMemberS{Value: "k"}, "sk": &types.AttributeValueMemberS{Value: "1"}}
	for name, load := range map[string]func(context.Context, *heatsink.Collection[item]) error{
		"Count": func(ctx context.Context, c *heatsink.Collection[item]) error {
			_, err := c.Count(ctx, heatsink.Query{Key: "k"})
			return err
		},
		"Page": func(ctx context.Context, c *heatsink.Collection[item]) error {
			_, err := c.Page(ctx, heatsink.Query{Key: "k", Limit: 10}, "")
			return err
		},
		"Get": func(ctx context.Context, c *heatsink.Collection[item]) error {
			_, err := c.Get(ctx, one)
			return err
		},
		"Put": func(ctx context.Context, c *heatsink.Collection[item]) error {
			_, err := c.Put(ctx, one)
			return err
		},
		"the cause alone": func(ctx context.Context, _ *heatsink.Collection[item]) error { <-ctx.Done(); return context.Cause(ctx) },
		"another error": func(ctx context.Context, _ *heatsink.Collection[item]) error {
			<-ctx.Done()
			return errors.New("broken")
		},
		"the context's": func(ctx context.Context, _ *heatsink.Collection[item]) error { <-ctx.Done(); return ctx.Err() },
		"both, as Page has": func(ctx context.Context, _ *heatsink.Collection[item]) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", ctx.Err(), context.Cause(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := local.Start(t)
				if err := db.CreateTable(t.Context(), "items", "pk", "sk"); err != nil {
					t.Fatal(err)
				}
				client := faulty.On(t, db.Client(), nil)
				client.Delay(faulty.Exactly(time.Hour))
				items, err := heatsink.Open[item](client, heatsink.Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 4}})
				if err != nil {
					t.Fatal(err)
				}
				kept := cache.New[int](cache.Options{LoadTimeout: 3 * time.Second})
				defer kept.Close()
				begin := time.Now()
				_, err = kept.Get(context.Background(), "total", func(ctx context.Context) (int, error) { return 0, load(ctx, items) })
				if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 3*time.Second {
					t.Errorf("got %v after %v, want a deadline after 3s", err, took)
				}
				text := fmt.Sprint(err)
				if n := strings.Count(text, "took longer than Options.LoadTimeout, which is 3s"); n != 1 || !strings.HasPrefix(text, `load "total": `) {
					t.Errorf("got %q, want LoadTimeout in it once, and the key", text)
				}
			})
		})
	}
}

func TestCachePanicsReachTheCallers(t *testing.T) {
	broken := errors.New("broken")
	withCache(t, cache.Options{}, &cacheSource{}, func(c cacheCaller) {
		recovered := func(load func(context.Context) (int, error)) (value any) {
			defer func() { value = recover() }()
			c.cache.Get(context.Background(), "key", load)
			return nil
		}
		var loads atomic.Int64
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				value := recovered(func(context.Context) (int, error) {
					loads.Add(1)
					time.Sleep(time.Second)
					panic(broken)
				})
				err, _ := value.(error)
				if !errors.Is(err, broken) || !strings.Contains(err.Error(), "TestCachePanicsReachTheCallers") {
					t.Errorf("got %v, want %v and where it was", value, broken)
				}
			})
		}
		callers.Wait()
		if got := loads.Load(); got != 1 {
			t.Errorf("got %d loads, want 1", got)
		}
		if value := recovered(func(context.Context) (int, error) { panic("words") }); !strings.Contains(fmt.Sprint(value), "words") {
			t.Errorf("got %v, want words", value)
		}
		if _, err := c.cache.Get(context.Background(), "key", func(context.Context) (int, error) {
			runtime.Goexit()
			return 0, nil
		}); err == nil || !strings.Contains(err.Error(), "Goexit") {
			t.Errorf("got %v, want an error about Goexit", err)
		}
		c.get(1)
	})
}

func TestCacheClose(t *testing.T) {
	options := cache.Options{TTL: time.Minute, Stale: time.Hour}
	wantClosed := func(t *testing.T, err error) {
		t.Helper()
		if !errors.Is(err, cache.ErrClosed) {
			t.Errorf("got %v, want %v", err, cache.ErrClosed)
		}
	}
	for _, stubborn := range []bool{false, true} {
		s := &cacheSource{}
		withCache(t, options, s, func(c cacheCaller) {
			for _, key := range []string{"a", "b", "c"} {
				c.getKey(key, int(s.loads.Load())+1)
			}
			time.Sleep(2 * time.Minute)
			s.takes, s.stubborn = 10*time.Second, stubborn
			for i, key := range []string{"a", "b", "c"} {
				c.getKey(key, i+1)
			}
			synctest.Wait()
			begin := time.Now()
			c.cache.Close()
			if stubborn != (time.Since(begin) == 10*time.Second) {
				t.Errorf("stubborn %v: closed after %v", stubborn, time.Since(begin))
			}
			if got := s.gone.Load(); got != 3 {
				t.Errorf("got %d cancelled loads, want 3", got)
			}
			c.cache.Close()
			c.cache.Forget("a")
			_, err := c.cache.Get(context.Background(), "b", c.load)
			wantClosed(t, err)
			_, err = c.cache.GetFresh(context.Background(), "b", c.load)
			wantClosed(t, err)
			c.wantLoads(6)
		})
	}

	// Somebody is waiting, for a load under way and for the one after it.
	s := &cacheSource{takes: 10 * time.Second}
	withCache(t, options, s, func(c cacheCaller) {
		var callers sync.WaitGroup
		for _, get := range []cacheRead{c.cache.Get, c.cache.GetFresh} {
			callers.Go(func() {
				_, err := get(context.Background(), "key", c.load)
				wantClosed(t, err)
			})
			synctest.Wait()
		}
		c.cache.Close()
		callers.Wait()
		c.wantLoads(1)
	})

	// A load that does not care about being cancelled is not handed to those who come later.
	s = &cacheSource{takes: 10 * time.Second, stubborn: true}
	withCache(t, options, s, func(c cacheCaller) {
		go c.get(1)
		synctest.Wait()
		go c.cache.Close()
		synctest.Wait()
		_, err := c.cache.Get(context.Background(), "key", c.load)
		wantClosed(t, err)
	})
}

func TestCacheHitDoesNotAllocate(t *testing.T) {
	kept := cache.New[int](cache.Options{TTL: time.Hour})
	defer kept.Close()
	load := new(cacheSource).load
	if got := testing.AllocsPerRun(100, func() { kept.Get(context.Background(), "key", load) }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkCacheHit(b *testing.B) {
	filled := func(b *testing.B) (*cache.Cache[int], []string, func(context.Context) (int, error)) {
		kept := cache.New[int](cache.Options{TTL: time.Hour})
		b.Cleanup(kept.Close)
		load := new(cacheSource).load
		keys := make([]string, 1000)
		for i := range keys {
			keys[i] = fmt.Sprintf("PAGE_VIEWS#%d", i)
			kept.Get(context.Background(), keys[i], load)
		}
		b.ReportAllocs()
		return kept, keys, load
	}
	b.Run("one caller", func(b *testing.B) {
		kept, keys, load := filled(b)
		for i := 0; b.Loop(); i++ {
			kept.Get(context.Background(), keys[i%len(keys)], load)
		}
	})
	b.Run("all processors", func(b *testing.B) {
		kept, keys, load := filled(b)
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				kept.Get(context.Background(), keys[i%len(keys)], load)
			}
		})
	})
}
