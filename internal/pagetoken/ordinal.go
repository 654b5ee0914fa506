package pagetoken

// Ordinal is a shard's number across layouts: the collection's own shards first, then those of older layouts. It orders
// items with the same sort key, and does not depend on the number of shards.
type Ordinal uint32

// shardBits exceeds what layout.MaxShards needs. It is part of every token and must not change.
const (
	shardBits         = 17 // more than layout.MaxShards needs; part of every token
	shardMask Ordinal = 1<<shardBits - 1
)

// MaxOlder is how many older layouts there are at most, and LastOrdinal is the last shard that the last of them may have.
const (
	MaxOlder            = 255
	LastOrdinal Ordinal = 1<<(shardBits+8) - 1
)

// NewOrdinal returns the ordinal of a layout's shard. Both are counted from 0, and layout 0 is the collection's own.
func NewOrdinal(layout, shard int) Ordinal { return Ordinal(layout<<shardBits | shard) }

// Shard returns the shard's number in its layout.
func (o Ordinal) Shard() int { return int(o & shardMask) }

// Layout returns 0 for the collection's own layout, and n for the nth older layout, counted from 1.
func (o Ordinal) Layout() int { return int(o >> shardBits) }
