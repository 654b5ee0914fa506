package simulate

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/layout"
)

// source is what sends operations in mode aggregate: one key that is important enough to be followed, or all others of a
// load together.
type source struct {
	class   *class
	key     string         // "" for a tail
	head    *scenario.Head // nil for a key of the tail, and for a tail
	part    float64        // of the load's tail; without a head
	avoids  bool           // retries go to other shards, and throttled ones are avoided
	targets []*target
	width   int     // shards
	share   float64 // of the load's operations, since the last look
	cooled  int64   // the tick of the last cool
	fresh   bool    // throttled since then
	heated  bool    // some target was throttled lately
}

// setShare finds the part of the load's operations between two times that the source has.
func (s *source) setShare(from, to time.Duration) {
	switch {
	case s.head == nil:
		s.share = s.part * s.class.part * s.class.tail
	default:
		s.share = s.class.part * s.class.mean(from, to, s.head.Active)
	}
}

// target is a shard of a key, or the part of a tail that lies in a partition.
type target struct {
	source    *source
	shard     int
	place     []byte
	partition int
	weight    float64   // of the source, with which it is drawn if nothing is throttled
	chance    float64   // with which it is drawn now
	next      float64   // the chance that is being computed
	heats     []float64 // by view: throttled requests, each losing half of its value in two seconds; nil: none
	seen      []float64 // by view: chance
	waiting   []*ring   // by attempt that is due, from the second on
}

// The limits of what is followed by itself.
const (
	maxFollowed  = 2_000     // keys
	leastRate    = 100       // units per second that make a key worth it
	maxSpelled   = 4_000_000 // shard keys of a tail that are spelled and hashed; the rest is taken to be even
	bins         = 1 << 20   // of hashes, for tails
	splitSamples = 64        // places by which a key is divided that lies in several partitions
)

// follow makes the sources of a run.
func (a *aggregate) follow(now time.Time) {
	a.plan = plan{}
	for i := range a.classes {
		a.followClass(&a.classes[i], now)
	}
}

// followClass makes sources of named keys, of the first ranks of a tail, and of its rest.
func (a *aggregate) followClass(c *class, now time.Time) {
	for h := range c.keys.Heads {
		head := &c.keys.Heads[h]
		a.addKey(&source{class: c, key: head.Key(now), head: head}, now)
	}
	t := &c.keys.Tail
	if t.Count == 0 {
		return
	}
	if c.entry > 0 { // as that of the first entry, which stands before it
		a.repeatTail(c, now)
		return
	}
	peak := c.Peak() * c.factor * c.units()
	rank, left := int64(0), 1.0
	for ; rank < t.Count && len(a.plan.sources) < maxFollowed && peak*t.Share(rank) >= leastRate; rank++ {
		left -= t.Share(rank)
		a.addKey(&source{class: c, key: t.Name(rank), part: t.Share(rank)}, now)
	}
	if rank < t.Count {
		a.addTail(c, rank, max(left, 0), now)
	}
}

// repeatTail adds the tail of the first class of a load for another entry.
func (a *aggregate) repeatTail(c *class, now time.Time) {
	for _, s := range slices.Clone(a.plan.sources) {
		if s.class.load == c.load && s.class.entry == 0 && s.head == nil && s.key != "" {
			a.addKey(&source{class: c, key: s.key, part: s.part}, now)
		}
	}
	for _, t := range slices.Clone(a.plan.tails) {
		if t.source.class.load == c.load && t.source.class.entry == 0 {
			t.source = &source{class: c, part: t.source.part, avoids: t.source.avoids}
			a.plan.tails = append(a.plan.tails, t)
			a.plan.sources = append(a.plan.sources, t.source)
		}
	}
}

// addKey adds a source of one key with its shards.
func (a *aggregate) addKey(s *source, now time.Time) {
	a.setShards(s, now)
	a.plan.sources = append(a.plan.sources, s)
}

// setShards gives a source of one key its targets.
func (a *aggregate) setShards(s *source, now time.Time) {
	l := a.layout
	if a.fleet != nil {
		l.Shards = a.fleet.width(s.key)
	}
	n := max(l.Shards, 1)
	s.width = n
	s.avoids = a.avoids() && n > 1
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1 / float64(n)
	}
	if l.Strategy == layout.Calculated && l.Shards > 0 {
		weights = a.weightsOf(&l)
	}
	old := s.targets
	s.targets = nil
	for shard, w := range weights {
		if shard < len(old) { // what waits for it stays
			old[shard].weight, old[shard].chance = w, w
			s.targets = append(s.targets, old[shard])
			continue
		}
		place := a.spell(nil, &l, s.key, now, shard, nil)
		s.targets = append(s.targets, &target{source: s, shard: shard, place: place, weight: w, chance: w})
	}
}

// weightsOf returns the part of the ids that each shard gets. It is the same for all keys.
func (a *aggregate) weightsOf(l *layout.Layout) []float64 {
	if a.weights == nil {
		a.weights = calculated(l)
	}
	return a.weights
}

// calculated returns the part of the ids that each shard gets.
func calculated(l *layout.Layout) []float64 {
	const ids = 100_000
	weights := make([]float64, l.Shards)
	for n := range ids {
		weights[l.Shard(sampleID(n))] += 1.0 / ids
	}
	return weights
}

// addTail adds the keys of a tail from a rank on as one source.
func (a *aggregate) addTail(c *class, first int64, part float64, now time.Time) {
	s := &source{class: c, part: part}
	shards := max(a.layout.Shards, 1)
	if a.fleet != nil {
		shards = 1 // only keys that are followed can grow
	}
	s.avoids = a.avoids() && shards > 1
	t := tail{source: s, masses: make([]float64, bins), rest: 1}
	spelled := a.layout
	if a.fleet != nil {
		spelled.Shards = 1
	}
	keys := &c.keys.Tail
	last := min(keys.Count, first+int64(maxSpelled/shards))
	var place []byte
	for rank := first; rank < last; rank++ {
		mass := keys.Share(rank) / part
		t.rest -= mass
		if rank%(1<<16) == 0 && a.ended() {
			return
		}
		name := keys.Name(rank)
		for shard := range shards {
			place = a.spell(place[:0], &spelled, name, now, shard, nil)
			t.masses[binary.BigEndian.Uint64(place)>>44] += mass / float64(shards)
		}
	}
	t.rest = max(t.rest, 0)
	if last == keys.Count {
		t.rest = 0
	}
	a.plan.tails = append(a.plan.tails, t)
	a.plan.sources = append(a.plan.sources, s)
}

// itemOf returns the place of an item of a target, as its load has them now.
func (a *aggregate) itemOf(t *target) []byte {
	if t.source.key == "" {
		return a.plan.within(t.partition, a.random.Float64())
	}
	place := slices.Clone(t.place)
	switch t.source.class.Items {
	case scenario.Rising:
		return a.now().AppendFormat(place, "2006-01-02T15:04:05.000000000Z")
	case scenario.Random:
		if at := strconv.AppendUint(place, a.random.Uint64(), 16); a.plan.locate(at) == t.partition {
			return at
		}
	}
	return place
}
