// Package partitions holds the types that describe the partitions of a local
// engine. local.DB.Partitions returns them. heatsink serve --physics returns
// their JSON form at /partitions, and a program can decode it into these types.
package partitions

import "time"

// Heat is the recent activity of the partitions of a table or global index.
type Heat struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // empty for the table itself

	// ReadTokens and WriteTokens are the units that the table's own limit allows at
	// once, burst included. Negative: the table owes them.
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// PartitionReads and PartitionWrites are the units per second that each partition
	// serves.
	PartitionReads  int64 `json:"partitionReads"`
	PartitionWrites int64 `json:"partitionWrites"`

	Partitions []Partition `json:"partitions"` // in the order of their ranges
	Splits     []Split     `json:"splits"`     // the most recent ones, oldest first
	Minutes    []Minute    `json:"minutes"`    // oldest first; the last is not complete
}

// Throttled is the number of requests that a table or global index has throttled.
type Throttled struct {
	Table    string `json:"table"`
	Index    string `json:"index,omitempty"` // empty for the table itself
	Requests int64  `json:"requests"`        // that it refused; retries count again
}

// Partition is one partition.
type Partition struct {
	ID uint64 `json:"id"`

	// Lower and Upper are the bounds of the partition, Upper excluded, in hexadecimal.
	// A bound is eight bytes of the hash of the partition key. If a split divided an
	// item collection, the beginning of a key follows. The first Lower and the last
	// Upper are empty.
	Lower string `json:"lower"`
	Upper string `json:"upper"`

	Bytes int64 `json:"bytes"` // approximate size of its items

	// ReadTokens and WriteTokens are the units that it has left. Negative: the
	// partition owes them.
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// Heat is the moving average of the load, as a fraction of the limit. Obstacle is
	// the reason why a partition that is hot long enough cannot split, or empty.
	Heat     float64 `json:"heat"`
	Obstacle string  `json:"obstacle,omitempty"`

	Seconds []Second `json:"seconds"` // oldest first; the last may not be complete
}

// Second is what a partition served and throttled in one second, in capacity units.
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
	Point    string    `json:"point"` // the bound between the children, as in Partition.Lower
}

// Minute holds the metrics of a table or index for one minute: sums, by their names
// in CloudWatch, such as ConsumedWriteCapacityUnits.
type Minute struct {
	Start   time.Time          `json:"start"`
	Metrics map[string]float64 `json:"metrics"`
}
