package compose

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// CheckCondition refuses a condition that heatsink cannot put another beside, because its parentheses would end what
// heatsink begins. A nil condition is fine.
func CheckCondition(condition *string) error {
	if condition != nil && !Balanced(*condition) {
		return fmt.Errorf("the condition %q has a parenthesis without its other", *condition)
	}
	return nil
}

// Group returns a condition in parentheses, so that others can stand beside it. One that already stands in parentheses as a whole stays
// as it is: DynamoDB refuses a second pair as redundant.
func Group(condition string) string {
	l, depth, closed := token.Lexer{Text: condition}, 0, false
	for t := l.Next(); t.Kind != token.End; t = l.Next() {
		if depth == 0 && (closed || t.Kind != token.Open) { // something stands outside the first parentheses
			return "(" + condition + ")"
		}
		switch t.Kind {
		case token.Open:
			depth++
		case token.Close:
			depth--
			closed = depth == 0
		}
	}
	if !closed {
		return "(" + condition + ")" // for DynamoDB to refuse
	}
	return condition
}

// Balanced reports whether each parenthesis of an expression is closed behind where it is opened.
func Balanced(expression string) bool {
	depth := 0
	for _, r := range expression {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
