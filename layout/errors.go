package layout

import "errors"

// The errors that wrap these say what was given and what is wrong with it.
var (
	// ErrInvalid is wrapped when a layout or a format contradicts itself.
	ErrInvalid = errors.New("invalid layout")
	// ErrKey is wrapped when a key cannot be spread, because it could not be read back or stored, and when a text is
	// not a shard key of the layout.
	ErrKey = errors.New("invalid key")
	// ErrShard is wrapped when a layout has no shard with the number.
	ErrShard = errors.New("no such shard")
	// ErrTime is wrapped when a time has no bucket: it is the zero time, or its year does not have four digits.
	ErrTime = errors.New("time without a bucket")
	// ErrWidth is wrapped when there is no such width, and when a table of widths contradicts itself or the one before it.
	ErrWidth = errors.New("invalid width")
	// ErrTooManyShardKeys is wrapped when a range of time has more than MaxShardKeys shard keys.
	ErrTooManyShardKeys = errors.New("too many shard keys")
)
