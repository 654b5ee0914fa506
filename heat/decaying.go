package heat

import (
	"math"
	"time"
)

// decaying is a sum whose parts lose value by the factor e every decay.
type decaying struct {
	sum  float64
	last int64 // when sum was right
}

// grain is what counts as the same moment, to spare the exponential function: a ten-thousandth of ten seconds.
const grain = int64(time.Millisecond)

func (d *decaying) add(now int64, v float64, decay time.Duration) {
	switch past := now - d.last; {
	case past >= grain:
		d.sum, d.last = d.at(now, decay), now
	case past <= -grain:
		v *= math.Exp(float64(past) / float64(decay)) // late
	}
	d.sum += v
}

func (d *decaying) at(now int64, decay time.Duration) float64 {
	if d.sum == 0 || now <= d.last {
		return d.sum
	}
	return d.sum * math.Exp(-float64(now-d.last)/float64(decay))
}

// seconds is the sum of this second and of the one before.
type seconds struct {
	number       int64 // of this second
	this, before float64
}

func (s *seconds) add(now int64, v float64) {
	s.turn(now)
	s.this += v
}

// last returns the sum of the last whole second.
func (s seconds) last(now int64) float64 {
	s.turn(now)
	return s.before
}

func (s *seconds) turn(now int64) {
	switch number := now / int64(time.Second); {
	case number <= s.number:
	case number == s.number+1:
		s.number, s.before, s.this = number, s.this, 0
	default:
		s.number, s.before, s.this = number, 0, 0
	}
}
