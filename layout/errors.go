package layout

import "errors"

// Errors that wrap these say what was given and what is wrong with it.
var (
	// ErrInvalid is wrapped when a layout or a format is invalid.
	ErrInvalid = errors.New("invalid layout")
	// ErrKey is wrapped when a key cannot be spread, because its shard key could not be stored or parsed. It is also
	// wrapped when a text is not a shard key of the layout.
	ErrKey = errors.New("invalid key")
	// ErrShard is wrapped when a layout has no shard with the given number.
	ErrShard = errors.New("no such shard")
	// ErrTime is wrapped when a time has no bucket, because it is the zero time or its year is not between 1 and 9999.
	ErrTime = errors.New("time without a bucket")
	// ErrWidth is wrapped when a width is invalid, and when a table of widths is invalid or must not replace the one
	// before it.
	ErrWidth = errors.New("invalid width")
	// ErrTooManyShardKeys is wrapped when a time range has more than MaxShardKeys shard keys.
	ErrTooManyShardKeys = errors.New("too many shard keys")
)
