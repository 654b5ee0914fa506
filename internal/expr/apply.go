package expr

import (
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// What can be wrong with an update of a particular item, besides numbers that
// get too large.
const (
	errPath    = attr.Fault("The document path provided in the update expression is invalid for update")
	errType    = attr.Fault("An operand in the update expression has an incorrect data type")
	errMissing = attr.Fault("The provided expression refers to an attribute that does not exist in the item")
)

// Apply returns an item as the update makes it. The item itself is left as it
// is, and all values are computed from it: neither the order of the actions nor
// what they do to a list's indexes matters.
func (u *Update) Apply(it attr.Item) (attr.Item, error) {
	var few [4]write
	writes := few[:0]
	var c complaint
	for i := range u.actions {
		a := &u.actions[i]
		writes = append(writes, a.write(it, &c))
	}
	if c.err == errType && u.attributes {
		return nil, errUpdateType
	}
	if c.err != nil {
		return nil, c.err
	}
	return rewrite(it, writes, 0), nil
}

// Touched returns those parts of an item that the update is about, where they
// are in the item. With the item as it was, or as Apply made it, this is what
// UPDATED_OLD and UPDATED_NEW want. As with DynamoDB, a path with an index means
// the element that has it now, which need not be the one that was written.
func (u *Update) Touched(it attr.Item) attr.Item { return project(it, u.targets, 0) }

// complaint is what is reported of all that is wrong with an update of an item. Which of several
// faults DynamoDB reports is not documented. As in dynalite, whose tests were written against AWS,
// the values of SET are computed first, then actions are done in the order of the text. Numbers
// that get too large are noticed last.
type complaint struct {
	err  error
	rank int
}

// The stages of an update.
const (
	computing = iota
	acting
	storing

	mostActions = 1 << 16 // an expression has 4 KB
)

func (c *complaint) add(err error, stage int, a *action) {
	if rank := stage*mostActions + a.before; c.err == nil || rank < c.rank {
		*c = complaint{err, rank}
	}
}

// write is what an action comes to for a particular item.
type write struct {
	path  path
	what  effect
	value attr.Value // with put
}

type effect uint8

const (
	keep effect = iota // nothing happens
	put
	drop
)

// write computes what the action does to an item.
func (a *action) write(it attr.Item, c *complaint) write {
	w := write{path: a.path}
	stage := acting
	var err error
	switch a.clause {
	case clauseSet:
		stage = computing
		w.what = put
		w.value, err = a.value.compute(it)
	case clauseRemove:
		w.what = drop
	case clauseAdd:
		w.what = put
		w.value, err = sum(a.path.find(it), a.value.value)
	case clauseDelete:
		w.what, w.value, err = difference(a.path.find(it), a.value.value)
	}
	if !a.path.hasParent(it) {
		c.add(errPath, acting, a)
	}
	switch err {
	case nil:
	case errType, errMissing:
		c.add(err, stage, a)
	default:
		c.add(err, storing, a)
	}
	return w
}

// hasParent says that there is something that the path's last step can be a part of.
func (p path) hasParent(it attr.Item) bool {
	last := len(p) - 1
	if last == 0 {
		return true
	}
	parent := p[:last].find(it)
	if p[last].isIndex() {
		return parent != nil && parent.Kind == attr.L
	}
	return parent != nil && parent.Kind == attr.M
}

// compute returns the value of the right side of a SET.
func (n *node) compute(it attr.Item) (attr.Value, error) {
	switch n.op {
	case opValue:
		return *n.value, nil
	case opPath:
		if v := n.path.find(it); v != nil {
			return *v, nil
		}
		return attr.Value{}, errMissing
	case opIfNotExists:
		if v := n.first.path.find(it); v != nil {
			return *v, nil
		}
		return n.first.next.compute(it)
	}
	want := attr.N
	if n.op == opListAppend {
		want = attr.L
	}
	var operands [2]attr.Value
	for i, c := 0, n.first; c != nil; i, c = i+1, c.next {
		v, err := c.compute(it)
		if err != nil {
			return v, err
		}
		if v.Kind != want {
			return v, errType
		}
		operands[i] = v
	}
	a, b := operands[0], operands[1]
	if n.op == opListAppend {
		return attr.List(slices.Concat(a.List, b.List)...), nil
	}
	add := attr.Number.Add
	if n.op == opMinus {
		add = attr.Number.Sub
	}
	number, err := add(a.Number(), b.Number())
	return attr.Num(number), arithmetic(err, a.Number(), b.Number())
}

// arithmetic is the fault of a sum. Of numbers from 1e38 on, DynamoDB calls too
// many digits an overflow.
func arithmetic(err error, operands ...attr.Number) error {
	if err != attr.ErrNumberDigits {
		return err
	}
	for _, n := range operands {
		if n >= large || n <= largeNegative { // the order of the bytes is that of the numbers
			return attr.ErrNumberOverflow
		}
	}
	return err
}

var large, largeNegative = mustParse("1e38"), mustParse("-1e38")

func mustParse(text string) attr.Number {
	n, err := attr.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return n
}

// sum is what ADD makes of a value, nil if there is none: a larger number or a
// larger set.
func sum(old, v *attr.Value) (attr.Value, error) {
	switch {
	case old == nil:
		return *v, nil
	case old.Kind != v.Kind:
		return attr.Value{}, errType
	case v.Kind == attr.N:
		number, err := old.Number().Add(v.Number())
		return attr.Num(number), arithmetic(err, old.Number(), v.Number())
	}
	return attr.Value{Kind: v.Kind, List: union(old.List, v.List)}, nil
}

// union merges the elements of two sets, which are sorted.
func union(a, b []attr.Value) []attr.Value {
	out := make([]attr.Value, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		order := strings.Compare(a[0].Str, b[0].Str)
		if order <= 0 {
			out = append(out, a[0])
			a = a[1:]
		} else {
			out = append(out, b[0])
		}
		if order >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// difference is what DELETE makes of a value: a smaller set, but not an empty
// one.
func difference(old, v *attr.Value) (effect, attr.Value, error) {
	switch {
	case old == nil:
		return keep, attr.Value{}, nil
	case old.Kind != v.Kind:
		return keep, attr.Value{}, errType
	}
	var left []attr.Value
	gone := v.List // what is left of it: both are sorted
	for i := range old.List {
		for len(gone) > 0 && gone[0].Str < old.List[i].Str {
			gone = gone[1:]
		}
		if len(gone) == 0 || gone[0].Str != old.List[i].Str {
			left = append(left, old.List[i])
		}
	}
	if left == nil {
		return drop, attr.Value{}, nil
	}
	return put, attr.Value{Kind: old.Kind, List: left}, nil
}

// rewrite returns an item, or a map, with the writes done whose paths lead
// there. The writes are sorted by path; depth is how many steps they took.
func rewrite(it attr.Item, writes []write, depth int) attr.Item {
	out := make(attr.Item, 0, len(it)+len(writes))
	for len(writes) > 0 {
		var group []write
		group, writes = sameStep(writes, depth)
		name := group[0].path[depth].name
		i, found := search(it, name)
		out = append(out, it[:i]...)
		it = it[i:]
		var old *attr.Value
		if found {
			old = &it[0].Value
			it = it[1:]
		}
		if v, ok := rewriteValue(old, group, depth+1); ok {
			out = append(out, attr.Field{Name: name, Value: v})
		}
	}
	return append(out, it...)
}

// rewriteList does the same for a list. Elements that are written behind its end
// follow in the order of the indexes they were given.
func rewriteList(list []attr.Value, writes []write, depth int) []attr.Value {
	out := make([]attr.Value, 0, len(list)+len(writes))
	done := 0 // how many of the old elements
	for len(writes) > 0 {
		var group []write
		group, writes = sameStep(writes, depth)
		index := min(group[0].path[depth].index, len(list))
		out = append(out, list[done:index]...)
		done = index
		var old *attr.Value
		if index < len(list) {
			old = &list[index]
			done++
		}
		if v, ok := rewriteValue(old, group, depth+1); ok {
			out = append(out, v)
		}
	}
	return append(out, list[done:]...)
}

// rewriteValue does the writes that are about a value, nil if there is none, or
// its parts. There is a value, of the right kind, if they are about its parts.
// ok is false if no value is left.
func rewriteValue(old *attr.Value, writes []write, depth int) (v attr.Value, ok bool) {
	if w := &writes[0]; len(w.path) == depth {
		switch {
		case w.what == put:
			return w.value, true
		case w.what == drop || old == nil:
			return attr.Value{}, false
		}
		return *old, true
	}
	if old.Kind == attr.M {
		return attr.Map(rewrite(old.Map, writes, depth)), true
	}
	return attr.List(rewriteList(old.List, writes, depth)...), true
}

// routed is something that a path leads to.
type routed interface{ route() path }

func (p path) route() path  { return p }
func (w write) route() path { return w.path }

// sameStep splits off those of a sorted list that have the step number depth of
// their paths in common with the first.
func sameStep[T routed](list []T, depth int) (same, others []T) {
	first := list[0].route()[depth]
	n := 1
	for n < len(list) && list[n].route()[depth] == first {
		n++
	}
	return list[:n], list[n:]
}
