package heat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/shape"
)

// shapeIn returns the shape of a key as its source has learnt it. Where the source does not say, the looks of the key tell.
func shapeIn(r *ResourceReport, key string) string {
	for _, d := range [...]Direction{Write, Read} {
		keys := r.Flow(d).Keys
		if i := slices.IndexFunc(keys, func(k KeyHeat) bool { return k.Key == key && k.Shape != "" }); i >= 0 {
			return keys[i].Shape
		}
	}
	if s := r.Stored; s != nil {
		if i := slices.IndexFunc(s.Keys, func(k KeyItems) bool { return k.Key == key && k.Shape != "" }); i >= 0 {
			return s.Keys[i].Shape
		}
	}
	looks := shape.Of([]byte(key))
	if slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Shape == looks }) {
		return looks
	}
	for _, p := range r.Patterns {
		if p.has(key) || shape.Matches(p.Shape, key) {
			return p.Shape
		}
	}
	return looks
}

// has reports whether a key is one of the values of a pattern.
func (p *Pattern) has(key string) bool {
	return slices.ContainsFunc(p.Values, func(v PatternValue) bool { return v.Key == key })
}

// varies reports whether keys of a shape are many. The values of a small set are few.
func varies(shape string) bool {
	return strings.Contains(strings.ReplaceAll(shape, valuePlace, ""), "{")
}

// valuePlace stands for one value of a small set in a shape.
const valuePlace = "{value}"

// timeOnly reports whether nothing but the time varies in keys of a shape.
func timeOnly(text string) bool {
	rest, times := text, 0
	for _, name := range shape.Times {
		times += strings.Count(rest, name)
		rest = strings.ReplaceAll(rest, name, "")
	}
	return times > 0 && !varies(rest)
}

// sharded reports whether keys of a shape end in a shard.
func sharded(shape string) bool {
	return strings.HasSuffix(shape, "SHARD_{n}") || strings.HasSuffix(shape, "SHARD#{n}") ||
		timeOnly(strings.TrimSuffix(shape, "#{n}")) && strings.HasSuffix(shape, "#{n}") ||
		timeOnly(strings.TrimSuffix(shape, ".{n}")) && strings.HasSuffix(shape, ".{n}")
}

// shardName reports whether a key is spelt as a shard is by default, such as VIEWS#SHARD_4. A shape tells only where several
// shards were seen.
func shardName(key string) bool {
	at := strings.LastIndex(key, "#SHARD_")
	if at < 1 {
		return false
	}
	_, err := strconv.ParseUint(key[at+len("#SHARD_"):], 10, 16)
	return err == nil
}

// learn fills in the patterns and the shapes of keys that a source has not learnt, such as Contributor Insights, from the
// keys that it lists.
func (r *ResourceReport) learn() {
	if len(r.Patterns) > 0 || len(r.Writes.Keys)+len(r.Reads.Keys) < 2 {
		return
	}
	var patterns [2][]Pattern
	for _, d := range [...]Direction{Read, Write} {
		flow := r.Flow(d)
		table := newPatternTable()
		leaves := make([]int32, len(flow.Keys))
		for i, k := range flow.Keys {
			leaves[i] = table.take([]byte(k.Key), keyHash([]byte(k.Key)), 0, false)
			table.count(leaves[i], max(k.Units, float64(k.Requests)))
		}
		learnt := table.report(d, true, 0)
		patterns[d] = learnt.patterns
		flow.Keys = slices.Clone(flow.Keys)
		for i := range flow.Keys {
			flow.Keys[i].Shape = learnt.of(leaves[i])
		}
	}
	r.Patterns = mergePatterns(patterns[Read], patterns[Write])
}
