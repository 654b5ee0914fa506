package plan

import (
	"errors"
	"time"
)

// ErrWorkload is wrapped when a workload contradicts itself or has values out of range.
var ErrWorkload = errors.New("invalid workload")

// Workload is what is known, or assumed, about a key and its table. Writes or Reads must be given; a field at zero has
// its default.
type Workload struct {
	// Key is the key's name, for texts and keys in the snippet. Default: KEY.
	Key string

	// Writes and Reads are requests a second of the hottest key at its peak. A read that asks for a list is one read.
	Writes, Reads float64

	// ItemBytes is the size of an item. Default: 1 KB.
	ItemBytes int

	// ItemsPerDay is how many items the key gets on an ordinary day, which decides the time bucket. Default: what
	// Writes and Assume.Average make.
	ItemsPerDay float64

	// Keys is how many keys the table has. Default: unknown.
	Keys int

	// Share is the part of the table's load that the hottest key has, and Zipf the exponent of the keys' skew (1 is a
	// usual one), from which it follows if Keys is given: one of them at most. With neither, the load of other keys is
	// unknown and left out.
	Share, Zipf float64

	// Shards is how many shards the key has now, or is thought to need, for the plan to judge.
	Shards int

	// Throttles is how many throttles of the key were counted in five minutes. Up to ten are nothing to worry about.
	Throttles int

	// Unpredictable says that any key may become as hot as this one, such as tenants that come and go.
	Unpredictable bool

	// Atomic says that items of the key must be read or changed together, in one consistent state.
	Atomic bool

	// Existing says that there are items under the key, which stay where they are: under the bare key and, if Shards is
	// given, in so many shards of the format of Names, calculated if the plan's are. The snippet reads them along.
	Existing bool

	// MaxLatency limits the 99th percentile of a read, and MaxDollars what all of the key's reads and writes cost a
	// month. A plan that cannot stay within them says so. Default: none.
	MaxLatency time.Duration
	MaxDollars float64

	Table  Table
	Read   Reading
	Assume Assumptions
	Names  Names

	guessed   bool // of a key that was held at the limit: its rates are more than was observed
	bystander bool // its throttles are for other keys
}

// Table is what the key's table, or index, has to offer.
type Table struct {
	// WriteUnits and ReadUnits are the provisioned capacity, in units a second. Default: none, the table is on demand.
	WriteUnits, ReadUnits int64

	// WarmWrites and WarmReads are the warm throughput, in units a second, as DescribeTable reports it. Default: the
	// provisioned capacity, or the 4,000 write and 12,000 read units of a new on-demand table.
	WarmWrites, WarmReads int64

	// Partitions is the number of partitions, if it is known, as from an export. Default: as many as the warm
	// throughput needs.
	Partitions int

	// Index says that the key is that of a global secondary index. Then all of this is about the index.
	Index bool
}

// Pattern is how a key is read.
type Pattern string

// The patterns. The default is Lists.
const (
	Points   Pattern = "points"  // single items, by their id
	Times    Pattern = "times"   // lists of a stretch of time, such as the last 24 hours
	Lists    Pattern = "lists"   // lists of all there is, or of the newest
	Counters Pattern = "counter" // one number that all writes add to
	Mostly   Pattern = "mostly"  // the same item, far more often than it is written
)

var patterns = [...]Pattern{Points, Times, Lists, Counters, Mostly}

// Reading is how the key is read.
type Reading struct {
	// Pattern is Lists by default.
	Pattern Pattern

	// Items is how many items a list returns. Default: 100.
	Items int

	// Window is how far back a list of Times looks. Default: 24 hours.
	Window time.Duration

	// Strong says that reads are strongly consistent, which doubles their units.
	Strong bool

	// Stale is how old an answer may be that comes from a cache. Default: one second. Negative: not at all.
	Stale time.Duration
}

// Assumptions are what a plan takes for granted.
type Assumptions struct {
	// Factor is the safety factor of the published formula. Default: 1.5.
	Factor float64 `json:"factor"`

	// Confidence is the part of all placements of shards on partitions in which the load must fit. Default: 0.99.
	Confidence float64 `json:"confidence"`

	// Target is how full a partition may be at the peak. Default: 0.7.
	Target float64 `json:"target"`

	// Average is the load on average as a share of the peak, for what is paid by the request. Default: 1, as if the
	// peak never ended.
	Average float64 `json:"average"`

	// P50Millis and P99Millis are the latency of a single request, in milliseconds. Default: 10 and 25.
	P50Millis float64 `json:"p50Millis"`
	P99Millis float64 `json:"p99Millis"`

	// Prices are USEast1 by default.
	Prices Prices `json:"prices"`
}

// Names are what tables and attributes are called in the snippet. Defaults: items, pk, sk; the time of an item is at
// the beginning of its sort key; an index is called by-key, on a table with the key id.
type Names struct {
	Table, PartitionKey, SortKey string
	Time                         string
	Index, TableKey              string

	// Blank leaves names out of the snippet that are not given, and says so in a comment. Without it they have defaults.
	Blank bool

	// Format is how shard keys are spelt. Default: KEY#SHARD_7.
	Format Format
}

const (
	enoughThrottles = 10 // in five minutes
	maxRate         = 1e12
)

func (w Workload) withDefaults() Workload {
	set(&w.Key, "KEY")
	set(&w.ItemBytes, 1<<10)
	set(&w.Read.Pattern, Lists)
	set(&w.Read.Items, 100)
	set(&w.Read.Window, day)
	set(&w.Read.Stale, time.Second)
	a := &w.Assume
	set(&a.Factor, DefaultFactor)
	set(&a.Confidence, 0.99)
	set(&a.Target, 0.7)
	set(&a.Average, 1)
	set(&a.P50Millis, 10)
	set(&a.P99Millis, max(25, a.P50Millis*5/2))
	set(&a.Prices, USEast1())
	set(&w.ItemsPerDay, w.Writes*a.Average*day.Seconds())
	w.Names.fill()
	return w
}

func (n *Names) fill() {
	if n.Blank {
		set(&n.Time, n.SortKey)
		return
	}
	set(&n.Table, "items")
	set(&n.PartitionKey, "pk")
	set(&n.SortKey, "sk")
	set(&n.Time, n.SortKey)
	set(&n.Index, "by-key")
	set(&n.TableKey, "id")
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// partitions returns how many partitions the table has.
func (t *Table) partitions() int {
	switch {
	case t.Partitions > 0:
		return t.Partitions
	case t.mode() == provisioned:
		return partitionsFor(max(t.WriteUnits, t.WarmWrites), max(t.ReadUnits, t.WarmReads))
	}
	return max(NewTablePartitions, partitionsFor(t.WarmWrites, t.WarmReads))
}

// The modes in which tables pay for capacity, as a plan's JSON names them.
const (
	onDemand    = "on-demand"
	provisioned = "provisioned"
)

func (t *Table) mode() string {
	if t.WriteUnits != 0 || t.ReadUnits != 0 {
		return provisioned
	}
	return onDemand
}
