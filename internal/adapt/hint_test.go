package adapt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

var today = time.Date(2024, 12, 2, 0, 0, 0, 0, time.UTC)

// A bucket that follows on a wide one begins wide, before its first write. One that follows on a cold one does not, and nothing
// is stored for it.
func TestHint(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := faulty.On(t, start(t), nil)
		b := newBook(t, client, byDay)
		if _, _, err := b.Grow(t.Context(), "hot", today, ledger.Growth{To: 16}); err != nil {
			t.Fatal(err)
		}
		tomorrow := today.AddDate(0, 0, 1)
		for _, key := range []string{"hot", "cold"} {
			b.Hint(t.Context(), key, today, today.Add(time.Hour))
			b.Hint(t.Context(), key, today, today.Add(21*time.Hour))
		}
		if got := controlItems(t, client.Direct, "items"); len(got) != 2 { // the charter and the ledger of today
			t.Errorf("stored before nine tenths of the day: %q", got)
		}
		for _, key := range []string{"hot", "cold"} {
			for range 3 {
				b.Hint(t.Context(), key, today, today.Add(22*time.Hour))
			}
		}
		got := controlItems(t, client.Direct, "items")
		slices.Sort(got)
		if want := []string{charterOfOrders, "_hs#L#orders#2024-12-02#hot", "_hs#L#orders#2024-12-03#hot"}; !slices.Equal(got, want) {
			t.Errorf("stored: %q, want %q", got, want)
		}
		if w, _ := b.Known("hot", tomorrow); w.Write != 8 { // half of it, as no rate was measured
			t.Errorf("tomorrow begins with %d shards, want 8", w.Write)
		}
		if n := client.Count("PutItem"); n != 3 {
			t.Errorf("%d writes, want the charter and two ledgers", n)
		}
		if n := client.Count("GetItem"); n != 4 { // a hint does not look first whether there is a ledger
			t.Errorf("%d reads, want the charter at first and before each growth, and today's ledger", n)
		}
	})
}

// Another process that comes to the new bucket first makes it wide by itself, and learns of what there is.
func TestHintOfTwoProcesses(t *testing.T) {
	client := start(t)
	tomorrow := today.AddDate(0, 0, 1)
	a, b := newBook(t, client, byDay), newBook(t, client, byDay)
	for _, p := range []book{a, b} {
		if _, _, err := p.Grow(t.Context(), "k", today, ledger.Growth{To: 16}); err != nil {
			t.Fatal(err)
		}
		p.Hint(t.Context(), "k", today, today.Add(time.Hour))
	}
	if _, _, err := newBook(t, client, byDay).Grow(t.Context(), "k", tomorrow, ledger.Growth{To: 64}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []book{a, b} {
		p.Hint(t.Context(), "k", tomorrow, tomorrow.Add(time.Minute))
		if w, g := p.Known("k", tomorrow); w.Write != 64 || g != 1 {
			t.Errorf("it knows of %d shards at generation %d, want the 64 that there are", w.Write, g)
		}
	}
}

// Hints are bounded, and a hint that cannot be stored is a warning.
func TestHintsAreBounded(t *testing.T) {
	client := faulty.On(t, start(t), nil)
	b := newBook(t, client, byDay)
	for i := range maxHints + 100 {
		b.Hint(t.Context(), fmt.Sprint("k", i), today, today)
	}
	if n := len(b.hints.keys); n > maxHints {
		t.Errorf("%d keys are followed, want %d at most", n, maxHints)
	}
	if _, _, err := b.Grow(t.Context(), "k", today, ledger.Growth{To: 16}); err != nil {
		t.Fatal(err)
	}
	b.Hint(t.Context(), "k", today, today)
	client.Decide(faulty.Always(faulty.Denied))
	b.Hint(t.Context(), "k", today, today.Add(23*time.Hour))
	if text := b.logs.String(); !strings.Contains(text, "begins narrow") || !strings.Contains(text, "AccessDenied") {
		t.Errorf("logged %q, want that the bucket begins narrow", text)
	}
}

// Without buckets there is nothing to hint at.
func TestHintWithoutBuckets(t *testing.T) {
	b := newBook(t, start(t))
	b.grow(t, "k", 16)
	b.Hint(context.Background(), "k", none, time.Now())
	if len(b.hints.keys) > 0 {
		t.Error("a key without buckets is followed")
	}
}

// A hint creates a ledger. One that is there stays as it is, also if it is narrower than the hint.
func TestHintLeavesWhatThereIs(t *testing.T) {
	client := start(t)
	b := newBook(t, client, byDay)
	tomorrow := today.AddDate(0, 0, 1)
	if _, _, err := b.Grow(t.Context(), "k", today, ledger.Growth{To: 16}); err != nil {
		t.Fatal(err)
	}
	b.Hint(t.Context(), "k", today, today.Add(time.Hour))
	if _, _, err := newBook(t, client, byDay).Grow(t.Context(), "k", tomorrow, ledger.Growth{To: 2}); err != nil {
		t.Fatal(err)
	}
	b.Hint(t.Context(), "k", tomorrow, tomorrow.Add(time.Minute))
	r, err := newBook(t, client, byDay).Show(t.Context(), "k", tomorrow)
	if err != nil || r.Write != 2 || r.Generation != 1 {
		t.Errorf("got %+v, %v, want the two shards of generation 1", r, err)
	}
}

// One item whose time is years ahead does not end the hints of its key.
func TestHintAfterAWrongTime(t *testing.T) {
	b := newBook(t, start(t), byDay)
	if _, _, err := b.Grow(t.Context(), "k", today, ledger.Growth{To: 16}); err != nil {
		t.Fatal(err)
	}
	wrong := today.AddDate(3, 0, 0)
	for _, at := range []time.Time{today.Add(time.Hour), wrong.Add(23 * time.Hour), today.Add(2 * time.Hour), today.AddDate(0, 0, 2), today.Add(22 * time.Hour)} {
		b.Hint(t.Context(), "k", at.Truncate(24*time.Hour), at)
	}
	for _, c := range []struct {
		day   time.Time
		width int
	}{{today.AddDate(0, 0, 1), 8}, {today.AddDate(0, 0, 2), 1}, {wrong, 1}, {wrong.AddDate(0, 0, 1), 1}} {
		if r, err := newBook(t, b.control.Client, byDay).Show(t.Context(), "k", c.day); err != nil || r.Write != c.width {
			t.Errorf("%v begins with %d shards, %v, want %d", c.day, r.Write, err, c.width)
		}
	}
}
