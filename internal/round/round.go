// Package round holds what is shown of heat at a time, on the screen of heatsink top and on the page: a report, the partitions
// behind it, and which keys are in which of them.
package round

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/sketch"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Round is what is shown at a time.
type Round struct {
	heat.Report
	Partitions []partitions.Heat `json:"partitions,omitempty"` // of an engine that reports them

	// Homes are the ids of the partitions of keys, by the name of the table or index and by the key. A key whose
	// collection was split has several, and a key that the engine cannot place has none.
	Homes map[string]map[string][]uint64 `json:"-"`

	// Ledgers are those of keys of adaptive collections, by the name of the table or index.
	Ledgers map[string][]Ledger `json:"-"`
}

// Locate fills Homes from the places of keys, which are bounds as partitions.Partition has them. The report learns which partition
// holds a key, where it does not know and there is one: findings tell neighbours by that.
func (r *Round) Locate(places map[string]map[string]string) {
	r.Homes = make(map[string]map[string][]uint64)
	for i := range r.Partitions {
		h := &r.Partitions[i]
		name := heat.Resource{Table: h.Table, Index: h.Index}.String()
		homes := make(map[string][]uint64)
		for key, place := range places[name] {
			homes[key] = homesOf(h, place)
		}
		r.Homes[name] = homes
	}
	for i := range r.Resources {
		of := &r.Resources[i]
		homes := r.Homes[of.Resource.String()]
		for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
			keys := of.Flow(d).Keys
			for j := range keys {
				if home := homes[keys[j].Key]; keys[j].Partition == "" && len(home) == 1 {
					keys[j].Partition = strconv.FormatUint(home[0], 10)
				}
			}
		}
	}
}

// homesOf returns the partitions that have some of a collection. Its items begin with its place, so that a bound that begins
// with it runs through the collection.
func homesOf(h *partitions.Heat, place string) []uint64 {
	var ids []uint64
	for _, p := range h.Partitions {
		begins := p.Lower <= place || strings.HasPrefix(p.Lower, place)
		if begins && (p.Upper == "" || p.Upper > place) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// Of returns the partitions of a table or index, nil if nobody reports them.
func (r *Round) Of(of heat.Resource) *partitions.Heat {
	i := slices.IndexFunc(r.Partitions, func(h partitions.Heat) bool { return h.Table == of.Table && h.Index == of.Index })
	if i < 0 || len(r.Partitions[i].Partitions) == 0 {
		return nil
	}
	return &r.Partitions[i]
}

// Redact replaces the keys of a round. It leaves out what could tell them: the bounds of partitions, and what ledgers say in words.
func (r *Round) Redact(redact func(dst, key []byte) []byte) {
	r.Report.Redact(redact)
	for name, of := range r.Homes {
		hidden := make(map[string][]uint64, len(of))
		for key, homes := range of {
			hidden[string(redact(nil, []byte(key)))] = homes
		}
		r.Homes[name] = hidden
	}
	for _, of := range r.Ledgers {
		for i := range of {
			of[i].Key = string(redact(nil, []byte(of[i].Key)))
			of[i].Why, of[i].By = "", "" // they may name the key
		}
	}
	for i := range r.Partitions {
		hidePlaces(&r.Partitions[i])
	}
}

func hidePlaces(h *partitions.Heat) {
	for i := range h.Partitions {
		h.Partitions[i].Lower, h.Partitions[i].Upper = "", ""
	}
	for i := range h.Splits {
		h.Splits[i].Point = ""
	}
}

// Limit returns the units a second that one partition serves: as the engine says, or else the report.
func (r *Round) Limit(of heat.Resource, d heat.Direction) float64 {
	if h := r.Of(of); h != nil {
		if limit := map[heat.Direction]int64{heat.Read: h.PartitionReads, heat.Write: h.PartitionWrites}[d]; limit > 0 {
			return float64(limit)
		}
	}
	return r.Report.Limit(d)
}

// LastSecond returns the last whole second of a trend, empty if nothing happened in it.
func LastSecond(trend []heat.Point, now time.Time) heat.Point {
	return lastWhole(trend, now, func(p heat.Point) time.Time { return p.From })
}

// LastWhole returns the last whole second of a partition, empty if nothing happened in it.
func LastWhole(seconds []partitions.Second, now time.Time) partitions.Second {
	return lastWhole(seconds, now, func(s partitions.Second) time.Time { return s.Start })
}

// Recent is the time that is shown where single seconds would not do: requests of a few seconds ago still count.
const Recent = 10 * time.Second

// Lately returns the units and the throttles a second of the last whole second or, if nothing happened in it, of Recent: the
// rates of keys are of some seconds, too.
func Lately(trend []heat.Point, now time.Time) (units, throttled float64) {
	if last := LastSecond(trend, now); last.Units > 0 || last.Throttled > 0 {
		return last.Units, float64(last.Throttled)
	}
	for _, p := range trend {
		if p.For <= time.Second && p.From.After(now.Add(-Recent)) {
			units += p.Units
			throttled += float64(p.Throttled)
		}
	}
	return units / Recent.Seconds(), throttled / Recent.Seconds()
}

// Busiest returns the second of Recent in which a partition was closest to its limits, throttles included; empty if nothing
// happened.
func Busiest(seconds []partitions.Second, now time.Time, writes, reads int64) (most partitions.Second) {
	load := func(s *partitions.Second) float64 {
		return max((s.WriteUnits+s.WriteThrottled)/float64(max(1, writes)), (s.ReadUnits+s.ReadThrottled)/float64(max(1, reads)))
	}
	for i := range seconds {
		if s := &seconds[i]; s.Start.After(now.Add(-Recent)) && load(s) > load(&most) {
			most = *s
		}
	}
	return most
}

func lastWhole[S any](seconds []S, now time.Time, start func(S) time.Time) (none S) {
	second := now.Truncate(time.Second).Add(-time.Second)
	for _, s := range slices.Backward(seconds) {
		if start(s).Equal(second) {
			return s
		}
	}
	return none
}

// Flow is a direction of a table or index that had traffic.
type Flow struct {
	*heat.ResourceReport
	heat.Direction
	Limit float64 // units a second of one partition
}

// Name returns the table or index and the direction, as in "orders/byStatus writes".
func (f *Flow) Name() string { return f.Resource.String() + " " + f.Direction.String() + "s" }

// Flows returns the throttled flows first, and the table before its indexes.
func (r *Round) Flows() []Flow {
	var flows []Flow
	for i := range r.Resources {
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			if f := r.Resources[i].Flow(d); f.Requests > 0 || f.Units > 0 || f.Throttled > 0 {
				flows = append(flows, Flow{&r.Resources[i], d, r.Limit(r.Resources[i].Resource, d)})
			}
		}
	}
	refused := func(f Flow) bool { return LastSecond(f.Flow(f.Direction).Trend, r.To).Throttled > 0 }
	slices.SortStableFunc(flows, func(a, b Flow) int {
		switch x, y := refused(a), refused(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return flows
}

// KeyParts returns the values of a key in a report, nil if the text does not tell them: it was cut, or the values of several
// attributes have a "|" of their own.
func KeyParts(key string, attributes int) []string {
	if cut := len(key) - len("…12345678"); cut > 0 && len(key) > sketch.MaxText-utf8.UTFMax && strings.HasPrefix(key[cut:], "…") {
		return nil
	}
	if attributes == 1 {
		return []string{key}
	}
	if parts := strings.Split(key, "|"); len(parts) == attributes {
		return parts
	}
	return nil
}
