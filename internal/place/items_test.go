package place

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/attribute/attributetest"
	"github.com/heatsink-go/heatsink/layout"
)

// options are those of a collection with keys pk and sk.
type options struct {
	Index          string
	TableKey       []string
	ShardAttribute string
	Layout         layout.Layout
	Older          []layout.Layout
	Widths         layout.Widths
	ShardBy        []string
	EventTime      EventTime
}

func schemaOf(o options) *Schema {
	return New(Schema{
		Keys:    Keys{PartitionKey: "pk", SortKey: "sk", Index: o.Index, TableKey: o.TableKey, ShardAttribute: o.ShardAttribute},
		Spread:  Spread{Layout: o.Layout, Older: o.Older, Widths: o.Widths},
		ShardBy: o.ShardBy, EventTime: o.EventTime,
	})
}

func placerOf(o options) *Placer { return NewPlacer(schemaOf(o), NewChooser(nil)) }

// sv, nv and ov make attribute values and items: ov("pk", "a", "n", 1).
var (
	sv = attributetest.Text
	nv = attributetest.Int
	ov = attributetest.Item
)

// wantItem fails unless two items are the same.
func wantItem(t *testing.T, what string, got, want Item) {
	t.Helper()
	if !attribute.Same(got, want) {
		t.Errorf("%s: got %s, want %s", what, showItem(got), showItem(want))
	}
}

func showItem(item Item) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, fmt.Sprintf("%s:%s", name, attribute.Describe(item[name])))
	}
	return "{" + strings.Join(parts, " ") + "}"
}
