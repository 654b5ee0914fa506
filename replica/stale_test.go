package replica_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// A write that cannot reach some copies says so. Readers see the old version for MaxStale at most, and not at all if they
// demand the new one.
func TestWriterThatDiesInTheMiddle(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		options := replica.Options{Copies: 2, MaxStale: 20 * time.Second}
		client := setup(t, options)
		posts := openOn(t, client, options)
		put(t, posts, "viral", "old")
		time.Sleep(5 * time.Second)
		client.Decide(on(faulty.Denied, "PutItem", copyKey("viral", 1)))
		version, err := posts.Put(t.Context(), "viral", post{Title: "new"})
		lag, ok := errors.AsType[*replica.LaggingError](err)
		if !ok || lag.Version != version || lag.Lagging != 1 || lag.Copies != 2 || lag.ID != "viral" || !errors.As(err, new(*heatsink.ShardError)) {
			t.Fatalf("got %d, %v", version, err)
		}
		if !strings.Contains(err.Error(), "is stored, but 1 of 2 copies may be older for up to 20s") {
			t.Errorf("got %q", err)
		}
		seen := map[string]int{}
		for range 50 {
			seen[title(posts, "viral")]++
			if got := title(posts, "viral", replica.Latest); got != "new" {
				t.Fatalf("latest: got %q", got)
			}
		}
		if seen["old"] == 0 || seen["new"] == 0 || len(seen) != 2 {
			t.Errorf("while copies differ: got %v", seen)
		}
		// A demand is met by the primary even if the copy cannot be written.
		for range 50 {
			if got := title(posts, "viral", replica.AtLeast(version)); got != "new" {
				t.Fatalf("at least the new version: got %q", got)
			}
		}
		if v := versionOf(t, client.Direct, copyKey("viral", 1)); v >= version {
			t.Fatalf("the copy has version %d: the fault does not work", v)
		}
		time.Sleep(15*time.Second + time.Millisecond)
		for range 50 {
			if got := title(posts, "viral"); got != "new" {
				t.Fatalf("after MaxStale: got %q", got)
			}
		}
		client.Decide(nil)
		for range 20 {
			title(posts, "viral")
		}
		if v := versionOf(t, client.Direct, copyKey("viral", 1)); v != version {
			t.Errorf("readers have left the copy at version %d, want %d", v, version)
		}
	})
}

// A reader that demands a version heals the copy that lags.
func TestDemandHeals(t *testing.T) {
	client := setup(t, replica.Options{Copies: 1})
	posts := openOn(t, client, replica.Options{Copies: 1})
	put(t, posts, "viral", "old")
	version := put(t, posts, "viral", "new", replica.Lazy)
	if got := title(posts, "viral"); got != "old" {
		t.Errorf("after a lazy write: got %q", got)
	}
	if got := title(posts, "viral", replica.AtLeast(version)); got != "new" {
		t.Errorf("at least the lazy version: got %q", got)
	}
	if got := title(posts, "viral"); got != "new" {
		t.Errorf("after that: got %q", got)
	}
}

// A version that nobody has stored is an error, not an older item.
func TestDemandThatCannotBeMet(t *testing.T) {
	posts := openOn(t, setup(t, replica.Options{}), replica.Options{})
	version := put(t, posts, "viral", "one")
	for _, read := range [][]replica.ReadOption{{replica.AtLeast(version + 1)}, {replica.AtLeast(version + 1), replica.Latest}, {replica.AtLeast(version + 1), replica.AtLeast(1)}} {
		if _, err := posts.Get(t.Context(), "viral", read...); !errors.Is(err, replica.ErrVersion) || !strings.Contains(err.Error(), fmt.Sprint(version+1)) {
			t.Errorf("got %v", err)
		}
	}
}

// Lost copies, more copies and fewer copies: nobody sees anything older than MaxStale, and copies fill and vanish by
// themselves.
func TestNumberOfCopiesChanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{})
		stale := 30 * time.Second
		few := openOn(t, client, replica.Options{Copies: 2, MaxStale: stale})
		many := openOn(t, client, replica.Options{Copies: 6, MaxStale: stale})
		put(t, few, "viral", "0")
		for i := range 200 {
			writer, other := few, many
			if i%20 == 19 {
				writer, other = many, few
			}
			if i%5 == 0 {
				put(t, writer, "viral", fmt.Sprint(i))
			}
			for range 3 {
				for _, posts := range []*replica.Store[post]{writer, other} {
					var n int
					if _, err := fmt.Sscan(title(posts, "viral"), &n); err != nil || i-n > 34 { // one second each, and 5 from put to put
						t.Fatalf("second %d: got %d, %v", i, n, err)
					}
				}
			}
			time.Sleep(time.Second)
		}
		for copy := range 6 {
			if versionOf(t, client.Direct, copyKey("viral", copy)) == 0 {
				t.Errorf("copy %d was never filled", copy)
			}
		}
		for range 720 { // two hours in which only two copies are read
			time.Sleep(10 * time.Second)
			title(few, "viral")
		}
		for copy := range 6 {
			if has := versionOf(t, client.Direct, copyKey("viral", copy)) > 0; has != (copy < 2) {
				t.Errorf("two hours later copy %d is there: %t", copy, has)
			}
		}
		drop(t, client.Direct, copyKey("viral", 1))
		for range 10 {
			if got := title(few, "viral"); got != "195" {
				t.Errorf("after a copy was lost: got %q", got)
			}
		}
		if versionOf(t, client.Direct, copyKey("viral", 1)) == 0 {
			t.Error("the lost copy is not back")
		}
	})
}

// A primary that was restored, or lost, is what readers see when the copies' time is up. Copies with newer versions follow.
func TestPrimaryThatWasRestored(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		posts := openOn(t, client, replica.Options{Copies: 2})
		put(t, posts, "viral", "backup")
		backup := stored(t, client.Direct, "viral")
		put(t, posts, "viral", "later")
		store(t, client.Direct, backup)
		if got := title(posts, "viral"); got != "later" {
			t.Errorf("from a copy: got %q", got)
		}
		time.Sleep(time.Minute + time.Second)
		for range 20 {
			if got := title(posts, "viral"); got != "backup" {
				t.Fatalf("a minute later: got %q", got)
			}
		}
		before := client.Count("GetItem")
		for range 20 {
			title(posts, "viral")
		}
		if sent := client.Count("GetItem") - before; sent != 20 {
			t.Errorf("%d requests for 20 reads: the copies did not follow", sent)
		}
		drop(t, client.Direct, "viral")
		time.Sleep(time.Minute + time.Second)
		for range 20 {
			if _, err := posts.Get(t.Context(), "viral"); !errors.Is(err, replica.ErrNotFound) {
				t.Fatalf("the primary is lost: got %v", err)
			}
		}
		if stored(t, client.Direct, copyKey("viral", 0)) != nil || stored(t, client.Direct, copyKey("viral", 1)) != nil {
			t.Error("copies of nothing are still there")
		}
	})
}

// A writer whose clock is far ahead does not make its copies trusted for ever, nor stops others from writing.
func TestClockThatIsAhead(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "ahead")
		ahead := time.Now().Add(5 * time.Hour)
		for _, key := range []string{"viral", copyKey("viral", 0)} {
			item := stored(t, client.Direct, key)
			item["version"] = number(ahead.UnixMicro())
			if key != "viral" {
				item["checked"] = number(ahead.UnixMilli())
			}
			store(t, client.Direct, item)
		}
		put(t, posts, "viral", "next", replica.Lazy)
		if got := title(posts, "viral"); got != "next" {
			t.Errorf("a copy of five hours ahead: got %q", got)
		}
		if v := versionOf(t, client.Direct, "viral"); v != replica.Version(ahead.UnixMicro())+1 {
			t.Errorf("got version %d, want one more than %d", v, ahead.UnixMicro())
		}
		if _, err := posts.Delete(t.Context(), "viral"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Hour + 30*time.Minute)
		if stored(t, client.Direct, "viral") == nil {
			t.Error("the tombstone is gone while a late write of the clock that is ahead could arrive")
		}
		time.Sleep(time.Hour)
		if stored(t, client.Direct, "viral") != nil {
			t.Error("the tombstone stays")
		}
	})
}

// Requests that arrive a second time, in any order, undo nothing.
func TestLateDuplicates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		options := replica.Options{Copies: 2}
		client := setup(t, options)
		posts := openOn(t, client, options)
		var last replica.Version
		for i := range 5 {
			put(t, posts, "viral", fmt.Sprint(i))
			time.Sleep(time.Minute)
			title(posts, "viral") // refreshes copies
			if i == 2 {
				if _, err := posts.Delete(t.Context(), "viral"); err != nil {
					t.Fatal(err)
				}
			}
			version, err := posts.Put(t.Context(), "viral", post{Title: "last " + fmt.Sprint(i)})
			if err != nil {
				t.Fatal(err)
			}
			last = version
		}
		requests := client.Requests()
		for i := range requests {
			r := requests[len(requests)-1-i] // the latest first, so that the oldest arrives last
			if r.Operation == "PutItem" || r.Operation == "DeleteItem" {
				_ = r.Again()
			}
		}
		for range 20 {
			if item, err := posts.Get(t.Context(), "viral"); err != nil || item.Version != last || item.Data.Title != "last 4" {
				t.Fatalf("got %+v, %v", item, err)
			}
		}
		end, err := posts.Delete(t.Context(), "viral")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			_ = r.Again()
		}
		for _, key := range []string{"viral", copyKey("viral", 0), copyKey("viral", 1)} {
			if v := versionOf(t, client.Direct, key); v != end {
				t.Errorf("%s has version %d, want the tombstone %d", key, v, end)
			}
		}
	})
}

// A write whose answer was lost is known again by its mark: it is no conflict of its own making.
func TestLostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		version := put(t, posts, "viral", "one")
		client.Decide(faulty.Script(faulty.LostAnswer))
		next, err := posts.Put(t.Context(), "viral", post{Title: "two"}, replica.IfVersion(version))
		if err != nil || next != versionOf(t, client.Direct, "viral") || title(posts, "viral") != "two" {
			t.Errorf("got %d, %v, and %q", next, err, title(posts, "viral"))
		}
	})
}

// A write whose answer was lost, and which somebody else has written over, has an unknown outcome. It is not written again
// over theirs.
func TestLostAnswerAndAnotherWriter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		other := openOn(t, client.Direct, replica.Options{Copies: 1})
		put(t, posts, "viral", "one")
		client.Decide(faulty.Script(faulty.LostAnswer))
		client.Delay(faulty.Exactly(time.Second))
		done := make(chan error)
		go func() {
			_, err := posts.Put(context.Background(), "viral", post{Title: "mine"})
			done <- err
		}()
		time.Sleep(time.Second) // the first attempt is done, its answer lost, and the second is under way
		time.Sleep(300 * time.Millisecond)
		theirs := put(t, other, "viral", "theirs")
		err := <-done
		if !errors.As(err, new(*heatsink.UnknownOutcomeError)) || errors.Is(err, replica.ErrConflict) {
			t.Errorf("got %v", err)
		}
		if v := versionOf(t, client.Direct, "viral"); v != theirs {
			t.Errorf("the primary has version %d, want %d", v, theirs)
		}
	})
}

// A context that ends before the copies are written leaves a written primary, and says so.
func TestContextThatEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 3})
		posts := openOn(t, client, replica.Options{Copies: 3})
		client.Delay(faulty.Exactly(time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		version, err := posts.Put(ctx, "viral", post{Title: "one"})
		if lag, ok := errors.AsType[*replica.LaggingError](err); !ok || lag.Lagging != 3 || !errors.Is(err, context.DeadlineExceeded) || version == 0 {
			t.Errorf("got %d, %v", version, err)
		}
		client.Delay(nil)
		if got := title(posts, "viral"); got != "one" {
			t.Errorf("got %q", got)
		}
		changed, err := posts.Change(ctx, "viral", func(p *post) error { return nil })
		if changed != (replica.Item[post]{}) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("changed with a context that has ended: got %+v, %v", changed, err)
		}
	})
}

// Repair makes all copies what the primary is, whatever they were, and says how many were not.
func TestRepair(t *testing.T) {
	client := setup(t, replica.Options{Copies: 4})
	posts := openOn(t, client, replica.Options{Copies: 4})
	put(t, posts, "viral", "old")
	old := stored(t, client.Direct, copyKey("viral", 0))
	put(t, posts, "viral", "new")
	store(t, client.Direct, old)
	drop(t, client.Direct, copyKey("viral", 2))
	for _, want := range []int{2, 0} {
		if n, err := posts.Repair(t.Context(), "viral"); n != want || err != nil {
			t.Errorf("repaired %d, %v, want %d", n, err, want)
		}
	}
	for copy := range 4 {
		if got, want := versionOf(t, client.Direct, copyKey("viral", copy)), versionOf(t, client.Direct, "viral"); got != want {
			t.Errorf("copy %d has version %d, want %d", copy, got, want)
		}
	}
	drop(t, client.Direct, "viral")
	if n, err := posts.Repair(t.Context(), "viral"); n != 4 || err != nil || stored(t, client.Direct, copyKey("viral", 3)) != nil {
		t.Errorf("repaired %d, %v, want 4 copies of nothing deleted", n, err)
	}
	put(t, posts, "viral", "again")
	client.Decide(on(faulty.Denied, "GetItem", copyKey("viral", 3)))
	if n, err := posts.Repair(t.Context(), "viral"); n != 0 || !errors.As(err, new(*heatsink.ShardError)) {
		t.Errorf("repaired %d, %v, although a copy cannot be read", n, err)
	}
	drop(t, client.Direct, copyKey("viral", 3))
	client.Decide(on(faulty.Denied, "PutItem", copyKey("viral", 3)))
	if n, err := posts.Repair(t.Context(), "viral"); n != 0 || !errors.As(err, new(*heatsink.ShardError)) {
		t.Errorf("repaired %d, %v, although a copy cannot be written", n, err)
	}
	client.Decide(on(faulty.Denied, "GetItem", "viral"))
	if n, err := posts.Repair(t.Context(), "viral"); n != 0 || !errors.As(err, new(*heatsink.ShardError)) {
		t.Errorf("repaired %d, %v, although the primary cannot be read", n, err)
	}
}

// A throttled copy is left for another one.
func TestThrottledCopy(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		posts := openOn(t, client, replica.Options{Copies: 2})
		put(t, posts, "viral", "one")
		client.Decide(on(faulty.Throttled, "GetItem", copyKey("viral", 0)))
		for range 50 {
			if got := title(posts, "viral"); got != "one" {
				t.Fatal(got)
			}
		}
		if n := client.Count("GetItem"); n < 60 || n > 200 {
			t.Errorf("%d requests for 50 reads of which half are throttled at first", n)
		}
	})
}

// A write whose copies have an unknown outcome is stored: it is not taken for a write with an unknown outcome, which
// callers repeat.
func TestCopiesOfUnknownOutcome(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		posts := openOn(t, client, replica.Options{Copies: 2, Retry: heatsink.Retry{Attempts: 2}})
		put(t, posts, "viral", "one")
		client.Decide(on(faulty.LostAnswer, "PutItem", copyKey("viral", 0), copyKey("viral", 1)))
		like := func(p *post) error { p.Likes++; return nil }
		changed, err := posts.Change(t.Context(), "viral", like)
		lag, ok := errors.AsType[*replica.LaggingError](err)
		if !ok || lag.Lagging != 2 || changed.Data.Likes != 1 {
			t.Fatalf("got %+v, %v", changed, err)
		}
		if _, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err); unknown || errors.As(err, new(*heatsink.UnknownOutcomeError)) {
			t.Errorf("a stored write has an unknown outcome: %v", err)
		}
		if !errors.As(lag.Err, new(*heatsink.UnknownOutcomeError)) || !strings.Contains(err.Error(), "outcome unknown") {
			t.Errorf("the cause is not to be found: %v", err)
		}
		if !errors.As(err, new(*heatsink.ShardError)) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the causes of the copies are not to be found: %v", err)
		}
	})
}

// A copy that another program has written over, or that cannot be read, does not keep Repair from the other copies.
func TestRepairAroundAStranger(t *testing.T) {
	client := setup(t, replica.Options{Copies: 4})
	posts := openOn(t, client, replica.Options{Copies: 4})
	strange := heatsink.Item{"id": text(copyKey("viral", 0)), "price": number(3)}
	store(t, client.Direct, strange)
	client.Decide(on(faulty.Denied, "GetItem", copyKey("viral", 2)))
	version := put(t, posts, "viral", "one", replica.Lazy)
	n, err := posts.Repair(t.Context(), "viral")
	if n != 2 || err == nil || !strings.Contains(err.Error(), copyKey("viral", 0)) || !strings.Contains(err.Error(), copyKey("viral", 2)) {
		t.Errorf("repaired %d, %v, want 2 and an error that names the others", n, err)
	}
	for copy, want := range []replica.Version{0, version, 0, version} {
		if v := versionOf(t, client.Direct, copyKey("viral", copy)); v != want {
			t.Errorf("copy %d has version %d, want %d", copy, v, want)
		}
	}
	if got := stored(t, client.Direct, copyKey("viral", 0)); !reflect.DeepEqual(got, strange) {
		t.Errorf("what another program wrote became %v", got)
	}
}

// The documentation states how old Get's answer can be if clocks differ. A copy from the future is replaced if it is read
// in time. Otherwise the answer is at most MaxStale and the difference old.
func TestCopyFromTheFuture(t *testing.T) {
	for _, read := range []bool{false, true} {
		bubble.Test(t, func(t *testing.T) {
			client := setup(t, replica.Options{Copies: 1})
			posts := openOn(t, client, replica.Options{Copies: 1})
			put(t, posts, "viral", "old")
			const ahead = 10 * time.Minute
			item := stored(t, client.Direct, copyKey("viral", 0))
			item["checked"] = number(time.Now().Add(ahead).UnixMilli())
			store(t, client.Direct, item)
			put(t, posts, "viral", "new", replica.Lazy)
			if read && title(posts, "viral") != "new" {
				t.Errorf("a copy from the future: got %q", title(posts, "viral"))
			}
			time.Sleep(ahead)
			if got := title(posts, "viral"); read && got != "new" {
				t.Errorf("replaced in time: got %q", got)
			}
			time.Sleep(time.Minute + time.Millisecond)
			if got := title(posts, "viral"); got != "new" {
				t.Errorf("after MaxStale and the difference: got %q", got)
			}
		})
	}
}
