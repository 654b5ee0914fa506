package heat

import (
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/internal/shape"
)

// foldedSet returns the values of the set that a key is one of once shards are folded into their key: of a status of which one value
// is spread, the others are still values of it. It returns nil if the key is no such value, or nothing is spread.
func foldedSet(r *ResourceReport, key string) *Pattern {
	if !slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Sharded }) {
		return nil
	}
	table := newPatternTable()
	spread := make(map[string]bool)
	taken := make(map[string]bool)
	for _, k := range allFolded(r) {
		leaf := table.take([]byte(k.Key), keyHash([]byte(k.Key)), 0, false)
		if weight := k.Units; weight > 0 {
			table.count(leaf, weight)
		} else if !taken[k.Key] {
			table.count(leaf, float64(k.Items))
		}
		taken[k.Key] = true
		spread[k.Key] = spread[k.Key] || k.Shards > 1
	}
	patterns := table.report(Write, true, 0).patterns
	i := slices.IndexFunc(patterns, func(p Pattern) bool {
		return p.has(key) && slices.ContainsFunc(p.Values, func(v PatternValue) bool { return spread[v.Key] })
	})
	if i < 0 {
		return nil
	}
	return &patterns[i]
}

// shareIn returns the share of a key in a set whose values were counted as writes, and whether that is far more than its fair share.
func (e *explainer) shareIn(set *Pattern, key string) (share float64, much bool) {
	values, all := set.by(Write)
	if at := slices.IndexFunc(values, func(v PatternValue) bool { return v.Key == key }); at >= 0 && all > 0 {
		share = values[at].Writes / all
	}
	return share, excess(share, int64(len(values))) >= e.rules.Excess
}

// spreadShape reports whether keys of a shape have shards: their bare keys are first shards then, or older than these. A layout that the
// source was told says so as well.
func spreadShape(r *ResourceReport, p *Pattern) bool {
	for i := range r.Patterns {
		if q := &r.Patterns[i]; q.Sharded && unsharded(q.Shape) == p.Shape {
			return true
		}
	}
	if slices.ContainsFunc(allFolded(r), func(k LogicalKey) bool {
		return k.Shards > 1 && (k.Key == p.Example || shape.Matches(p.Shape, k.Key))
	}) {
		return true
	}
	told := slices.Concat(r.Writes.Sharded, r.Reads.Sharded)
	if r.Stored != nil {
		told = append(told, r.Stored.Sharded...)
	}
	return slices.ContainsFunc(told, func(s Sharded) bool { return s.Layout.bare([]byte(p.Example)) })
}

// unsharded returns the shape of the keys that shards of a shape are of.
func unsharded(shape string) string {
	for _, end := range []string{"#SHARD_{n}", "#SHARD#{n}", "#{n}", ".{n}"} {
		if whole, ok := strings.CutSuffix(shape, end); ok {
			return whole
		}
	}
	return shape
}

// distinctFolded returns the number of keys of a flow with shards folded into their key, as far as they are known.
func distinctFolded(f *Flow) int64 {
	n := f.Distinct.Keys
	for _, k := range f.Folded() {
		if k.Shards > 1 {
			n -= int64(k.Shards - 1)
		}
	}
	return max(n, 1)
}

// adaptive reports whether a stored key is one of an adaptive collection, as far as the report tells. Such a key gets no fixed layout: it
// would hide its items.
func (e *explainer) adaptive(r *ResourceReport, key string) bool {
	name, ok := logicalOf(foldLayouts(r.Writes.Sharded), key)
	if !ok {
		name = key
	}
	if slices.ContainsFunc(e.report.Decisions, func(d Decision) bool { return d.Resource == r.Resource && d.Key == name }) {
		return true
	}
	return hasControl(r) && (isBareShard(allFolded(r), name) || growsAsTold(r, name))
}

// growing is the remedy for a key of an adaptive collection.
const growing = "leave its layout as it is: the key gets shards by itself where they help; if it stays throttled, ask heatsink ledger show whether it is " +
	"frozen or at its maximum, and check that all writers have Options.Adaptive"

// coolShard reports whether a key is a shard by its name, or a bare key beside its shards, and not hot. It is spread already: a counter
// that one process writes has all of its traffic in one shard.
func (e *explainer) coolShard(flow *Flow, k *KeyHeat, d Direction, shape string) bool {
	return e.verdict(k, d) == judge.Cool && (sharded(shape) || shardName(k.Key) || isBareShard(flow.Folded(), k.Key))
}
