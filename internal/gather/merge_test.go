package gather

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestMergeModel adds, takes and filters cursors at random: the first is always the least.
func TestMergeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := merge[item]{reverse: rapid.Bool().Draw(t, "reverse")}
		var in []*cursor[item]
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch kind := rapid.IntRange(0, 5).Draw(t, "step"); {
			case kind < 3 || len(in) == 0:
				cu := &cursor[item]{ordinal: n}
				for range rapid.IntRange(1, 3).Draw(t, "entries") {
					cu.buffer = append(cu.buffer, Entry[item]{Sort: strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "sort"))})
				}
				slices.SortFunc(cu.buffer, func(a, b Entry[item]) int {
					if (a.Sort < b.Sort) != m.reverse {
						return -1
					}
					return 1
				})
				m.add(cu)
				in = append(in, cu)
			case kind < 5:
				cu := m.first()
				if cu.pop(); cu.buffered() > 0 {
					m.fix()
				} else {
					m.remove()
					in = slices.DeleteFunc(in, func(o *cursor[item]) bool { return o == cu })
				}
			default:
				odd := rapid.IntRange(0, 1).Draw(t, "odd")
				keep := func(cu *cursor[item]) bool { return cu.ordinal%2 == odd }
				m.filter(keep)
				in = slices.DeleteFunc(in, func(cu *cursor[item]) bool { return !keep(cu) })
			}
			if m.empty() != (len(in) == 0) || len(m.cursors) != len(in) {
				t.Fatalf("%d cursors, want %d", len(m.cursors), len(in))
			}
			if len(in) > 0 && m.first() != m.sorted(in)[0] {
				t.Fatalf("the first is %d, want %d", m.first().ordinal, m.sorted(in)[0].ordinal)
			}
		}
	})
}
