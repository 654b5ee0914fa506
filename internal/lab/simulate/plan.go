package simulate

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// plan is all sources, and which of their targets lie in which partition.
type plan struct {
	sources []*source
	tails   []tail
	borders [][]byte
	parts   []part
}

// tail is the histogram of a tail over hashes: it outlives splits.
type tail struct {
	source *source
	masses []float64 // by bin
	rest   float64   // mass that is spread evenly
}

// part is a partition with what is sent to it.
type part struct {
	targets [][]*target // by class
	shares  []float64   // by class: part of the load's operations, since the last look
	owed    []float64   // by class: operations that have come since it was looked at, up to since
	since   int64
	busy    bool  // looked at in each tick
	seen    int64 // the last tick that was
}

// shift changes how often a target is drawn. Its partition may become busy by that.
func (a *aggregate) shift(t *target, chance float64) {
	p := &a.plan.parts[t.partition]
	a.accrue(p)
	p.shares[t.source.class.number] += t.source.share * (chance - t.chance)
	t.chance = chance
	if !p.busy && p.crowded(a.classes) {
		p.busy = true
		a.busy = append(a.busy, t.partition)
	}
}

// accrue adds what comes to a partition up to now to what it is owed.
func (a *aggregate) accrue(p *part) {
	if a.tick > p.since {
		for i, share := range p.shares {
			p.owed[i] += share * a.classes[i].between(p.since, a.tick, a.length)
		}
		p.since = a.tick
	}
}

// crowded reports whether a partition may refuse something.
func (p *part) crowded(classes []class) bool {
	reads, writes := 0.0, 0.0
	for i, share := range p.shares {
		rate := share * classes[i].highest
		reads += rate * classes[i].reads
		writes += rate * classes[i].writes
	}
	return reads > coolLoad*partitionReads || writes > coolLoad*partitionWrites
}

// waits reports whether a good part of what a partition takes waits for another attempt.
func (p *part) waits() bool {
	const much = 0.05
	units := 0.0
	for _, list := range p.targets {
		for _, t := range list {
			for _, r := range t.waiting {
				if r != nil {
					units += r.sum * t.source.class.units()
				}
			}
		}
	}
	return units > much*partitionWrites
}

// assign finds the partition of each target, and divides tails by partitions. It is called when partitions have changed.
func (a *aggregate) assign(now time.Time) {
	p := &a.plan
	p.borders = a.table.Boundaries(now)
	p.parts = make([]part, len(p.borders)+1)
	for i := range p.parts {
		p.parts[i].seen, p.parts[i].since = a.tick, a.tick
		p.parts[i].owed = make([]float64, len(a.classes))
		p.parts[i].shares = make([]float64, len(a.classes))
		p.parts[i].targets = make([][]*target, len(a.classes))
	}
	for _, s := range p.sources {
		if s.key != "" {
			a.divideKey(s)
		}
	}
	for i := range p.tails {
		p.divideTail(&p.tails[i])
	}
	for _, s := range p.sources {
		for _, t := range s.targets {
			list := &p.parts[t.partition].targets[s.class.number]
			*list = append(*list, t)
		}
	}
}

// divideKey finds the partitions of a key's shards. A shard whose items lie in several partitions becomes several targets.
func (a *aggregate) divideKey(s *source) {
	p := &a.plan
	s.collapse()
	var more []*target
	for _, t := range s.targets {
		t.partition = p.locate(t.place)
		if s.class.Items != scenario.Random || t.partition == len(p.borders) || !bytes.HasPrefix(p.borders[t.partition], t.place[:8]) {
			continue
		}
		counts := map[int]int{}
		for n := range splitSamples {
			item := strconv.AppendUint(slices.Clone(t.place), xxhash.Sum64String(strconv.Itoa(n)), 16)
			counts[p.locate(item)]++
		}
		whole := t.weight
		t.weight = 0
		for at := t.partition; at < len(p.parts) && len(counts) > 0; at++ {
			if n := counts[at]; n > 0 {
				delete(counts, at)
				w := whole * float64(n) / splitSamples
				more = append(more, &target{source: s, shard: t.shard, place: p.borderOr(at, t.place), partition: at, weight: w, chance: w})
			}
		}
	}
	s.targets = append(s.targets, more...)
}

// collapse makes one target of each shard again.
func (s *source) collapse() {
	whole := s.targets[:0]
	for i, t := range s.targets {
		if i > 0 && t.shard <= whole[len(whole)-1].shard {
			first := whole[slices.IndexFunc(whole, func(o *target) bool { return o.shard == t.shard })]
			first.weight += t.weight
			first.chance = first.weight
			first.adopt(t)
			continue
		}
		whole = append(whole, t)
	}
	s.targets = whole
}

// borderOr returns the first place of a partition, if that lies in a key's items, and else a place.
func (p *plan) borderOr(at int, place []byte) []byte {
	if at > 0 && bytes.HasPrefix(p.borders[at-1], place[:8]) {
		return p.borders[at-1]
	}
	return place
}

// locate returns the number of the partition that a place is in.
func (p *plan) locate(place []byte) int {
	at, exact := slices.BinarySearchFunc(p.borders, place, bytes.Compare)
	if exact {
		return at + 1
	}
	return at
}

// divideTail makes a target for each partition that the tail has keys in. What waits is taken over by the partition's first
// target.
func (p *plan) divideTail(t *tail) {
	masses := make([]float64, len(p.parts))
	const width = float64(bins)
	for i := range p.parts {
		lower, upper := 0.0, width
		if i > 0 {
			lower = hashOf(p.borders[i-1]) * width
		}
		if i < len(p.borders) {
			upper = hashOf(p.borders[i]) * width
		}
		masses[i] = t.rest * (upper - lower) / width
		for bin := int(lower); bin < bins && float64(bin) < upper; bin++ {
			inside := min(upper, float64(bin+1)) - max(lower, float64(bin))
			masses[i] += t.masses[bin] * inside
		}
	}
	old := t.source.targets
	t.source.targets = nil
	for i, mass := range masses {
		if mass <= 0 {
			continue
		}
		place := make([]byte, 8)
		if i > 0 {
			copy(place, p.borders[i-1])
		}
		t.source.targets = append(t.source.targets, &target{source: t.source, partition: i, place: place, weight: mass, chance: mass})
	}
	for _, o := range old { // retries under way are few: any place of the tail does
		if len(t.source.targets) > 0 {
			t.source.targets[p.nearest(t.source.targets, o.place)].adopt(o)
		}
	}
}

// nearest returns the target of the partition that a place is in, or the one behind it.
func (p *plan) nearest(list []*target, place []byte) int {
	at := p.locate(place)
	i, _ := slices.BinarySearchFunc(list, at, func(t *target, at int) int { return t.partition - at })
	return min(i, len(list)-1)
}

// adopt takes over what waits for another target.
func (t *target) adopt(o *target) {
	if o.waiting == nil {
		return
	}
	if t.waiting == nil {
		t.waiting = o.waiting
		return
	}
	for i, r := range o.waiting {
		if r == nil {
			continue
		}
		if t.waiting[i] == nil {
			t.waiting[i] = r
			continue
		}
		for tick := r.next; r.sum > 1e-9 && tick < r.next+int64(len(r.slots)); tick++ {
			t.waiting[i].add(r.slots[tick%int64(len(r.slots))], tick, 1)
		}
	}
}

// hashOf returns the hash of a place as a part of all hashes, 0 to 1.
func hashOf(place []byte) float64 {
	var hash [8]byte
	copy(hash[:], place)
	return float64(binary.BigEndian.Uint64(hash[:])) / math.Pow(2, 64)
}

// within returns a place in a partition, by the part of its hashes that lie below it.
func (p *plan) within(at int, part float64) []byte {
	lower, upper := 0.0, 1.0
	if at > 0 {
		lower = hashOf(p.borders[at-1])
	}
	if at < len(p.borders) {
		upper = hashOf(p.borders[at])
	}
	place := binary.BigEndian.AppendUint64(nil, uint64((lower+(upper-lower)*part)*math.Pow(2, 64)))
	if p.locate(place) != at && at > 0 { // rounded, or the partition is a part of one key
		return p.borders[at-1]
	}
	return place
}
