package heatsink

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
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
	merged := mergeSet(aws.ToString(*expression), strings.Join(sets, ", "))
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

// mergeSet adds assignments to the SET clause of an update expression, or such a clause.
func mergeSet(expression, assignments string) string {
	for _, t := range lexemes(expression) {
		if t.clause == "SET" {
			end := t.at + len("SET")
			return expression[:end] + " " + assignments + "," + expression[end:]
		}
	}
	if strings.TrimSpace(expression) == "" {
		return "SET " + assignments
	}
	return expression + " SET " + assignments
}

// idempotentExpression is idempotent for an update expression.
func idempotentExpression(expression string) bool {
	clause := ""
	var path string    // what is being set
	var right []lexeme // what it is set to
	harmless := func() bool {
		if clause != "SET" {
			return true
		}
		ok := plain(path, right)
		path, right = "", nil
		return ok
	}
	depth, assigned := 0, false
	for _, t := range lexemes(expression) {
		switch {
		case t.clause != "":
			if !harmless() || t.clause == "ADD" {
				return false
			}
			clause, assigned = t.clause, false
		case t.text == "[":
			return false
		case clause != "SET":
		case t.text == "," && depth == 0:
			if !harmless() {
				return false
			}
			assigned = false
		case !assigned && t.text == "=":
			assigned = true
		case !assigned:
			path += t.text
		default:
			switch t.text {
			case "(":
				depth++
			case ")":
				depth--
			}
			right = append(right, t)
		}
	}
	return harmless()
}

// plain reports whether what an attribute is set to does not depend on the item: it is a placeholder of a value, or
// if_not_exists(path, placeholder) of the path that is set.
func plain(path string, right []lexeme) bool {
	for len(right) > 2 && right[0].text == "(" && right[len(right)-1].text == ")" {
		right = right[1 : len(right)-1]
	}
	if len(right) == 1 {
		return strings.HasPrefix(right[0].text, ":")
	}
	var text strings.Builder
	for _, t := range right {
		text.WriteString(t.text)
	}
	value, ok := strings.CutPrefix(text.String(), "if_not_exists("+path+",")
	return ok && strings.HasPrefix(value, ":") && !strings.ContainsAny(value, "+-(,")
}

// lexeme is a word or a sign of an update expression.
type lexeme struct {
	text   string
	at     int
	clause string // SET, ADD, REMOVE or DELETE where the word begins a clause
}

// lexemes splits an update expression into words (names, placeholders, keywords) and signs. It takes anything: what is
// wrong is for DynamoDB to find.
func lexemes(expression string) []lexeme {
	var all []lexeme
	for i := 0; i < len(expression); {
		start := i
		for i < len(expression) && isWord(expression[i]) {
			i++
		}
		switch {
		case i > start:
			t := lexeme{text: expression[start:i], at: start}
			if len(all) == 0 || !strings.Contains(".,=+-([", all[len(all)-1].text) && all[len(all)-1].clause == "" {
				switch upper := strings.ToUpper(t.text); upper {
				case "SET", "ADD", "REMOVE", "DELETE":
					t.clause = upper
				}
			}
			all = append(all, t)
		case strings.IndexByte(" \t\r\n\f", expression[i]) >= 0:
			i++
		default:
			i++
			all = append(all, lexeme{text: expression[start:i], at: start})
		}
	}
	return all
}

func isWord(b byte) bool {
	return b == '#' || b == ':' || b == '_' || b >= 0x80 || isDigit(b) || 'a' <= b|0x20 && b|0x20 <= 'z'
}
