package main

import (
	"context"

	"github.com/heatsink-go/heatsink/internal/proof/engine/scale"
)

// showScale measures what many items cost.
func showScale(ctx context.Context, p *proof) error {
	figures, err := scale.Measure(ctx, scale.Options{Dir: p.work, Items: p.items})
	for _, f := range figures {
		p.Must(f.What, f.After, f.Want, f.Holds)
	}
	return err
}
