package sketch

// heap finds the lightest entry. It has four children a node and weights in its nodes, not in the entries: sifting then
// stays within a few lines of the processor's cache.
//
// Weights only grow, and most of those that grow are nowhere near the top. So the weight of a node is what its entry
// weighed when somebody last looked, and is brought up to date only when the node gets to the top.
type heap []node

type node struct {
	weight float64
	entry  int32
}

// push adds an entry.
func (h *heap) push(n node) {
	*h = append(*h, n)
	nodes := *h
	i := len(nodes) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if nodes[parent].weight <= n.weight {
			break
		}
		nodes[i] = nodes[parent]
		i = parent
	}
	nodes[i] = n
}

// lightest returns the entry that weighs least.
func (h heap) lightest(weights []float64) int32 {
	for weights[h[0].entry] > h[0].weight {
		h.sink(weights[h[0].entry])
	}
	return h[0].entry
}

// sink gives the node at the top a larger weight, and the place it then belongs to.
func (h heap) sink(weight float64) {
	n := node{weight, h[0].entry}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		child := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].weight < h[child].weight {
				child = c
			}
		}
		if h[child].weight >= weight {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = n
}
