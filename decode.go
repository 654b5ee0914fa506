package heatsink

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/layout"
)

// decodeStored is Collection.Decode for raw items.
func decodeStored(c *core, stored Item) (Item, layout.Place, error) {
	key, _ := stored[c.options.PartitionKey].(*types.AttributeValueMemberS)
	if c.movable != nil {
		return c.movable.decode(stored)
	}
	if c.versions.Buried(stored) || key != nil && layout.IsControl(key.Value) {
		return nil, layout.Place{}, ErrNotFound
	}
	return c.schema.Decode(context.Background(), stored) // Decode has no context: Widths answer from memory
}

// encoded encodes an item of the caller's type and calls do with the raw item.
func encoded[T, R any](c *core, item T, do func(Item) (R, error)) (R, error) {
	raw, err := encode(c, item)
	if err != nil {
		var none R
		return none, err
	}
	return do(raw)
}

// write is encoded for a write. Its result decodes as the collection does.
func write[T any](c *core, item T, do func(Item) (Written[Item], error)) (Written[T], error) {
	done, err := encoded(c, item, do)
	done.decoder = c.options.Decode
	return Written[T](done), err
}

// one reads the single item that has the key of like. It may return both an item and an error.
func one[T any](c *core, like T, read func(Item) (Item, error)) (T, error) {
	var none T
	key, err := encode(c, like)
	if err != nil {
		return none, err
	}
	raw, err := read(key)
	return decodeLike[T](c, key, raw, err)
}

// decodeLike returns an item that was read because it is like another, nil if there is none, as a T. There may be both an item
// and an error.
func decodeLike[T any](c *core, like, raw Item, err error) (T, error) {
	if raw == nil {
		var none T
		return none, err
	}
	item, wrong := decode[T](c.options.Decode, raw)
	if failed, ok := wrong.(*DecodeError); ok {
		failed.Key = attribute.Pick(like, c.schema.AllKeys())
	}
	if wrong != nil {
		return item, wrong
	}
	return item, err
}

// encode converts an item to a raw item. If T is Item, the result is the caller's own map and must not be changed.
func encode[T any](c *core, v T) (Item, error) {
	if raw, ok := any(v).(Item); ok {
		return raw, nil
	}
	raw, err := attributevalue.MarshalMapWithOptions(v, given(c.options.Encode)...)
	if err != nil {
		return nil, fmt.Errorf("%w: encode %T: %w", ErrItem, v, err)
	}
	return raw, nil
}

// decode returns a raw item as a T. how is Options.Decode.
func decode[T any](how func(*attributevalue.DecoderOptions), raw Item) (T, error) {
	var v T
	if p, ok := any(&v).(*Item); ok {
		*p = raw
		return v, nil
	}
	if err := attributevalue.UnmarshalMapWithOptions(raw, &v, given(how)...); err != nil {
		return v, &DecodeError{Item: raw, Err: err}
	}
	return v, nil
}

// given returns a list of a function, empty if there is none.
func given[O any](how func(O)) []func(O) {
	if how == nil {
		return nil
	}
	return []func(O){how}
}
