package heat

import (
	"cmp"
	"slices"
)

// peaks remembers the keys that were busiest at some time, whatever came after: those that decay would let go. nil
// remembers nothing.
type peaks struct {
	keys []peak // in no order
}

// peak is a key when it was busiest.
type peak struct {
	hash uint64
	text string
	keyCount
}

// mostPeaks is how many keys are remembered.
const mostPeaks = 32

// higher is by how much a key must be busier than it was, or than the least busy of the others, to be noted: one that
// gets hotter all the time is noted now and then.
const higher = 1.05

// note notes a key, if it is busy enough.
func (p *peaks) note(hash uint64, k *keyCount, text func() string) {
	if p == nil {
		return
	}
	i := slices.IndexFunc(p.keys, func(known peak) bool { return known.hash == hash })
	if i < 0 {
		if len(p.keys) < mostPeaks {
			p.keys = append(p.keys, peak{hash, text(), *k})
			return
		}
		i = p.least()
		if k.busiest > higher*p.keys[i].busiest {
			p.keys[i] = peak{hash, text(), *k}
		}
		return
	}
	if k.busiest > higher*p.keys[i].busiest {
		p.keys[i].keyCount = *k
	}
}

func (p *peaks) least() int {
	least := 0
	for i := range p.keys {
		if p.keys[i].busiest < p.keys[least].busiest {
			least = i
		}
	}
	return least
}

// add adds to a list of keys those that it lacks, the busiest first.
func (p *peaks) add(keys []KeyHeat, learnt *shapes) []KeyHeat {
	if p == nil {
		return keys
	}
	for _, was := range slices.SortedFunc(slices.Values(p.keys), func(a, b peak) int {
		return cmp.Or(cmp.Compare(b.busiest, a.busiest), cmp.Compare(a.text, b.text))
	}) {
		if !slices.ContainsFunc(keys, func(k KeyHeat) bool { return k.Key == was.text }) {
			keys = append(keys, KeyHeat{
				Key: was.text, Units: was.units, Low: was.units, Busiest: was.busiest,
				Requests: was.requests, Throttled: was.throttled, Reason: was.reason, Items: was.items.Count(),
				Shape: learnt.of(was.pattern - 1), Partition: partitionName(was.partition),
			})
		}
	}
	return keys
}
