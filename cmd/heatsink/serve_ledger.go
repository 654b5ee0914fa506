package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
	stored "github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// engineLedger returns how the page learns the ledger of a key: from the control item in the engine, of the collection that is named as
// collections are by default. Looking costs no capacity.
func engineLedger(e *engine.Engine) func(context.Context, heat.Resource, string) (heatpage.Ledger, error) {
	return func(ctx context.Context, of heat.Resource, key string) (heatpage.Ledger, error) {
		control := layout.ControlKey{Role: layout.RoleLedger, Collection: cmp.Or(of.Index, "table"), Key: key}
		if control.Validate() != nil {
			return heatpage.Ledger{}, nil // no collection has such a key
		}
		item, err := e.PeekControl(ctx, of.Table, control.String())
		if err != nil || item == nil {
			return heatpage.Ledger{}, err
		}
		var values []stored.Value
		for _, f := range item {
			switch f.Value.Kind {
			case attr.S:
				values = append(values, stored.Value{Name: f.Name, Text: f.Value.Str})
			case attr.N:
				values = append(values, stored.Value{Name: f.Name, Number: true, Text: f.Value.Number().String()})
			}
		}
		r, err := stored.Parse(values)
		if err != nil {
			return heatpage.Ledger{}, fmt.Errorf("the ledger of key %s: %w", printable(key), err)
		}
		return pageLedger(key, r), nil
	}
}

func pageLedger(key string, r stored.Record) heatpage.Ledger {
	l := heatpage.Ledger{Key: key, Width: layout.Width{Write: r.Write, Read: r.Read}, Generation: r.Generation, Frozen: r.Frozen, Why: r.Why, By: r.By}
	if r.At > 0 {
		l.At = time.UnixMilli(r.At).UTC()
	}
	for _, p := range r.Widths() {
		l.History = append(l.History, layout.Width{Write: p.Write, Read: p.Read})
	}
	return l
}
