package scenario

import (
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Scenario is an experiment. Parse fills in the defaults.
type Scenario struct {
	Name  string `yaml:"name" json:"name"`                       // in lower case, as of a file; Parse takes it from the file if it is empty
	Title string `yaml:"title" json:"title"`                     // one line
	About string `yaml:"about,omitempty" json:"about,omitempty"` // what it shows, and where the idea is from

	Seed     uint64   `yaml:"seed" json:"seed"`                   // all randomness follows from it
	Start    Moment   `yaml:"start,omitempty" json:"start"`       // virtual time; default 2026-11-18T12:00:00Z
	RunIn    Duration `yaml:"run-in" json:"runIn"`                // before anything is counted; default 2s
	Duration Duration `yaml:"duration,omitempty" json:"duration"` // that is counted; default 30s
	Mode     Mode     `yaml:"mode,omitempty" json:"mode"`         // default requests
	Tick     Duration `yaml:"tick,omitempty" json:"tick"`         // of aggregate mode; default 20ms

	Table   Table    `yaml:"table,omitempty" json:"table"`
	Load    []Load   `yaml:"load" json:"load"`
	Layouts []Layout `yaml:"layouts" json:"layouts"`
	Client  Client   `yaml:"client,omitempty" json:"client"`
}

// Mode is how a scenario is simulated.
type Mode string

// The modes.
const (
	Requests  Mode = "requests"  // each request by itself
	Aggregate Mode = "aggregate" // what a partition is offered in a tick, as one quantity
)

// Table is the simulated table.
type Table struct {
	Capacity       Capacity `yaml:"capacity,omitempty" json:"capacity"` // default on-demand
	WriteUnits     int64    `yaml:"write-units,omitempty" json:"writeUnits,omitempty"`
	ReadUnits      int64    `yaml:"read-units,omitempty" json:"readUnits,omitempty"`
	WarmWriteUnits int64    `yaml:"warm-write-units,omitempty" json:"warmWriteUnits,omitempty"`
	WarmReadUnits  int64    `yaml:"warm-read-units,omitempty" json:"warmReadUnits,omitempty"`
	Partitions     int      `yaml:"partitions,omitempty" json:"partitions,omitempty"` // exactly so many at the start; default: as the capacity needs
	NoQuota        bool     `yaml:"no-quota,omitempty" json:"noQuota,omitempty"`      // the account's quota of 40,000 units a table was raised
	NoSplits       bool     `yaml:"no-splits,omitempty" json:"noSplits,omitempty"`    // partitions stay as they are
	Indexes        []Index  `yaml:"indexes,omitempty" json:"indexes,omitempty"`
}

// Capacity is how a table is paid for.
type Capacity string

// The capacity modes.
const (
	OnDemand    Capacity = "on-demand"
	Provisioned Capacity = "provisioned"
)

// Index is a global secondary index that every write changes.
type Index struct {
	Name   string `yaml:"name" json:"name"`
	Keys   int    `yaml:"keys,omitempty" json:"keys"`     // different values of its partition key; default 1, a constant
	Shards int    `yaml:"shards,omitempty" json:"shards"` // that each value is spread over; default 1
}

// Load is operations of one kind.
type Load struct {
	Name       string    `yaml:"name,omitempty" json:"name"`
	Operation  Operation `yaml:"operation,omitempty" json:"operation"` // default write
	PerSecond  float64   `yaml:"per-second,omitempty" json:"perSecond,omitempty"`
	Ramp       *Ramp     `yaml:"ramp,omitempty" json:"ramp,omitempty"`
	Steps      []Step    `yaml:"steps,omitempty" json:"steps,omitempty"`
	Keys       Keys      `yaml:"keys" json:"keys"`
	Size       Bytes     `yaml:"size,omitempty" json:"size"`             // of an item; default 1KB
	Consistent bool      `yaml:"consistent,omitempty" json:"consistent"` // strongly consistent reads
	Items      Items     `yaml:"items,omitempty" json:"items"`           // default rising
}

// Operation is what a load does.
type Operation string

// The operations.
const (
	Write Operation = "write" // PutItem, or UpdateItem of the whole item
	Read  Operation = "read"  // GetItem from the shard that has the item
)

// Items is which items of a key a load touches. DynamoDB splits a key's items between partitions only if that divides the load.
type Items string

// The kinds.
const (
	Rising Items = "rising" // sort keys rise with time: a split would not help
	Random Items = "random" // sort keys have no order
	One    Items = "one"    // a single item, such as a counter
)

// Layout is one run of the scenario: how keys are spread, and by whom.
type Layout struct {
	Name       string        `yaml:"name,omitempty" json:"name"` // default: the kind and its figures
	Kind       Kind          `yaml:"kind" json:"kind"`
	Shards     int           `yaml:"shards,omitempty" json:"shards,omitempty"`
	Bucket     layout.Bucket `yaml:"bucket,omitempty" json:"bucket"`
	Hash       layout.Hash   `yaml:"hash,omitempty" json:"hash"`
	Retries    Retries       `yaml:"retries,omitempty" json:"retries"`
	Partitions int           `yaml:"partitions,omitempty" json:"partitions,omitempty"`  // of the table in this run
	LoadFactor float64       `yaml:"load-factor,omitempty" json:"loadFactor,omitempty"` // multiplies the load of this run; default 1
}

// Kind is a way of spreading keys.
type Kind string

// The kinds.
const (
	None       Kind = "none"              // the key as it is
	Naive      Kind = "naive"             // .1 to .200 drawn at random, as an AWS page has it, and the SDK's retries on the same suffix
	Calculated Kind = "calculated"        // a shard by the hash of the item's id
	Fixed      Kind = "fixed"             // heatsink with a fixed number of shards, drawn at random; retries go to other shards
	Adaptive   Kind = "adaptive"          // heatsink with a ledger: keys grow with their load
	Bucketed   Kind = "bucket"            // a period of time in the key
	BucketAnd  Kind = "bucket-and-shards" // both
)

// Retries is who retries a throttled request.
type Retries string

// The policies.
const (
	SDK      Retries = "sdk"      // the AWS SDK for Go's standard retryer
	Heatsink Retries = "heatsink" // heatsink's dispatcher
	NoRetry  Retries = "none"
)

// Client is the programs that send the load.
type Client struct {
	Processes int     `yaml:"processes,omitempty" json:"processes"` // each with a retry budget of its own; default 8
	Latency   Latency `yaml:"latency,omitempty" json:"latency"`
}

// Latency is how long a request takes, if it is served or refused: log-normal between two percentiles.
type Latency struct {
	P50 Duration `yaml:"p50,omitempty" json:"p50"` // default 5ms
	P99 Duration `yaml:"p99,omitempty" json:"p99"` // default 15ms
}

// Total returns the virtual time of a run.
func (s *Scenario) Total() time.Duration { return time.Duration(s.RunIn + s.Duration) }

// WriteUnits returns what a write of the load costs.
func (l *Load) WriteUnits() float64 {
	if l.Operation != Write {
		return 0
	}
	return float64((int64(l.Size) + 1023) / 1024)
}

// ReadUnits returns what a read of the load costs.
func (l *Load) ReadUnits() float64 {
	if l.Operation != Read {
		return 0
	}
	units := float64((int64(l.Size) + 4095) / 4096)
	if !l.Consistent {
		units /= 2
	}
	return units
}

// Layout returns how shard keys are spelled and chosen.
func (l *Layout) Layout() layout.Layout {
	out := layout.Layout{Shards: l.Shards, Bucket: l.Bucket, Hash: l.Hash}
	switch l.Kind {
	case Naive:
		out.Format = layout.DotFromOne()
	case Calculated:
		out.Strategy = layout.Calculated
	case Adaptive:
		out.Format.BareZero = true
	}
	return out
}
