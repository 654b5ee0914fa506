package heat

import "time"

// trend remembers a flow's past in fixed memory: each second of the last five minutes, and each minute of the last three
// hours. What is further back is forgotten.
type trend struct {
	seconds ring
	minutes ring
}

func newTrend() trend {
	return trend{seconds: newRing(time.Second, 300), minutes: newRing(time.Minute, 180)}
}

func (t *trend) add(now int64, units float64, throttled int64) {
	t.seconds.add(now, units, throttled)
	t.minutes.add(now, units, throttled)
}

// points returns the past up to now, oldest first: minutes up to where the seconds begin, then seconds. Stretches without
// traffic are left out.
func (t *trend) points(now int64) []Point {
	seconds := t.seconds.points(now)
	first := now - now%int64(time.Minute) + int64(time.Minute)
	if oldest := t.seconds.oldest(now); oldest > 0 {
		first = oldest
	}
	var all []Point
	for _, p := range t.minutes.points(now) {
		if p.From.Add(p.For).UnixNano() <= first {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return seconds
	}
	end := all[len(all)-1].From.Add(time.Minute)
	for _, p := range seconds {
		if !p.From.Before(end) {
			all = append(all, p)
		}
	}
	return all
}

// peak returns the most units of one second that is still remembered.
func (t *trend) peak(now int64) float64 {
	most := 0.0
	for _, p := range t.seconds.points(now) {
		most = max(most, p.Units)
	}
	return most
}

// ring holds stretches of equal length; each has its place by its number, which says whether it is still the old one.
type ring struct {
	length time.Duration
	cells  []cell
}

type cell struct {
	number    int64 // stretches since 1970
	units     float64
	throttled int64
}

func newRing(length time.Duration, cells int) ring { return ring{length, make([]cell, cells)} }

func (r *ring) add(now int64, units float64, throttled int64) {
	number := now / int64(r.length)
	if number < 0 {
		return // before 1970: a clock that was never set
	}
	c := &r.cells[number%int64(len(r.cells))]
	if c.number > number {
		return // a clock that went back by a whole turn
	}
	if c.number < number {
		*c = cell{number: number}
	}
	c.units += units
	c.throttled += throttled
}

// oldest returns when the first stretch began that may still be remembered.
func (r *ring) oldest(now int64) int64 {
	return (now/int64(r.length) - int64(len(r.cells)) + 1) * int64(r.length)
}

func (r *ring) points(now int64) []Point {
	var points []Point
	last := now / int64(r.length)
	for number := last - int64(len(r.cells)) + 1; number <= last; number++ {
		if number < 0 {
			continue
		}
		if c := r.cells[number%int64(len(r.cells))]; c.number == number && (c.units > 0 || c.throttled > 0) {
			points = append(points, Point{
				From: time.Unix(0, number*int64(r.length)).UTC(), For: r.length, Units: c.units, Throttled: c.throttled,
			})
		}
	}
	return points
}
