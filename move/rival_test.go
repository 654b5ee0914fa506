package move_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// A move of all keys is refused if another collection has keys in the table, because it would take that one's items. Single keys move.
func TestMoveByIDLeavesOtherCollections(t *testing.T) {
	for name, test := range map[string]struct {
		mine, other   string
		aside         bool // the control items are in a table of their own
		index, widths bool
		prefix        bool
		elsewhere     bool // the other collection is in another table
		arn           bool // the other collection names the table by its ARN
		refused       bool
	}{
		"two names":                      {mine: "a", other: "b", refused: true},
		"the default name and another":   {mine: "", other: "b", refused: true},
		"a name and the default one":     {mine: "a", other: "", refused: true},
		"two names in a control table":   {mine: "a", other: "b", aside: true, refused: true},
		"a table by its ARN":             {mine: "a", other: "b", aside: true, arn: true, refused: true},
		"another table":                  {mine: "a", other: "b", aside: true, elsewhere: true},
		"a collection of an index":       {mine: "", other: "", index: true},
		"single keys of a shared table":  {mine: "a", other: "b", widths: true},
		"single keys of a control table": {mine: "a", other: "b", widths: true, aside: true},
		"a prefix of a shared table":     {mine: "a", other: "b", prefix: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t, indexed("ALL"))
				mine, other := users(bare), users(bare)
				mine.Name, other.Name = test.mine, test.other
				if test.index {
					other.Movable, other.Recorded = false, true
					other.Index = heatsink.Index{Name: "byGroup", PartitionKey: "group"}
				}
				if test.aside {
					if err := heatsink.SetupControlTable(t.Context(), x.client, "control"); err != nil {
						t.Fatal(err)
					}
					mine.ControlTable, other.ControlTable = "control", "control"
				}
				if test.elsewhere {
					other.Table = "others"
					if err := x.db.CreateTable(t.Context(), "others", "pk", "sk"); err != nil {
						t.Fatal(err)
					}
				}
				if test.arn {
					other.Table = "arn:aws:dynamodb:us-east-1:000000000000:table/" + mine.Table
				}
				open := func(o heatsink.Options) *heatsink.Collection[user] {
					c, err := heatsink.Open[user](x.client, o)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				a, b := open(mine), open(other)
				for i := range 10 {
					_, failed := a.Put(t.Context(), user{Key: "ACTIVE", ID: fmt.Sprint(i)})
					_, err := b.Put(t.Context(), user{Key: "IDLE", ID: fmt.Sprint(i), Group: "g"})
					if err != nil || failed != nil {
						t.Fatal(failed, err)
					}
				}
				o := move.Options{Collection: mine, To: eight}
				if test.widths {
					o.To, o.Widths = layout.Layout{}, map[string]int{"ACTIVE": 8}
				}
				if test.prefix {
					o.To, o.Prefixes = layout.Layout{}, map[string]int{"ACT": 8}
				}
				m := x.mover(o)
				_, planned := m.Plan(t.Context())
				result, err := m.Run(t.Context())
				if !test.refused {
					if planned != nil || err != nil || result.Moved == 0 {
						t.Fatalf("plan: %v; run: %+v, %v", planned, result, err)
					}
				}
				for _, err := range []error{planned, err} {
					if test.refused && (!errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "--keys") || !strings.Contains(err.Error(), "--prefix")) {
						t.Errorf("got %v, want ErrUnsupported that says --keys and --prefix", err)
					}
				}
				if test.index {
					return // its items are found by the group, which does not move
				}
				if n, err := b.Count(t.Context(), heatsink.Query{Key: "IDLE"}); err != nil || n != 10 {
					t.Errorf("the other collection has %d items, %v", n, err)
				}
			})
		})
	}
}
