// Package lab offers load to something that stores its items in DynamoDB, and measures what becomes of it. Inside a
// testing/synctest bubble, on an engine with physics, minutes of load take seconds and the figures do not depend on the
// machine.
package lab

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Load is operations at an even rate, whether or not earlier ones have been answered.
type Load struct {
	PerSecond int           // operations offered
	RunIn     time.Duration // before anything is measured, while partitions spend what they saved when idle
	Measured  time.Duration
}

// Report is what became of a load.
type Report struct {
	Offered  int // operations that began in the measured time
	Accepted int // operations that succeeded in the measured time, whenever they began
	Failed   int // operations that failed in the measured time
	Measured time.Duration
	Traffic  Traffic // requests of the measured time

	P50, P99, P999 time.Duration // of operations that ended in the measured time, failed ones included
}

// AcceptedPerSecond returns the rate of operations that succeeded.
func (r Report) AcceptedPerSecond() float64 { return float64(r.Accepted) / r.Measured.Seconds() }

// String returns the report as a line of a table: accepted a second, throttled requests, percentiles.
func (r Report) String() string {
	return fmt.Sprintf("%.0f/s accepted of %.0f/s offered, %.2f%% failed, %.2f%% of requests throttled, p50 %v, p99 %v, p99.9 %v, %.2f WCU and %.2f RCU an operation",
		r.AcceptedPerSecond(), float64(r.Offered)/r.Measured.Seconds(), percent(r.Failed, r.Accepted+r.Failed),
		percent(r.Traffic.Throttles, r.Traffic.Requests), r.P50, r.P99, r.P999,
		r.Traffic.WriteUnits/float64(max(1, r.Accepted)), r.Traffic.ReadUnits/float64(max(1, r.Accepted)))
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// Sustain offers the load to op, which is told the number of the operation, and returns when all of them have ended.
// Operations are cancelled when ctx ends. watch is the one that the client of op was made with.
func (l Load) Sustain(ctx context.Context, watch *Watch, op func(ctx context.Context, i int) error) Report {
	const tick = 10 * time.Millisecond
	var (
		running sync.WaitGroup
		tally   tally
		started = time.Now()
		from    = started.Add(l.RunIn)
		to      = from.Add(l.Measured)
		before  Traffic
		offered int
	)
	for now := started; now.Before(to) && ctx.Err() == nil; now = now.Add(tick) {
		if now.Equal(from) {
			before = watch.Traffic()
		}
		due := int(now.Add(tick).Sub(started).Seconds()*float64(l.PerSecond) + 0.5)
		for ; offered < due; offered++ {
			i := offered
			running.Go(func() {
				begun := time.Now()
				err := op(ctx, i)
				tally.add(begun, time.Now(), from, to, err)
			})
		}
		time.Sleep(time.Until(now.Add(tick)))
	}
	traffic := watch.Traffic().minus(before)
	running.Wait()
	report := tally.report()
	report.Measured, report.Traffic = l.Measured, traffic
	return report
}

// tally gathers what became of operations.
type tally struct {
	mu        sync.Mutex
	counts    Report
	latencies []time.Duration
}

func (t *tally) add(begun, ended, from, to time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !begun.Before(from) {
		t.counts.Offered++
	}
	if ended.Before(from) || !ended.Before(to) {
		return
	}
	t.latencies = append(t.latencies, ended.Sub(begun))
	if err != nil {
		t.counts.Failed++
	} else {
		t.counts.Accepted++
	}
}

func (t *tally) report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(t.latencies)
	at := func(q float64) time.Duration {
		if len(t.latencies) == 0 {
			return 0
		}
		return t.latencies[min(int(q*float64(len(t.latencies))), len(t.latencies)-1)]
	}
	report := t.counts
	report.P50, report.P99, report.P999 = at(0.5), at(0.99), at(0.999)
	return report
}
