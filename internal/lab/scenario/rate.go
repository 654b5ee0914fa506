package scenario

import (
	"math"
	"sort"
	"time"
)

// Ramp is a rate that changes evenly, and stays.
type Ramp struct {
	From float64  `yaml:"from" json:"from"` // operations per second
	To   float64  `yaml:"to" json:"to"`
	Over Duration `yaml:"over" json:"over"` // from the start
}

// Step is a rate from a time on.
type Step struct {
	At        Duration `yaml:"at" json:"at"` // since the start
	PerSecond float64  `yaml:"per-second" json:"perSecond"`
}

// Rate returns the operations per second at a time since the start.
func (l *Load) Rate(at time.Duration) float64 {
	switch {
	case l.Ramp != nil:
		if at >= time.Duration(l.Ramp.Over) {
			return l.Ramp.To
		}
		return l.Ramp.From + (l.Ramp.To-l.Ramp.From)*at.Seconds()/time.Duration(l.Ramp.Over).Seconds()
	case len(l.Steps) > 0:
		later := l.later(at)
		if later == 0 {
			return 0
		}
		return l.Steps[later-1].PerSecond
	}
	return l.PerSecond
}

// Peak returns the highest rate.
func (l *Load) Peak() float64 {
	switch {
	case l.Ramp != nil:
		return max(l.Ramp.From, l.Ramp.To)
	case len(l.Steps) > 0:
		peak := 0.0
		for _, s := range l.Steps {
			peak = max(peak, s.PerSecond)
		}
		return peak
	}
	return l.PerSecond
}

// forever is the end of a rate that does not change any more.
const forever = time.Duration(math.MaxInt64)

// Piece returns the highest rate from a time on, and the end until which that holds: the next step, or the end of a ramp.
func (l *Load) Piece(at time.Duration) (peak float64, end time.Duration) {
	switch {
	case l.Ramp != nil && at < time.Duration(l.Ramp.Over):
		return l.Peak(), time.Duration(l.Ramp.Over)
	case len(l.Steps) > 0:
		if later := l.later(at); later < len(l.Steps) {
			return l.Rate(at), time.Duration(l.Steps[later].At)
		}
	}
	return l.Rate(at), forever
}

// later returns the number of the first step behind a time.
func (l *Load) later(at time.Duration) int {
	return sort.Search(len(l.Steps), func(i int) bool { return time.Duration(l.Steps[i].At) > at })
}

// Edges returns the times at which the rate or the shares of keys change at once, or a ramp ends.
func (l *Load) Edges() []time.Duration {
	var list []time.Duration
	if l.Ramp != nil {
		list = append(list, time.Duration(l.Ramp.Over))
	}
	for _, s := range l.Steps {
		list = append(list, time.Duration(s.At))
	}
	if f := l.Keys.Flash; f != nil {
		list = append(list, time.Duration(f.At), time.Duration(f.At+f.For))
	}
	return list
}

// Operations returns how many there are up to a time.
func (l *Load) Operations(until time.Duration) float64 { return l.Between(0, until) }

// Between returns how many operations there are from a time on, up to another.
func (l *Load) Between(from, to time.Duration) float64 {
	sum := 0.0
	for from < to {
		_, end := l.Piece(from)
		end = min(end, to)
		mean := l.Rate(from)
		if l.Ramp != nil {
			mean = (mean + l.Rate(end)) / 2
		}
		sum += mean * (end - from).Seconds()
		from = end
	}
	return sum
}

// Draws returns how many operations are drawn up to a time, if a piece is drawn at its highest rate.
func (l *Load) Draws(until time.Duration) float64 {
	sum := 0.0
	for from := time.Duration(0); from < until; {
		peak, end := l.Piece(from)
		end = min(end, until)
		sum += peak * (end - from).Seconds()
		from = end
	}
	return sum
}
