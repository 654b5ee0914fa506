package compose

import "fmt"

// CheckCondition refuses a condition that heatsink cannot put another beside, because its parentheses would end what
// heatsink begins. A nil condition is fine.
func CheckCondition(condition *string) error {
	if condition != nil && !Balanced(*condition) {
		return fmt.Errorf("the condition %q has a parenthesis without its other", *condition)
	}
	return nil
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
