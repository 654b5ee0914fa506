package main

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/local"
)

type items = []map[string]types.AttributeValue

// A soak that does not notice a loss shows nothing.
func TestHistoryNotices(t *testing.T) {
	of := func(kind string, ids ...string) *history { return &history{kind: kind, ids: ids} }
	put, count, flicker, pair := of("put", "a"), of("count", "a"), of("come and go", "a"), of("transaction", "a", "b")
	batch := of("batch", "a", "b")
	torn := put.state("a", 5)
	torn["payload"] = text(padding(4))
	for _, c := range []struct {
		name         string
		history      *history
		found        items
		acked, begun int64
		version      int64
		wrong        bool
	}{
		{"nothing yet", put, items{nil}, 0, 0, 0, false},
		{"acknowledged", put, items{put.state("a", 5)}, 5, 6, 5, false},
		{"begun", put, items{put.state("a", 6)}, 5, 6, 6, false},
		{"lost", put, items{put.state("a", 4)}, 5, 6, 0, true},
		{"gone", put, items{nil}, 5, 6, 0, true},
		{"from nowhere", put, items{put.state("a", 7)}, 5, 6, 0, true},
		{"torn", put, items{torn}, 5, 5, 0, true},
		{"no version", put, items{{"id": text("a")}}, 5, 5, 0, true},
		{"counted twice", count, items{count.state("a", 7)}, 5, 6, 0, true},
		{"deleted", flicker, items{nil}, 6, 7, 6, false},
		{"delete begun", flicker, items{nil}, 5, 6, 6, false},
		{"delete lost", flicker, items{flicker.state("a", 5)}, 6, 7, 0, true},
		{"put after delete lost", flicker, items{nil}, 7, 7, 0, true},
		{"transaction", pair, items{pair.state("a", 3), pair.state("b", 3)}, 3, 4, 3, false},
		{"half a transaction", pair, items{pair.state("a", 3), pair.state("b", 4)}, 3, 4, 0, true},
		{"part of a batch", batch, items{batch.state("a", 4), batch.state("b", 3)}, 3, 4, 3, false},
		{"part of a batch lost", batch, items{batch.state("a", 4), batch.state("b", 2)}, 3, 4, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			version, why := c.history.wrong(c.found, c.acked, c.begun)
			if (why != "") != c.wrong || version != c.version {
				t.Errorf("got version %d, %q, want %d, wrong: %v", version, why, c.version, c.wrong)
			}
		})
	}
}

// Every kind of history is written and read back.
func TestHistoryWrites(t *testing.T) {
	db, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.CreateTable(t.Context(), table, "id"); err != nil {
		t.Fatal(err)
	}
	for _, h := range newHistories(len(kinds)) {
		for want := int64(1); want <= 4; want++ {
			version := h.begin()
			if err := h.write(t.Context(), db.Client(), version); err != nil {
				t.Fatal(err)
			}
			h.settle(version)
			found, err := h.read(t.Context(), db.Client())
			if err != nil {
				t.Fatal(err)
			}
			if got, why := h.wrong(found, want, want); got != want || why != "" {
				t.Errorf("%s: got version %d, %s, want %d", h.kind, got, why, want)
			}
			if _, why := h.wrong(found, want+1, want+1); why == "" && !h.gone(want+1) {
				t.Errorf("%s: a lost version %d is not noticed", h.kind, want+1)
			}
		}
	}
}

func TestJournal(t *testing.T) {
	j := newJournal()
	for i := range 1000 {
		fmt.Fprintf(j, "line %d\n%slog\n", i, noteMark)
	}
	if got := j.count(); got != 1000 {
		t.Errorf("got %d lines, want 1000", got)
	}
	if got := j.last(); got != "line 999" {
		t.Errorf("got %q as the last line, want line 999", got)
	}
	if got := j.noted()["log"]; got != 1000 {
		t.Errorf("got %d notes, want 1000", got)
	}
	if got := len(j.text()); got > 2*journalTail {
		t.Errorf("keeps %d bytes, want at most %d", got, 2*journalTail)
	}
}
