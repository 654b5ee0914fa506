package heatpage

import (
	"context"
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Engine is an engine that knows its partitions, as *local.DB does.
type Engine interface {
	Partitions(ctx context.Context, table string, lately time.Duration) ([]partitions.Heat, error)
	Places(ctx context.Context, table string, keys ...string) (map[string]string, error)
}

// lookBack is how far back a round looks, so that a late one misses no second.
const lookBack = 10 * time.Second

// OfEngine is Of for a recorder whose clients are of one local engine. The page then also shows partitions, and keys inside
// them, if the engine has physics.
func OfEngine(recorder *heat.Recorder, engine Engine) func(context.Context) (Round, error) {
	return func(ctx context.Context) (Round, error) {
		r := Round{Report: recorder.Report()}
		places := make(map[string]map[string]string)
		asked := make(map[string]bool)
		var faults []error
		for i := range r.Resources {
			of := &r.Resources[i]
			if !asked[of.Table] {
				asked[of.Table] = true
				list, err := engine.Partitions(ctx, of.Table, lookBack)
				if err != nil {
					faults = append(faults, err)
					continue
				}
				r.Partitions = append(r.Partitions, list...)
			}
			if found, err := engine.Places(ctx, of.String(), placed(of)...); err == nil {
				places[of.String()] = found
			}
		}
		if len(faults) > 0 && len(faults) == len(asked) {
			return r, errors.Join(faults...)
		}
		r.Locate(places) // a table that was deleted is shown without partitions
		return r, nil
	}
}

// placed returns the keys of a report that an engine can place: those of one attribute, which were not cut.
func placed(of *heat.ResourceReport) []string {
	if len(of.Key) != 1 {
		return nil
	}
	var keys []string
	for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
		for _, k := range of.Flow(d).Keys {
			if round.KeyParts(k.Key, 1) != nil {
				keys = append(keys, k.Key)
			}
		}
	}
	return keys
}
