// Package partitions is what can be seen of the partitions of a local engine: the
// types that local.DB.Partitions returns. Their JSON is what heatsink serve
// --physics answers at /partitions, so that a program can decode it into them.
package partitions

import "time"

// Heat is what the partitions of a table or of a global index have been doing.
type Heat struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // empty for the table itself

	// ReadTokens and WriteTokens are the units that could be consumed at once under
	// the table's own limit, burst included; negative: owed.
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// PartitionReads and PartitionWrites are the units that each partition serves
	// a second.
	PartitionReads  int64 `json:"partitionReads"`
	PartitionWrites int64 `json:"partitionWrites"`

	Partitions []Partition `json:"partitions"` // in the order of their ranges
	Splits     []Split     `json:"splits"`     // the last ones, the oldest first
	Minutes    []Minute    `json:"minutes"`    // the oldest first; the last is not over
}

// Partition is one partition.
type Partition struct {
	ID uint64 `json:"id"`

	// Lower is where the partition begins and Upper where the next one does, in
	// hexadecimal: eight bytes of the hash of the partition key and, where a
	// collection was split, the beginning of a key. Empty at either end.
	Lower string `json:"lower"`
	Upper string `json:"upper"`

	Bytes int64 `json:"bytes"` // about how much it holds

	// ReadTokens and WriteTokens are the units that it has left; negative: owed.
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// Heat is the load's moving average, 1 being the limit. Obstacle is why a
	// partition that was hot for long enough has not been split, empty if nothing
	// is in the way.
	Heat     float64 `json:"heat"`
	Obstacle string  `json:"obstacle,omitempty"`

	Seconds []Second `json:"seconds"` // the oldest first; the last may not be over
}

// Second is what a partition served and refused in one second, in capacity units.
type Second struct {
	Start          time.Time `json:"start"`
	ReadUnits      float64   `json:"readUnits"`
	WriteUnits     float64   `json:"writeUnits"`
	ReadThrottled  float64   `json:"readThrottled"`
	WriteThrottled float64   `json:"writeThrottled"`
}

// Split is a split of a partition into two.
type Split struct {
	At       time.Time `json:"at"`
	Cause    string    `json:"cause"`
	Parent   uint64    `json:"parent"`
	Children [2]uint64 `json:"children"`
	Point    string    `json:"point"` // as Partition.Lower
}

// Minute is a minute of a table or index: sums under the names that they have in
// CloudWatch, such as ConsumedWriteCapacityUnits.
type Minute struct {
	Start   time.Time          `json:"start"`
	Metrics map[string]float64 `json:"metrics"`
}
