package replica

import (
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// A flight that ends twice, or late, does not end the one that has begun since: its readers still share.
func TestFlightEndsOnlyItself(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		all := flights{maxStale: time.Minute, by: make(map[string]*flight)}
		first, leads := all.join("a")
		if joined, again := all.join("a"); !leads || again || joined != first || !all.under("a") {
			t.Fatal("the second reader does not join the first")
		}
		all.end("a", first)
		second, leads := all.join("a")
		all.end("a", first)
		if joined, again := all.join("a"); !leads || again || joined != second {
			t.Error("the first flight has ended the second")
		}
		time.Sleep(patience)
		if all.under("a") {
			t.Error("readers wait for a flight that has had no answer for long")
		}
		third, leads := all.join("a")
		all.end("a", second)
		if joined, again := all.join("a"); !leads || again || joined != third {
			t.Error("the second flight has ended the third, which replaced it")
		}
		close(third.read)
		time.Sleep(time.Minute)
		if joined, again := all.join("a"); again || joined != third {
			t.Error("what was read a minute ago cannot be used")
		}
		time.Sleep(time.Millisecond)
		if _, leads := all.join("a"); !leads {
			t.Error("what was read more than a minute ago is used")
		}
	})
}
