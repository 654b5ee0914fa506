package replica_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// like adds one to an item's likes.
func like(p *post) error {
	p.Likes++
	return nil
}

// Changes of one item by one store cost what they cost one after another, however many come at once. Those of two
// processes, which do not know of each other, start over a few times.
func TestConcurrentChangesCostNoMore(t *testing.T) {
	for stores, most := range map[int]int{1: 2 * 150, 2: 5 * 150} {
		t.Run(fmt.Sprint(stores, " stores"), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				const copies = 3
				client := setup(t, replica.Options{Copies: copies})
				var all []*replica.Store[post]
				for range stores {
					all = append(all, openOn(t, client, replica.Options{Copies: copies}))
				}
				put(t, all[0], "viral", "one")
				client.Delay(faulty.Exactly(5 * time.Millisecond))
				before := len(client.Requests())
				var changing sync.WaitGroup
				for i := range 150 {
					changing.Go(func() {
						if _, err := all[i%stores].Change(t.Context(), "viral", like); err != nil {
							t.Error(err)
						}
					})
				}
				changing.Wait()
				if item, err := all[0].Get(t.Context(), "viral", replica.Latest); err != nil || item.Data.Likes != 150 {
					t.Errorf("got %+v, %v, want 150 likes", item, err)
				}
				sent := len(client.Requests()) - before - 1 - 150*copies
				t.Logf("%d requests to the primary", sent)
				if sent > most {
					t.Errorf("150 changes sent %d requests to the primary, want at most %d", sent, most)
				}
			})
		})
	}
}

// A change that takes long, or that calls Change for its own item, keeps the others waiting for a second and not for ever.
func TestChangeThatTakesLong(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "one")
		put(t, posts, "other", "one")
		began := time.Now()
		change := func(id string, do func(*post) error) (time.Duration, error) {
			_, err := posts.Change(context.Background(), id, do)
			return time.Since(began), err
		}
		var changing sync.WaitGroup
		changing.Go(func() {
			slow := true
			took, err := change("viral", func(p *post) error {
				if slow {
					slow = false
					time.Sleep(time.Minute)
				}
				return like(p)
			})
			if err != nil || took < time.Minute {
				t.Errorf("the slow change took %v, %v", took, err)
			}
		})
		synctest.Wait()
		for n := range 3 {
			changing.Go(func() {
				if took, err := change("viral", like); err != nil || took != time.Second {
					t.Errorf("change %d behind the slow one took %v, %v, want 1s", n, took, err)
				}
			})
		}
		if took, err := change("other", like); err != nil || took != 0 {
			t.Errorf("a change of another item took %v, %v", took, err)
		}
		changing.Wait()
		outer := 0
		if _, err := posts.Change(t.Context(), "viral", func(p *post) error {
			if outer++; outer == 1 {
				if _, err := posts.Change(t.Context(), "viral", like); err != nil {
					t.Error(err)
				}
			}
			return like(p)
		}); err != nil || outer != 2 {
			t.Errorf("a change within a change: %v, called %d times", err, outer)
		}
		if item, err := posts.Get(t.Context(), "viral", replica.Latest); err != nil || item.Data.Likes != 6 {
			t.Errorf("got %+v, %v, want 6 likes", item, err)
		}
	})
}

// Whoever gives up while it waits leaves the line, and a function that panics does not block it.
func TestChangeThatGivesUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "one")
		client.Delay(faulty.Exactly(100 * time.Millisecond))
		var changing sync.WaitGroup
		changing.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_, _ = posts.Change(t.Context(), "viral", func(*post) error { panic("no") })
		})
		synctest.Wait()
		why := errors.New("enough")
		impatient, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
		defer cancel()
		changing.Go(func() {
			if _, err := posts.Change(impatient, "viral", like); !errors.Is(err, why) {
				t.Errorf("got %v, want %v", err, why)
			}
		})
		synctest.Wait()
		began := time.Now()
		if _, err := posts.Change(t.Context(), "viral", like); err != nil || time.Since(began) != 400*time.Millisecond {
			t.Errorf("the third took %v, %v, want 400ms: the first's read, and its own read and two writes", time.Since(began), err)
		}
		changing.Wait()
	})
}
