package shape

import (
	"maps"
	"slices"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// Tree learns the shapes of keys. A node is a token in the place where it was seen. Where more words are seen in one place
// than a set has, the words are forgotten and become one node, an id. So memory is bounded whatever the keys are.
//
// Every key has a leaf, a small number. Leaves become one when their nodes do: the tree tells by Merge, and Leaf returns
// what a leaf has become. The zero value is not ready; see NewTree.
type Tree struct {
	// Merge is called when a leaf becomes part of another.
	Merge func(into, from int32)

	root    *node
	nodes   int
	forward []int32 // of every leaf there ever was: itself, or what it has become
	other   int32   // the leaf of keys without room; -1: none yet
}

type node struct {
	token
	tails    sketch.Few // values of the tail
	words    [2]int     // children with a prefix, by its case
	wild     [2]bool    // the words of children in this case are not told apart any more
	leaf     int32      // -1: no key ends here
	children map[string]*node
}

const (
	mostWords  = 32   // of one place, before they become an id
	mostNodes  = 384  // of a tree
	mostLeaves = 2048 // that a tree ever makes: 8 KB of forwards
)

// caseOf tells words in lower case, which are names more often, from others: a constant in capitals stays apart from them.
func (t *token) caseOf() int {
	if lowerCase(t.prefix) {
		return 0
	}
	return 1
}

// NewTree returns an empty tree.
func NewTree(merge func(into, from int32)) *Tree {
	return &Tree{Merge: merge, root: &node{leaf: -1}, nodes: 1, other: -1}
}

// Leaf returns what a leaf has become.
func (t *Tree) Leaf(leaf int32) int32 {
	for t.forward[leaf] != leaf {
		leaf = t.forward[leaf]
	}
	return leaf
}

// Learn takes note of a key and returns its leaf. A leaf that was not returned before is the next number.
func (t *Tree) Learn(key []byte) int32 {
	path := tokens(key)
	room := t.nodes+len(path) <= mostNodes || t.makeRoom(len(path))
	n := t.root
	for _, token := range path {
		if n = t.step(n, token, room); n == nil {
			return t.rest()
		}
	}
	if n.leaf < 0 {
		if len(t.forward) >= mostLeaves-1 {
			return t.rest()
		}
		n.leaf = t.newLeaf()
	}
	return n.leaf
}

// Hidden returns the leaf of keys that must not be looked at.
func (t *Tree) Hidden() int32 {
	if t.root.leaf < 0 {
		t.root.leaf = t.newLeaf()
	}
	return t.root.leaf
}

func (t *Tree) newLeaf() int32 {
	leaf := int32(len(t.forward))
	t.forward = append(t.forward, leaf)
	return leaf
}

// rest returns the leaf of keys without room.
func (t *Tree) rest() int32 {
	if t.other < 0 {
		t.other = t.newLeaf()
	}
	return t.other
}

// step returns the child of a node for a token. It makes one if there is room, else it may return nil.
func (t *Tree) step(n *node, k token, room bool) *node {
	if k.prefix != "" && n.wild[k.caseOf()] {
		k.prefix, k.tail = "", "{id}"
	}
	child := n.children[k.text()]
	if child == nil && k.prefix != "" && n.words[k.caseOf()] >= mostWords {
		t.collapse(n, k.caseOf())
		return t.step(n, k, room)
	}
	if child == nil {
		if !room {
			return nil
		}
		child = &node{token: k, leaf: -1}
		n.put(child)
		t.nodes++
	}
	if k.tail != "" {
		child.tails.Add(k.hash)
	}
	return child
}

func (n *node) put(child *node) {
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	n.children[child.text()] = child
	if child.prefix != "" {
		n.words[child.caseOf()]++
	}
}

// makeRoom makes room for so many nodes: the words of the places that have most of them become ids.
func (t *Tree) makeRoom(nodes int) bool {
	for t.nodes+nodes > mostNodes {
		most, which := widest(t.root)
		if most.words[which] < 2 {
			return false
		}
		t.collapse(most, which)
	}
	return true
}

// widest returns the place with the most words of one case.
func widest(n *node) (most *node, which int) {
	most = n
	if n.words[1] > n.words[0] {
		which = 1
	}
	for _, text := range slices.Sorted(maps.Keys(n.children)) {
		if w, of := widest(n.children[text]); w.words[of] > most.words[which] {
			most, which = w, of
		}
	}
	return most, which
}

// collapse makes one id of all words of a case behind a node.
func (t *Tree) collapse(n *node, which int) {
	n.wild[which] = true
	for _, text := range slices.Sorted(maps.Keys(n.children)) {
		child := n.children[text]
		if child.prefix == "" || child.caseOf() != which {
			continue
		}
		delete(n.children, text)
		n.words[which]--
		child.prefix, child.tail = "", "{id}"
		if into := n.children[child.text()]; into != nil {
			t.merge(into, child)
		} else {
			n.put(child)
		}
	}
}

// merge adds a node that is no longer part of the tree to another.
func (t *Tree) merge(into, from *node) {
	t.nodes--
	into.tails |= from.tails
	switch {
	case from.leaf < 0:
	case into.leaf < 0:
		into.leaf = from.leaf
	default:
		t.forward[from.leaf] = into.leaf
		t.Merge(into.leaf, from.leaf)
	}
	for which, wild := range from.wild {
		if wild && !into.wild[which] {
			t.collapse(into, which)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(from.children)) {
		child := from.children[text]
		if child.prefix != "" && into.wild[child.caseOf()] {
			child.prefix, child.tail = "", "{id}"
		}
		if known := into.children[child.text()]; known != nil {
			t.merge(known, child)
		} else {
			into.put(child)
		}
	}
	for which, n := range into.words {
		if n > mostWords {
			t.collapse(into, which)
		}
	}
}
