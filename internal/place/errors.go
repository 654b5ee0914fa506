package place

import "errors"

// The library exports these under the same names, and documents them.
var (
	// ErrOptions is wrapped when the schema itself is invalid, for example a width or the lack of an attribute to
	// calculate from.
	ErrOptions = errors.New("invalid options")
	// ErrItem is wrapped when an item lacks what determines its place, such as a key, a time or an id.
	ErrItem = errors.New("invalid item")
	// ErrScattered is wrapped when an item has several homes, but the operation needs one.
	ErrScattered = errors.New("the layout does not say which shard the item is in")
	// ErrTooNarrow is wrapped when an item is in a shard that queries do not read.
	ErrTooNarrow = errors.New("the collection reads fewer shards than there are")
)
