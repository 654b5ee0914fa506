package gather

import (
	"slices"
	"strings"
)

// merge is a binary heap of the cursors that have entries, ordered by their first entry.
type merge[V any] struct {
	cursors []*cursor[V]
	reverse bool
}

// first returns the cursor with the next entry.
func (m *merge[V]) first() *cursor[V] { return m.cursors[0] }

func (m *merge[V]) empty() bool { return len(m.cursors) == 0 }

// add adds a cursor.
func (m *merge[V]) add(cu *cursor[V]) {
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

// fix restores the heap after the first cursor's entry was taken.
func (m *merge[V]) fix() { m.sink(0) }

// sink restores the heap after the first entry of cursor i was replaced by a later one.
func (m *merge[V]) sink(i int) {
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

// remove removes the first cursor.
func (m *merge[V]) remove() {
	last := len(m.cursors) - 1
	m.cursors[0] = m.cursors[last]
	m.cursors[last] = nil
	m.cursors = m.cursors[:last]
	m.fix()
}

// filter removes the cursors for which keep is false.
func (m *merge[V]) filter(keep func(*cursor[V]) bool) {
	m.cursors = slices.DeleteFunc(m.cursors, func(cu *cursor[V]) bool { return !keep(cu) })
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// sorted returns cursors in the order of their first entries.
func (m *merge[V]) sorted(cursors []*cursor[V]) []*cursor[V] {
	return slices.SortedFunc(slices.Values(cursors), func(a, b *cursor[V]) int {
		switch {
		case m.before(a, b):
			return -1
		case m.before(b, a):
			return 1
		}
		return 0
	})
}

// before is the order of entries: by sort value, then by ordinal.
func (m *merge[V]) before(a, b *cursor[V]) bool {
	c := strings.Compare(a.first().Sort, b.first().Sort)
	if c == 0 {
		c = a.ordinal - b.ordinal
	}
	return (c < 0) != m.reverse
}
