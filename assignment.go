package heatsink

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/layout"
)

// checkAssignments returns an error if an update changes what the item's place is worked out from: reads would look for the
// item where it would be put now, and it would still be where it was.
//
// An attribute may be set to what like has, as the place is worked out from like. With an Index that holds if like is
// listed, because then the update lists the item anew; and an update may take the item off the list, where nothing of
// this matters.
func (c *core) checkAssignments(all []compose.Assignment, like Item) error {
	o := &c.options
	if o.Index != "" && !c.listed(like) && compose.Removes(all, o.PartitionKey) {
		return nil
	}
	key := c.keyNames()
	for _, a := range all {
		if slices.Contains(key[:], a.Attribute) {
			continue // DynamoDB refuses it
		}
		if v := c.options.Version; v != "" && a.Attribute == v {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, which is Options.Version: heatsink sets it with every write",
				attribute.DescribeKey(like, key[0]), ErrItem, a.Clause, v)
		}
		if why, remedy := c.misplaces(a, like); why != "" {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, %s: %s",
				attribute.DescribeKey(like, key[0]), ErrItem, a.Clause, a.Attribute, why, remedy)
		}
	}
	return nil
}

// misplaces returns why an assignment must not be, and what to do instead; "" if it may be.
func (c *core) misplaces(a compose.Assignment, like Item) (why, remedy string) {
	o := &c.options
	if o.Index != "" {
		off := fmt.Sprintf("set %q in like, or REMOVE it and leave it out of like to take the item off the list", o.PartitionKey)
		switch {
		case a.Attribute == o.PartitionKey:
			return "from which heatsink lists the item in index " + o.Index, off
		case a.Attribute == o.ShardAttribute:
			return "in which heatsink keeps the shard", off
		case a.Attribute == o.SortKey && a.Clause == "REMOVE" && !a.Inside:
			return "without which index " + o.Index + " does not list the item", fmt.Sprintf("REMOVE %q as well, and leave it out of like, to take the item off the list", o.PartitionKey)
		}
	}
	timed := o.Layout.Bucket != layout.NoBucket && a.Attribute == o.EventTime.Attribute
	hashed := c.calculates() && slices.Contains(o.ShardBy, a.Attribute)
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
func (c *core) agrees(a compose.Assignment, like Item, same func(attribute string, value types.AttributeValue, like Item) bool) bool {
	switch {
	case a.Value == nil:
		return false
	case c.options.Index != "" && (a.IfAbsent || !c.listed(like)):
		return false
	}
	return same(a.Attribute, a.Value, like)
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
