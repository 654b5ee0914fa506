package heattest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// locate fills in the partitions of keys, which the engine knows: findings then need not infer which keys share one. A table
// that is deleted has none, and neither have keys that Options.Heat redacts.
func (db *DB) locate(ctx context.Context, report *heat.Report) {
	if db.redacted {
		return
	}
	shown := round.Round{Report: *report}
	asked := make(map[string]bool)
	places := make(map[string]map[string]string)
	for i := range report.Resources {
		r := &report.Resources[i]
		if !asked[r.Table] {
			asked[r.Table] = true
			if of, err := db.Partitions(ctx, r.Table, time.Second); err == nil {
				shown.Partitions = append(shown.Partitions, of...)
			}
		}
		var keys []string
		for _, d := range []heat.Direction{heat.Read, heat.Write} {
			for _, k := range r.Flow(d).Keys {
				if len(r.Key) == 1 && round.KeyParts(k.Key, 1) != nil {
					keys = append(keys, k.Key)
				}
			}
		}
		if of, err := db.Places(ctx, r.Resource.String(), keys...); err == nil {
			places[r.Resource.String()] = of
		}
	}
	shown.Locate(places)
	for i := range report.Resources {
		r := &report.Resources[i]
		h := shown.Of(r.Resource)
		if h == nil {
			continue
		}
		for _, d := range []heat.Direction{heat.Read, heat.Write} {
			f := r.Flow(d)
			at := worst(f.Trend)
			for j := range f.Keys {
				f.Keys[j].Partition = at.home(h, shown.Homes[r.Resource.String()][f.Keys[j].Key])
			}
		}
	}
}

// moment is when partitions are looked at.
type moment struct{ time.Time }

// worst returns when the most requests were throttled. Keys that shared a partition then may have been parted by a split.
func worst(trend []heat.Point) moment {
	var worst heat.Point
	for _, p := range trend {
		if p.Throttled > worst.Throttled {
			worst = p
		}
	}
	return moment{worst.From}
}

// home returns the name of the partition that had a key then, "" if there is none. Of a collection that a split has divided it is the
// hottest.
func (m moment) home(h *partitions.Heat, homes []uint64) string {
	var hottest uint64
	heat := -1.0
	for _, p := range h.Partitions {
		if slices.Contains(homes, p.ID) && p.Heat > heat {
			hottest, heat = p.ID, p.Heat
		}
	}
	if hottest == 0 {
		return ""
	}
	for _, split := range slices.Backward(h.Splits) { // the latest first
		if split.At.After(m.Time) && slices.Contains(split.Children[:], hottest) {
			hottest = split.Parent
		}
	}
	return strconv.FormatUint(hottest, 10)
}
