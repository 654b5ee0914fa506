package simulate

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatsink-go/heatsink/internal/place"
)

// coldHeat is what is left of a throttle when the chooser of internal/place forgets it.
const coldHeat = 1.0 / (1 << (place.Memory / place.HalfLife))

// maxViews is how many processes are told apart by what they know of throttled shards. If all knew the same, they would
// leave a shard and come back together.
const maxViews = 16

// views returns how many are. They matter less the more keys there are, and cost more.
func (a *aggregate) views() int {
	if len(a.plan.sources) > 50 {
		return min(a.scenario.Client.Processes, 4)
	}
	return min(a.scenario.Client.Processes, maxViews)
}

// heat tells processes that n requests to a target were throttled. Those that draw it more often see more of them.
func (a *aggregate) heat(t *target, n float64) {
	views := a.views()
	if t.heats == nil {
		t.heats = make([]float64, views)
		t.seen = make([]float64, views)
	}
	sum := 0.0
	for _, chance := range t.seen {
		sum += chance
	}
	for i := range t.heats {
		part := 1 / float64(views)
		if sum > 0 {
			part = t.seen[i] / sum
		}
		t.heats[i] += poisson(a.random, n*part)
	}
	if s := t.source; !s.heated {
		s.heated, s.cooled = true, a.tick
	}
	t.source.fresh = true
}

// calmTicks is how many ticks chances stay as they are while nothing is throttled.
const calmTicks = 10

// cool lets heats decay, and computes with what chance each target is drawn: as place.Chooser does for single writes. A
// first shard is drawn evenly. If it was throttled, a second one is, and the one that was throttled less is taken.
func (a *aggregate) cool(s *source) {
	if !s.avoids || s.key == "" {
		s.heated = false
		return
	}
	if !s.fresh && a.tick < s.cooled+calmTicks {
		return
	}
	decay := math.Exp2(-float64(a.tick-s.cooled) * a.length.Seconds() / place.HalfLife.Seconds())
	s.cooled, s.fresh, s.heated = a.tick, false, false
	order := make([]*target, 0, len(s.targets))
	for _, t := range s.targets {
		for i := range t.heats {
			if t.heats[i] *= decay; t.heats[i] < coldHeat {
				t.heats[i] = 0
			}
			s.heated = s.heated || t.heats[i] > 0
		}
		clear(t.seen)
		if t.weight > 0 {
			t.next = 0
			order = append(order, t)
		}
	}
	for view := range a.views() {
		see(order, view, 1/float64(a.views()))
	}
	for _, t := range order {
		a.shift(t, t.next)
	}
}

// see adds the chances that a process gives to the targets, as a part of those of all.
func see(order []*target, view int, part float64) {
	of := func(t *target) float64 {
		if t.heats == nil {
			return 0
		}
		return t.heats[view]
	}
	slices.SortFunc(order, func(a, b *target) int { return cmp.Or(cmp.Compare(of(a), of(b)), a.shard-b.shard) })
	cold := 0
	for cold < len(order) && of(order[cold]) == 0 {
		cold++
	}
	n := float64(len(order))
	hot, sum := n-float64(cold), 0.0
	chance := func(i int) float64 {
		if i < cold {
			return order[i].weight * (1/n + hot/(n*n))
		}
		return order[i].weight * (1 + 2*float64(len(order)-1-i)) / (n * n)
	}
	for i := range order {
		sum += chance(i)
	}
	for i, t := range order {
		c := chance(i) / sum
		t.next += part * c
		if t.seen != nil {
			t.seen[view] = c
		}
	}
}
