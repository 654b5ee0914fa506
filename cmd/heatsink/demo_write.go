package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// written is what became of an act's puts.
type written struct {
	seconds      []rates // the first of them are the run-in
	measured     rates   // over all others
	acknowledged map[string]bool
	p50, p99     time.Duration // of the measured puts that succeeded
}

// writing is an act's puts while they go on.
type writing struct {
	units int
	meter heatsink.Meter
	from  time.Time // when measuring begins

	mu               sync.Mutex
	offered, refused int // puts
	acknowledged     map[string]bool
	latencies        []time.Duration
	failure          error // one that is not a throttle
}

// write offers the load and shows, second by second, what becomes of it.
func (s *stage) write(ctx context.Context, l load, show *screen) (written, error) {
	views, err := s.collection(heatsink.Retry{})
	if err != nil {
		return written{}, err
	}
	going, stop := context.WithCancel(ctx)
	defer stop()
	w := &writing{units: l.units, from: time.Now().Add(l.runIn), acknowledged: map[string]bool{}}
	metered := heatsink.WithMeter(going, &w.meter)
	var offering sync.WaitGroup
	offering.Go(func() {
		l.offer(going, func(i int) {
			if !w.put(metered, views, s.view(i)) {
				stop()
			}
		})
	})
	var g *growth
	if s.grows {
		g = &s.growth
	}
	result := w.watch(going, l, show, g)
	offering.Wait() // for the puts that are being retried, too
	if err := cmp.Or(ctx.Err(), w.failure); err != nil {
		return written{}, err
	}
	result.acknowledged = w.acknowledged
	result.p50, result.p99 = percentile(w.latencies, 50), percentile(w.latencies, 99)
	return result, nil
}

// put puts a view and takes note of what became of it. It reports false if there was any trouble but throttling.
func (w *writing) put(ctx context.Context, views *heatsink.Collection[view], v view) bool {
	w.mu.Lock()
	w.offered++
	w.mu.Unlock()
	begun := time.Now()
	_, err := views.Put(ctx, v)
	took := time.Since(begun)

	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acknowledged[v.At] = true
		if !begun.Before(w.from) {
			w.latencies = append(w.latencies, took)
		}
	case errors.As(err, new(*types.ThrottlingException)):
		w.refused++
	default:
		if w.failure == nil {
			w.failure = err
		}
		return false
	}
	return true
}

// percentile returns the value that p of 100 are not above. There may be none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)*p+99)/100-1]
}
