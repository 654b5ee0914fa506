package gather

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// What a request brings at most is bounded by the store, what it is likely to bring by what has been seen.
func TestReservations(t *testing.T) {
	const mb, overhead = 1 << 20, 512 // of entries nobody has seen
	unseen, seen := new(History), new(History)
	seen.sizes.saw(pageOf(840, 840, 840, 840)) // 1,000 each, of which 160 are added
	seen.passing.saw("half", 100, 50)
	for _, test := range []struct {
		name    string
		history *History
		config  Config
		entries int
		want    reservation
	}{
		{"one, unseen", unseen, Config{}, 1, reservation{400<<10 + overhead, 400<<10 + overhead}},
		{"three, unseen", unseen, Config{}, 3, reservation{1200<<10 + 3*overhead, 1200<<10 + 3*overhead}},
		{"four, unseen", unseen, Config{}, 4, reservation{mb + 400<<10 + 4*overhead, mb + 400<<10 + 4*overhead}},
		{"five of a limit, unseen", unseen, Config{Limit: 100}, 5, reservation{5 * 64 << 10, mb + 400<<10 + 5*overhead}},
		{"a hundred of a limit, unseen", unseen, Config{Limit: 100}, 100, reservation{mb + 400<<10 + 100*overhead, mb + 400<<10 + 100*overhead}},
		{"one, seen", seen, Config{}, 1, reservation{2500, 400<<10 + 160}},
		{"a hundred, seen", seen, Config{}, 100, reservation{151_000, mb + 400<<10 + 16_000}},
		{"a hundred, half of which pass", seen, Config{Filter: "half"}, 100, reservation{76_000, mb + 400<<10 + 16_000}},
		{"a million", seen, Config{}, 1 << 20, reservation{mb + 400<<10 + 32*mb, mb + 400<<10 + 32*mb}},
	} {
		c := test.config
		c.History, c.Memory, c.MaxEntry, c.MaxPage = test.history, 64*mb, 400<<10, mb+400<<10
		s := newSizing(c.withDefaults())
		if got := s.reservation(test.entries); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestMemory(t *testing.T) {
	const maxPageBytes = 1<<20 + 400<<10
	m := memory{page: maxPageBytes, most: 10 * maxPageBytes, held: 4 * maxPageBytes}
	full := reservation{likely: 1000, worst: maxPageBytes}
	for range 6 {
		if !m.fits(full, 0) {
			t.Fatalf("%+v has no memory", m)
		}
		m.reserve(full)
	}
	if m.fits(full, 0) || !m.fits(full, 11) || m.fits(reservation{worst: 1}, 0) || !m.fits(reservation{}, 0) {
		t.Errorf("%+v: want no memory but where more may come", m)
	}
	if m.fits(reservation{likely: 7 * maxPageBytes, worst: 7 * maxPageBytes}, 1000) {
		t.Errorf("%+v: has memory for more than is likely to fit", m)
	}
	for range 6 {
		m.release(full)
	}
	if m.reserved != (reservation{}) || !m.fits(full, 0) {
		t.Errorf("%+v after all have come", m)
	}
	m = memory{most: 1000, page: 10, held: 300}
	m.reserve(reservation{likely: 250, worst: 250})
	if m.mostAhead() != 750 || m.free() != 450 || !m.quiet() {
		t.Errorf("%+v: at most %d ahead, %d free, quiet %t, want 750, 450 and quiet", m, m.mostAhead(), m.free(), m.quiet())
	}
	m.reserve(reservation{worst: 1})
	if m.quiet() {
		t.Errorf("%+v is quiet, with more than a quarter under way", m)
	}
	m.reserve(reservation{worst: 5000})
	if m.free() != 0 {
		t.Errorf("%+v has %d free", m, m.free())
	}
}

// TestSharedMemoryModel lets shards ask for random reservations that turn out to be of random sizes: what is there never
// exceeds what is allowed, and none waits for ever.
func TestSharedMemoryModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 100).Draw(rt, "most")
		type page struct{ worst, size, takes int }
		shards := make([][]page, rapid.IntRange(1, 10).Draw(rt, "shards"))
		for i := range shards {
			shards[i] = make([]page, rapid.IntRange(0, 8).Draw(rt, "pages"))
			for j := range shards[i] {
				worst := rapid.IntRange(1, 150).Draw(rt, "worst")
				shards[i][j] = page{worst, rapid.IntRange(0, worst).Draw(rt, "size"), rapid.IntRange(0, 3).Draw(rt, "takes")}
			}
		}
		bubble.Test(t, func(t *testing.T) {
			m := newSharedMemory(most, 0)
			var mu sync.Mutex
			taken, users := 0, 0 // only who has something counts
			change := func(from, to int) {
				mu.Lock()
				defer mu.Unlock()
				taken, users = taken-from+to, users-min(from, 1)+min(to, 1)
				if taken > most && users > 1 {
					rt.Errorf("%d of %d by %d", taken, most, users)
				}
			}
			var running sync.WaitGroup
			for _, pages := range shards {
				running.Go(func() {
					for _, p := range pages {
						if err := m.reserve(context.Background(), reservation{p.worst, p.worst}, 0); err != nil {
							rt.Error(err)
						}
						change(0, p.worst)
						time.Sleep(time.Duration(p.takes) * time.Second)
						change(p.worst, p.size)
						m.hold(reservation{p.worst, p.worst}, p.size)
						time.Sleep(time.Duration(p.takes) * time.Second)
						change(p.size, 0)
						m.give(p.size)
					}
				})
			}
			running.Wait()
			if m.held != 0 || m.reserved != (reservation{}) {
				rt.Errorf("%+v at the end", &m.memory)
			}
		})
	})
}

func TestSharedMemoryContextEndsWaiting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := newSharedMemory(10, 0)
		if err := m.reserve(context.Background(), reservation{100, 100}, 0); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := m.reserve(ctx, reservation{1, 1}, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("got %v after %v, want the deadline after a minute", err, time.Since(start))
		}
		m.hold(reservation{100, 100}, 0)
		if m.held != 0 || m.reserved != (reservation{}) {
			t.Errorf("%+v at the end", &m.memory)
		}
	})
}
