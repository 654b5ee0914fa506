package express

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/expr/token"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// checker checks one request of the user, and keeps the first fault.
type checker struct {
	table  Table
	what   string // the operation, for errors
	names  map[string]string
	values Item
	create bool // the condition is about the existence of a key attribute only
	err    error
}

// refuse notes a fault.
func (c *checker) refuse(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s in table %q: %w: %s", c.what, c.table.name, ErrRequest, fmt.Sprintf(format, args...))
	}
}

// legacy refuses parameters that cannot be combined with a condition expression.
func (c *checker) legacy(used bool, operator types.ConditionalOperator) {
	if used || operator != "" {
		c.refuse("it has Expected, AttributeUpdates or ConditionalOperator, beside which the item cannot be guarded: use expressions")
	}
}

// item refuses marks in an item.
func (c *checker) item(item Item) { c.attributes("Item", maps.Keys(item)) }

// attributes refuses marks among names.
func (c *checker) attributes(where string, names iter.Seq[string]) {
	for name := range names {
		if isMark(name) {
			c.refuse("%s has the attribute %q, with which heatsink marks items: use another name", where, name)
		}
	}
}

// placeholders refuses names and values that are this package's, and aliases of marks, used or not.
func (c *checker) placeholders() {
	for _, name := range slices.Sorted(maps.Keys(c.names)) {
		if strings.HasPrefix(name, "#"+placeholder) {
			c.refuse("the name %s begins with #%s, which heatsink reserves: use another name", name, placeholder)
		}
		if isMark(c.names[name]) {
			c.refuse("the name %s stands for %q, with which heatsink marks items: leave it out", name, c.names[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if strings.HasPrefix(name, ":"+placeholder) {
			c.refuse("the value %s begins with :%s, which heatsink reserves: use another name", name, placeholder)
		}
	}
}

// word is a word of an expression that may name an attribute of the item.
type word struct {
	attribute string
	function  string // whose first argument it is, or ""
}

// words yields the words of an expression that may name attributes of the item, not those inside of others.
func (c *checker) words(expression string) iter.Seq[word] {
	return func(yield func(word) bool) {
		l := token.Lexer{Text: expression}
		var before, last token.Token
		for t := l.NextWord(); t.Kind != token.End; t = l.NextWord() {
			ahead := l
			isFunction := t.Kind == token.Name && ahead.NextWord().Kind == token.Open
			if (t.Kind == token.Name || t.Kind == token.NameRef) && last.Kind != token.Dot && !isFunction {
				w := word{attribute: expression[t.Start:t.End]}
				if name, ok := c.names[w.attribute]; ok {
					w.attribute = name
				}
				if last.Kind == token.Open && before.Kind == token.Name {
					w.function = expression[before.Start:before.End]
				}
				if !yield(w) {
					return
				}
			}
			before, last = last, t
		}
	}
}

// expression refuses marks in an expression.
func (c *checker) expression(where string, expression *string) {
	for w := range c.words(aws.ToString(expression)) {
		if isMark(w.attribute) {
			c.refuse("the %s names %q, with which heatsink marks items: leave it out", where, w.attribute)
		}
	}
}

// condition checks a condition, and evaluates it without an item.
func (c *checker) condition(u *User, condition *string) {
	c.placeholders()
	c.expression("ConditionExpression", condition)
	u.ofNothing = true
	if condition == nil {
		return
	}
	u.condition = *condition
	for w := range c.words(u.condition) {
		if w.attribute == c.table.partition && w.function != "attribute_exists" && w.function != "attribute_not_exists" {
			c.refuse("the condition compares the partition key %q, which is that of a shard and changes when the item moves: leave it out", c.table.partition)
		}
	}
	parsed, err := expr.ParseCondition(expr.ConditionExpression, u.condition, c.scope())
	if err != nil {
		c.refuse("%v", err)
		return
	}
	u.ofNothing = parsed.Eval(nil)
	c.create = c.onlyCreates(u.condition)
}

// onlyCreates reports whether a condition is about the existence of a key attribute and nothing else. If it is true without an item,
// it is then false for every item.
func (c *checker) onlyCreates(condition string) bool {
	all := slices.Collect(c.words(condition))
	return len(all) == 1 && all[0].function == "attribute_not_exists" && c.table.isKey(all[0].attribute) && !strings.ContainsAny(condition, ".[:")
}

// update checks an update expression, and reports whether it makes an item where there is none. DynamoDB makes none to remove something.
func (c *checker) update(expression *string) (creates bool) {
	if strings.TrimSpace(aws.ToString(expression)) == "" {
		c.refuse("it has no UpdateExpression: give one, or use Put")
		return false
	}
	c.expression("UpdateExpression", expression)
	for w := range c.words(*expression) {
		if w.attribute == c.table.partition {
			c.refuse("the update names the partition key %q, which is that of a shard and changes when the item moves: leave it out", c.table.partition)
		}
	}
	parsed, err := expr.ParseUpdate(*expression, c.scope())
	if err != nil {
		c.refuse("%v", err)
		return false
	}
	sets := parsed.Sets()
	return sets > 0
}

// scope returns the request's names and values for package expr.
func (c *checker) scope() *expr.Scope {
	var values attr.Item
	if len(c.values) > 0 {
		fields := make([]attr.Field, 0, len(c.values))
		for name, value := range c.values {
			v, err := attribute.Canonical(value)
			if err != nil {
				c.refuse("the value %s: %v", name, err)
			}
			fields = append(fields, attr.Field{Name: name, Value: v})
		}
		values = attr.NewItem(fields...)
	}
	return expr.NewScope(c.names, values)
}

// kind returns the kind of a change.
func (c *checker) kind(u *User) forward.Kind {
	switch {
	case !u.ofNothing:
		return forward.Swap
	case !u.creates && u.condition == "":
		return forward.Update
	case !u.creates:
		return forward.Swap
	case c.create:
		return forward.Create
	}
	return forward.Upsert
}
