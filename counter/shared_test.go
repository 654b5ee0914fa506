package counter

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
)

// A table may be that of an adaptive collection as well. Its control items count for nothing, whatever is folded, reset and
// swept away, and no counter has the key of one.
func TestTableOfAnAdaptiveCollection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		orders, err := heatsink.Open[heatsink.Item](client, heatsink.Options{
			Table: "counters", PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{},
		})
		if err != nil {
			t.Fatal(err)
		}
		before, err := orders.Ledgers().Grow(t.Context(), "ORDERS", time.Time{}, 8, "a test")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			if _, err := orders.Put(t.Context(), heatsink.Item{"pk": text("ORDERS"), "sk": text(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
		c := open(t, client, Options{Idle: time.Minute, Dead: time.Minute, Retention: time.Minute, FoldEvery: time.Minute})
		mustAdd(t, c, "VIEWS", 1, 2, 3)
		isTotal(t, c, "VIEWS", 6)
		if _, err := c.Fold(t.Context(), "VIEWS"); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Reset(t.Context(), "VIEWS"); err != nil || n != 6 {
			t.Fatalf("reset: got %d, %v", n, err)
		}
		mustAdd(t, c, "VIEWS", 4)
		time.Sleep(time.Hour) // in which slots are folded and removed
		isTotal(t, c, "VIEWS", 4)
		tally, err := OpenTally(client, TallyOptions{Table: "counters", SortKey: "sk"})
		if err != nil {
			t.Fatal(err)
		}
		for name, add := range map[string]func(key string) error{
			"counter": func(key string) error { return c.Add(t.Context(), key, 1) },
			"total":   func(key string) error { _, err := c.Total(t.Context(), key); return err },
			"tally":   func(key string) error { return tally.Add(t.Context(), key, 1) },
		} {
			if err := add("_hs#C#table"); !errors.Is(err, layout.ErrKey) {
				t.Errorf("%s: got %v for the key of a control item", name, err)
			}
		}
		after, err := orders.Ledgers().Show(t.Context(), "ORDERS", time.Time{})
		if err != nil || after.Generation != before.Generation || after.Width != before.Width {
			t.Errorf("the ledger is %+v, %v, want %+v", after, err, before)
		}
		if n, err := orders.Count(t.Context(), heatsink.Query{Key: "ORDERS", Consistent: true}); err != nil || n != 20 {
			t.Errorf("counted %d orders, %v, want 20", n, err)
		}
	})
}
