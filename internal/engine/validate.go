package engine

import (
	"fmt"
	"slices"
	"strings"
)

// constraints collects what is wrong with a request's parameters taken one by
// one. DynamoDB reports all of it in one message, before it looks at what the
// parameters mean together.
type constraints struct{ faults []string }

// fault adds a fault. value is the value as the message shows it, quotes
// included.
func (c *constraints) fault(value, at, constraint string) {
	if len(c.faults) == maxFaults {
		return
	}
	if short := shown(value); short != value {
		value = short + "'"
	}
	c.faults = append(c.faults, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", value, at, constraint))
}

// shown is a value as a message has it: what a client sends comes back, but not all of a megabyte.
func shown(value string) string {
	const longest = 4 << 10
	if len(value) <= longest {
		return value
	}
	return strings.ToValidUTF8(value[:longest], "") + "..."
}

// maxFaults is how many faults are reported at once.
const maxFaults = 10

// err returns the faults as one ValidationException, or nil.
func (c *constraints) err() error {
	switch n := len(c.faults); n {
	case 0:
		return nil
	case 1:
		return invalid("1 validation error detected: %s", c.faults[0])
	default:
		return invalid("%d validation errors detected: %s", n, strings.Join(c.faults, "; "))
	}
}

// required checks that a parameter is there.
func (c *constraints) required(at string, present bool) bool {
	if !present {
		c.fault("null", at, "Member must not be null")
	}
	return present
}

// text checks the length of a string, in characters, and the characters it may
// consist of. A nil string passes.
func (c *constraints) text(at string, s *string, shortest, longest int, name bool) {
	if s == nil {
		return
	}
	wellNamed := !name || isName(*s)
	if wellNamed && len(*s) >= shortest && len(*s) <= longest {
		return
	}
	quoted := "'" + *s + "'"
	if !wellNamed {
		c.fault(quoted, at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	if len(*s) < shortest {
		c.fault(quoted, at, fmt.Sprintf("Member must have length greater than or equal to %d", shortest))
	}
	if len(*s) > longest {
		c.fault(quoted, at, fmt.Sprintf("Member must have length less than or equal to %d", longest))
	}
}

// isName reports whether s consists of what names of tables and indexes may.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}

// tableName checks the TableName of a request about an existing table. A table
// may also be named by its ARN, which nameOf turns into the name.
func (c *constraints) tableName(name *string) {
	if !c.required("tableName", name != nil) {
		return
	}
	shortest := 3
	if *name == "" {
		shortest = 1 // in the service's words
	}
	c.text("tableName", new(nameOf(*name)), shortest, 255, true)
}

// indexName checks an IndexName.
func (c *constraints) indexName(name *string) {
	c.text("indexName", name, 3, 255, true)
}

// enum checks a parameter that takes one of several words. Empty: absent.
func (c *constraints) enum(at, value string, words ...string) {
	if value != "" {
		c.word(at, &value, words...)
	}
}

// word checks a parameter that takes one of several words. nil: absent.
func (c *constraints) word(at string, value *string, words ...string) {
	if value != nil && !slices.Contains(words, *value) {
		c.fault("'"+*value+"'", at, "Member must satisfy enum value set: ["+strings.Join(words, ", ")+"]")
	}
}

// resourceName checks a name that belongs to a table or index itself, which is
// three characters long at least. nil: absent.
func (c *constraints) resourceName(at string, name *string) {
	if name != nil && *name == "" {
		c.fault("''", at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
	}
	c.text(at, name, 3, 255, true)
}

// page checks a Limit.
func (c *constraints) page(limit *int64, most int64) {
	c.atLeast("limit", limit, 1)
	c.atMost("limit", limit, most)
}

// pageSize is how much a page holds, given a Limit.
func pageSize(limit *int64, most int) int {
	if limit != nil {
		return int(*limit)
	}
	return most
}

// atLeast and atMost check a number. nil: absent.
func (c *constraints) atLeast(at string, value *int64, least int64) {
	if value != nil && *value < least {
		c.fault(fmt.Sprintf("'%d'", *value), at, fmt.Sprintf("Member must have value greater than or equal to %d", least))
	}
}

func (c *constraints) atMost(at string, value *int64, most int64) {
	if value != nil && *value > most {
		c.fault(fmt.Sprintf("'%d'", *value), at, fmt.Sprintf("Member must have value less than or equal to %d", most))
	}
}

// length checks how many elements a list has. AWS shows the elements as Java
// prints them; we show what they are.
func (c *constraints) length(at, element string, n, least, most int) {
	shown := "'[" + strings.TrimSuffix(strings.Repeat(element+", ", n), ", ") + "]'"
	if n < least {
		c.fault(shown, at, fmt.Sprintf("Member must have length greater than or equal to %d", least))
	}
	if n > most {
		c.fault(shown, at, fmt.Sprintf("Member must have length less than or equal to %d", most))
	}
}

// returns checks the parameters that say what an answer should hold.
func (c *constraints) returns(r *Returns, values ...string) {
	c.consumedCapacity(r.ConsumedCapacity)
	c.returnsBeside(r, values...)
}

// returnsBeside is returns without ReturnConsumedCapacity.
func (c *constraints) returnsBeside(r *Returns, values ...string) {
	c.enum("returnItemCollectionMetrics", r.ItemCollectionMetrics, "SIZE", "NONE")
	if values != nil {
		c.enum("returnValues", r.ReturnValues, values...)
	}
	c.onConditionFailure(r.OnConditionFailure)
}

func (c *constraints) consumedCapacity(value string) {
	c.enum("returnConsumedCapacity", value, "INDEXES", "TOTAL", "NONE")
}

func (c *constraints) onConditionFailure(value string) {
	c.enum("returnValuesOnConditionCheckFailure", value, "ALL_OLD", "NONE")
}

// nameOf returns the table's name of a TableName, which may be an ARN.
func nameOf(name string) string {
	if strings.HasPrefix(name, "arn:") {
		if _, after, ok := strings.Cut(name, ":table/"); ok {
			return after
		}
	}
	return name
}

// shortName is nameOf for a name that may be absent.
func shortName(name *string) *string {
	if name == nil {
		return nil
	}
	return new(nameOf(*name))
}

// check refuses parameters that do not go together, and those that this engine
// does not implement.
func (r *Request) check(x ...*Expressions) error {
	for _, x := range x {
		if err := x.checkLegacy(); err != nil {
			return err
		}
	}
	if r.Unsupported != "" {
		return invalid("heatsink does not implement the parameter %s: %s; see https://github.com/heatsink-go/heatsink/blob/main/docs/compatibility.md", r.Unsupported, whyUnsupported(r.Unsupported))
	}
	return nil
}

// whyUnsupported says why the engine does not implement a parameter.
func whyUnsupported(name string) string {
	switch name {
	case "ResourcePolicy":
		return "it has no IAM, so that a policy would decide nothing: its credentials may do everything"
	case "VectorIndexes", "VectorIndexUpdates", "VectorIndexOverride":
		return "it has no vector indexes"
	default:
		return "it is one region, and has no global tables"
	}
}

// present names the expressions that a request has.
func (x *Expressions) present() (names []string) {
	for _, e := range [...]struct {
		text *string
		name string
	}{
		{x.Projection, "ProjectionExpression"},
		{x.Filter, "FilterExpression"},
		{x.Update, "UpdateExpression"},
		{x.Condition, "ConditionExpression"},
		{x.KeyCondition, "KeyConditionExpression"},
	} {
		if e.text != nil {
			names = append(names, e.name)
		}
	}
	return names
}
