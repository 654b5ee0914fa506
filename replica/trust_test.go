package replica_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// A copy can be used until it is exactly MaxStale old, and if it is exactly half of that ahead. A millisecond more, and the
// primary decides, even if it cannot be read.
func TestTrustedToTheMillisecond(t *testing.T) {
	for _, c := range []struct {
		name   string
		age    time.Duration
		denied bool // the primary cannot be read
		want   string
	}{
		{"as old as allowed", time.Minute, true, "old"},
		{"too old", time.Minute + time.Millisecond, true, ""},
		{"too old, and the primary answers", time.Minute + time.Millisecond, false, "new"},
		{"as far ahead as allowed", -30 * time.Second, true, "old"},
		{"as far ahead as allowed, and the primary answers", -30 * time.Second, false, "old"},
		{"too far ahead", -30*time.Second - time.Millisecond, true, ""},
		{"too far ahead, and the primary answers", -30*time.Second - time.Millisecond, false, "new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := setup(t, replica.Options{Copies: 1})
				posts := openOn(t, client, replica.Options{Copies: 1})
				put(t, posts, "viral", "old")
				item := stored(t, client.Direct, copyKey("viral", 0))
				item["checked"] = number(time.Now().Add(-c.age).UnixMilli())
				store(t, client.Direct, item)
				put(t, posts, "viral", "new", replica.Lazy)
				if c.denied {
					client.Decide(on(faulty.Denied, "GetItem", "viral"))
				}
				got, err := posts.Get(context.Background(), "viral")
				if (err == nil) != (c.want != "") || err == nil && got.Data.Title != c.want {
					t.Errorf("got %q, %v, want %q", got.Data.Title, err, c.want)
				}
			})
		})
	}
}

// While one reader refreshes a copy that can still be used, the others return it at once. Whoever needs another version
// waits for the refresh, and does not read the primary again.
func TestUsableCopyIsNotWaitedFor(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "old")
		version := put(t, posts, "viral", "new", replica.Lazy)
		time.Sleep(time.Minute) // the last moment, in which every reader would refresh it
		const slow = 100 * time.Millisecond
		client.Delay(func(r faulty.Request) time.Duration {
			if r.Operation == "GetItem" && r.Key("id") == "viral" {
				return slow
			}
			return 0
		})
		began := time.Now()
		read := func(want string, took time.Duration, options ...replica.ReadOption) {
			if got, after := title(posts, "viral", options...), time.Since(began); got != want || after != took {
				t.Errorf("got %q after %v, want %q after %v", got, after, want, took)
			}
		}
		var readers sync.WaitGroup
		readers.Go(func() { read("new", slow) })
		synctest.Wait()
		for range 5 {
			read("old", 0)
		}
		readers.Go(func() { read("new", slow, replica.AtLeast(version)) })
		readers.Wait()
		primaries := 0
		for _, key := range client.Keys("GetItem", "id") {
			if key == "viral" {
				primaries++
			}
		}
		if primaries != 1 {
			t.Errorf("the primary was read %d times, want once", primaries)
		}
	})
}
