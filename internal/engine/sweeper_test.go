package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// openCounted opens an engine with a table that has a TTL, and counts how often
// its sweeper looks.
func openCounted(t *testing.T, options Options) (*Engine, *atomic.Int64) {
	t.Helper()
	looks := &atomic.Int64{}
	options.reached = func(s stage) {
		if s == looked {
			looks.Add(1)
		}
	}
	e := openEngine(t, options)
	createTable(t, e, newTableInput("tab", "pk:S"))
	setTTL(t, e, "tab", "ttl", true)
	synctest.Wait()
	looks.Store(0)
	return e, looks
}

// The sweeper sleeps until an item expires. A look every second would be 86,400
// of them a day.
func TestSweeperSleeps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, looks := openCounted(t, Options{})
		time.Sleep(24 * time.Hour)
		if n := looks.Swap(0); n != 0 {
			t.Errorf("without items: got %d looks a day, want none", n)
		}
		putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().AddDate(1, 0, 0).Unix()))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n, most := looks.Swap(0), int64(24*time.Hour/maxSleep); n > most || n < most-1 {
			t.Errorf("with an item that expires in a year: got %d looks a day, want one every %v", n, maxSleep)
		}
		for i := range 100 {
			putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "ttl", time.Now().AddDate(2, 0, 0).Unix()))
		}
		synctest.Wait()
		if n := looks.Swap(0); n != 0 {
			t.Errorf("items that expire later cost %d looks", n)
		}
		time.Sleep(time.Until(time.Now().AddDate(1, 0, 0)))
		if hasItem(t, e, "tab", fields("pk", "a")) {
			t.Error("after a year the item is still there")
		}
	})
}

// A TTL that is no time to live neither wakes the sweeper nor keeps it from what
// is.
func TestOddTimesToLive(t *testing.T) {
	for name, c := range map[string]struct {
		ttl     string // now stands for the second of writing
		expires bool
		looks   int64 // in an hour, at most
	}{
		"now":             {"now", true, 1},
		"fraction":        {"now.25", true, 1},
		"many digits":     {"now.0000000000000000000000001", true, 1},
		"in 200 years":    {"7258118400", false, int64(time.Hour / maxSleep)},
		"in 30,000 years": {"946684800000", false, int64(time.Hour / maxSleep)},
		"huge":            {"9E+125", false, 0},
		"beyond int64":    {"9223372036854775808", false, 0},
		"tiny":            {"1E-130", false, 0},
		"zero":            {"0", false, 0},
		"negative":        {"-now", false, 0},
		"very negative":   {"-9E+125", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				e, looks := openCounted(t, Options{})
				n, err := attr.ParseNumber(strings.ReplaceAll(c.ttl, "now", fmt.Sprint(time.Now().Unix())))
				if err != nil {
					t.Fatal(err)
				}
				putItem(t, e, "tab", fields("pk", "odd").With("ttl", attr.Num(n)))
				time.Sleep(time.Hour)
				if got := !hasItem(t, e, "tab", fields("pk", "odd")); got != c.expires {
					t.Errorf("is it deleted: got %t, want %t", got, c.expires)
				}
				if got := looks.Load(); got > c.looks {
					t.Errorf("got %d looks, want at most %d", got, c.looks)
				}
				putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().Unix()+10))
				time.Sleep(11 * time.Second)
				if hasItem(t, e, "tab", fields("pk", "a")) {
					t.Error("another item was not deleted")
				}
			})
		})
	}
}

// However items come and go, each is there until it expires, and gone an interval
// later.
func TestItemsExpireInTime(t *testing.T) {
	for seed := range uint64(20) {
		bubble.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			interval := time.Duration(1+random.IntN(20)) * time.Second / 2
			e, _ := openCounted(t, Options{TTLInterval: interval})
			type life struct{ written, expires time.Time }
			alive := map[string]life{}
			for range 60 {
				pk, now := fmt.Sprint(random.IntN(10)), time.Now()
				at := now.Unix() + random.Int64N(90) - 10
				putItem(t, e, "tab", fields("pk", pk, "ttl", at))
				alive[pk] = life{now, time.Unix(at, 0)}
				time.Sleep(time.Duration(random.Int64N(int64(8 * time.Second))))
				synctest.Wait()
				for pk, l := range alive {
					there, now := hasItem(t, e, "tab", fields("pk", pk)), time.Now()
					from := l.expires
					if l.written.After(from) {
						from = l.written
					}
					if !there && now.Before(l.expires) {
						t.Fatalf("seed %d: %s is gone %v too early", seed, pk, l.expires.Sub(now))
					}
					if there && now.Sub(from) > interval {
						t.Fatalf("seed %d: %s is there %v too long, the interval being %v", seed, pk, now.Sub(from), interval)
					}
				}
			}
		})
	}
}

// What is due first is done first, whatever else is due later: items that expire, history that is trimmed, shards.
func TestSweeperMindsWhatIsDueFirst(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{ShardDuration: time.Minute})
		arn := createStreamed(t, e, "tab", "KEYS_ONLY")
		setRecovery(t, e, "tab", true)
		noError(t, errorOf(e.UpdateTimeToLive(t.Context(), &UpdateTimeToLiveInput{TableName: new("tab"), HasSpec: true, Enabled: new(true), AttributeName: new("ttl")})))
		putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().Add(20*time.Minute).Unix()))
		for n := 1; n <= 5; n++ {
			if got := len(describeStream(t, e, arn).Shards); got != n {
				t.Errorf("after %d minutes: got %d shards, want %d", n-1, got, n)
			}
			putItem(t, e, "tab", fields("pk", fmt.Sprint(n)))
			time.Sleep(time.Minute + time.Second)
		}
	})
}

// However long the interval is, an item that has expired is there until its end. Streams are looked after every hour, and history as
// often; they delete no items.
func TestItemsExpireInTimeBesideStreams(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const interval = 3 * time.Hour
		e, _ := openCounted(t, Options{TTLInterval: interval, ShardDuration: 20 * time.Minute})
		in := newTableInput("log", "pk:S")
		in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
		createTable(t, e, in)
		synctest.Wait()
		begun := time.Now()
		putItem(t, e, "log", fields("pk", "b"))
		putItem(t, e, "tab", fields("pk", "a", "ttl", begun.Add(time.Minute).Unix()))
		for time.Since(begun) < interval-time.Minute {
			time.Sleep(time.Minute)
			putItem(t, e, "log", fields("pk", "b", "at", time.Now().Unix())) // so that the stream needs to be looked after
			if !hasItem(t, e, "tab", fields("pk", "a")) {
				t.Fatalf("the item is deleted after %v, want it there for %v", time.Since(begun), interval)
			}
		}
		time.Sleep(2 * time.Minute)
		if hasItem(t, e, "tab", fields("pk", "a")) {
			t.Errorf("the item is there after %v", time.Since(begun))
		}
	})
}

// An item that a transaction holds when it expires is deleted once it does not.
func TestExpiryWaitsForTransactions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, looks := openCounted(t, Options{})
		putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().Unix()+10))
		key := e.tables["tab"].itemKey(fields("pk", "a"))
		if free, err := e.locks.lock(t.Context(), key, true); !free || err != nil { // as a transaction does
			t.Fatal(free, err)
		}
		time.Sleep(20 * time.Second)
		if !hasItem(t, e, "tab", fields("pk", "a")) {
			t.Fatal("the item was deleted in the middle of a transaction")
		}
		if n := looks.Load(); n < 9 || n > 12 {
			t.Errorf("got %d looks in the ten seconds since it expired, want one a second", n)
		}
		e.locks.unlock(key)
		time.Sleep(2 * time.Second)
		if hasItem(t, e, "tab", fields("pk", "a")) {
			t.Error("the item is still there")
		}
	})
}

// An item that is stored while the sweeper looks may be missed by the look, and
// counts if it is the first to expire.
func TestLookDoesNotForgetWhatWasStoredMeanwhile(t *testing.T) {
	now := time.Now().Unix()
	for _, c := range []struct {
		name                 string
		stored, found, first int64
	}{
		{"stored expires first", now + 10, now + 20, now + 10},
		{"found expires first", now + 20, now + 10, now + 10},
		{"nothing found", now + 10, noExpiry, now + 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &sweeper{closed: true} // so that it does not look by itself
			w.forget()
			w.expect(nil, c.stored)
			w.learn(c.found)
			if got := w.due.Load(); got != c.first {
				t.Errorf("the first expires at now%+d, want now%+d", got-now, c.first-now)
			}
		})
	}
}

// Of items that are stored at the same time the first to expire counts.
func TestFirstOfManyExpiriesCounts(t *testing.T) {
	now := time.Now().Unix()
	for round := range 100 {
		w := &sweeper{closed: true}
		w.forget()
		var all sync.WaitGroup
		w.mu.Lock() // so that they meet
		for i := range int64(8) {
			all.Go(func() { w.expect(nil, now+1+(i+int64(round))%8) })
		}
		for range 100 {
			runtime.Gosched()
		}
		w.mu.Unlock()
		all.Wait()
		if got := w.due.Load(); got != now+1 {
			t.Fatalf("round %d: the first expires at now%+d, want now+1", round, got-now)
		}
	}
}
