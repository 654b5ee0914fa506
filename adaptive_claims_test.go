package heatsink

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A generation that a caller claims fails the read that it is given to, and nothing else: it may be of another key, or forged.
func TestAdaptiveClaimOfAGeneration(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	c := openOrders(t, db.Client())
	for _, key := range []string{"grown", "cold"} {
		putOrder(t, c, key, "1", 1)
	}
	if _, err := c.Ledgers().Grow(t.Context(), "grown", time.Time{}, 4, "a test"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"grown", "cold"} {
		for _, claim := range []int64{2, 99, math.MaxInt64} {
			if n, err := c.Count(t.Context(), Query{Key: key, AtLeast: claim}); !errors.Is(err, ErrLedgerLost) {
				t.Errorf("%s at least %d: got %d, %v, want ErrLedgerLost", key, claim, n, err)
			}
			for _, q := range []Query{{Key: key}, {Key: key, Consistent: true}} {
				if n, err := c.Count(t.Context(), q); n != 1 || err != nil {
					t.Errorf("%s after the claim %d: got %d, %v, want 1 item", key, claim, n, err)
				}
			}
		}
		if _, err := c.Ledgers().Grow(t.Context(), key, time.Time{}, 8, "a test"); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// A key that is too long for its ledger is refused when it is put, and so is the one whose shards would look like control items.
func TestAdaptiveKeysWithoutALedger(t *testing.T) {
	db := local.Start(t)
	createOrders(t, db.Client())
	c := openOrders(t, db.Client())
	longest := strings.Repeat("k", 2048-len(layout.ControlKey{Role: layout.RoleLedger, Collection: "table"}.String()))
	putOrder(t, c, longest, "1", 1)
	if n, err := c.Count(t.Context(), Query{Key: longest, Consistent: true}); n != 1 || err != nil {
		t.Errorf("the longest key: got %d, %v, want 1 item", n, err)
	}
	for _, key := range []string{longest + "k", "_hs"} {
		if _, err := c.Put(t.Context(), ov("pk", key, "sk", "1")); !errors.Is(err, ErrItem) {
			t.Errorf("a key of %d bytes: got %v, want ErrItem", len(key), err)
		}
	}
}
