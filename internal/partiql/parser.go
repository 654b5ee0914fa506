package partiql

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// maxDepth is how deep the parts of a statement may nest, which bounds the stack.
// The literals of DynamoDB have at most 32 levels.
const maxDepth = 200

// parser turns tokens into a tree.
type parser struct {
	tokens []token
	depth  int
	params []*node
	fault  error // the first one that a statement has which can be read
}

func (p *parser) peek() token { return p.tokens[0] }

// advance goes on to the next token. The end is never passed.
func (p *parser) advance() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept reads a word or symbol if it is next.
func (p *parser) accept(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.advance()
	return true
}

// word reads a word that is no keyword, such as OLD, if it is next.
func (p *parser) word(text string) bool {
	t := p.peek()
	if t.kind != name && t.kind != keyword || !strings.EqualFold(t.text, text) {
		return false
	}
	p.advance()
	return true
}

// refuse keeps a fault that is told only if the statement can be read.
func (p *parser) refuse(format string, args ...any) {
	if p.fault == nil {
		p.fault = attr.Faultf(format, args...)
	}
}

// finish makes sure that nothing is left.
func (p *parser) finish() error {
	p.accept(";")
	if p.peek().kind != end {
		return malformed("Unexpected token after expression")
	}
	return nil
}

// enter and leave count how deep the parser is.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return malformed("Expressions are nested more than " + strconv.Itoa(maxDepth) + " levels deep")
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// The grammar of expressions, from what binds least to what binds most:
//
//	or        = and { "OR" and }
//	and       = not { "AND" not }
//	not       = "NOT" not | comparison
//	comparison = sum { comparator sum | [ "NOT" ] "IN" sum | "IS" [ "NOT" ] type | [ "NOT" ] "BETWEEN" sum "AND" sum }
//	sum       = sign { ( "+" | "-" | … ) sign }
//	sign      = ( "+" | "-" ) sign | term

func (p *parser) expression() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.chain(opOr, "or", func() (*node, error) { return p.chain(opAnd, "and", p.not) })
}

// chain reads operands with the same operator between them.
func (p *parser) chain(o op, word string, operand func() (*node, error)) (*node, error) {
	first, err := operand()
	if err != nil || !p.peek().is(word) {
		return first, err
	}
	n := &node{op: o, args: []*node{first}, at: p.peek().at}
	for p.accept(word) {
		next, err := p.right(operand)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, next)
	}
	return n, nil
}

// right reads what follows an operator.
func (p *parser) right(operand func() (*node, error)) (*node, error) {
	if t := p.peek(); t.kind == end || t.is(";") {
		return nil, malformed("Missing right-hand side expression of infix operator")
	}
	return operand()
}

func (p *parser) not() (*node, error) {
	at := p.peek().at
	if !p.accept("not") {
		return p.comparison()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.not()
	if err != nil {
		return nil, err
	}
	return &node{op: opNot, args: []*node{n}, at: at}, nil
}

func (p *parser) comparison() (*node, error) {
	left, err := p.sum()
	for err == nil {
		t := p.peek()
		negated := t.is("not")
		if negated {
			if next := p.tokens[1]; !next.is("in") && !next.is("between") && !next.is("like") {
				return left, nil
			}
			p.advance()
			t = p.peek()
		}
		switch {
		case t.kind == operator && isComparator(t.text):
			p.advance()
			left, err = p.binary(opCompare, left, t)
		case t.is("like"):
			p.advance()
			left, err = p.binary(opOther, left, t)
		case t.is("in"):
			p.advance()
			left, err = p.binary(opIn, left, t)
		case t.is("is"):
			p.advance()
			left, err = p.is(left, t)
		case t.is("between"):
			p.advance()
			left, err = p.between(left, t)
		default:
			return left, nil
		}
		if negated && err == nil {
			left = &node{op: opNot, args: []*node{left}, at: left.at}
		}
	}
	return nil, err
}

func isComparator(text string) bool {
	return slices.Contains([]string{"=", "<>", "!=", "<", "<=", ">", ">="}, text)
}

func (p *parser) binary(o op, left *node, t token) (*node, error) {
	right, err := p.right(p.sum)
	if err != nil {
		return nil, err
	}
	text := t.text
	if text == "!=" {
		text = "<>"
	}
	return &node{op: o, text: text, args: []*node{left, right}, at: t.at}, nil
}

// is reads the type of IS.
func (p *parser) is(left *node, t token) (*node, error) {
	negated := p.accept("not")
	word := p.peek()
	typeName := strings.ToLower(word.text)
	if _, ok := types[typeName]; !ok || word.kind != keyword && word.kind != name {
		return nil, malformed("Expected type name")
	}
	p.advance()
	switch typeName { // names of two words
	case "double":
		p.word("precision")
	case "character":
		p.word("varying")
	}
	n := &node{op: opIs, text: typeName, args: []*node{left}, at: t.at}
	if negated {
		n = &node{op: opNot, args: []*node{n}, at: t.at}
	}
	return n, nil
}

func (p *parser) between(left *node, t token) (*node, error) {
	low, err := p.right(p.sum)
	if err != nil {
		return nil, err
	}
	if !p.accept("and") {
		return nil, malformed("Expected AND after BETWEEN")
	}
	high, err := p.right(p.sum)
	if err != nil {
		return nil, err
	}
	return &node{op: opBetween, text: "BETWEEN", args: []*node{left, low, high}, at: t.at}, nil
}

func (p *parser) sum() (*node, error) {
	left, err := p.sign()
	for err == nil {
		t := p.peek()
		o := opOther
		switch {
		case t.kind != operator:
			return left, nil
		case t.text == "+" || t.text == "-":
			o = opArithmetic
		case !slices.Contains([]string{"*", "/", "%", "||"}, t.text):
			return left, nil
		}
		p.advance()
		var right *node
		if right, err = p.right(p.sign); err == nil {
			left = &node{op: o, text: t.text, args: []*node{left, right}, at: t.at}
		}
	}
	return nil, err
}

// sign reads a term with signs before it, which numbers may have.
func (p *parser) sign() (*node, error) {
	t := p.peek()
	if !t.is("-") && !t.is("+") {
		return p.term()
	}
	p.advance()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.right(p.sign)
	if err != nil {
		return nil, err
	}
	if n.op != opValue || n.value.Kind != attr.N {
		return &node{op: opOther, text: t.text, args: []*node{n}, at: t.at}, nil
	}
	if t.text == "-" {
		if unsigned, negative := strings.CutPrefix(n.text, "-"); negative {
			n.text = unsigned
		} else {
			n.text = "-" + n.text
		}
	}
	return n, nil
}

func (p *parser) term() (*node, error) {
	t := p.peek()
	n := &node{at: t.at}
	switch t.kind {
	case text:
		n.op, n.value = opValue, attr.String(t.text)
	case number:
		n.op, n.text, n.value = opValue, t.text, attr.Value{Kind: attr.N}
	case ion:
		n.op, n.text = opIon, t.text
	case param:
		p.params = append(p.params, n)
		n.op, n.param = opValue, len(p.params)
	case name, quoted:
		return p.nameOrCall()
	case keyword:
		return p.keywordTerm()
	case punctuation:
		return p.collection()
	case operator:
		return nil, malformed("Unexpected operator")
	default:
		return nil, malformed("Unexpected term")
	}
	p.advance()
	return n, nil
}

// keywordTerm reads a literal that is a keyword, or a function that has the name
// of one.
func (p *parser) keywordTerm() (*node, error) {
	t := p.peek()
	n := &node{op: opValue, at: t.at}
	switch t.text {
	case "true", "false":
		n.value = attr.Boolean(t.text == "true")
	case "null":
		n.value = attr.Value{Kind: attr.Null}
	case "missing":
		n.op = opMissing
	case "select":
		return p.subquery()
	default:
		if p.tokens[1].is("(") && !startsClause(t.text) {
			return p.nameOrCall()
		}
		return nil, malformed("Unexpected keyword")
	}
	p.advance()
	return n, nil
}

// startsClause reports whether a keyword is a part of statements, and no function
// could have its name.
func startsClause(word string) bool {
	return slices.Contains([]string{"from", "where", "order", "group", "having", "limit", "set", "remove", "values", "value"}, word)
}

// subquery reads a SELECT within a statement, which only EXISTS may have.
func (p *parser) subquery() (*node, error) {
	at := p.peek().at
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.advance()
	s, err := p.selects()
	if err != nil {
		return nil, err
	}
	return &node{op: opSelect, query: s, at: at}, nil
}

// nameOrCall reads a path, or a function with its operands.
func (p *parser) nameOrCall() (*node, error) {
	t := p.peek()
	if p.tokens[1].is("(") && t.kind != quoted {
		p.advance()
		p.advance()
		n := &node{op: opCall, text: strings.ToLower(t.text), at: t.at}
		if n.text == "count" && p.accept("*") {
			n.args = append(n.args, &node{op: opStar, at: t.at})
		}
		var err error
		n.args, err = p.list(n.args, ")")
		return n, err
	}
	steps, err := p.path()
	return &node{op: opPath, path: steps, at: t.at}, err
}

// list reads elements up to a closing symbol.
func (p *parser) list(list []*node, closing string) ([]*node, error) {
	if p.accept(closing) {
		return list, nil
	}
	for {
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if p.accept(closing) {
			return list, nil
		}
		if !p.accept(",") {
			return nil, malformed("Expected " + closing)
		}
	}
}

// collection reads parentheses, or a literal that has elements.
func (p *parser) collection() (n *node, err error) {
	t := p.peek()
	switch n = (&node{at: t.at}); t.text {
	case "(":
		return p.group()
	case "[":
		n.op = opList
		p.advance()
		n.args, err = p.list(nil, "]")
	case "<<":
		n.op = opBag
		p.advance()
		n.args, err = p.list(nil, ">>")
	case "{":
		n.op = opTuple
		p.advance()
		n.args, err = p.tuple()
	default:
		return nil, malformed("Unexpected term")
	}
	return n, err
}

// group reads an expression in parentheses, or several, which are a sequence.
func (p *parser) group() (*node, error) {
	at := p.advance().at
	if t := p.peek(); t.kind == end || t.is(";") {
		return nil, malformed("Unexpected term")
	}
	list, err := p.list(nil, ")")
	switch {
	case err != nil:
		return nil, err
	case len(list) == 1:
		list[0].grouped = true // for IN it is a sequence of one
		return list[0], nil
	}
	return &node{op: opSeq, args: list, at: at}, nil
}

func (p *parser) tuple() (list []*node, err error) {
	if p.accept("}") {
		return nil, nil
	}
	for {
		key, err := p.expression()
		if err != nil {
			return nil, err
		}
		if !p.accept(":") {
			return nil, malformed("Expected :")
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		list = append(list, key, value)
		if p.accept("}") {
			return list, nil
		}
		if !p.accept(",") {
			return nil, malformed("Expected }")
		}
	}
}

// path reads a document path.
func (p *parser) path() (path, error) {
	t := p.peek()
	if t.kind == keyword {
		return nil, malformed("Unexpected keyword")
	}
	if t.kind != name && t.kind != quoted {
		return nil, malformed("Unexpected term")
	}
	p.advance()
	steps := path{{p.component(t), -1}}
	for {
		switch {
		case p.accept("."):
			t := p.peek()
			if t.is("*") {
				p.refuse("Unpivot path component like a.*.b are not supported")
			} else if t.kind != name && t.kind != quoted {
				return nil, malformed("Invalid path dot component")
			}
			p.advance()
			steps = append(steps, step{p.component(t), -1})
		case p.accept("["):
			s, err := p.index()
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
		default:
			return steps, nil
		}
	}
}

// component is the name of a step, which must not be empty.
func (p *parser) component(t token) string {
	if t.text == "" {
		p.refuse("Path component cannot be an empty string")
	}
	return t.text
}

// maxIndex is the last index that a list can have.
const maxIndex = 1<<31 - 1

// index reads what is in the brackets of a path.
func (p *parser) index() (step, error) {
	if p.accept("*") {
		p.refuse("Wildcard path component like a[*].b are not supported")
		return step{index: 0}, p.close()
	}
	if t := p.peek(); t.kind == text {
		p.advance()
		return step{p.component(t), -1}, p.close()
	}
	sign := ""
	for p.peek().is("-") || p.peek().is("+") {
		if p.advance().text == "-" {
			sign = "-"
		}
	}
	t := p.advance()
	if t.kind != number || strings.Trim(t.text, "0123456789") != "" {
		return step{}, malformed("Invalid path component")
	}
	i, err := strconv.ParseInt(sign+t.text, 10, 64)
	if err != nil || i < 0 || i > maxIndex {
		p.refuse("List index is not within the allowable range; index: [%s%s]%s", sign, t.text, t.at)
	}
	return step{index: int(i)}, p.close()
}

func (p *parser) close() error {
	if !p.accept("]") {
		return malformed("Expected ]")
	}
	return nil
}
