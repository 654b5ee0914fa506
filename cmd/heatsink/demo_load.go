package main

import (
	"context"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// load is what every act offers: puts of the same cost at an even rate, whether or not earlier ones have been answered.
type load struct {
	perSecond int // puts
	units     int // write units of a put

	// runIn goes before the measured time, while partitions spend what they saved when idle. Both are whole seconds.
	runIn, measured time.Duration

	// cold is the first part of runIn. Its rate is coldRate.
	cold time.Duration
}

// coldRate is how many puts a second a key gets while it is cold: with those of the demo, less than a partition takes.
const coldRate = 50

// growing returns the load of a key that is cold first, then hot, and is measured when it has grown.
func (l load) growing() load {
	l.cold = min(l.measured, 2*time.Second)
	l.runIn = l.cold + timeToGrow
	l.measured = min(l.measured, 3*time.Second)
	return l
}

// timeToGrow is how long a hot key needs to grow, and some time more for a busy machine.
const timeToGrow = 5 * time.Second

// due returns when the i-th put is offered.
func (l load) due(i int) time.Duration {
	early := int(coldRate * l.cold / time.Second)
	if i < early {
		return time.Duration(i) * time.Second / coldRate
	}
	return l.cold + time.Duration(i-early)*time.Second/time.Duration(l.perSecond)
}

const (
	// mostUnderWay bounds the puts that wait for an answer, or to be tried again. A machine that is too slow reaches it,
	// and offers less from then on.
	mostUnderWay = 1000

	// mostLate is how much of a delay is made up for: as much as partitions save up meanwhile. What a machine missed
	// beyond that is not offered at all, as all at once it would be another load than the one that is asked for.
	mostLate = 200 * time.Millisecond
)

// offer calls put for each of the load's puts when its time has come, in a goroutine of its own, and waits for them all.
// It ends early, without an error, if ctx does.
func (l load) offer(ctx context.Context, put func(i int)) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, mostUnderWay)
	start := time.Now()
	end := start.Add(l.runIn + l.measured)
	for i := 0; ; i++ {
		at := start.Add(l.due(i))
		if !at.Before(end) || !sleepUntil(ctx, at) {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		if !now.Before(end) {
			return
		}
		if late := now.Sub(at); late > mostLate {
			start = start.Add(late - mostLate)
		}
		running.Go(func() {
			defer func() { <-slots }()
			put(i)
		})
	}
}

// sleepUntil reports whether it was not ctx that ended the sleep.
func sleepUntil(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	return dispatch.Sleep(ctx, wait) == nil
}
