package heatsink

import (
	"fmt"

	"github.com/heatsink-go/heatsink/internal/sortkey"
)

// Range is a condition on the sort key. The zero Range is every key. Values are strings, numbers, []byte or whatever
// attributevalue makes one of, or an AttributeValue. They must be of the sort key's type, and not empty: no sort key is.
type Range struct {
	op     sortkey.Op
	lo, hi any
}

// Equal is the sort key v.
func Equal(v any) Range { return Range{op: sortkey.Equal, lo: v} }

// Less is the sort keys before v.
func Less(v any) Range { return Range{op: sortkey.Less, hi: v} }

// AtMost is v and the sort keys before it.
func AtMost(v any) Range { return Range{op: sortkey.AtMost, hi: v} }

// Greater is the sort keys after v.
func Greater(v any) Range { return Range{op: sortkey.Greater, lo: v} }

// AtLeast is v and the sort keys after it.
func AtLeast(v any) Range { return Range{op: sortkey.AtLeast, lo: v} }

// Between is the sort keys from lo to hi, both included.
func Between(lo, hi any) Range { return Range{op: sortkey.Between, lo: lo, hi: hi} }

// BeginsWith is the sort keys, strings or binaries, that begin with prefix.
func BeginsWith(prefix any) Range { return Range{op: sortkey.BeginsWith, lo: prefix} }

// interval returns the range as two ends.
func (r Range) interval() (sortkey.Interval, error) {
	iv, err := sortkey.NewInterval(r.op, r.lo, r.hi)
	if err != nil {
		return sortkey.Interval{}, fmt.Errorf("%w: Sort: %w", ErrQuery, err)
	}
	return iv, nil
}
