package attribute

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Same reports whether two items are equal for DynamoDB, to which 1 and 1.0 are the same and sets have no order.
func Same(a, b Item) bool {
	va, errA := Canonical(&types.AttributeValueMemberM{Value: a})
	vb, errB := Canonical(&types.AttributeValueMemberM{Value: b})
	return errA == nil && errB == nil && va.Equal(vb)
}

// Canonical returns a value in the one form that it has in package attr.
func Canonical(v types.AttributeValue) (attr.Value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return attr.String(v.Value), nil
	case *types.AttributeValueMemberB:
		return attr.Binary(string(v.Value)), nil
	case *types.AttributeValueMemberN:
		n, err := attr.ParseNumber(v.Value)
		return attr.Num(n), err
	case *types.AttributeValueMemberBOOL:
		return attr.Boolean(v.Value), nil
	case *types.AttributeValueMemberNULL:
		return attr.Value{Kind: attr.Null}, nil
	case *types.AttributeValueMemberSS:
		elems, err := canonicalAll(v.Value, func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} })
		return attr.Set(attr.SS, elems), err
	case *types.AttributeValueMemberNS:
		elems, err := canonicalAll(v.Value, func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} })
		return attr.Set(attr.NS, elems), err
	case *types.AttributeValueMemberBS:
		elems, err := canonicalAll(v.Value, func(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} })
		return attr.Set(attr.BS, elems), err
	case *types.AttributeValueMemberL:
		elems, err := canonicalAll(v.Value, func(v types.AttributeValue) types.AttributeValue { return v })
		return attr.List(elems...), err
	case *types.AttributeValueMemberM:
		fields := make([]attr.Field, 0, len(v.Value))
		for name, v := range v.Value {
			value, err := Canonical(v)
			if err != nil {
				return attr.Value{}, err
			}
			fields = append(fields, attr.Field{Name: name, Value: value})
		}
		return attr.Map(attr.NewItem(fields...)), nil
	}
	return attr.Value{}, fmt.Errorf("attribute value of type %T", v)
}

// canonicalAll returns the canonical values of a list's or set's elements.
func canonicalAll[E any](elems []E, as func(E) types.AttributeValue) ([]attr.Value, error) {
	values := make([]attr.Value, len(elems))
	for i, e := range elems {
		var err error
		if values[i], err = Canonical(as(e)); err != nil {
			return nil, err
		}
	}
	return values, nil
}
