package simulate

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// points is how many points a series has at most.
const points = 120

// tally counts what becomes of a run.
type tally struct {
	run     Run
	from    time.Duration // when counting begins
	total   time.Duration
	width   time.Duration // of a point
	latency *hdrhistogram.Histogram
}

func newTally(s *scenario.Scenario, name string) tally {
	t := tally{from: time.Duration(s.RunIn), total: s.Total()}
	t.run = Run{Layout: name, Reasons: map[string]float64{}}
	// Whole seconds where that is possible, so that the points are those of a clock.
	t.width = (t.total + points - 1) / points
	if t.width > time.Second {
		t.width = (t.width + time.Second - 1).Truncate(time.Second)
	}
	n := int((t.total + t.width - 1) / t.width)
	t.run.Series = make([]Point, n)
	for i := range t.run.Series {
		t.run.Series[i].At = scenario.Duration(time.Duration(i) * t.width)
	}
	if s.Mode == scenario.Requests {
		t.latency = hdrhistogram.New(1, time.Hour.Microseconds(), 3)
	}
	return t
}

func (t *tally) point(at time.Duration) *Point {
	return &t.run.Series[min(int(at/t.width), len(t.run.Series)-1)]
}

// left returns how long the point of a time lasts from then on.
func (t *tally) left(at time.Duration) time.Duration { return t.width - at%t.width }

func (t *tally) counted(at time.Duration) bool { return at >= t.from }

// offer counts operations that begin.
func (t *tally) offer(at time.Duration, n, units float64) {
	t.point(at).Offered += n * units
	if t.counted(at) {
		t.run.Offered += n
		t.run.OfferedUnits += n * units
	} else {
		t.run.Carried += n
	}
}

// attempt counts requests, some of which were served.
func (t *tally) attempt(at time.Duration, n, served, units float64) {
	p := t.point(at)
	p.Served += served * units
	p.Throttled += n - served
	if t.counted(at) {
		t.run.Requests += n
		t.run.Throttled += n - served
		t.run.ServedUnits += served * units
	}
}

func (t *tally) reason(at time.Duration, r partition.Reason, n float64) {
	if t.counted(at) {
		t.run.Reasons[string(r)] += n
	}
}

// end counts operations that end now.
func (t *tally) end(now time.Duration, accepted, failed float64) {
	t.point(now).Failed += failed
	if t.counted(now) {
		t.run.Accepted += accepted
		t.run.Failed += failed
	} else {
		t.run.Carried -= accepted + failed
	}
}

// took counts the latency of an operation that ends now.
func (t *tally) took(now, d time.Duration) {
	if t.counted(now) {
		_ = t.latency.RecordValue(min(d.Microseconds(), time.Hour.Microseconds())) // it is in the range
	}
}

// result returns the run with its rates. waiting is how many operations are under way: the runner has counted those that it
// holds, so that the sum of Run shows whether it lost some.
func (t *tally) result(w *world, waiting float64) Run {
	r := t.run
	seconds := (t.total - t.from).Seconds()
	r.OfferedUnits /= seconds
	r.ServedUnits /= seconds
	r.Waiting, r.Carried = max(waiting, 0), max(r.Carried, 0)
	for i := range r.Series {
		p := &r.Series[i]
		wide := min(t.width, t.total-time.Duration(p.At)).Seconds()
		p.Offered, p.Served, p.Throttled, p.Failed = p.Offered/wide, p.Served/wide, p.Throttled/wide, p.Failed/wide
	}
	if t.latency != nil {
		at := func(q float64) time.Duration { return time.Duration(t.latency.ValueAtQuantile(q)) * time.Microsecond }
		r.Latency = &Percentiles{at(50), at(99), at(99.9), at(100)}
	}
	r.Width = w.widest()
	return r
}

// observe notes the state of the table in the point of a time.
func (t *tally) observe(at time.Duration, partitions, width int) {
	p := t.point(at)
	p.Partitions, p.Width = partitions, width
}
