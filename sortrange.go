package heatsink

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/sortkey"
)

// Range is a condition on the sort key. The zero Range matches every key. A value is an AttributeValue, or anything that
// the collection encodes as a string, number or binary: see Options.Encode. It must have the sort key's type and must not be empty, because
// no sort key is.
type Range struct {
	op     sortkey.Op
	lo, hi any
}

// Equal matches the sort key v.
func Equal(v any) Range { return Range{op: sortkey.Equal, lo: v} }

// Less matches the sort keys before v.
func Less(v any) Range { return Range{op: sortkey.Less, hi: v} }

// AtMost matches v and the sort keys before it.
func AtMost(v any) Range { return Range{op: sortkey.AtMost, hi: v} }

// Greater matches the sort keys after v.
func Greater(v any) Range { return Range{op: sortkey.Greater, lo: v} }

// AtLeast matches v and the sort keys after it.
func AtLeast(v any) Range { return Range{op: sortkey.AtLeast, lo: v} }

// Between matches the sort keys from lo to hi, both included.
func Between(lo, hi any) Range { return Range{op: sortkey.Between, lo: lo, hi: hi} }

// BeginsWith matches the sort keys that begin with prefix. It applies to strings and binaries.
func BeginsWith(prefix any) Range { return Range{op: sortkey.BeginsWith, lo: prefix} }

// interval converts the range to an interval. Its ends are encoded as the collection encodes items.
func (r Range) interval(encode func(*attributevalue.EncoderOptions)) (sortkey.Interval, error) {
	lo, err := encodeEnd(r.lo, encode)
	if err != nil {
		return sortkey.Interval{}, err
	}
	hi, err := encodeEnd(r.hi, encode)
	if err != nil {
		return sortkey.Interval{}, err
	}
	iv, err := sortkey.NewInterval(r.op, lo, hi)
	if err != nil {
		return sortkey.Interval{}, fmt.Errorf("%w: Sort: %w", ErrQuery, err)
	}
	return iv, nil
}

// encodeEnd encodes an end of a range with the collection's own options, if it has any.
func encodeEnd(v any, encode func(*attributevalue.EncoderOptions)) (any, error) {
	if _, raw := v.(types.AttributeValue); v == nil || raw || encode == nil {
		return v, nil
	}
	value, err := attributevalue.MarshalWithOptions(v, encode)
	if err != nil {
		return nil, fmt.Errorf("%w: Sort: encode %v: %w", ErrQuery, v, err)
	}
	return value, nil
}
