package console

import (
	"slices"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// defaultFormats are how heatsink spells shards unless told otherwise: {key}#SHARD_{shard} and {key}#SHARD#{shard}.
func defaultFormats() []layout.Format { return []layout.Format{{}, layout.SharpNumber()} }

// entry is a key as it is stored, with what it takes.
type entry struct {
	key           string
	rate, refused float64
	share         float64
	reason        string
	homes         []uint64
}

// logical is a key as programs have it: with its shards, or alone.
type logical struct {
	entry
	shards  []entry // nil if it has none
	sharded bool    // one of the entries names a shard
	most    float64 // refused requests a second of the entry that gave the reason
}

// newEntry is a key of a report.
func newEntry(k *heat.KeyHeat, homes map[string][]uint64) entry {
	return entry{k.Key, max(k.Consumed, k.Second), k.Refused, k.Share, k.Reason, homes[k.Key]}
}

// fold makes logical keys of stored ones. A bare key beside shards is one of them, in whatever order they come.
func fold(entries []entry, formats []layout.Format) []logical {
	var keys []logical
	places := make(map[string]int)
	for _, e := range entries {
		key, sharded := logicalKey(e.key, formats)
		i, known := places[key]
		if !known {
			i = len(keys)
			places[key] = i
			keys = append(keys, logical{entry: entry{key: key, homes: e.homes}})
		}
		keys[i].add(e, sharded)
	}
	for i := range keys {
		if !keys[i].sharded {
			keys[i].shards = nil
		}
	}
	return keys
}

// add adds a shard, or the key itself.
func (l *logical) add(e entry, sharded bool) {
	if e.refused > 0 && (l.reason == "" || e.refused > l.most) {
		l.reason, l.most = e.reason, e.refused
	}
	l.rate += e.rate
	l.refused += e.refused
	l.share += e.share
	l.sharded = l.sharded || sharded
	l.shards = append(l.shards, e)
}

// fullest returns the share of the key's units that its fullest shard takes.
func (l *logical) fullest() float64 {
	if l.rate <= 0 || len(l.shards) == 0 {
		return 0
	}
	most := slices.MaxFunc(l.shards, func(a, b entry) int {
		if a.rate < b.rate {
			return -1
		}
		return 1
	})
	return most.rate / l.rate
}

// logicalKey returns a key without its shard, and whether it has one.
func logicalKey(key string, formats []layout.Format) (string, bool) {
	for _, f := range formats {
		l := layout.Layout{Shards: layout.MaxShards, Format: f}
		if whole, _, ok := l.CutShard([]byte(key)); ok && len(whole) > 0 {
			return string(whole), true
		}
	}
	return key, false
}

// within returns the entries that are in a partition.
func within(entries []entry, id uint64) []entry {
	var found []entry
	for _, e := range entries {
		if slices.Contains(e.homes, id) {
			found = append(found, e)
		}
	}
	return found
}
