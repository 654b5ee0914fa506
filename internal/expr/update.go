package expr

import (
	"iter"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Update is an UpdateExpression: what to do to an item.
type Update struct {
	actions []action // sorted by path
	targets []path   // their paths
	arena   arena

	attributes bool // it is from AttributeUpdates, whose faults have other words
}

// action is something done to one place in an item.
type action struct {
	clause clause
	before int // how many actions stand before it
	path   path
	value  *node // nil with REMOVE
}

// clause is what an action does.
type clause uint8

const (
	clauseSet clause = iota
	clauseRemove
	clauseAdd
	clauseDelete
)

var clauseNames = [...]string{"SET", "REMOVE", "ADD", "DELETE"}

func (c clause) String() string { return clauseNames[c] }

// ParseUpdate reads an update.
func ParseUpdate(src string, s *Scope) (*Update, error) {
	u := new(Update)
	p, err := newParser(UpdateExpression, src, s, &u.arena)
	if err != nil {
		return nil, err
	}
	actions, clauses, err := p.update()
	if err != nil {
		return nil, err
	}
	if err := p.updateShape(actions, clauses); err != nil {
		return nil, err
	}
	u.actions, u.targets = actions, make([]path, len(actions))
	for i := range actions {
		u.targets[i] = actions[i].path
	}
	if err := p.bindUpdate(u); err != nil {
		return nil, err
	}
	u.sort()
	return u, nil
}

// sort puts actions and targets into the order of their paths.
func (u *Update) sort() {
	slices.SortFunc(u.actions, func(a, b action) int { return a.path.compare(b.path) })
	slices.SortFunc(u.targets, path.compare)
}

// TopLevelAttributes returns the attributes that the update changes, in order of
// their names, each with whether it changes only parts of it (a.b, a[0]). An
// attribute appears as often as it has such parts.
func (u *Update) TopLevelAttributes() iter.Seq2[string, bool] { return topLevel(u.targets) }

// Assigned returns the attributes that the update gives a value of the request,
// each with that value.
func (u *Update) Assigned() iter.Seq2[string, attr.Value] {
	return func(yield func(string, attr.Value) bool) {
		for i := range u.actions {
			a := &u.actions[i]
			if a.path.nested() || a.value == nil || a.value.op != opValue {
				continue
			}
			if !yield(a.path[0].name, *a.value.value) {
				return
			}
		}
	}
}

// Operands returns the attributes that the update reads, in the order they are
// written, each with whether it reads only a part of it.
func (u *Update) Operands() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for i := range u.actions {
			if v := u.actions[i].value; v != nil && !v.paths(func(p path) bool { return yield(p[0].name, p.nested()) }) {
				return
			}
		}
	}
}

// AssignedKinds returns the attributes that the update gives a value whose kind the
// request tells, each with that kind.
func (u *Update) AssignedKinds() iter.Seq2[string, attr.Kind] {
	return func(yield func(string, attr.Kind) bool) {
		for i := range u.actions {
			a := &u.actions[i]
			if a.path.nested() || a.value == nil {
				continue
			}
			if kind := a.value.result(); kind != attr.Invalid && !yield(a.path[0].name, kind) {
				return
			}
		}
	}
}

// Sets returns how many of the actions write a value: SET and ADD.
func (u *Update) Sets() (n int) {
	for i := range u.actions {
		if c := u.actions[i].clause; c == clauseSet || c == clauseAdd {
			n++
		}
	}
	return n
}

// The grammar:
//
//	update    = clause { clause }
//	clause    = "SET" set { "," set } | "REMOVE" path { "," path }
//	          | "ADD" path value { "," path value } | "DELETE" path value { "," path value }
//	set       = path "=" setValue
//	setValue  = operand [ ( "+" | "-" ) operand ] | "(" setValue ")"

func (p *parser) update() (actions []action, clauses []clause, err error) {
	actions = make([]action, 0, min(1+strings.Count(p.lex.Text, ","), 8))
	for {
		var next action
		switch p.tok.Kind {
		case token.Set:
			next.clause = clauseSet
		case token.Remove:
			next.clause = clauseRemove
		case token.Add:
			next.clause = clauseAdd
		case token.Delete:
			next.clause = clauseDelete
		default:
			return nil, nil, p.unexpected()
		}
		clauses = append(clauses, next.clause)
		for more := true; more; more = p.tok.Kind == token.Comma {
			p.advance()
			next.before = len(actions)
			if err := p.action(&next); err != nil {
				return nil, nil, err
			}
			actions = append(actions, next)
		}
		if p.tok.Kind == token.End {
			return actions, clauses, p.finish()
		}
	}
}

// action reads the place and the value of an action whose clause is known.
func (p *parser) action(a *action) (err error) {
	if a.path, err = p.target(); err != nil {
		return err
	}
	switch a.clause {
	case clauseSet:
		if err := p.expect(token.Equal); err != nil {
			return err
		}
		a.value, err = p.setValue()
	case clauseAdd, clauseDelete:
		if p.tok.Kind != token.ValueRef {
			return p.unexpected()
		}
		a.value, err = p.operand()
	}
	return err
}

func (p *parser) setValue() (left *node, err error) {
	if p.tok.Kind == token.Open {
		p.advance()
		if left, err = p.setValue(); err != nil {
			return nil, err
		}
		if err := p.expect(token.Close); err != nil {
			return nil, err
		}
		if err := p.parenthesize(left); err != nil {
			return nil, err
		}
	} else if left, err = p.operand(); err != nil {
		return nil, err
	}
	o := opPlus
	switch {
	case left.op == opPlus || left.op == opMinus:
		return left, nil
	case p.tok.Kind == token.Minus:
		o = opMinus
	case p.tok.Kind != token.Plus:
		return left, nil
	}
	p.advance()
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	return p.operator(o, left, right), nil
}

// updateShape is shape for an update. Clauses of the same kind are looked at
// together, and found to be too many after that.
func (p *parser) updateShape(actions []action, clauses []clause) error {
	for i, c := range clauses {
		if slices.Contains(clauses[:i], c) {
			continue
		}
		for _, a := range actions {
			if a.clause != c {
				continue
			}
			if err := p.pathShape(a.path); err != nil {
				return err
			}
			if a.value == nil {
				continue
			}
			if err := p.shape(a.value, placeSet); err != nil {
				return err
			}
		}
		if slices.Contains(clauses[i+1:], c) {
			return p.role.fault("The \"" + c.String() + "\" section can only be used once in an update expression;")
		}
	}
	return nil
}

// bindUpdate is bind for an update: places first, then the names in values, then
// the values themselves, the last one first.
func (p *parser) bindUpdate(u *Update) error {
	for _, target := range u.targets {
		if err := p.bindPath(target); err != nil {
			return err
		}
	}
	if err := checkDistinct(p.role, u.targets); err != nil {
		return err
	}
	for _, a := range slices.Backward(u.actions) {
		if err := p.bindNames(a.value); err != nil {
			return err
		}
	}
	for _, a := range slices.Backward(u.actions) {
		if err := p.bindAction(a); err != nil {
			return err
		}
	}
	return nil
}

// bindNames is the part of bind that is about names.
func (p *parser) bindNames(n *node) (err error) {
	if n != nil {
		n.paths(func(steps path) bool {
			err = p.bindPath(steps)
			return err == nil
		})
	}
	return err
}

func (p *parser) bindAction(a action) error {
	if a.clause == clauseRemove {
		return nil
	}
	if err := p.bind(a.value); err != nil || a.clause == clauseSet {
		return err
	}
	k := a.value.static()
	if k.IsSet() || a.clause == clauseAdd && k == attr.N {
		return nil
	}
	return p.role.fault("Incorrect operand type for operator or function; operator: " + a.clause.String() +
		", operand type: " + longName(k) + ", typeSet: ALLOWED_FOR_ADD_OPERAND")
}

// longName is the name of a kind in faults about ADD and DELETE.
func longName(k attr.Kind) string {
	switch k {
	case attr.S:
		return "STRING"
	case attr.N:
		return "NUMBER"
	case attr.B:
		return "BINARY"
	case attr.M:
		return "MAP"
	case attr.L:
		return "LIST"
	}
	return k.String()
}
