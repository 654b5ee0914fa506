package heatsink

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// decodeStored is Collection.Decode for raw items.
func decodeStored(c *core, stored Item) (Item, layout.Place, error) {
	if c.versions.Buried(stored) {
		return nil, layout.Place{}, ErrNotFound
	}
	return c.schema.Decode(context.Background(), stored) // Decode has no context: Widths answer from memory
}

// encoded encodes an item of the caller's type and calls do with the raw item.
func encoded[T, R any](item T, do func(Item) (R, error)) (R, error) {
	raw, err := encode(item)
	if err != nil {
		var none R
		return none, err
	}
	return do(raw)
}

// one reads the single item that has the key of like. It may return both an item and an error.
func one[T any](c *core, like T, read func(Item) (Item, error)) (T, error) {
	var none T
	key, err := encode(like)
	if err != nil {
		return none, err
	}
	raw, err := read(key)
	if raw == nil {
		return none, err
	}
	item, wrong := decode[T](raw)
	if failed, ok := wrong.(*DecodeError); ok {
		failed.Key = attribute.Pick(key, c.schema.AllKeys())
	}
	if wrong != nil {
		return item, wrong
	}
	return item, err
}

// encode converts an item to a raw item. If T is Item, the result is the caller's own map and must not be changed.
func encode[T any](v T) (Item, error) {
	if raw, ok := any(v).(Item); ok {
		return raw, nil
	}
	raw, err := attributevalue.MarshalMap(v)
	if err != nil {
		return nil, fmt.Errorf("%w: encode %T: %w", ErrItem, v, err)
	}
	return raw, nil
}

func decode[T any](raw Item) (T, error) {
	var v T
	if p, ok := any(&v).(*Item); ok {
		*p = raw
		return v, nil
	}
	if err := attributevalue.UnmarshalMap(raw, &v); err != nil {
		return v, &DecodeError{Item: raw, Err: err}
	}
	return v, nil
}
