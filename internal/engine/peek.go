package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// PeekControl returns the attributes beside the key of a control item of heatsink, by its partition key; nil if the table has none. It
// is for those who look at an engine: it costs no capacity, and no observer is told.
func (e *Engine) PeekControl(ctx context.Context, tableName, key string) (attr.Item, error) {
	t, err := e.openTable(ctx, tableName)
	if err != nil {
		return nil, err
	}
	defer t.release()
	item := attr.Item{}
	for i, part := range t.keys.parts {
		value := attr.String("-")
		switch {
		case i == 0 && part.Kind != attr.S:
			return nil, nil // such tables take no control items
		case i == 0:
			value = attr.String(key)
		case part.Kind == attr.N:
			zero, err := attr.ParseNumber("0")
			if err != nil {
				return nil, err
			}
			value = attr.Num(zero)
		case part.Kind == attr.B:
			value = attr.Binary("-")
		}
		item = append(item, attr.Field{Name: part.Name, Value: value})
	}
	slices.SortFunc(item, func(a, b attr.Field) int { return strings.Compare(a.Name, b.Name) })
	raw, found, err := e.get(t, t.itemKey(item), true)
	if err != nil || !found {
		return nil, err
	}
	stored, err := attr.Raw(raw).Decode()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(stored, func(f attr.Field) bool {
		return slices.ContainsFunc(item, func(k attr.Field) bool { return k.Name == f.Name })
	}), nil
}
