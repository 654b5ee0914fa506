package simulate

import "time"

// class is the operations of a load that go to the same places in indexes.
type class struct {
	*load
	total  time.Duration // of the run
	number int
	entry  int   // number of the class among those of its load
	places []int // by index
	part   float64

	// Since the last look:
	highest float64 // operations per second of the load
	tail    float64 // part of the load's operations that its tail has

	last struct { // what between has returned, as many partitions ask for the same
		from, to   int64
		operations float64
	}
}

// look finds what holds between two times.
func (c *class) look(from, to time.Duration) {
	c.highest = max(c.rate(from), c.rate(to-1), c.load.between(from, to)/(to-from).Seconds())
	c.tail = c.mean(from, to, c.keys.TailShare)
}

// mean returns the part of the load's operations between two times that something has whose share changes only at edges.
func (c *class) mean(from, to time.Duration, share func(at time.Duration) float64) float64 {
	f := c.Keys.Flash
	if f == nil {
		return share(from)
	}
	sum, whole := 0.0, c.load.between(from, to)
	begin := from
	for _, end := range []time.Duration{time.Duration(f.At), time.Duration(f.At + f.For), to} {
		if end > begin && end <= to {
			sum += share(begin) * c.load.between(begin, end)
			begin = end
		}
	}
	if whole <= 0 {
		return share(from)
	}
	return sum / whole
}

// between returns how many operations of the load come from the end of a tick on, up to that of another.
func (c *class) between(from, to int64, length time.Duration) float64 {
	if c.last.from != from || c.last.to != to {
		c.last.from, c.last.to = from, to
		c.last.operations = c.load.between(time.Duration(from)*length, min(time.Duration(to)*length, c.total))
	}
	return c.last.operations
}
