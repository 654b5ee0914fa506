package console

import (
	"slices"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/round"
)

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
	shards []entry // nil if it has none
	most   float64 // refused requests a second of the entry that gave the reason
}

// newEntry is a key of a report.
func newEntry(k *heat.KeyHeat, homes map[string][]uint64) entry {
	return entry{k.Key, max(k.Consumed, k.Second), k.Refused, k.Share, k.Reason, homes[k.Key]}
}

// fold makes logical keys of stored ones. A bare key beside shards is a key of its own.
func fold(entries []entry, name round.Naming) []logical {
	type place struct {
		key   string
		shard bool
	}
	var keys []logical
	places := make(map[place]int)
	for _, e := range entries {
		key, shard := name(e.key)
		i, known := places[place{key, shard}]
		if !known {
			i = len(keys)
			places[place{key, shard}] = i
			keys = append(keys, logical{entry: entry{key: key, homes: e.homes}})
		}
		keys[i].add(e, shard)
	}
	return keys
}

// add adds a shard, or the key itself.
func (l *logical) add(e entry, shard bool) {
	if e.reason != "" && (e.refused > l.most || e.refused == l.most && e.reason < l.reason) {
		l.reason, l.most = e.reason, e.refused
	}
	l.rate += e.rate
	l.refused += e.refused
	l.share += e.share
	if shard {
		l.shards = append(l.shards, e)
	}
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
