package replica_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/replica"
)

// A thousand readers who meet an old copy at once read the primary once, and write the copy once.
func TestReadersShareARefresh(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "old")
		put(t, posts, "viral", "new", replica.Lazy)
		time.Sleep(2 * time.Minute)
		before := len(client.Keys("GetItem", "id"))
		writes := client.Count("PutItem")
		client.Delay(faulty.Exactly(5 * time.Millisecond))
		var readers sync.WaitGroup
		for range 250 { // as many as read at the same time
			readers.Go(func() {
				if got := title(posts, "viral"); got != "new" {
					t.Errorf("got %q", got)
				}
			})
		}
		readers.Wait()
		primaries := 0
		for _, key := range client.Keys("GetItem", "id")[before:] {
			if key == "viral" {
				primaries++
			}
		}
		if wrote := client.Count("PutItem") - writes; primaries != 1 || wrote != 1 {
			t.Errorf("250 readers of an old copy read the primary %d times and wrote the copy %d times, want once each", primaries, wrote)
		}
	})
}

// If the reader who refreshes a copy gives up, the others go on.
func TestReaderWhoGivesUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "new", replica.Lazy)
		client.Delay(faulty.Exactly(time.Second))
		impatient, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		var readers sync.WaitGroup
		readers.Go(func() {
			if _, err := posts.Get(impatient, "viral"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the impatient reader got %v", err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		short, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
		defer cancel()
		readers.Go(func() { // waits for the other, and gives up first
			if _, err := posts.Get(short, "viral"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the reader with little time got %v", err)
			}
		})
		for range 3 {
			readers.Go(func() {
				if got := title(posts, "viral"); got != "new" {
					t.Errorf("a patient reader got %q", got)
				}
			})
		}
		readers.Wait()
	})
}

// A primary that cannot be read is an error for all who wait for it, and the next reader tries again. If the answer takes longer
// than readers wait for each other, each of them reads.
func TestPrimaryThatCannotBeRead(t *testing.T) {
	for answer, reads := range map[time.Duration]int{100 * time.Millisecond: 1, time.Second: 5} {
		bubble.Test(t, func(t *testing.T) {
			client := setup(t, replica.Options{Copies: 1})
			posts := openOn(t, client, replica.Options{Copies: 1})
			put(t, posts, "viral", "new", replica.Lazy)
			client.Delay(faulty.Exactly(answer))
			client.Decide(on(faulty.Denied, "GetItem", "viral"))
			before := len(client.Keys("GetItem", "id"))
			var readers sync.WaitGroup
			for range 5 {
				readers.Go(func() {
					if _, err := posts.Get(t.Context(), "viral"); err == nil || errors.Is(err, replica.ErrNotFound) {
						t.Errorf("answers after %v: got %v", answer, err)
					}
				})
			}
			readers.Wait()
			primaries := 0
			for _, key := range client.Keys("GetItem", "id")[before:] {
				if key == "viral" {
					primaries++
				}
			}
			if primaries != reads {
				t.Errorf("answers after %v: the primary was read %d times, want %d", answer, primaries, reads)
			}
			client.Decide(nil)
			if got := title(posts, "viral"); got != "new" {
				t.Errorf("answers after %v: got %q", answer, got)
			}
		})
	}
}

// Readers who share a refresh do not share bytes.
func TestReadersShareNoBytes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		type blob struct {
			Bytes  []byte
			Many   [][]byte
			Nested map[string][][]byte
		}
		client := setup(t, replica.Options{Copies: 1})
		blobs, err := replica.Open[blob](client, replica.Options{Table: "posts", Copies: 1})
		if err != nil {
			t.Fatal(err)
		}
		full := blob{Bytes: []byte("abc"), Many: [][]byte{[]byte("def")}, Nested: map[string][][]byte{"x": {[]byte("ghi")}}}
		if _, err := blobs.Put(t.Context(), "a", full, replica.Lazy); err != nil {
			t.Fatal(err)
		}
		client.Delay(faulty.Exactly(time.Second))
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				item, err := blobs.Get(t.Context(), "a")
				if err != nil || string(item.Data.Bytes)+string(item.Data.Many[0])+string(item.Data.Nested["x"][0]) != "abcdefghi" {
					t.Errorf("got %+v, %v", item, err)
					return
				}
				for _, b := range [][]byte{item.Data.Bytes, item.Data.Many[0], item.Data.Nested["x"][0]} {
					clear(b)
				}
			})
		}
		readers.Wait()
	})
}

// A copy whose refresh is throttled does not hold readers up: it is tried once.
func TestRefreshThatIsThrottled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "new", replica.Lazy)
		client.Decide(on(faulty.Throttled, "PutItem", copyKey("viral", 0)))
		began, writes := time.Now(), client.Count("PutItem")
		for range 3 {
			if got := title(posts, "viral"); got != "new" {
				t.Errorf("got %q", got)
			}
		}
		if took, wrote := time.Since(began), client.Count("PutItem")-writes; took > 0 || wrote != 3 {
			t.Errorf("three reads took %v and tried %d writes, want no wait and 3", took, wrote)
		}
	})
}

// Copies that are read are refreshed before their time is up, by few of the readers: nobody waits.
func TestRefreshedInTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 2})
		posts := openOn(t, client, replica.Options{Copies: 2})
		put(t, posts, "viral", "one")
		writes := client.Count("PutItem")
		const minutes = 10
		for range minutes * 600 {
			time.Sleep(100 * time.Millisecond)
			if got := title(posts, "viral"); got != "one" {
				t.Fatal(got)
			}
		}
		wrote := client.Count("PutItem") - writes
		if reads := client.Count("GetItem"); wrote < 2*minutes || wrote > 4*minutes || reads != minutes*600+wrote {
			t.Errorf("%d refreshes of two copies in %d minutes, and %d reads", wrote, minutes, reads)
		}
		t.Logf("%d refreshes of two copies in %d minutes", wrote, minutes)
	})
}

// A reader who demands a version may join a refresh that began before the version was written. What that refresh found,
// nothing or an older version, does not decide.
func TestDemandThatJoinsAnOldFlight(t *testing.T) {
	for _, before := range []string{"", "old"} {
		bubble.Test(t, func(t *testing.T) {
			client := setup(t, replica.Options{Copies: 1})
			posts := openOn(t, client, replica.Options{Copies: 1})
			if before != "" {
				put(t, posts, "viral", before, replica.Lazy)
			}
			slow := true
			client.Delay(func(r faulty.Request) time.Duration {
				if r.Operation == "GetItem" && r.Key("id") == "viral" && slow {
					slow = false
					return 200 * time.Millisecond // half before it arrives, and half before its answer
				}
				return 2 * time.Millisecond
			})
			var first sync.WaitGroup
			first.Go(func() {
				if got := title(posts, "viral"); got != before && before != "" {
					t.Errorf("the first reader got %q", got)
				}
			})
			time.Sleep(120 * time.Millisecond) // the primary was read, and the answer is under way
			version := put(t, posts, "viral", "mine", replica.Lazy)
			if got := title(posts, "viral", replica.AtLeast(version)); got != "mine" {
				t.Errorf("with %q before: got %q after it was written", before, got)
			}
			first.Wait()
			if end, err := posts.Delete(t.Context(), "viral", replica.Lazy); err != nil || !strings.Contains(title(posts, "viral", replica.AtLeast(end)), "not found") {
				t.Errorf("deleted: got %q, %v", title(posts, "viral", replica.AtLeast(end)), err)
			}
		})
	}
}

// A read of the primary that is never answered does not hold up other readers of the copy, even if its reader waits on.
func TestReadThatIsNeverAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "new", replica.Lazy)
		client.Delay(faulty.Exactly(5 * time.Millisecond))
		first := faulty.Script(faulty.Unanswered)
		client.Decide(func(r faulty.Request) faulty.Fault {
			if r.Operation == "GetItem" && r.Key("id") == "viral" {
				return first(r)
			}
			return faulty.None
		})
		patient, cancel := context.WithTimeout(t.Context(), time.Hour)
		var leader, readers sync.WaitGroup
		leader.Go(func() {
			if _, err := posts.Get(patient, "viral"); !errors.Is(err, context.Canceled) {
				t.Errorf("the reader without an answer got %v", err)
			}
		})
		time.Sleep(100 * time.Millisecond)
		for range 100 {
			readers.Go(func() {
				began := time.Now()
				if got, took := title(posts, "viral"), time.Since(began); got != "new" || took > 300*time.Millisecond {
					t.Errorf("got %q after %v", got, took)
				}
			})
		}
		readers.Wait()
		reads := 0
		for _, key := range client.Keys("GetItem", "id") {
			if key == "viral" {
				reads++
			}
		}
		if reads != 2 {
			t.Errorf("the primary was read %d times, want once more after the read without an answer", reads)
		}
		cancel()
		leader.Wait()
	})
}

// A write of a copy that is never answered does not hold up its reader, who has the item already.
func TestRefreshThatIsNeverAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		put(t, posts, "viral", "new", replica.Lazy)
		client.Decide(on(faulty.Unanswered, "PutItem", copyKey("viral", 0)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		item, err := posts.Get(ctx, "viral")
		if took := time.Since(began); err != nil || item.Data.Title != "new" || took > 300*time.Millisecond {
			t.Errorf("got %+v, %v after %v", item, err, took)
		}
	})
}

// A copy that can still be used is returned if the primary does not answer, but not when its time is up meanwhile.
func TestUsableCopyOfAPrimaryThatIsNeverAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := setup(t, replica.Options{Copies: 1})
		posts := openOn(t, client, replica.Options{Copies: 1})
		wrote := time.Now()
		put(t, posts, "viral", "old")
		time.Sleep(58 * time.Second)
		client.Decide(on(faulty.Unanswered, "GetItem", "viral"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for time.Since(wrote) < time.Minute-50*time.Millisecond {
			began := time.Now()
			item, err := posts.Get(ctx, "viral")
			took, age := time.Since(began), time.Since(wrote)
			if err == nil && (took > 300*time.Millisecond || age > time.Minute || item.Data.Title != "old") {
				t.Errorf("got %+v after %v, %v after it was written", item, took, age)
			}
			if err != nil && age < time.Minute {
				t.Errorf("got %v, %v after it was written", err, age)
			}
			time.Sleep(7 * time.Millisecond)
		}
	})
}
