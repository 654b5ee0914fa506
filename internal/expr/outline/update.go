// Package outline tells what an expression is about without checking it: DynamoDB
// refuses what is wrong. The library asks which attributes an update assigns and
// whether it may be sent twice, package heat which keys a request is about.
//
// It takes any text, and allocates nothing. What it does not understand it says to be
// unclear, never to be harmless.
package outline

import (
	"strings"

	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Update reads an update expression, action by action:
//
//	SET status = :s, #at = :now, n = n + :one  REMOVE owner  ADD visits :one  DELETE tags :t
type Update struct {
	lex    token.Lexer
	clause token.Kind // of the action that follows; End: a clause has to begin
	end    int        // where the clause's word ends
	broken bool
}

// Action is what an update does to one place in an item.
type Action struct {
	Clause    token.Kind // Set, Remove, Add or Delete
	ClauseEnd int        // where in the expression the word of the clause ends

	Path Path // empty if the expression has none

	// Value is the placeholder whose value SET gives the path: ":v" in a = :v and in a = if_not_exists(b, :v). It is empty
	// if the value depends on the item in another way, as in n = n + :v.
	Value string

	// Unless is the path that must not exist for SET to do so: b in a = if_not_exists(b, :v).
	Unless Path
}

// Path is where in an item something is.
type Path struct {
	Text   string // as it is written
	Name   string // the word that it begins with: an attribute, or a placeholder of one
	Nested bool   // it leads into the attribute: a.b or a[0]
}

// ReadUpdate begins to read an update expression.
func ReadUpdate(expression string) Update { return Update{lex: token.Lexer{Text: expression}} }

// Broken reports whether something was passed over that is no part of an update.
func (u *Update) Broken() bool { return u.broken }

// Next reads the next action. It returns false when there is none.
func (u *Update) Next() (a Action, ok bool) {
	for u.clause == token.End {
		word := u.lex.NextWord()
		switch {
		case word.Kind == token.End:
			return Action{}, false
		case word.Kind.IsClause():
			u.clause, u.end = word.Kind, word.End
		default:
			u.broken = true
		}
	}
	a = Action{Clause: u.clause, ClauseEnd: u.end, Path: readPath(&u.lex)}
	switch a.Clause {
	case token.Set:
		a.Value, a.Unless = readAssigned(&u.lex)
	case token.Add, token.Delete:
		u.lex.NextWord() // the value
	}
	if !skip(&u.lex, token.Comma) {
		u.clause = token.End
	}
	return a, true
}

// Same reports whether two paths are written with the same words.
func (p Path) Same(other Path) bool {
	a, b := token.Lexer{Text: p.Text}, token.Lexer{Text: other.Text}
	for {
		x, y := a.NextWord(), b.NextWord()
		if a.Text[x.Start:x.End] != b.Text[y.Start:y.End] {
			return false
		}
		if x.Kind == token.End {
			return true
		}
	}
}

// peek returns the next word without reading it.
func peek(l *token.Lexer) token.Token {
	ahead := *l
	return ahead.NextWord()
}

// skip reads the next word if it is of a kind, and reports whether it is.
func skip(l *token.Lexer, k token.Kind) bool {
	ahead := *l
	if ahead.NextWord().Kind != k {
		return false
	}
	*l = ahead
	return true
}

// readPath reads a path. Its names may be any words, also those that clauses begin with.
func readPath(l *token.Lexer) Path {
	first := l.NextWord()
	p := Path{Name: l.Text[first.Start:first.End]}
	for {
		switch {
		case skip(l, token.Dot):
			l.NextWord()
		case skip(l, token.OpenIndex):
			l.NextWord()
			l.NextWord() // ]
		default:
			p.Text = l.Text[first.Start:l.Pos]
			return p
		}
		p.Nested = true
	}
}

// readAssigned reads "= value" up to the next action or clause. It returns the placeholder if it is the value, or is the
// value where there is none yet.
func readAssigned(l *token.Lexer) (value string, unless Path) {
	if l.NextWord().Kind != token.Equal {
		return "", Path{}
	}
	start := l.Pos
	var first token.Token
	operands, depth := 0, 0
	wanted, computed := true, false // wanted: an operand must follow, so that a word begins no clause
	for {
		word := peek(l)
		if word.Kind == token.End || depth == 0 && (word.Kind == token.Comma || !wanted && word.Kind.IsClause()) {
			break
		}
		switch word.Kind {
		case token.Open:
			depth++
			wanted = true
		case token.Close:
			depth--
			wanted = false
		case token.CloseIndex:
			wanted = false
		case token.Plus, token.Minus:
			wanted, computed = true, true
		case token.Dot, token.Comma, token.OpenIndex, token.Equal, token.NotEqual,
			token.Less, token.LessOrEqual, token.Greater, token.GreaterOrEqual:
			wanted = true
		default:
			if operands == 0 {
				first = word
			}
			operands++
			wanted = false
		}
		l.Pos = word.End
	}
	switch {
	case computed || operands == 0:
		return "", Path{}
	case operands > 1:
		return readIfNotExists(l.Text[start:l.Pos])
	case first.Kind != token.ValueRef:
		return "", Path{}
	}
	return l.Text[first.Start:first.End], Path{}
}

// readIfNotExists reads if_not_exists(path, :value), in any number of parentheses.
func readIfNotExists(text string) (value string, unless Path) {
	l, depth := token.Lexer{Text: text}, 0
	for skip(&l, token.Open) {
		depth++
	}
	if name := l.NextWord(); text[name.Start:name.End] != "if_not_exists" || !skip(&l, token.Open) {
		return "", Path{}
	}
	unless = readPath(&l)
	if !skip(&l, token.Comma) {
		return "", Path{}
	}
	placeholder := l.NextWord()
	for range depth + 1 {
		if !skip(&l, token.Close) {
			return "", Path{}
		}
	}
	if placeholder.Kind != token.ValueRef || l.NextWord().Kind != token.End {
		return "", Path{}
	}
	return text[placeholder.Start:placeholder.End], unless
}

// AddToSet adds assignments to the SET clause of an update expression, or such a clause.
func AddToSet(expression, assignments string) string {
	return addTo(expression, token.Set, "SET", assignments)
}

// AddToRemove adds paths to the REMOVE clause of an update expression, or such a clause.
func AddToRemove(expression, paths string) string {
	return addTo(expression, token.Remove, "REMOVE", paths)
}

// addTo adds actions to a clause, which DynamoDB takes only once.
func addTo(expression string, clause token.Kind, word, actions string) string {
	u := ReadUpdate(expression)
	for a, ok := u.Next(); ok; a, ok = u.Next() {
		if a.Clause == clause {
			return expression[:a.ClauseEnd] + " " + actions + "," + expression[a.ClauseEnd:]
		}
	}
	if strings.TrimSpace(expression) == "" {
		return word + " " + actions
	}
	return expression + " " + word + " " + actions
}
