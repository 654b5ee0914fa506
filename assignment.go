package heatsink

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/expr/token"
	"github.com/heatsink-go/heatsink/layout"
)

// assignment is what an update does to an attribute, or to something inside it.
type assignment struct {
	attribute string
	clause    string // SET, REMOVE, ADD or DELETE
	inside    bool   // not the attribute itself, but an element of it

	// value is what a SET gives the attribute, nil if that depends on the item. With ifAbsent it does so only where there
	// is none.
	value    types.AttributeValue
	ifAbsent bool
}

// assignments returns what an update expression does. What is wrong with it is for DynamoDB to find.
func assignments(expression string, names map[string]string, values Item) []assignment {
	var all []assignment
	u := outline.ReadUpdate(expression)
	for action, ok := u.Next(); ok; action, ok = u.Next() {
		if action.Path.Name == "" {
			continue
		}
		a := assignment{attribute: resolve(action.Path.Name, names), clause: clauseName(action.Clause), inside: action.Path.Nested}
		switch unless := action.Unless; {
		case a.inside:
		case unless.Text == "":
			a.value = values[action.Value]
		case !unless.Nested && resolve(unless.Name, names) == a.attribute:
			a.value, a.ifAbsent = values[action.Value], true
		}
		all = append(all, a)
	}
	return all
}

func clauseName(k token.Kind) string {
	switch k {
	case token.Set:
		return "SET"
	case token.Remove:
		return "REMOVE"
	case token.Add:
		return "ADD"
	}
	return "DELETE"
}

// resolve returns the attribute that a word of an expression means.
func resolve(word string, names map[string]string) string {
	if name, ok := names[word]; ok && strings.HasPrefix(word, "#") {
		return name
	}
	return word
}

// legacyAssignments is assignments for AttributeUpdates.
func legacyAssignments(updates map[string]types.AttributeValueUpdate) []assignment {
	var all []assignment
	for name, u := range updates {
		a := assignment{attribute: name, clause: string(u.Action)}
		switch {
		case u.Action == types.AttributeActionPut || u.Action == "":
			a.clause, a.value = "SET", u.Value
		case u.Action == types.AttributeActionDelete && u.Value == nil:
			a.clause = "REMOVE"
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b assignment) int { return strings.Compare(a.attribute, b.attribute) })
	return all
}

// removes reports whether an attribute is removed.
func removes(all []assignment, attribute string) bool {
	return slices.ContainsFunc(all, func(a assignment) bool {
		return a.clause == "REMOVE" && a.attribute == attribute && !a.inside
	})
}

// checkAssignments returns an error if an update changes what the item's place is worked out from: reads would look for the
// item where it would be put now, and it would still be where it was.
//
// An attribute may be set to what like has, as the place is worked out from like. With an Index that holds if like is
// listed, because then the update lists the item anew; and an update may take the item off the list, where nothing of
// this matters.
func (c *core) checkAssignments(all []assignment, like Item) error {
	o := &c.options
	if o.Index != "" && !c.listed(like) && removes(all, o.PartitionKey) {
		return nil
	}
	key := c.keyNames()
	for _, a := range all {
		if slices.Contains(key[:], a.attribute) {
			continue // DynamoDB refuses it
		}
		if v := c.options.Version; v != "" && a.attribute == v {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, which is Options.Version: heatsink sets it with every write",
				attribute.DescribeKey(like, key[0]), ErrItem, a.clause, v)
		}
		if why, remedy := c.misplaces(a, like); why != "" {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, %s: %s",
				attribute.DescribeKey(like, key[0]), ErrItem, a.clause, a.attribute, why, remedy)
		}
	}
	return nil
}

// misplaces returns why an assignment must not be, and what to do instead; "" if it may be.
func (c *core) misplaces(a assignment, like Item) (why, remedy string) {
	o := &c.options
	if o.Index != "" {
		off := fmt.Sprintf("set %q in like, or REMOVE it and leave it out of like to take the item off the list", o.PartitionKey)
		switch {
		case a.attribute == o.PartitionKey:
			return "from which heatsink lists the item in index " + o.Index, off
		case a.attribute == o.ShardAttribute:
			return "in which heatsink keeps the shard", off
		case a.attribute == o.SortKey && a.clause == "REMOVE" && !a.inside:
			return "without which index " + o.Index + " does not list the item", fmt.Sprintf("REMOVE %q as well, and leave it out of like, to take the item off the list", o.PartitionKey)
		}
	}
	timed := o.Layout.Bucket != layout.NoBucket && a.attribute == o.EventTime.Attribute
	hashed := c.calculates() && slices.Contains(o.ShardBy, a.attribute)
	switch {
	case timed && !c.agrees(a, like, c.sameBucket):
		why = "which decides the item's bucket"
	case hashed && !c.agrees(a, like, sameAttribute):
		why = "from which the item's shard is calculated"
	default:
		return "", ""
	}
	if o.Index != "" {
		return why, fmt.Sprintf("set it to the value that like has, together with %q; or REMOVE %[1]q to take the item off the list", o.PartitionKey)
	}
	return why, "delete the item and put it again, or set it to the value that like has"
}

// agrees reports whether an item is where like says also after an assignment.
func (c *core) agrees(a assignment, like Item, same func(attribute string, value types.AttributeValue, like Item) bool) bool {
	switch {
	case a.value == nil:
		return false
	case c.options.Index != "" && (a.ifAbsent || !c.listed(like)):
		return false
	}
	return same(a.attribute, a.value, like)
}

func sameAttribute(name string, value types.AttributeValue, like Item) bool {
	return like[name] != nil && attribute.Same(Item{name: value}, Item{name: like[name]})
}

// sameBucket reports whether an event time is in the bucket of like's.
func (c *core) sameBucket(attribute string, value types.AttributeValue, like Item) bool {
	o := &c.options
	then, err := o.EventTime.of(like)
	if err != nil {
		return false
	}
	now, err := o.EventTime.of(Item{attribute: value})
	return err == nil && o.Layout.Bucket.Start(now).Equal(o.Layout.Bucket.Start(then))
}
