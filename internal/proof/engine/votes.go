package main

import "github.com/heatsink-go/heatsink/internal/proof/engine/answer"

// ballot is the answers of all engines to one request.
type ballot struct {
	answers  map[string]answer.Answer
	capacity bool // only the capacity is asked about
}

func votes(answers map[string]answer.Answer, capacity bool) ballot { return ballot{answers, capacity} }

// outvotes says whether an answer has more engines on its side than any other, and at least two.
func (b ballot) outvotes(a answer.Answer) bool {
	n := b.count(a)
	for _, other := range b.answers {
		if !b.same(a, other) && b.count(other) >= n {
			return false
		}
	}
	return n > 1
}

// count is how many engines give an answer.
func (b ballot) count(a answer.Answer) (n int) {
	for _, other := range b.answers {
		if b.same(a, other) {
			n++
		}
	}
	return n
}

func (b ballot) same(x, y answer.Answer) bool {
	if b.capacity {
		return x.SameCapacity(y)
	}
	return x.Same(y)
}
