package main

import (
	"fmt"
	"slices"
	"sync"
)

// oracle knows what strong reads of ids may show. A write is announced before it is sent and ended when it is answered. A read that
// overlaps with it may show either side of it. One writer at a time may claim an id, and any number of readers may read it.
type oracle struct {
	mu      sync.Mutex
	cells   []*cell
	byName  map[name]*cell
	surveys map[*survey]struct{}
	faults  faults
}

// name is a logical key and an id.
type name struct{ key, id string }

// cell is one id. Its value is 0 if there is no such item.
type cell struct {
	name
	number  int
	claimed bool
	may     []int // what may be stored: several values after a write whose outcome nobody knows
	next    []int // what the write in progress may store
	reads   []*reading
}

// reading is one read of an id in progress.
type reading struct {
	cell *cell
	may  []int
}

// survey is one read of all ids of a key in progress.
type survey struct {
	key   string
	may   [][]int       // by number of the cell, when it began
	since map[int][]int // what was written meanwhile
}

// faults are answers that one item for each id would not have given.
type faults struct {
	Lost    int    `json:"lost"`    // ids that a read should have had
	Doubled int    `json:"doubled"` // ids that a read had twice
	Stale   int    `json:"stale"`   // values that were overwritten or deleted before the read began
	Errors  int    `json:"errors"`  // operations that failed for no reason
	First   string `json:"first,omitempty"`
}

// none reports whether nothing was wrong.
func (f *faults) none() bool { return f.Lost+f.Doubled+f.Stale+f.Errors == 0 }

// note counts a fault, and keeps the text of the first one.
func (f *faults) note(count *int, format string, args ...any) {
	*count++
	if f.First == "" {
		f.First = fmt.Sprintf(format, args...)
	}
}

func newOracle() *oracle {
	return &oracle{byName: map[name]*cell{}, surveys: map[*survey]struct{}{}}
}

// add makes an id known, with its value.
func (o *oracle) add(n name, value int) *cell {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := &cell{name: n, number: len(o.cells), may: []int{value}}
	o.cells = append(o.cells, c)
	o.byName[n] = c
	for s := range o.surveys { // an id that came later may be there or not
		if s.key == n.key {
			s.since[c.number] = []int{0, value}
		}
	}
	return c
}

// claim makes the caller the only writer of an id, if there is none.
func (o *oracle) claim(c *cell) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.claimed {
		return false
	}
	c.claimed = true
	return true
}

// release ends a claim.
func (o *oracle) release(c *cell) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.claimed = false
}

// begin announces a write of the value to a claimed id.
func (o *oracle) begin(c *cell, value int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.next = []int{value}
	for _, r := range c.reads {
		r.may = append(r.may, value)
	}
	for s := range o.surveys {
		if s.key == c.key {
			s.since[c.number] = append(s.since[c.number], value)
		}
	}
}

// outcome is what became of a write.
type outcome int

const (
	done    outcome = iota
	refused         // it had no effect
	unknown         // it may have had an effect
)

// end tells what became of the announced write.
func (o *oracle) end(c *cell, became outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch became {
	case done:
		c.may = c.next
	case unknown:
		c.may = append(slices.Clone(c.may), c.next...)
	}
	c.next = nil
}

// read begins a read of an id.
func (o *oracle) read(c *cell) *reading {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &reading{c, slices.Concat(c.may, c.next)}
	c.reads = append(c.reads, r)
	return r
}

// abandon ends a read that had no answer.
func (o *oracle) abandon(r *reading) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r.cell.reads = slices.DeleteFunc(r.cell.reads, func(other *reading) bool { return other == r })
}

// saw ends a read, and judges what it showed. The value is 0 if there was no item. It reports whether that is right.
func (o *oracle) saw(r *reading, value int) bool {
	o.abandon(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	c := r.cell
	if !slices.Contains(r.may, value) {
		o.judge(c, value, r.may, "a read")
		return false
	}
	return true
}

// settle makes a value that its claimant has just read the only one.
func (o *oracle) settle(c *cell, value int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.may = []int{value}
}

// judge notes a value that is not among those that may be.
func (o *oracle) judge(c *cell, value int, may []int, by string) {
	switch {
	case value == 0:
		o.faults.note(&o.faults.Lost, "%s misses %q, %q, which is %v", by, c.key, c.id, may)
	default:
		o.faults.note(&o.faults.Stale, "%s shows %q, %q as %d, which is %v", by, c.key, c.id, value, may)
	}
}

// survey begins a read of all ids of a key.
func (o *oracle) survey(key string) *survey {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := &survey{key, make([][]int, len(o.cells)), map[int][]int{}}
	for i, c := range o.cells {
		if c.key == key {
			s.may[i] = c.may // which is replaced and never changed
			if c.next != nil {
				s.since[i] = append(s.since[i], c.next...)
			}
		}
	}
	o.surveys[s] = struct{}{}
	return s
}

// shown is one item that a survey has got.
type shown struct {
	id    string
	value int
}

// forget ends a survey that has failed.
func (o *oracle) forget(s *survey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.surveys, s)
}

// listed ends a survey, and judges everything it showed. Ids that the oracle does not know are strangers: it returns how many.
func (o *oracle) listed(s *survey, all []shown) (strangers int) {
	o.forget(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	got := make(map[int]int, len(all))
	for _, item := range all {
		c := o.byName[name{s.key, item.id}]
		if c == nil {
			strangers++
			continue
		}
		if _, twice := got[c.number]; twice {
			o.faults.note(&o.faults.Doubled, "a list of %q has %q twice", s.key, item.id)
			continue
		}
		got[c.number] = item.value
	}
	for i, c := range o.cells {
		if c.key != s.key {
			continue
		}
		may := s.since[i]
		if i < len(s.may) {
			may = slices.Concat(s.may[i], may)
		}
		if !slices.Contains(may, got[i]) {
			o.judge(c, got[i], may, "a list")
		}
	}
	return strangers
}

// listedIf ends a survey of a listing that is eventually consistent, of the ids whose values are wanted. An id may be missing once, if it
// was not missing before. It returns those that are.
func (o *oracle) listedIf(s *survey, all []shown, wanted func(value int) bool, before map[int]bool) (missing map[int]bool) {
	o.forget(s)
	o.mu.Lock()
	defer o.mu.Unlock()
	got := make(map[int]bool, len(all))
	for _, item := range all {
		c := o.byName[name{s.key, item.id}]
		switch {
		case c == nil:
			o.faults.note(&o.faults.Stale, "a list has %q, which nobody has written", item.id)
		case got[c.number]:
			o.faults.note(&o.faults.Doubled, "a list has %q twice", item.id)
		default:
			got[c.number] = true
		}
	}
	missing = map[int]bool{}
	for i, c := range o.cells {
		may := s.since[i]
		if i < len(s.may) {
			may = slices.Concat(s.may[i], may)
		}
		switch unwanted := slices.ContainsFunc(may, func(v int) bool { return !wanted(v) }); {
		case got[i] && !slices.ContainsFunc(may, wanted):
			o.judge(c, may[0], may, "a list that should not have it")
		case got[i] || unwanted:
		case before[i]:
			o.judge(c, 0, may, "a second list in a row")
		default:
			missing[i] = true
		}
	}
	return missing
}

// fail counts an operation that has failed.
func (o *oracle) fail(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.faults.note(&o.faults.Errors, format, args...)
}

// whole judges everything that is stored, when nobody writes any more: each id once, with its value.
func (o *oracle) whole(key string, all []shown) (strangers int) { return o.listed(o.survey(key), all) }
