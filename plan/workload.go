package plan

import (
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// ErrWorkload is wrapped when a workload contradicts itself or has a value out of range.
var ErrWorkload = errors.New("invalid workload")

// Workload describes a key and its table. Writes or Reads must be given; any other field at zero has its default.
type Workload struct {
	// Key is the name of the key in texts and in the snippet. Default: KEY.
	Key string

	// Writes and Reads are requests a second for the hottest key at its peak. A read of a list is one read.
	Writes, Reads float64

	// ItemBytes is the size of an item. Default: 1,024.
	ItemBytes int

	// ItemsPerDay is the number of items the key gets on an ordinary day; it decides the time bucket. Default: from
	// Writes and Assume.Average.
	ItemsPerDay float64

	// Keys is the number of keys in the table. Default: unknown.
	Keys int

	// Share is the hottest key's share of the table's load, 0 to 1. Instead of it, Zipf with Keys gives the exponent of
	// the keys' skew; 1 is usual. Give at most one of the two. With neither, the load of other keys is not counted.
	Share, Zipf float64

	// Shards is the number of shards that the key has, or is thought to need. The plan judges it.
	Shards int

	// Bucket is the time bucket that the stored keys have already, such as VIEWS#2026-06-22 for VIEWS. The plan keeps it.
	Bucket layout.Bucket

	// OneOfMany says that the table has other keys, such as those of tenants, and that this is the hot one. The snippet gives
	// shards to it alone, and reads the items that it has.
	OneOfMany bool

	// Processes is the number of processes that add to a counter. Package counter writes up to 50 times a second for each,
	// however much it adds. Default: 10.
	Processes int

	// Throttles is the number of throttled requests for the key in five minutes. Up to ten are harmless.
	Throttles int

	// Unpredictable says that any key may become as hot as this one, such as that of any tenant.
	Unpredictable bool

	// Atomic says that the key's items must be read or changed together, in one consistent state.
	Atomic bool

	// Existing says that the key has items, which stay where they are: under the bare key, in Bucket if that is given, and, if
	// Shards is given, in that many shards of Names.Format, calculated if the plan's shards are. The snippet reads them too.
	Existing bool

	// MaxLatency limits the 99th percentile of a read. MaxDollars limits the monthly cost of the key's reads and
	// writes. A plan that exceeds a limit has a note that says so. Default: none.
	MaxLatency time.Duration
	MaxDollars float64

	Table  Table
	Read   Reading
	Assume Assumptions
	Names  Names

	judgement // of an observed key
}

// Table is the capacity of the key's table or index.
type Table struct {
	// WriteUnits and ReadUnits are the provisioned capacity, in units a second. Default: none, the table is on demand.
	WriteUnits, ReadUnits int64

	// WarmWrites and WarmReads are the warm throughput, in units a second, as DescribeTable reports it. Default: the
	// provisioned capacity, or the 4,000 write and 12,000 read units of a new on-demand table.
	WarmWrites, WarmReads int64

	// Partitions is the number of partitions, if it is known, as from an export. Default: as many as the warm
	// throughput needs.
	Partitions int

	// PartitionWrites and PartitionReads are the units a second that one partition takes, for an engine whose partitions
	// are not as large as DynamoDB's. Default: 1,000 and 3,000.
	PartitionWrites, PartitionReads int64

	// Index says that the key belongs to a global secondary index. All fields are then about the index.
	Index bool
}

// Pattern is how programs read a key.
type Pattern string

// The patterns. The default is Lists.
const (
	Points   Pattern = "points"  // single items by id
	Times    Pattern = "times"   // lists of a time range, such as the last 24 hours
	Lists    Pattern = "lists"   // lists of all items, or of the newest
	Counters Pattern = "counter" // one number to which all writes add
	Mostly   Pattern = "mostly"  // the same item, far more often than it is written
)

var patterns = [...]Pattern{Points, Times, Lists, Counters, Mostly}

// Reading describes the reads of the key.
type Reading struct {
	// Pattern is Lists by default.
	Pattern Pattern

	// Items is the number of items in a list. Default: 100.
	Items int

	// Window is the time range of a list with Times. Default: 24 hours.
	Window time.Duration

	// Strong says that reads are strongly consistent, which doubles their units.
	Strong bool

	// Stale is the greatest age of a cached result. Default: one second. Negative: reads may not come from a cache.
	Stale time.Duration
}

// Assumptions are the constants of a plan's arithmetic.
type Assumptions struct {
	// Factor is the safety factor of the published formula. Default: 1.5.
	Factor float64 `json:"factor"`

	// Confidence is the share of all placements of shards on partitions in which the load must fit. Default: 0.99.
	Confidence float64 `json:"confidence"`

	// Target is the greatest utilisation of a partition at the peak, 0.1 to 1. Default: 0.7.
	Target float64 `json:"target"`

	// Average is the average load as a share of the peak, for costs by request. Default: 1, as if the peak never ended.
	Average float64 `json:"average"`

	// P50Millis and P99Millis are the latency of a single request, in milliseconds. Default: 10 and 25.
	P50Millis float64 `json:"p50Millis"`
	P99Millis float64 `json:"p99Millis"`

	// Prices are USEast1 by default.
	Prices Prices `json:"prices"`
}

// Names are the names of tables and attributes in the snippet. Defaults: table items with the keys pk and sk; the item's
// time from the sort key; index by-key, on a table with the key id.
type Names struct {
	Table, PartitionKey, SortKey string
	Time                         string
	Index, TableKey              string

	// TableSortKey is the attribute of the table's own sort key, where SortKey is the index's.
	TableSortKey string

	// Blank leaves missing names out of the snippet, with a comment, instead of using the defaults.
	Blank bool

	// Described says that the sort keys are known: what Blank leaves out of them is not there.
	Described bool

	// Format is the spelling of shard keys, without BareZero: that is the plan's to say. Default: KEY#SHARD_7.
	Format layout.Format
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
	set(&w.Processes, 10)
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
		if !n.Described {
			set(&n.Time, n.SortKey)
		}
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

// limits returns what one partition takes.
func (t *Table) limits() limits {
	l := limits{t.PartitionWrites, t.PartitionReads}
	set(&l.writes, PartitionWrites)
	set(&l.reads, PartitionReads)
	return l
}

// partitions returns the number of the table's partitions.
func (t *Table) partitions() int {
	switch {
	case t.Partitions > 0:
		return t.Partitions
	case t.mode() == provisioned:
		return t.limits().partitionsFor(max(t.WriteUnits, t.WarmWrites), max(t.ReadUnits, t.WarmReads))
	case t.WarmWrites <= NewTablePartitions*PartitionWrites && t.WarmReads <= NewTablePartitions*PartitionReads:
		return NewTablePartitions // as a new table says, whatever its partitions take
	}
	return max(NewTablePartitions, t.limits().partitionsFor(t.WarmWrites, t.WarmReads))
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
