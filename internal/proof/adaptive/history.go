package main

import (
	"slices"
	"strings"
	"time"
)

// history is what became of the items of one key: which were acknowledged, and which pages readers have got. Sort keys are
// unique. Times count from any fixed moment.
type history struct {
	acks  []ack // by sort key, once sorted
	pages []page
}

// ack is an item that was acknowledged.
type ack struct {
	sort string
	at   time.Duration
}

// page is one page of a read, in ascending order.
type page struct {
	began time.Duration
	grace time.Duration // items may be missing that were acknowledged less than this before
	after string        // the read goes on after this sort key; "" at its beginning
	items []string
	last  bool // there are none behind it
}

// faults are what is wrong with reads.
type faults struct {
	Missed  int `json:"missed"`  // items that a read should have had
	Twice   int `json:"twice"`   // items that a read had again
	Unasked int `json:"unasked"` // items that nobody has written, or before the position of the page
	Wrong   int `json:"wrong"`   // pages with any of these, or out of order
	Pages   int `json:"pages"`
	Items   int `json:"items"` // in all pages
}

func (f faults) plus(g faults) faults {
	return faults{f.Missed + g.Missed, f.Twice + g.Twice, f.Unasked + g.Unasked, f.Wrong + g.Wrong, f.Pages + g.Pages, f.Items + g.Items}
}

// check compares pages with what was acknowledged. written has the items that were tried, whether acknowledged or not; nil: that
// is not known.
func (h *history) check(written map[string]bool) (f faults) {
	slices.SortFunc(h.acks, func(a, b ack) int { return strings.Compare(a.sort, b.sort) })
	for _, p := range h.pages {
		one := h.checkPage(p, written)
		if one.Missed+one.Twice+one.Unasked > 0 || !slices.IsSorted(p.items) {
			one.Wrong = 1
		}
		f = f.plus(one)
	}
	return f
}

func (h *history) checkPage(p page, written map[string]bool) faults {
	f := faults{Pages: 1, Items: len(p.items)}
	there := make(map[string]bool, len(p.items))
	until := p.after
	for _, sort := range p.items {
		if there[sort] {
			f.Twice++
		}
		if sort <= p.after || written != nil && !written[sort] {
			f.Unasked++
		}
		there[sort] = true
		until = max(until, sort)
	}
	first, exact := slices.BinarySearchFunc(h.acks, p.after, func(a ack, sort string) int { return strings.Compare(a.sort, sort) })
	if exact {
		first++
	}
	for _, a := range h.acks[first:] {
		if a.sort > until && !p.last {
			break
		}
		if a.at < p.began-p.grace && !there[a.sort] {
			f.Missed++
		}
	}
	return f
}
