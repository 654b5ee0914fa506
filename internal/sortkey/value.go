// Package sortkey holds sort key values in DynamoDB's order, and intervals of them.
//
//   - value.go has the Value of a sort key, its order, and its conversion from and to the SDK's attribute values;
//   - interval.go has the Interval of sort keys that a read has left, and the key condition that requests it from
//     DynamoDB.
//
// All functions are pure.
package sortkey

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// MaxBytes is the maximum length of a sort key, in bytes.
const MaxBytes = 1024

// Value is the value of a sort key. The values of one table have one kind, S, N or B, and are ordered by their texts. The
// text of a number is its encoding by package attr. The zero Value means no sort key.
type Value struct {
	Kind attr.Kind
	Text string
}

// Of converts v to a Value. v is an AttributeValue, or anything that attributevalue encodes as a string, number or
// binary.
func Of(v any) (Value, error) {
	value, ok := v.(types.AttributeValue)
	if !ok {
		var err error
		if value, err = attributevalue.Marshal(v); err != nil {
			return Value{}, err
		}
	}
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		if value == nil {
			break
		}
		return Value{attr.S, value.Value}, nil
	case *types.AttributeValueMemberN:
		if value == nil {
			break
		}
		n, err := attr.ParseNumber(value.Value)
		if err != nil {
			return Value{}, fmt.Errorf("number %q: %w", value.Value, err)
		}
		return Value{attr.N, string(n)}, nil
	case *types.AttributeValueMemberB:
		if value == nil {
			break
		}
		return Value{attr.B, string(value.Value)}, nil
	}
	return Value{}, fmt.Errorf("%v (%T) cannot be a sort key, want a string, a number or a binary", v, v)
}

// Attribute is the inverse of Of: see Written.
func (v Value) Attribute() types.AttributeValue {
	if v.Kind == attr.B {
		return &types.AttributeValueMemberB{Value: []byte(v.Text)}
	}
	if v.Kind == attr.N {
		return &types.AttributeValueMemberN{Value: v.Written()}
	}
	return &types.AttributeValueMemberS{Value: v.Text}
}

// Written returns the value as in requests: the digits of a number without an exponent, or the bytes of any other value.
func (v Value) Written() string {
	if v.Kind == attr.N {
		return attr.Number(v.Text).String()
	}
	return v.Text
}

// Compare returns -1, 0 or 1 if v is before, equal to or after w. Both must have the same kind.
func (v Value) Compare(w Value) int { return strings.Compare(v.Text, w.Text) }

// After returns the next value, or false if it cannot be written. Numbers have no next value.
func (v Value) After() (Value, bool) {
	return Value{v.Kind, v.Text + "\x00"}, v.Kind != attr.N && len(v.Text) < MaxBytes
}

// AfterPrefix returns the first value after all values that begin with v, or false if there is none. It may be longer
// than MaxBytes.
func (v Value) AfterPrefix() (Value, bool) {
	for text := v.Text; text != ""; {
		if v.Kind == attr.B {
			last := len(text) - 1
			if text[last] < 0xFF {
				return Value{v.Kind, text[:last] + string([]byte{text[last] + 1})}, true
			}
			text = text[:last]
			continue
		}
		last, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		if last < utf8.MaxRune {
			next := last + 1
			if next == 0xD800 { // the first of those that UTF-8 leaves out
				next = 0xE000
			}
			return Value{v.Kind, text + string(next)}, true
		}
	}
	return Value{}, false
}

// Attributes returns the values as a key, under the names of their attributes. There must be as many names as values.
func Attributes(names []string, values []Value) map[string]types.AttributeValue {
	key := make(map[string]types.AttributeValue, len(names))
	for i, name := range names {
		key[name] = values[i].Attribute()
	}
	return key
}

// OfAll is the inverse of Attributes. The item may have further attributes.
func OfAll(names []string, item map[string]types.AttributeValue) ([]Value, error) {
	values := make([]Value, len(names))
	for i, name := range names {
		av, ok := item[name]
		if !ok {
			return nil, fmt.Errorf("the item lacks its key attribute %q", name)
		}
		var err error
		if values[i], err = Of(av); err != nil {
			return nil, err
		}
	}
	return values, nil
}
