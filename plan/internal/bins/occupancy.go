package bins

// occupancy is the distribution of the number of bins that have a ball. If k of P bins have one, the next throw hits an
// empty bin with probability 1 − k/P.
type occupancy struct {
	bins  int
	first int       // number of bins that p[0] is about
	p     []float64 // never empty, without negligible ends
}

func newOccupancy(bins int) *occupancy { return &occupancy{bins: bins, p: []float64{1}} }

// thrown is the occupancy when all shards have been placed.
func thrown(s Spread) *occupancy {
	o := newOccupancy(s.Partitions)
	for range s.Shards {
		o.throw()
	}
	return o
}

// throw adds a ball.
func (o *occupancy) throw() {
	o.p = append(o.p, 0)
	for i := len(o.p) - 1; i >= 0; i-- {
		stay := o.p[i] * float64(o.first+i) / float64(o.bins)
		if i > 0 {
			stay += o.p[i-1] * float64(o.bins-(o.first+i-1)) / float64(o.bins)
		}
		o.p[i] = stay
	}
	for len(o.p) > 1 && o.p[0] < negligible {
		o.p = o.p[1:]
		o.first++
	}
	for len(o.p) > 1 && o.p[len(o.p)-1] < negligible {
		o.p = o.p[:len(o.p)-1]
	}
}

// atLeast returns the probability that so many bins have a ball.
func (o *occupancy) atLeast(n int) float64 {
	sum := 0.0
	for i, p := range o.p {
		if o.first+i >= n {
			sum += p
		}
	}
	return sum
}

// quantile returns the largest number of bins that fewer have a ball with a probability of at most q.
func (o *occupancy) quantile(q float64) int {
	sum := 0.0
	for i, p := range o.p {
		if sum += p; sum > q {
			return o.first + i
		}
	}
	return o.first + len(o.p) - 1
}

// mean returns the average of what the number of bins with a ball is worth.
func (o *occupancy) mean(worth func(covered int) float64) float64 {
	sum := 0.0
	for i, p := range o.p {
		sum += p * worth(o.first+i)
	}
	return sum
}
