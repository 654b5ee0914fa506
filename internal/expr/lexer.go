package expr

import (
	"strings"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	tokEnd   kind = iota
	tokStray      // a character that no token starts with
	tokName       // pk
	tokNameRef
	tokValueRef
	tokIndex // 0, 17
	tokOpen
	tokClose
	tokOpenIndex
	tokCloseIndex
	tokComma
	tokDot
	tokPlus
	tokMinus
	tokEqual
	tokNotEqual
	tokLess
	tokLessOrEqual
	tokGreater
	tokGreaterOrEqual

	// Words with a meaning of their own in every expression, in any case.
	tokAnd
	tokOr
	tokNot
	tokBetween
	tokIn
	tokSet
	tokRemove
	tokAdd
	tokDelete
)

// token is a piece of an expression's text.
type token struct {
	kind       kind
	start, end int
}

// lexer cuts an expression into tokens.
type lexer struct {
	src string
	pos int
}

func (l *lexer) next() token {
	src := l.src
	for l.pos < len(src) && isSpace(src[l.pos]) {
		l.pos++
	}
	t := token{start: l.pos, end: l.pos}
	if l.pos == len(src) {
		return t
	}
	switch c := src[l.pos]; {
	case isLetter(c):
		t.end = wordEnd(src, l.pos)
		t.kind = keyword(src[t.start:t.end])
	case c == '#' || c == ':':
		t.end = wordEnd(src, l.pos+1)
		switch {
		case t.end == t.start+1:
			t.kind = tokStray
		case c == '#':
			t.kind = tokNameRef
		default:
			t.kind = tokValueRef
		}
	case isDigit(c):
		t.end, t.kind = l.pos+1, tokIndex
		for c != '0' && t.end < len(src) && isDigit(src[t.end]) {
			t.end++
		}
	default:
		t.kind, t.end = symbol(src[l.pos:])
		t.end += l.pos
	}
	l.pos = t.end
	return t
}

// symbol returns the token at the start of s that is no word and no number, and
// its length.
func symbol(s string) (k kind, length int) {
	if len(s) > 1 {
		switch s[:2] {
		case "<>":
			return tokNotEqual, 2
		case "<=":
			return tokLessOrEqual, 2
		case ">=":
			return tokGreaterOrEqual, 2
		}
	}
	switch s[0] {
	case '(':
		return tokOpen, 1
	case ')':
		return tokClose, 1
	case '[':
		return tokOpenIndex, 1
	case ']':
		return tokCloseIndex, 1
	case ',':
		return tokComma, 1
	case '.':
		return tokDot, 1
	case '+':
		return tokPlus, 1
	case '-':
		return tokMinus, 1
	case '=':
		return tokEqual, 1
	case '<':
		return tokLess, 1
	case '>':
		return tokGreater, 1
	}
	_, length = utf8.DecodeRuneInString(s)
	return tokStray, length
}

// keyword returns the kind of a word.
func keyword(word string) kind {
	if len(word) < 2 || len(word) > 7 {
		return tokName
	}
	for _, k := range keywords[len(word)] {
		if strings.EqualFold(word, k.word) {
			return k.kind
		}
	}
	return tokName
}

// keywords by their length.
var keywords = [8][]struct {
	word string
	kind kind
}{
	2: {{"OR", tokOr}, {"IN", tokIn}},
	3: {{"AND", tokAnd}, {"NOT", tokNot}, {"SET", tokSet}, {"ADD", tokAdd}},
	6: {{"REMOVE", tokRemove}, {"DELETE", tokDelete}},
	7: {{"BETWEEN", tokBetween}},
}

// syntaxFault is what is wrong with an expression whose token at position start
// should not be there: the token, and the text from the token before it to the
// one after it. There is no need to keep tokens for it: it looks for them again.
func syntaxFault(role Role, src string, start int) error {
	l := lexer{src: src}
	from := 0
	bad := l.next()
	for bad.start < start {
		from = bad.start
		bad = l.next()
	}
	text := "<EOF>"
	if bad.kind != tokEnd {
		text = src[bad.start:bad.end]
	}
	after := l.next()
	return role.fault("Syntax error; token: \"" + text + "\", near: \"" + src[from:after.end] + "\"")
}

// wordEnd returns where the word that goes on at src[i] ends.
func wordEnd(src string, i int) int {
	for i < len(src) && (isLetter(src[i]) || isDigit(src[i]) || src[i] == '_') {
		i++
	}
	return i
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
