package partiql

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// maxReads is how many reads DynamoDB makes of one statement.
const maxReads = 50

// Read is one Query that a SELECT consists of: the items of one partition key
// that a condition on the sort key and a filter leave.
type Read struct {
	Hash   expr.KeyTerm
	Sort   *expr.KeyTerm   // nil: no condition
	Filter *expr.Condition // nil: none

	// Whole is set if no other read of the same partition key is to be made: this
	// one has the whole WHERE clause as its filter.
	Whole bool

	filter *node
}

// Schema is the key of what is read, which has one hash attribute and at most
// one to sort by.
type Schema struct {
	Hash expr.KeyPart
	Sort *expr.KeyPart
}

// KeyTypeError is the fault of a value for a key attribute that is of another type.
type KeyTypeError struct{ Name string }

func (e KeyTypeError) Error() string {
	return "Key attribute's data type should match its data type in table's schema: Key " + e.Name
}

// Plan returns the reads that the WHERE clause comes to; none: it is a Scan. A
// read is planned for each partition key that an equality or IN names, and for
// each alternative of its sort key. Whether reads of one partition overlap is
// for who knows the order of keys.
func (s *Statement) Plan(schema Schema) ([]Read, error) {
	if s.where == nil {
		return nil, nil
	}
	p := planner{schema: schema}
	if !p.pinned(s.where) {
		return nil, nil
	}
	var reads []Read
	for _, b := range p.expand(s.where) {
		r, ok := p.read(b)
		if !ok {
			return nil, nil
		}
		reads = append(reads, r)
	}
	if len(reads) > maxReads {
		return nil, attr.Fault("Too many decomposed read operations for a given query.")
	}
	for i := range reads {
		if err := p.checkTypes(&reads[i]); err != nil {
			return nil, err
		}
	}
	return p.filters(reads, s.where)
}

// planner finds the reads of a WHERE clause.
type planner struct{ schema Schema }

// pinned reports whether each alternative of a condition names a partition key.
func (p *planner) pinned(n *node) bool {
	switch n.op {
	case opAnd:
		return slices.ContainsFunc(n.args, p.pinned)
	case opOr:
		return !slices.ContainsFunc(n.args, func(c *node) bool { return !p.pinned(c) })
	case opIn:
		return n.args[0].op == opPath && n.args[0].path.attribute() == p.schema.Hash.Name
	}
	t, ok := p.term(n)
	return ok && t.Name == p.schema.Hash.Name
}

// branch is an alternative of a WHERE clause: conditions that all must hold.
type branch []*node

// expand returns the alternatives of a condition. Only those are told apart that
// are about the key.
func (p *planner) expand(n *node) []branch {
	switch {
	case n.op == opAnd:
		out := []branch{nil}
		for _, c := range n.args {
			out = p.product(out, p.expand(c))
		}
		return out
	case n.op == opOr && p.keyed(n):
		var out []branch
		for _, c := range n.args {
			out = limit(append(out, p.expand(c)...))
		}
		return out
	case n.op == opIn && p.isKey(n.args[0]):
		list, _ := n.args[1].elements()
		out := make([]branch, len(list))
		for i, v := range list {
			out[i] = branch{{op: opCompare, text: "=", args: []*node{n.args[0], v}}}
		}
		return out
	}
	return []branch{{n}}
}

// product joins each alternative of one condition with each of another.
func (p *planner) product(left, right []branch) []branch {
	if len(right) == 1 {
		for i := range left {
			left[i] = slices.Concat(left[i], right[0])
		}
		return left
	}
	var out []branch
	for _, l := range left {
		for _, r := range right {
			out = append(out, slices.Concat(l, r))
		}
		out = limit(out)
	}
	return out
}

// limit keeps no more alternatives than it takes to see that there are too many.
func limit(list []branch) []branch { return list[:min(len(list), 2*maxReads)] }

func (p *planner) isKey(n *node) bool {
	return n.op == opPath && (n.path.attribute() == p.schema.Hash.Name || p.isSort(n))
}

func (p *planner) isSort(n *node) bool {
	return p.schema.Sort != nil && n.op == opPath && n.path.attribute() == p.schema.Sort.Name
}

// keyed reports whether a condition has one on the key that a read could be
// bounded by.
func (p *planner) keyed(n *node) bool {
	switch n.op {
	case opAnd, opOr:
		return slices.ContainsFunc(n.args, p.keyed)
	case opIn:
		return p.isKey(n.args[0])
	}
	_, ok := p.term(n)
	return ok
}

// keyOps are the comparisons that a condition on a key can be.
var keyOps = map[string]expr.KeyOp{
	"=": expr.Equal, "<": expr.Less, "<=": expr.LessOrEqual, ">": expr.Greater, ">=": expr.GreaterOrEqual,
}

var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// term returns the condition on a key attribute that a node is. Of the hash
// attribute it can be an equality only.
func (p *planner) term(n *node) (t expr.KeyTerm, ok bool) {
	var values []*node
	switch {
	case n.op == opCompare && p.isKey(n.args[0]):
		t.Op, ok = keyOps[n.text]
		t.Name, values = n.args[0].path[0].name, n.args[1:]
	case n.op == opCompare && p.isKey(n.args[1]):
		t.Op, ok = keyOps[mirrored[n.text]]
		t.Name, values = n.args[1].path[0].name, n.args[:1]
	case n.op == opBetween && p.isSort(n.args[0]):
		t.Op, ok, t.Name, values = expr.Between, true, n.args[0].path[0].name, n.args[1:]
	case n.op == opCall && n.text == "begins_with" && len(n.args) == 2 && p.isSort(n.args[0]):
		t.Op, ok, t.Name, values = expr.BeginsWith, true, n.args[0].path[0].name, n.args[1:]
	}
	if !ok || t.Name == p.schema.Hash.Name && t.Op != expr.Equal {
		return t, false
	}
	for i, c := range values {
		v, err := c.literal("root", 1)
		if err != nil {
			return t, false
		}
		if i == 0 {
			t.Value = v
		} else {
			t.Upper = v
		}
	}
	return t, true
}

// read returns the read that an alternative is; false: it does not name one
// partition key.
func (p *planner) read(b branch) (r Read, ok bool) {
	var rest, sorts []*node
	for _, n := range b {
		t, isTerm := p.term(n)
		switch {
		case !isTerm:
			rest = append(rest, n)
		case t.Name != p.schema.Hash.Name:
			sorts = append(sorts, n)
		case !ok:
			r.Hash, ok = t, true
		case !t.Value.Equal(r.Hash.Value):
			return r, false
		}
	}
	if !ok {
		return r, false
	}
	if len(sorts) > 0 {
		best := slices.IndexFunc(sorts, func(n *node) bool { t, _ := p.term(n); return t.Op == expr.Equal })
		t, _ := p.term(sorts[max(best, 0)])
		r.Sort = &t
		for i, n := range sorts {
			if u, _ := p.term(n); i != max(best, 0) && !(u.Op == t.Op && u.Value.Equal(t.Value) && u.Upper.Equal(t.Upper)) {
				rest = append(rest, n)
			}
		}
	}
	r.filter = and(rest)
	return r, true
}

// checkTypes checks the types of values for the key.
func (p *planner) checkTypes(r *Read) error {
	if r.Hash.Value.Kind != p.schema.Hash.Kind {
		return KeyTypeError{p.schema.Hash.Name}
	}
	if s := r.Sort; s != nil && (s.Value.Kind != p.schema.Sort.Kind || s.Op == expr.Between && s.Upper.Kind != s.Value.Kind) {
		return KeyTypeError{p.schema.Sort.Name}
	}
	return nil
}

// filters makes the filters of reads. A condition that excludes sort keys bounds
// no read, so that reads of its partition are made as one.
func (p *planner) filters(reads []Read, where *node) (out []Read, err error) {
	for i := range reads {
		r := &reads[i]
		if slices.ContainsFunc(out, func(o Read) bool { return o.Whole && o.Hash.Value.Equal(r.Hash.Value) }) {
			continue
		}
		if p.excludes(reads, r) {
			*r = Read{Hash: r.Hash, Whole: true, filter: where}
		}
		if r.Filter, err = condition(r.filter); err != nil {
			return nil, err
		}
		out = append(out, *r)
	}
	return out, nil
}

// excludes reports whether a read is one of several of its partition, and any of
// them excludes sort keys.
func (p *planner) excludes(reads []Read, r *Read) bool {
	same, excluding := 0, false
	for i := range reads {
		if o := &reads[i]; o.Hash.Value.Equal(r.Hash.Value) {
			same++
			excluding = excluding || p.schema.Sort != nil && o.filter != nil && o.filter.excludes(p.schema.Sort.Name)
		}
	}
	return same > 1 && excluding
}

// excludes reports whether a condition holds of all sort keys but some.
func (n *node) excludes(sort string) bool {
	switch n.op {
	case opAnd:
		return slices.ContainsFunc(n.args, func(c *node) bool { return c.excludes(sort) })
	case opNot:
		return n.args[0].mentions(sort)
	case opCompare:
		return n.text == "<>" && n.mentions(sort)
	}
	return false
}
