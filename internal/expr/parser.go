package expr

import (
	"strconv"

	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// parser turns the text of an expression into nodes. What it does is the same
// for all roles; each role has its own grammar on top.
type parser struct {
	lex       token.Lexer
	role      Role
	scope     *Scope
	tok       token.Token // the next one to be read
	operators int
	*arena
}

// newParser starts on an expression, the parts of which go into the arena.
func newParser(role Role, src string, s *Scope, a *arena) (parser, error) {
	p := parser{lex: token.Lexer{Text: src}, role: role, scope: s, arena: a}
	if src == "" {
		return p, role.fault("The expression can not be empty;")
	}
	if len(src) > maxSize {
		return p, role.fault("Expression size has exceeded the maximum allowed size; expression size: " + strconv.Itoa(len(src)))
	}
	p.advance()
	return p, nil
}

// finish makes sure that the whole expression was read.
func (p *parser) finish() error {
	if p.tok.Kind != token.End {
		return p.unexpected()
	}
	if p.operators > maxOperators {
		return p.tooManyOperators()
	}
	return nil
}

func (p *parser) tooManyOperators() error {
	return p.role.fault("The expression contains too many operators; operator count: " + strconv.Itoa(maxOperators+1))
}

func (p *parser) advance() { p.tok = p.lex.Next() }

func (p *parser) text(t token.Token) string { return p.lex.Text[t.Start:t.End] }

// unexpected is the fault of a next token that cannot be there.
func (p *parser) unexpected() error { return syntaxFault(p.role, p.lex.Text, p.tok.Start) }

// expect reads a token of the given kind.
func (p *parser) expect(k token.Kind) error {
	if p.tok.Kind != k {
		return p.unexpected()
	}
	p.advance()
	return nil
}

// operator is newNode for what counts as an operator.
func (p *parser) operator(o op, children ...*node) *node {
	p.operators++
	return p.newNode(o, children...)
}

// parenthesize notes that a node is in parentheses, which it must not have
// been already.
func (p *parser) parenthesize(n *node) error {
	if n.parens {
		return p.role.fault("The expression has redundant parentheses;")
	}
	n.parens = true
	return nil
}

// operand reads a path, a value, a function or any of them in parentheses.
func (p *parser) operand() (*node, error) {
	switch p.tok.Kind {
	case token.Open:
		p.advance()
		n, err := p.operand()
		if err != nil {
			return nil, err
		}
		if err := p.expect(token.Close); err != nil {
			return nil, err
		}
		return n, p.parenthesize(n)
	case token.ValueRef:
		n := p.newNode(opValue)
		n.text = p.text(p.tok)
		p.advance()
		return n, nil
	case token.Name, token.NameRef:
		first := p.nameStep()
		if p.tok.Kind == token.Open && !first.ref {
			return p.call(first.name)
		}
		return p.pathNode(first)
	}
	return nil, p.unexpected()
}

// call reads the operands of a function.
func (p *parser) call(name string) (*node, error) {
	n := p.newNode(function(name))
	n.text = name
	return n, p.list(n, &n.first)
}

// list reads operands in parentheses and makes them n's children from the given
// place on.
func (p *parser) list(n *node, at **node) error {
	if err := p.expect(token.Open); err != nil {
		return err
	}
	for {
		child, err := p.operand()
		if err != nil {
			return err
		}
		*at, at = child, &child.next
		n.count++
		if p.tok.Kind != token.Comma {
			return p.expect(token.Close)
		}
		p.advance()
	}
}

func (p *parser) pathNode(first step) (*node, error) {
	steps, err := p.path(first)
	if err != nil {
		return nil, err
	}
	n := p.newNode(opPath)
	n.path = steps
	return n, nil
}

// target reads a path that stands by itself.
func (p *parser) target() (path, error) {
	if p.tok.Kind != token.Name && p.tok.Kind != token.NameRef {
		return nil, p.unexpected()
	}
	return p.path(p.nameStep())
}

// nameStep reads a name or a placeholder for one, which is the next token.
func (p *parser) nameStep() step {
	s := step{name: p.text(p.tok), index: byName, ref: p.tok.Kind == token.NameRef}
	p.advance()
	return s
}

// path reads the steps that follow a first one.
func (p *parser) path(first step) (path, error) {
	start := p.startPath(first)
	for {
		switch p.tok.Kind {
		case token.Dot:
			p.advance()
			if p.tok.Kind != token.Name && p.tok.Kind != token.NameRef {
				return nil, p.unexpected()
			}
			p.addStep(p.nameStep())
		case token.OpenIndex:
			p.advance()
			if p.tok.Kind != token.Index {
				return nil, p.unexpected()
			}
			p.addStep(indexStep(p.text(p.tok)))
			p.advance()
			if err := p.expect(token.CloseIndex); err != nil {
				return nil, err
			}
		default:
			return p.endPath(start), nil
		}
	}
}

// indexStep returns the step into a list. An index that no list can have is
// kept as text, for the fault that it is.
func indexStep(digits string) step {
	if len(digits) <= len("2147483647") {
		if i, err := strconv.Atoi(digits); err == nil && i <= maxListIndex {
			return step{index: i}
		}
	}
	return step{name: digits, index: outOfRange}
}
