package heatsink

import "slices"

// merge holds the cursors that have something to return, such that the one with the first entry in order is at hand: a
// binary heap.
type merge struct {
	cursors []*cursor
	reverse bool
}

// first returns the cursor whose entry is the next.
func (m *merge) first() *cursor { return m.cursors[0] }

func (m *merge) empty() bool { return len(m.cursors) == 0 }

// add puts a cursor in.
func (m *merge) add(cu *cursor) {
	m.cursors = append(m.cursors, cu)
	for i := len(m.cursors) - 1; i > 0; {
		parent := (i - 1) / 2
		if !m.before(m.cursors[i], m.cursors[parent]) {
			return
		}
		m.cursors[i], m.cursors[parent] = m.cursors[parent], m.cursors[i]
		i = parent
	}
}

// fix finds the first cursor's place again, after its first entry was taken.
func (m *merge) fix() { m.sink(0) }

// sink finds the place of a cursor whose entry has become a later one.
func (m *merge) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.cursors); child++ {
			if m.before(m.cursors[child], m.cursors[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.cursors[i], m.cursors[least] = m.cursors[least], m.cursors[i]
		i = least
	}
}

// remove takes the first cursor out.
func (m *merge) remove() {
	last := len(m.cursors) - 1
	m.cursors[0] = m.cursors[last]
	m.cursors[last] = nil
	m.cursors = m.cursors[:last]
	m.fix()
}

// filter keeps the cursors that are to be kept.
func (m *merge) filter(keep func(*cursor) bool) {
	m.cursors = slices.DeleteFunc(m.cursors, func(cu *cursor) bool { return !keep(cu) })
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// sorted returns cursors in the order of their first entries.
func (m *merge) sorted(cursors []*cursor) []*cursor {
	return slices.SortedFunc(slices.Values(cursors), func(a, b *cursor) int {
		switch {
		case m.before(a, b):
			return -1
		case m.before(b, a):
			return 1
		}
		return 0
	})
}

// before is the order: by sort key, then by shard.
func (m *merge) before(a, b *cursor) bool {
	c := a.first().sort.compare(b.first().sort)
	if c == 0 {
		c = int(a.source) - int(b.source)
	}
	return (c < 0) != m.reverse
}
