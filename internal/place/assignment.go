package place

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// CheckAssignments returns an error if an update changes what determines the item's place. The item would stay where it
// is, but reads would look for it elsewhere.
//
// An attribute may be set to the value that like has, because like determines the place. With an Index that holds only if
// like is listed, because the update then lists the item anew. An update may also unlist the item, and then nothing else
// matters.
func (s *Schema) CheckAssignments(all []compose.Assignment, like Item) error {
	if s.Index != "" && !s.Listed(like) && compose.Removes(all, s.PartitionKey) {
		return nil
	}
	key := s.KeyNames()
	for _, a := range all {
		if slices.Contains(key[:], a.Attribute) {
			continue // DynamoDB refuses it
		}
		if why, remedy := s.misplaces(a, like); why != "" {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, %s; %s",
				attribute.DescribeKey(like, key[0]), ErrItem, a.Clause, a.Attribute, why, remedy)
		}
	}
	return nil
}

// misplaces returns why an assignment is refused, and what to do instead. It returns "" if the assignment is allowed.
func (s *Schema) misplaces(a compose.Assignment, like Item) (why, remedy string) {
	if s.Index != "" {
		off := fmt.Sprintf("set %q in like, or REMOVE it and leave it out of like to unlist the item", s.PartitionKey)
		switch {
		case a.Attribute == s.PartitionKey:
			return "from which heatsink lists the item in index " + s.Index, off
		case a.Attribute == s.ShardAttribute:
			return "in which heatsink keeps the shard", off
		case a.Attribute == s.SortKey && a.Clause == "REMOVE" && !a.Inside:
			return "without which index " + s.Index + " does not list the item", fmt.Sprintf("to unlist the item, REMOVE %q as well, and leave it out of like", s.PartitionKey)
		}
	}
	if s.Stamped && a.Attribute == ledger.StampName {
		return "in which heatsink keeps the generation of the key's ledger", "leave it out"
	}
	timed := s.Layout.Bucket != layout.NoBucket && a.Attribute == s.EventTime.Attribute
	hashed := s.calculates() && slices.Contains(s.ShardBy, a.Attribute)
	switch {
	case timed && !s.agrees(a, like, s.sameBucket):
		why = "which determines the item's bucket"
	case hashed && !s.agrees(a, like, sameAttribute):
		why = "from which the item's shard is calculated"
	default:
		return "", ""
	}
	if s.Index != "" {
		return why, fmt.Sprintf("set it to the value that like has, together with %q, or REMOVE %[1]q to unlist the item", s.PartitionKey)
	}
	return why, "delete the item and put it again, or set it to the value that like has"
}

// agrees reports whether the place of the item is still that of like after an assignment.
func (s *Schema) agrees(a compose.Assignment, like Item, same func(attribute string, value types.AttributeValue, like Item) bool) bool {
	switch {
	case a.Value == nil:
		return false
	case s.Index != "" && (a.IfAbsent || !s.Listed(like)):
		return false
	}
	return same(a.Attribute, a.Value, like)
}

func sameAttribute(name string, value types.AttributeValue, like Item) bool {
	return like[name] != nil && attribute.Same(Item{name: value}, Item{name: like[name]})
}

// sameBucket reports whether an event time is in the bucket of like's.
func (s *Schema) sameBucket(attribute string, value types.AttributeValue, like Item) bool {
	then, err := s.EventTime.Of(like)
	if err != nil {
		return false
	}
	now, err := s.EventTime.Of(Item{attribute: value})
	return err == nil && s.Layout.Bucket.Start(now).Equal(s.Layout.Bucket.Start(then))
}
