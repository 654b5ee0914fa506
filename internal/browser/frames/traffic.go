package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/local/partitions"
)

const (
	history = time.Hour
	parts   = 100  // partitions of the table
	leap    = 30   // seconds between the rounds of the history
	old     = 2000 // keys of the rounds that are older than five minutes: the page keeps no more of them
)

// traffic is a source in a time of its own: an hour at once, then a second for each time that next is called.
type traffic struct {
	keys     []string
	begun    time.Time
	now      time.Time
	rounds   int
	ready    chan struct{} // closed when the hour is told
	released chan struct{} // one for each round that may be told after it
}

func newTraffic(keys int) *traffic {
	begun := time.Now().Add(-history).Truncate(time.Second)
	t := &traffic{begun: begun, now: begun, ready: make(chan struct{}), released: make(chan struct{}, 1)}
	for i := range keys {
		t.keys = append(t.keys, fmt.Sprintf("CUSTOMER#%05d", i))
	}
	return t
}

// round is the source of the page.
func (t *traffic) round(ctx context.Context) (heatpage.Round, error) {
	step := leap
	if t.rounds++; t.rounds > int(history/time.Second)/leap {
		if step = 1; t.rounds == int(history/time.Second)/leap+1 {
			close(t.ready)
		}
		select {
		case <-t.released:
		case <-ctx.Done():
			return heatpage.Round{}, ctx.Err()
		}
	}
	t.now = t.now.Add(time.Duration(step) * time.Second)
	return t.seen(), nil
}

// rate is how many units a second a key takes: few take much, and each wanders a little.
func (t *traffic) rate(i int) float64 {
	return 3000/math.Pow(float64(i+3), 0.8)*(1+0.3*math.Sin(float64(i)+float64(t.now.Unix())/20)) + 0.5
}

// seen is what a recorder and an engine would tell.
func (t *traffic) seen() heatpage.Round {
	elapsed := t.now.Sub(t.begun).Seconds()
	flow := heat.Flow{Requests: 1, Distinct: heat.Distinct{Keys: int64(len(t.keys))}}
	homes, served := make(map[string][]uint64, len(t.keys)), make([]float64, parts)
	keys := t.keys
	if time.Duration(t.rounds*leap)*time.Second < history-5*time.Minute {
		keys = keys[:min(old, len(keys))]
	}
	for i, key := range keys {
		rate := t.rate(i)
		k := heat.KeyHeat{Key: key, Low: math.Round(elapsed) * math.Round(3000/math.Pow(float64(i+3), 0.8)+1), Second: rate, RateLow: rate, Rate: rate * 1.01, Share: rate / 100_000}
		if rate > 900 {
			k.Refused, k.Throttled = rate-900, int64(elapsed)
		}
		flow.Units += k.Low
		flow.Keys = append(flow.Keys, k)
		home := uint64(i*7919%parts) + 1
		homes[key] = []uint64{home}
		served[home-1] += min(rate, 900)
	}
	r := heatpage.Round{Report: heat.Report{Source: heat.Engine, To: t.now, Resources: []heat.ResourceReport{{Resource: heat.Resource{Table: "orders"}, Writes: flow}}}}
	h := partitions.Heat{Table: "orders", PartitionWrites: 1000, PartitionReads: 3000}
	for i, units := range served {
		p := partitions.Partition{ID: uint64(i) + 1}
		for s := range leap {
			p.Seconds = append(p.Seconds, partitions.Second{Start: t.now.Add(time.Duration(s-leap) * time.Second), WriteUnits: units})
		}
		h.Partitions = append(h.Partitions, p)
	}
	r.Partitions = []partitions.Heat{h}
	r.Homes = map[string]map[string][]uint64{"orders": homes}
	return r
}
