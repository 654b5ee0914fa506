package main

import "github.com/heatsink-go/heatsink/internal/proof/engine/answer"

// ballot is the answers of all engines to one request, of which only one kind of difference counts.
type ballot struct {
	answers map[string]answer.Answer
	kind    answer.Kind
}

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

// alone says that an answer is one engine's only, and that all others, which are two at least, give the same other one.
func (b ballot) alone(a answer.Answer) bool {
	for _, other := range b.answers {
		if !b.same(a, other) {
			return b.count(a) == 1 && b.count(other) == len(b.answers)-1 && len(b.answers) > 2
		}
	}
	return false
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

func (b ballot) same(x, y answer.Answer) bool { return x.Same(y, b.kind) }
