package expr

import (
	"slices"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Builder makes conditions, updates and projections of parts that were read from
// another language, which is PartiQL. They are checked as those are that are
// parsed, but for reserved words. Its faults name no parameter of a request.
type Builder struct{ arena arena }

// Part is a part of what a Builder makes: an operand, or a condition.
type Part struct{ n *node }

// Step is a step of a path: into a map by name, or into a list by index.
type Step struct {
	Name  string
	Index int // negative: by name
}

// Path returns the operand that a path leads to. There is at least one step, and
// the first one is by name.
func (b *Builder) Path(steps ...Step) Part {
	n := b.arena.newNode(opPath)
	start := b.arena.startPath(step{name: steps[0].Name, index: byName})
	for _, s := range steps[1:] {
		if s.Index < 0 {
			b.arena.addStep(step{name: s.Name, index: byName})
		} else {
			b.arena.addStep(step{index: s.Index})
		}
	}
	n.path = b.arena.endPath(start)
	return Part{n}
}

// Value returns the operand that a value is.
func (b *Builder) Value(v attr.Value) Part { return Part{b.arena.valueNode(&v)} }

// Operator returns an operator or a function with its operands, by its name as it
// is written in expressions. A part must not be used twice.
func (b *Builder) Operator(name string, operands ...Part) Part {
	children := make([]*node, len(operands))
	for i, p := range operands {
		if p.n == nil {
			return Part{} // of a part that could not be made
		}
		children[i] = p.n
	}
	n := b.arena.newNode(op(slices.Index(opNames[:], name)), children...)
	n.text = name
	return Part{n}
}

// Condition checks a condition.
func (b *Builder) Condition(root Part) (*Condition, error) {
	p := parser{role: Statement}
	if err := p.checkBuilt(root.n); err != nil {
		return nil, err
	}
	if err := p.countBuilt(root.n); err != nil {
		return nil, err
	}
	return &Condition{root: root.n}, nil
}

// checkBuilt is bind for nodes whose names and values are in place.
func (p *parser) checkBuilt(n *node) error {
	if n.op == opValue {
		return nil
	}
	if n.op == opPath {
		return p.bindPath(n.path)
	}
	for c := n.first; c != nil; c = c.next {
		if err := p.checkBuilt(c); err != nil {
			return err
		}
	}
	return p.operands(n)
}

// countBuilt makes sure that there are not too many operators.
func (p *parser) countBuilt(n *node) error {
	if n.op != opPath && n.op != opValue && !n.op.isFunction() {
		if p.operators++; p.operators > maxOperators {
			return p.tooManyOperators()
		}
	}
	for c := n.first; c != nil; c = c.next {
		if err := p.countBuilt(c); err != nil {
			return err
		}
	}
	return nil
}

// Assignment is one change of an update: SET, REMOVE, ADD or DELETE.
type Assignment struct {
	Clause string
	Target Part // a path
	Value  Part // none with REMOVE
}

// Update checks changes, and makes an update of them.
func (b *Builder) Update(list []Assignment) (*Update, error) {
	p := parser{role: Statement}
	u := &Update{}
	for _, a := range list {
		target := a.Target.n.path
		if err := p.bindPath(target); err != nil {
			return nil, err
		}
		u.targets = append(u.targets, target)
		u.actions = append(u.actions, action{
			clause: clause(slices.Index(clauseNames[:], a.Clause)), path: target, value: a.Value.n,
		})
	}
	if err := checkDistinct(p.role, u.targets); err != nil {
		return nil, err
	}
	for i := range u.actions {
		if v := u.actions[i].value; v != nil {
			if err := p.checkBuilt(v); err != nil {
				return nil, err
			}
		}
	}
	u.sort()
	return u, nil
}

// Column is a part of an item under the name that an answer gives it.
type Column struct {
	Name string
	Path Part
}

// Columns returns the projection that has each column at its top.
func (b *Builder) Columns(list []Column) (*Projection, error) {
	p := parser{role: Statement}
	out := &Projection{}
	for _, c := range list {
		if err := p.bindPath(c.Path.n.path); err != nil {
			return nil, err
		}
		out.paths = append(out.paths, c.Path.n.path)
		out.columns = append(out.columns, c.Name)
	}
	return out, nil
}

// KeyConditionOf returns the key condition that all terms hold.
func KeyConditionOf(terms KeyTerms) *KeyCondition { return &KeyCondition{terms: terms} }
