package outline

import (
	"iter"

	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// Equalities yields the attributes that a key condition compares with =, as names or placeholders, and the placeholders
// of their values. Parentheses may stand around each.
func Equalities(condition string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		l := token.Lexer{Text: condition}
		var before, last token.Token // the words before the current one
		for word := l.NextWord(); word.Kind != token.End; word = l.NextWord() {
			if word.Kind == token.Open || word.Kind == token.Close {
				continue
			}
			if last.Kind == token.Equal && word.Kind == token.ValueRef &&
				!yield(condition[before.Start:before.End], condition[word.Start:word.End]) {
				return
			}
			before, last = last, word
		}
	}
}
