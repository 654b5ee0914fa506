package heatsink

import (
	"maps"

	"github.com/heatsink-go/heatsink/internal/attribute"
)

// row is an item that a read returns, with what it takes to name it if it cannot be decoded.
type row struct {
	read  *reading
	item  Item
	sort  sortValue
	table Item  // the table's key, if this is an index and the caller did not ask for it
	bad   error // what is wrong with the item itself
}

// key returns what is known of the row's key, under the logical partition key.
func (w row) key() Item {
	o := &w.read.core.options
	key := attribute.Pick(w.item, o.TableKey)
	maps.Copy(key, w.table)
	key[o.PartitionKey] = w.read.key
	if o.SortKey != "" {
		key[o.SortKey] = w.sort.attribute()
	}
	return key
}

// decodeRow returns a row as a T. Its error is a *DecodeError.
func decodeRow[T any](w row) (T, error) {
	if w.bad != nil {
		var none T
		return none, &DecodeError{Key: w.key(), Item: w.item, Err: w.bad}
	}
	v, err := decode[T](w.item)
	if failed, ok := err.(*DecodeError); ok {
		failed.Key = w.key()
	}
	return v, err
}
