package expr

import "github.com/heatsink-go/heatsink/internal/expr/token"

// syntaxFault is what is wrong with an expression whose token at position start
// should not be there: the token, and the text from the token before it to the
// one after it. There is no need to keep tokens for it: it looks for them again.
func syntaxFault(role Role, src string, start int) error {
	l := token.Lexer{Text: src}
	from := 0
	bad := l.Next()
	for bad.Start < start {
		from = bad.Start
		bad = l.Next()
	}
	text := "<EOF>"
	if bad.Kind != token.End {
		text = src[bad.Start:bad.End]
	}
	after := l.Next()
	return role.fault("Syntax error; token: \"" + text + "\", near: \"" + src[from:after.End] + "\"")
}
