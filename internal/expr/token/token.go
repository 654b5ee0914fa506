// Package token cuts the expressions of DynamoDB into tokens: conditions, filters, key
// conditions, projections and updates have the same.
package token

import (
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End      Kind = iota // of the text
	Stray                // a character that no token starts with
	Name                 // pk
	NameRef              // #pk
	ValueRef             // :pk
	Index                // 0, 17
	Open                 // (
	Close
	OpenIndex // [
	CloseIndex
	Comma
	Dot
	Plus
	Minus
	Equal
	NotEqual // <>
	Less
	LessOrEqual
	Greater
	GreaterOrEqual

	// Words with a meaning of their own in every expression, in any case.
	And
	Or
	Not
	Between
	In
	Set
	Remove
	Add
	Delete
)

// IsClause reports whether a clause of an update begins with such a token.
func (k Kind) IsClause() bool { return Set <= k && k <= Delete }

// isWord reports whether a token is made of letters, digits and what else names have, or of a stray character.
func (k Kind) isWord() bool { return Stray <= k && k <= Index || k >= And }

// Token is a piece of an expression's text: Text[Start:End].
type Token struct {
	Kind       Kind
	Start, End int
}

// Lexer cuts an expression into tokens. Put the expression into Text; Pos is how far it has been read.
type Lexer struct {
	Text string
	Pos  int
}

// Next reads a token as DynamoDB does.
func (l *Lexer) Next() Token {
	text := l.Text
	for l.Pos < len(text) && isSpace(text[l.Pos]) {
		l.Pos++
	}
	t := Token{Start: l.Pos, End: l.Pos}
	if l.Pos == len(text) {
		return t
	}
	switch c := text[l.Pos]; {
	case isLetter(c):
		t.End = WordEnd(text, l.Pos)
		t.Kind = keyword(text[t.Start:t.End])
	case c == '#' || c == ':':
		t.End = WordEnd(text, l.Pos+1)
		switch {
		case t.End == t.Start+1:
			t.Kind = Stray
		case c == '#':
			t.Kind = NameRef
		default:
			t.Kind = ValueRef
		}
	case isDigit(c):
		t.End, t.Kind = l.Pos+1, Index
		for c != '0' && t.End < len(text) && isDigit(text[t.End]) {
			t.End++
		}
	default:
		t.Kind, t.End = symbol(text[l.Pos:])
		t.End += l.Pos
	}
	l.Pos = t.End
	return t
}

// NextWord is Next for text that need not be valid: what stands together without a sign or a blank between is one word,
// as in _id, 2fa and größe. Such a word is a NameRef if it begins with #, a ValueRef if with a colon, else a Name.
func (l *Lexer) NextWord() Token {
	t := l.Next()
	for t.Kind.isWord() && l.Pos < len(l.Text) {
		more := *l
		part := more.Next()
		if part.Start != t.End || !part.Kind.isWord() {
			break
		}
		*l, t.End = more, part.End
		switch l.Text[t.Start] {
		case '#':
			t.Kind = NameRef
		case ':':
			t.Kind = ValueRef
		default:
			t.Kind = Name
		}
	}
	return t
}

// symbol returns the token at the start of s that is no word and no number, and
// its length.
func symbol(s string) (k Kind, length int) {
	if len(s) > 1 {
		switch s[:2] {
		case "<>":
			return NotEqual, 2
		case "<=":
			return LessOrEqual, 2
		case ">=":
			return GreaterOrEqual, 2
		}
	}
	switch s[0] {
	case '(':
		return Open, 1
	case ')':
		return Close, 1
	case '[':
		return OpenIndex, 1
	case ']':
		return CloseIndex, 1
	case ',':
		return Comma, 1
	case '.':
		return Dot, 1
	case '+':
		return Plus, 1
	case '-':
		return Minus, 1
	case '=':
		return Equal, 1
	case '<':
		return Less, 1
	case '>':
		return Greater, 1
	}
	_, length = utf8.DecodeRuneInString(s)
	return Stray, length
}

// keyword returns the kind of a word.
func keyword(word string) Kind {
	if len(word) < 2 || len(word) > 7 {
		return Name
	}
	for _, k := range keywords[len(word)] {
		if strings.EqualFold(word, k.word) {
			return k.kind
		}
	}
	return Name
}

// keywords by their length.
var keywords = [8][]struct {
	word string
	kind Kind
}{
	2: {{"OR", Or}, {"IN", In}},
	3: {{"AND", And}, {"NOT", Not}, {"SET", Set}, {"ADD", Add}},
	6: {{"REMOVE", Remove}, {"DELETE", Delete}},
	7: {{"BETWEEN", Between}},
}

// WordEnd returns where the word that goes on at text[i] ends: it has letters, digits and _.
func WordEnd(text string, i int) int {
	for i < len(text) && (isLetter(text[i]) || isDigit(text[i]) || text[i] == '_') {
		i++
	}
	return i
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
