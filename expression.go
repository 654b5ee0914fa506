package heatsink

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/expr/token"
)

// setAttributes adds attributes to the SET clause of an update expression, which may lack the clause or be nil.
func setAttributes(attributes Item, expression **string, names *map[string]string, values *Item) error {
	ns, err := ownNames(*names)
	if err != nil {
		return err
	}
	vs, err := ownValues(*values)
	if err != nil {
		return err
	}
	var sets []string
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		n, v := fmt.Sprintf("#%s%d", placeholder, i), fmt.Sprintf(":%s%d", placeholder, i)
		ns[n], vs[v] = name, attributes[name]
		sets = append(sets, n+" = "+v)
	}
	merged := outline.AddToSet(aws.ToString(*expression), strings.Join(sets, ", "))
	*expression, *names, *values = &merged, ns, vs
	return nil
}

// checkGuarded refuses a condition that heatsink cannot put another beside: one with names of heatsink's own, or with
// parentheses that would end what heatsink begins.
func checkGuarded(condition *string, names map[string]string, values Item) error {
	if condition != nil && !balanced(*condition) {
		return fmt.Errorf("%w: the condition %q has a parenthesis without its other", ErrItem, *condition)
	}
	return checkPlaceholders(names, values)
}

// balanced reports whether each parenthesis of an expression is closed behind where it is opened.
func balanced(expression string) bool {
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

// checkPlaceholders refuses names and values of a request that begin like heatsink's own.
func checkPlaceholders(names map[string]string, values Item) error {
	_, err := ownNames(names)
	if err == nil {
		_, err = ownValues(values)
	}
	return err
}

// ownNames returns a copy of a request's names that heatsink's own can be added to.
func ownNames(names map[string]string) (map[string]string, error) {
	for name := range names {
		if strings.HasPrefix(name, "#"+placeholder) {
			return nil, fmt.Errorf("the name %s begins with #%s, which is heatsink's own", name, placeholder)
		}
	}
	own := maps.Clone(names)
	if own == nil {
		own = map[string]string{}
	}
	return own, nil
}

// ownValues is ownNames for values.
func ownValues(values Item) (Item, error) {
	for name := range values {
		if strings.HasPrefix(name, ":"+placeholder) {
			return nil, fmt.Errorf("the value %s begins with :%s, which is heatsink's own", name, placeholder)
		}
	}
	own := maps.Clone(values)
	if own == nil {
		own = Item{}
	}
	return own, nil
}

// idempotentExpression is idempotent for an update expression: nothing that it does depends on what it did before.
func idempotentExpression(expression string) bool {
	if strings.Contains(expression, "[") {
		return false // lists grow and shrink
	}
	u := outline.ReadUpdate(expression)
	for a, ok := u.Next(); ok; a, ok = u.Next() {
		switch a.Clause {
		case token.Add:
			return false
		case token.Set:
			if a.Value == "" || a.Unless.Text != "" && !a.Unless.Same(a.Path) {
				return false
			}
		}
	}
	return !u.Broken()
}
