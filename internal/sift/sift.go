// Package sift evaluates a Query's filter and projection on items that were read whole. A read of items that move needs that:
// DynamoDB would evaluate the filter on each of two copies, and drop one that says what the other is worth.
package sift

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// Item is an item as the AWS SDK has it.
type Item = map[string]types.AttributeValue

// Sift is a filter and a projection. It never changes, and is safe for concurrent use. The nil Sift keeps every item as it is.
type Sift struct {
	filter   *expr.Condition // nil keeps every item
	filtered []string        // the attributes that it looks at, sorted

	projection *expr.Projection // nil for whole items
	whole      []string         // the attributes that it takes as they are
	parts      []string         // the attributes that it takes parts of
}

// New parses a filter and a projection, "" for none, with the names and values that they share. It refuses what DynamoDB refuses, in
// DynamoDB's words: also a name or a value that neither of them uses. It cannot refuse a filter of a key attribute: see Filters.
func New(filter, projection string, names map[string]string, values Item) (*Sift, error) {
	scope, err := newScope(names, values)
	if err != nil {
		return nil, err
	}
	s := new(Sift)
	if filter != "" {
		if s.filter, err = expr.ParseCondition(expr.FilterExpression, filter, scope); err != nil {
			return nil, err
		}
		for name := range s.filter.TopLevelAttributes() {
			s.filtered = append(s.filtered, name)
		}
		slices.Sort(s.filtered)
		s.filtered = slices.Compact(s.filtered)
	}
	if projection != "" {
		if s.projection, err = expr.ParseProjection(projection, scope); err != nil {
			return nil, err
		}
		for name, nested := range s.projection.TopLevelAttributes() {
			if nested {
				s.parts = append(s.parts, name)
			} else {
				s.whole = append(s.whole, name)
			}
		}
		s.parts = slices.Compact(s.parts) // they are sorted
	}
	return s, scope.Unused()
}

// newScope returns names and values for package expr.
func newScope(names map[string]string, values Item) (*expr.Scope, error) {
	if len(names) == 0 {
		names = nil // a request then does not have them
	}
	var canonical attr.Item
	if len(values) > 0 {
		fields := make([]attr.Field, 0, len(values))
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v, err := attribute.Canonical(values[name])
			if err != nil {
				return nil, fmt.Errorf("the value %s: %w", name, err)
			}
			fields = append(fields, attr.Field{Name: name, Value: v})
		}
		canonical = attr.NewItem(fields...)
	}
	scope := expr.NewScope(names, canonical)
	return scope, scope.Validate()
}

// Filters reports whether the filter looks at an attribute. DynamoDB refuses that of the attributes of a key.
func (s *Sift) Filters(name string) bool {
	if s == nil {
		return false
	}
	_, found := slices.BinarySearch(s.filtered, name)
	return found
}

// Needs returns the attributes that Keeps and Project look at, sorted. A read may ask for these alone. It returns nil if whole items
// are wanted.
func (s *Sift) Needs() []string {
	if s == nil || s.projection == nil {
		return nil
	}
	all := slices.Concat(s.filtered, s.whole, s.parts)
	slices.Sort(all)
	return slices.Compact(all)
}

// Keeps reports whether the filter is true of an item. The error says that an attribute, which it names, is no value of DynamoDB.
func (s *Sift) Keeps(item Item) (bool, error) {
	if s == nil || s.filter == nil {
		return true, nil
	}
	fields := make(attr.Item, 0, len(s.filtered)) // sorted, as attr.Item has to be
	for _, name := range s.filtered {
		v, ok := item[name]
		if !ok {
			continue
		}
		value, err := attribute.Canonical(v)
		if err != nil {
			return false, fmt.Errorf("attribute %q: %w", name, err)
		}
		fields = append(fields, attr.Field{Name: name, Value: value})
	}
	return s.filter.Eval(fields), nil
}

// Project returns the parts of an item that the projection wants, as values of the item itself: the digits of numbers and the order
// of sets stay as they were read. It does not change the item, and returns it if there is no projection.
func (s *Sift) Project(item Item) Item {
	if s == nil || s.projection == nil {
		return item
	}
	out := make(Item, len(s.whole)+len(s.parts))
	for _, name := range s.whole {
		if v, ok := item[name]; ok {
			out[name] = v
		}
	}
	if len(s.parts) == 0 {
		return out
	}
	var l leaves
	shape := make(attr.Item, 0, len(s.parts))
	for _, name := range s.parts {
		if v, ok := item[name]; ok {
			shape = append(shape, attr.Field{Name: name, Value: l.shape(v)})
		}
	}
	for _, f := range s.projection.Apply(shape) {
		out[f.Name] = l.value(f.Value)
	}
	return out
}
