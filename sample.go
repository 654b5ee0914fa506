package heatsink

import "fmt"

// sampled returns the cursors that the query reads: all of them, or as many as Query.Sample says, in their order. Each
// has the same chance.
func (r *reading) sampled(cursors []*cursor) []*cursor {
	want := r.query.Sample
	if want == 0 || want >= len(cursors) {
		return cursors
	}
	drawn := make([]*cursor, 0, want)
	for i, cu := range cursors {
		// Of what is left to draw from, so many are still wanted: Knuth's algorithm S.
		left := uint64(len(cursors) - i)
		if r.core.chooser.uint64N(left) < uint64(want-len(drawn)) {
			drawn = append(drawn, cu)
		}
	}
	return drawn
}

// sampleOf returns how many of a bucket's shards the query reads.
func (q *Query) sampleOf(shards int) int {
	if q.Sample == 0 {
		return shards
	}
	return min(q.Sample, shards)
}

// whole refuses a sample for an operation that needs all shards.
func (q Query) whole(operation, why string) error {
	if q.Sample == 0 {
		return nil
	}
	return fmt.Errorf("%w: Sample is %d, but %s: %s", ErrQuery, q.Sample, operation, why)
}
