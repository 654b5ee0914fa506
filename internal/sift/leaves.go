package sift

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// leaves are the values of an item that are neither maps nor lists. A projection looks into maps and lists only. So it gets a shape,
// in which the number of each leaf stands for the leaf, and no leaf is converted there and back.
type leaves []types.AttributeValue

// shape returns the shape of a value.
func (l *leaves) shape(v types.AttributeValue) attr.Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		fields := make([]attr.Field, 0, len(v.Value))
		for name, v := range v.Value {
			fields = append(fields, attr.Field{Name: name, Value: l.shape(v)})
		}
		return attr.Map(attr.NewItem(fields...))
	case *types.AttributeValueMemberL:
		elems := make([]attr.Value, len(v.Value))
		for i, v := range v.Value {
			elems[i] = l.shape(v)
		}
		return attr.List(elems...)
	}
	*l = append(*l, v)
	return attr.String(strconv.Itoa(len(*l) - 1))
}

// value returns the value of a part of a shape.
func (l leaves) value(shape attr.Value) types.AttributeValue {
	switch shape.Kind {
	case attr.M:
		fields := make(Item, len(shape.Map))
		for _, f := range shape.Map {
			fields[f.Name] = l.value(f.Value)
		}
		return &types.AttributeValueMemberM{Value: fields}
	case attr.L:
		elems := make([]types.AttributeValue, len(shape.List))
		for i, v := range shape.List {
			elems[i] = l.value(v)
		}
		return &types.AttributeValueMemberL{Value: elems}
	}
	n, err := strconv.Atoi(shape.Str)
	if err != nil || n >= len(l) {
		return nil // a projection makes up no leaves
	}
	return l[n]
}
