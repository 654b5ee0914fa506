package adapt

import (
	"context"
	"errors"
	"testing"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// A strong read that began while the ledger was deleted, and sees it repaired, does not return without the shards that the
// repaired ledger adds.
func TestReadDuringARepair(t *testing.T) {
	client := start(t)
	reader, operator := newBook(t, client), newBook(t, client)
	cover, err := reader.Cover("k", none, ledger.Reading{Mode: ledger.Strong})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := cover.Await(t.Context()); n != 1 || err != nil {
		t.Fatalf("got %d, %v, want the one shard of a key without a ledger", n, err)
	}
	probe := func(context.Context, int) (int, int64, error) { return 7, 3, nil } // items of before the ledger was deleted
	if _, _, err := operator.Repair(t.Context(), "k", none, ledger.Repairing{}, probe); err != nil {
		t.Fatal(err)
	}
	if err := cover.Saw(t.Context(), 0, 3); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
}

// Growth while a read is under way does not end it: what is in the new shards is younger than the read.
func TestReadDuringAGrowth(t *testing.T) {
	client := start(t)
	reader, operator := newBook(t, client), newBook(t, client)
	cover, err := reader.Cover("k", none, ledger.Reading{Mode: ledger.Strong})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cover.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{2, 4, 8} {
		if _, _, err := operator.Grow(t.Context(), "k", none, ledger.Growth{To: width}); err != nil {
			t.Fatal(err)
		}
	}
	if err := cover.Saw(t.Context(), 0, 3); err != nil {
		t.Error(err)
	}
}
