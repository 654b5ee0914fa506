package partiql

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// kind is what a token is.
type kind uint8

const (
	end     kind = iota
	name         // without quotes, and no keyword
	quoted       // a name in double quotes
	keyword      // in lower case
	text         // a string in single quotes
	number
	ion // in backquotes
	param
	punctuation
	operator
)

// token is a word of a statement.
type token struct {
	kind kind
	text string // without quotes
	at   place
}

// is reports whether the token is a keyword, an operator or punctuation that is
// written so.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == keyword || t.kind == punctuation || t.kind == operator)
}

// place is where in a statement something stands, in characters from 1.
type place struct{ line, column, length int }

// String writes a position as faults do.
func (p place) String() string {
	return " at " + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column) + ":" + strconv.Itoa(p.length)
}

// malformed is the fault of a statement that cannot be read. The detail is empty
// where DynamoDB gives none.
func malformed(detail string) error {
	return attr.Fault("Statement wasn't well formed, can't be processed: " + detail)
}

// The words that act as operators.
var operatorWords = []string{"and", "or", "not", "in", "is", "like", "between", "union", "intersect", "except"}

// symbols are what is neither a word nor a literal, the longest first.
var symbols = []struct {
	text string
	kind kind
}{
	{"<<", punctuation},
	{">>", punctuation},
	{"<>", operator},
	{"!=", operator},
	{"<=", operator},
	{">=", operator},
	{"||", operator},
	{"<", operator},
	{">", operator},
	{"=", operator},
	{"+", operator},
	{"-", operator},
	{"*", operator},
	{"/", operator},
	{"%", operator},
	{"(", punctuation},
	{")", punctuation},
	{"[", punctuation},
	{"]", punctuation},
	{"{", punctuation},
	{"}", punctuation},
	{",", punctuation},
	{".", punctuation},
	{":", punctuation},
	{";", punctuation},
	{"?", param},
}

// lexer splits a statement into tokens.
type lexer struct {
	rest         string
	line, column int
}

// tokens returns all tokens of a statement; the last one is its end.
func tokens(statement string) ([]token, error) {
	l := lexer{rest: statement, line: 1, column: 1}
	list := make([]token, 0, 16+len(statement)/5)
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		if t.kind == end {
			return list, nil
		}
	}
}

// take removes n bytes from the rest, and counts their lines and columns.
func (l *lexer) take(n int) string {
	taken := l.rest[:n]
	l.rest = l.rest[n:]
	if lines := strings.Count(taken, "\n"); lines > 0 {
		l.line += lines
		l.column = 1
		l.column += utf8.RuneCountInString(taken[strings.LastIndexByte(taken, '\n')+1:])
		return taken
	}
	l.column += utf8.RuneCountInString(taken)
	return taken
}

func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	t := token{at: place{l.line, l.column, 0}}
	if l.rest == "" {
		return t, nil
	}
	before := l.rest
	err := l.read(&t)
	t.at.length = utf8.RuneCountInString(before[:len(before)-len(l.rest)])
	return t, err
}

// skip leaves out spaces and comments.
func (l *lexer) skip() error {
	for {
		spaces := len(l.rest) - len(strings.TrimLeft(l.rest, " \t\r\n\v\f"))
		l.take(spaces)
		switch {
		case strings.HasPrefix(l.rest, "--"):
			length := strings.IndexByte(l.rest, '\n')
			if length < 0 {
				length = len(l.rest)
			}
			l.take(length)
		case strings.HasPrefix(l.rest, "/*"):
			length := strings.Index(l.rest[2:], "*/")
			if length < 0 {
				return malformed("")
			}
			l.take(length + 4)
		default:
			return nil
		}
	}
}

func (l *lexer) read(t *token) (err error) {
	switch c := l.rest[0]; {
	case c == '\'':
		t.kind = text
		t.text, err = l.inQuotes('\'')
	case c == '"':
		t.kind = quoted
		t.text, err = l.inQuotes('"')
	case c == '`':
		t.kind = ion
		t.text, err = l.inQuotes('`')
	case isDigit(c) || c == '.' && len(l.rest) > 1 && isDigit(l.rest[1]):
		t.kind = number
		t.text, err = l.number()
	case isLetter(c):
		l.word(t)
	default:
		return l.symbol(t)
	}
	return err
}

// inQuotes reads what is in quotes. Two of them in it stand for one.
func (l *lexer) inQuotes(quote byte) (string, error) {
	var out strings.Builder
	rest := l.rest[1:]
	for {
		i := strings.IndexByte(rest, quote)
		if i < 0 {
			return "", malformed("")
		}
		out.WriteString(rest[:i])
		rest = rest[i+1:]
		if rest == "" || rest[0] != quote {
			break
		}
		out.WriteByte(quote)
		rest = rest[1:]
	}
	l.take(len(l.rest) - len(rest))
	return out.String(), nil
}

// number reads digits, a fraction and an exponent. DynamoDB reads an exponent, and
// what it leaves of the fraction, as 32-bit integers.
func (l *lexer) number() (string, error) {
	s := l.rest
	i := digits(s, 0)
	fraction := 0
	if i < len(s) && s[i] == '.' {
		whole := i + 1
		i = digits(s, whole)
		fraction = i - whole
	}
	exponent := int64(0)
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		from := i + 1
		i = from
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		i = digits(s, i)
		var err error
		if exponent, err = strconv.ParseInt(s[from:i], 10, 32); err != nil {
			return "", malformed("")
		}
	}
	if scale := int64(fraction) - exponent; scale > 1<<31-1 || scale < -1<<31 {
		return "", malformed("")
	}
	if i < len(s) && isLetter(s[i]) {
		return "", malformed("")
	}
	return l.take(i), nil
}

// digits returns where the digits end that begin at i.
func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func (l *lexer) word(t *token) {
	n := 1
	for n < len(l.rest) && (isLetter(l.rest[n]) || isDigit(l.rest[n])) {
		n++
	}
	t.kind, t.text = name, l.take(n)
	lower := strings.ToLower(t.text)
	if slices.Contains(operatorWords, lower) {
		t.kind, t.text = operator, lower
		return
	}
	if isKeyword(lower) {
		t.kind, t.text = keyword, lower
	}
}

func (l *lexer) symbol(t *token) error {
	for _, s := range symbols {
		if strings.HasPrefix(l.rest, s.text) {
			t.kind, t.text = s.kind, l.take(len(s.text))
			return nil
		}
	}
	return malformed("")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}
