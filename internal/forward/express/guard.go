package express

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// placeholder begins the names and values of this package, after their # or :. Other parts of heatsink add placeholders of their own
// to the same requests.
const placeholder = "hs_f"

// guard is a condition with the names and values of its request. It adds a name only when the condition uses it, since DynamoDB
// refuses requests with names that it does not use.
type guard struct {
	table  Table
	names  map[string]string
	values Item
}

// guard returns a guard that begins with the names and values of a request, of which it changes copies only.
func (t Table) guard(names map[string]string, values Item) *guard {
	return &guard{t, maps.Clone(names), maps.Clone(values)}
}

// name returns the placeholder of an attribute.
func (g *guard) name(attribute string) string {
	alias := "#" + placeholder + "k"
	if isMark(attribute) {
		alias = "#" + placeholder + attribute[len(reserved):]
	}
	if g.names == nil {
		g.names = map[string]string{}
	}
	g.names[alias] = attribute
	return alias
}

// value returns the placeholder of a text.
func (g *guard) value(s string) string {
	alias := ":" + placeholder + s
	if g.values == nil {
		g.values = Item{}
	}
	g.values[alias] = text(s)
	return alias
}

// known is the condition that an item is no copy, or one by a generation up to the given one.
func (g *guard) known(generation uint64) string {
	const alias = ":" + placeholder + "g"
	if g.values == nil {
		g.values = Item{}
	}
	g.values[alias] = number(generation)
	return "(" + g.hasNo(moved) + " OR " + g.name(moved) + " <= " + alias + ")"
}

func (g *guard) has(attribute string) string { return "attribute_exists(" + g.name(attribute) + ")" }

func (g *guard) hasNo(attribute string) string {
	return "attribute_not_exists(" + g.name(attribute) + ")"
}

// live is the condition that there is an item that has not moved on.
func (g *guard) live() string {
	return g.has(g.table.partition) + " AND " + g.hasNo(forwarded) + " AND " + g.hasNo(dead)
}

// empty is the condition that there is no item, or a dead one.
func (g *guard) empty() string {
	return g.hasNo(g.table.partition) + " OR " + g.has(dead) + " AND " + g.hasNo(forwarded)
}

// is is the condition that a mark is one of these texts.
func (g *guard) is(mark string) string { return g.name(forwarded) + " = " + g.value(mark) }

// begins is the condition that a mark is one of those that may be padded, or several.
func (g *guard) begins(mark string) string {
	return "begins_with(" + g.name(forwarded) + ", " + g.value(mark) + ")"
}

// allOld makes a request return the item for which its condition does not hold.
const allOld = types.ReturnValuesOnConditionCheckFailureAllOld
