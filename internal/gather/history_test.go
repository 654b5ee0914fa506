package gather

import "testing"

// pageOf returns the weight of a page of entries with so many bytes each, and 160 that are added to each.
func pageOf(sizes ...int) Weight {
	w := Weight{Entries: len(sizes)}
	for _, n := range sizes {
		w.Bytes += n
		w.Extra += 160
		w.Largest = max(w.Largest, n+160)
	}
	return w
}

func TestSizesFollow(t *testing.T) {
	const extra = 160
	var s sizes
	s.saw(Weight{})
	if got := s.estimate(); got != firstEstimate {
		t.Errorf("before any: %+v, want %+v", got, firstEstimate)
	}
	s.saw(pageOf(100, 100))
	if got, want := s.estimate(), (estimate{known: true, mean: 100 + extra, largest: 100 + extra, extra: extra}); got != want {
		t.Errorf("after the first: %+v, want %+v", got, want)
	}
	s.saw(pageOf(100, 100, 100, 100_001))
	if got := s.estimate(); got.largest != 100_001+extra || got.mean < 3000 || got.mean > 4000 {
		t.Errorf("after a large one: %+v, want it as the largest, and a mean that follows slowly", got)
	}
	for range 60 {
		s.saw(pageOf(1000))
	}
	if got := s.estimate(); got.mean < 990+extra || got.mean > 1001+extra || got.largest < 30_000 || got.largest > 50_000 {
		t.Errorf("after 60 pages of 1,000: %+v, want their mean, and a largest between", got)
	}
}

func TestPassRates(t *testing.T) {
	var p passRates
	p.saw("", 100, 1)
	if got := p.rate(""); got != 1 {
		t.Errorf("without a filter: %g, want 1", got)
	}
	if got := p.rate("a = :a"); got != 1 {
		t.Errorf("unseen: %g, want 1", got)
	}
	p.saw("a = :a", 100, 25)
	if got := p.rate("a = :a"); got != 0.25 {
		t.Errorf("after a quarter: %g, want 0.25", got)
	}
	for range 50 {
		p.saw("a = :a", 1000, 0)
	}
	if got := p.rate("a = :a"); got < leastRate || got > 1.01*leastRate {
		t.Errorf("after none: %g, want %g", got, leastRate)
	}
	p.saw("a = :a", 0, 0)
	p.saw("a = :a", 1, 5)
	if got := p.rate("a = :a"); got < leastRate || got > 1 {
		t.Errorf("got %g", got)
	}
}
