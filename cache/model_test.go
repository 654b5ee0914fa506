package cache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/cache"
)

// cacheModel is a cache whose loads take no time, as it should be.
type cacheModel struct {
	ttl, stale time.Duration
	limit      int
	loads      int
	kept       []cacheModelEntry // the least recently used first
}

type cacheModelEntry struct {
	key    string
	value  int
	loaded time.Time
}

func (m *cacheModel) get(key string, broken bool) (int, bool) {
	if i := m.index(key); i >= 0 {
		e := m.kept[i]
		age := time.Since(e.loaded)
		m.kept = slices.Delete(m.kept, i, i+1)
		if age < m.ttl+m.stale {
			m.kept = append(m.kept, e)
			if age >= m.ttl {
				m.load(key, broken)
			}
			return e.value, true
		}
	}
	return m.load(key, broken)
}

func (m *cacheModel) load(key string, broken bool) (int, bool) {
	m.loads++
	if broken {
		return 0, false
	}
	m.forget(key)
	m.kept = append(m.kept, cacheModelEntry{key, m.loads, time.Now()})
	if len(m.kept) > m.limit {
		m.kept = slices.Delete(m.kept, 0, 1)
	}
	return m.loads, true
}

func (m *cacheModel) forget(key string) {
	m.kept = slices.DeleteFunc(m.kept, func(e cacheModelEntry) bool { return e.key == key })
}

func (m *cacheModel) index(key string) int {
	return slices.IndexFunc(m.kept, func(e cacheModelEntry) bool { return e.key == key })
}

func TestCacheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			seconds := rapid.Map(rapid.IntRange(0, 10), func(n int) time.Duration { return time.Duration(n) * time.Second })
			m := &cacheModel{ttl: time.Second + seconds.Draw(rt, "ttl"), stale: seconds.Draw(rt, "stale"), limit: rapid.IntRange(1, 4).Draw(rt, "entries")}
			kept := cache.New[int](cache.Options{TTL: m.ttl, Stale: m.stale, Entries: m.limit})
			defer kept.Close()
			s := &cacheSource{}
			key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
			// read compares a read with what the model says of it, given whether the load fails.
			read := func(get cacheRead, model func(string, bool) (int, bool)) func(*rapid.T) {
				return func(rt *rapid.T) {
					key, broken := key.Draw(rt, "key"), rapid.IntRange(0, 3).Draw(rt, "broken") == 0
					s.err = nil
					if broken {
						s.err = errors.New("broken")
					}
					got, err := get(context.Background(), key, s.load)
					synctest.Wait()
					want, ok := model(key, broken)
					if ok != (err == nil) || ok && got != want {
						rt.Fatalf("got %d, %v, want %d, %v", got, err, want, ok)
					}
				}
			}
			rt.Repeat(map[string]func(*rapid.T){
				"get":   read(kept.Get, m.get),
				"fresh": read(kept.GetFresh, m.load),
				"forget": func(rt *rapid.T) {
					key := key.Draw(rt, "key")
					kept.Forget(key)
					m.forget(key)
				},
				"sleep": func(rt *rapid.T) { time.Sleep(seconds.Draw(rt, "for")) },
				"": func(rt *rapid.T) {
					if got := int(s.loads.Load()); got != m.loads {
						rt.Fatalf("got %d loads, want %d", got, m.loads)
					}
				},
			})
		})
	})
}

// Callers come and go at random while loads take their time. Whatever happens, a key has one load at a time, which goes on
// for LoadTimeout when its callers have left. Fresh reads show what was written before them, and no read shows an older
// value than an earlier read did.
func TestCacheTraffic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			seconds := rapid.Map(rapid.IntRange(0, 5), func(n int) time.Duration { return time.Duration(n) * time.Second })
			timeout := time.Second + seconds.Draw(rt, "timeout")
			kept := cache.New[int64](cache.Options{
				TTL: time.Second + seconds.Draw(rt, "ttl"), Stale: seconds.Draw(rt, "stale"), LoadTimeout: timeout,
			})
			var (
				faults  = make(chan string, 100)
				callers sync.WaitGroup
				flying  atomic.Int64 // loads under way
				closing atomic.Bool
				written atomic.Int64
				seen    atomic.Int64 // the newest value that was returned
			)
			defer kept.Close()
			defer closing.Store(true)
			defer callers.Wait()
			fault := func(format string, args ...any) {
				select {
				case faults <- fmt.Sprintf(format, args...):
				default:
				}
			}
			call := func(rt *rapid.T, fresh bool) {
				takes, patience := seconds.Draw(rt, "takes"), time.Second/2+seconds.Draw(rt, "patience")
				stubborn, broken := rapid.Bool().Draw(rt, "stubborn"), rapid.IntRange(0, 3).Draw(rt, "broken") == 0
				load := func(ctx context.Context) (int64, error) {
					if n := flying.Add(1); n > 1 {
						fault("%d loads at a time", n)
					}
					defer flying.Add(-1)
					begun, value := time.Now(), written.Load()
					select {
					case <-time.After(takes):
					case <-ctx.Done():
						if took := time.Since(begun); took != timeout && !closing.Load() {
							fault("cancelled after %v, want %v", took, timeout)
						}
						if !stubborn {
							return 0, ctx.Err()
						}
						time.Sleep(takes)
					}
					if broken {
						return 0, errors.New("broken")
					}
					return value, nil
				}
				callers.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), patience)
					defer cancel()
					newest, oldest, get := seen.Load(), int64(0), kept.Get
					if fresh {
						get, oldest = kept.GetFresh, written.Load()
					}
					got, err := get(ctx, "key", load)
					if errors.Is(err, context.Canceled) {
						fault("got the error of a load that was cancelled")
					}
					if err != nil {
						return
					}
					if got < newest || got < oldest {
						fault("fresh %v: got %d, want %d, which was seen, and %d, which was written", fresh, got, newest, oldest)
					}
					for newest := seen.Load(); got > newest && !seen.CompareAndSwap(newest, got); newest = seen.Load() {
					}
				})
			}
			rt.Repeat(map[string]func(*rapid.T){
				"get":    func(rt *rapid.T) { call(rt, false) },
				"fresh":  func(rt *rapid.T) { call(rt, true) },
				"write":  func(*rapid.T) { written.Add(1) },
				"forget": func(*rapid.T) { kept.Forget("key") },
				"sleep":  func(rt *rapid.T) { time.Sleep(seconds.Draw(rt, "for")) },
				"": func(rt *rapid.T) {
					synctest.Wait()
					select {
					case fault := <-faults:
						rt.Fatal(fault)
					default:
					}
				},
			})
		})
	})
}

// The same in real time, for the race detector.
func TestCacheConcurrently(t *testing.T) {
	kept := cache.New[int64](cache.Options{TTL: time.Millisecond, Stale: time.Millisecond, Entries: 2})
	var callers sync.WaitGroup
	var written [4]atomic.Int64
	for worker := range 8 {
		callers.Go(func() {
			var seen [4]int64
			for i := range 500 {
				n := (i + worker) % 4
				key := strconv.Itoa(n)
				load := func(ctx context.Context) (int64, error) {
					runtime.Gosched()
					return written[n].Load(), ctx.Err()
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%5)*time.Millisecond)
				var got int64
				var err error
				switch (i / 4) % 4 {
				case 0:
					want := written[n].Add(1)
					if got, err = kept.GetFresh(ctx, key, load); err == nil && got < want {
						t.Errorf("got %d, want the %d just written", got, want)
					}
				case 1:
					kept.Forget(key)
					fallthrough
				default:
					got, err = kept.Get(ctx, key, load)
				}
				cancel()
				if err == nil && got < seen[n] {
					t.Errorf("got %d after %d", got, seen[n])
				}
				seen[n] = max(seen[n], got)
			}
		})
	}
	callers.Wait()
	kept.Close()
}
