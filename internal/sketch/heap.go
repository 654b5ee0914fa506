package sketch

// heap orders the entries by weight, the lightest first. It has four children a node and the weights in its nodes, not in
// the entries: sifting then stays within a few lines of the processor's cache.
type heap struct {
	nodes []node
	spots []int32 // of each entry: its node
}

type node struct {
	weight float64
	entry  int32
}

func newHeap(entries int) heap {
	return heap{nodes: make([]node, 0, entries), spots: make([]int32, entries)}
}

// push adds an entry.
func (h *heap) push(n node) {
	h.nodes = append(h.nodes, n)
	i := len(h.nodes) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if h.nodes[parent].weight <= n.weight {
			break
		}
		h.set(i, h.nodes[parent])
		i = parent
	}
	h.set(i, n)
}

// grow makes the entry at a node heavier by weight, and lets it sink.
func (h *heap) grow(i int, weight float64) {
	n := h.nodes[i]
	n.weight += weight
	for {
		first := 4*i + 1
		if first >= len(h.nodes) {
			break
		}
		child := first
		for c := first + 1; c < min(first+4, len(h.nodes)); c++ {
			if h.nodes[c].weight < h.nodes[child].weight {
				child = c
			}
		}
		if h.nodes[child].weight >= n.weight {
			break
		}
		h.set(i, h.nodes[child])
		i = child
	}
	h.set(i, n)
}

func (h *heap) set(i int, n node) {
	h.nodes[i] = n
	h.spots[n.entry] = int32(i)
}

// weight returns the weight of an entry.
func (h *heap) weight(entry int32) float64 { return h.nodes[h.spots[entry]].weight }
