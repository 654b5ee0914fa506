package counter

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/internal/schema"
	"github.com/heatsink-go/heatsink/layout"
)

// Options describe the counters of a table and how they are kept. Only Table is required.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the table's key attributes, both strings. Defaults: "pk" and "sk".
	PartitionKey, SortKey string

	// Shards is the number of partition keys over which the slots of a counter are spread. Each shard serves 1,000
	// flushes per second, which is 50 busy processes at the default Interval. Each shard also adds one request to a
	// read. Processes may use different numbers, and the number may change at any time; readers notice. A counter that
	// once had many shards is read from all of them forever. Default: 4. At most 1,024.
	Shards int

	// Format is the spelling of shard keys. All processes must use the same. Default: VIEWS#SHARD_0.
	Format layout.Format

	// Interval is about the longest time that an Add waits for others before they are stored together. An Add takes
	// this time in addition to its request. The time between two flushes of a counter is shorter, down to 20 ms, if 100
	// Adds wait. It grows to at most one second if DynamoDB throttles. Default: 50 ms. From 20 ms to 1 s.
	Interval time.Duration

	// Idle is the time without Adds after which this process gives a counter up: it folds its slot and drops the
	// counter from memory. Default: 5 minutes. At least 100 ms.
	Idle time.Duration

	// Dead is the time without a write after which a slot of another process is considered dead and is folded. If that
	// process was only suspended, it notices and continues with a new slot. Default: 10 minutes. At least 100 ms.
	Dead time.Duration

	// Retention is how long a folded slot stays in the table, by the clocks of the processes that fold and remove it.
	// It has two effects. If a process is suspended for longer, its Adds under way fail with ErrUncertain. If the
	// network delivers a copy of a request later than that, the copy is counted again, because the slot that made it
	// harmless is gone.
	//
	// DynamoDB accepts a request up to 15 minutes after it was signed, and each clock may be 15 minutes off. No copy
	// can therefore be later than an hour, and a Retention below 62 minutes is refused. If a counter has more than 40
	// folded slots, they stay for 62 minutes only. Default: 24 hours.
	Retention time.Duration

	// FoldEvery is the average interval at which this process folds each counter that it adds to, as Fold does.
	// Default: 1 hour. At least 100 ms. Negative: never; then call Fold yourself.
	FoldEvery time.Duration

	// MaxCounters is the largest number of counters that this process keeps in memory, at about 1 KB each. Beyond it,
	// the process gives up the least recently used counters. Default: 10,000.
	MaxCounters int

	// MaxConcurrency is the largest number of concurrent flushes of this process. Default: 64.
	MaxConcurrency int

	// Origin is where the counts of before are, for a counter that began as an attribute of an item. Set it in all
	// processes until these counts are imported; without it, only what was imported is counted. Default: there are none.
	Origin *Origin

	// Cache configures Cached.
	Cache cache.Options

	// Retry configures the retries of reads and folds. Its Timeout limits every request, and its default is 2 seconds
	// here. A flush is retried until it succeeds, as long as somebody waits for it.
	Retry heatsink.Retry

	// Logger gets events that callers do not see. A warning says that Adds of AddAsync cannot be stored. Debug messages
	// say that slots were folded by this or another process. Default: none.
	Logger *slog.Logger
}

const (
	minInterval     = 20 * time.Millisecond
	defaultInterval = 50 * time.Millisecond
	maxInterval     = time.Second

	defaultShards = 4
	maxShards     = 1024

	defaultTimeout = 2 * time.Second

	// minRetention is longer than a request can be late. The signer's clock may be 15 minutes ahead of DynamoDB's, and
	// DynamoDB takes the signature for 15 minutes more. The clocks of who froze and who removes the slot may differ by 30.
	minRetention = 4*15*time.Minute + 2*time.Minute

	minUpkeep = 100 * time.Millisecond

	longest = 100 * 365 * 24 * time.Hour // so that sums do not overflow
)

func (o Options) withDefaults() Options {
	o.PartitionKey = cmp.Or(o.PartitionKey, "pk")
	o.SortKey = cmp.Or(o.SortKey, "sk")
	o.Shards = cmp.Or(o.Shards, defaultShards)
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	o.Dead = cmp.Or(o.Dead, 10*time.Minute)
	o.Retention = cmp.Or(o.Retention, 24*time.Hour)
	o.FoldEvery = min(cmp.Or(o.FoldEvery, time.Hour), longest)
	o.MaxCounters = cmp.Or(o.MaxCounters, 10_000)
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, 64)
	o.Retry.Timeout = cmp.Or(o.Retry.Timeout, defaultTimeout)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Origin != nil {
		o.Origin = o.Origin.withDefaults(&o)
	}
	return o
}

// validate returns everything that is wrong with options that have their defaults.
func (o Options) validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{heatsink.ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if err := schema.CheckNames(o.PartitionKey, o.SortKey); err != nil {
		wrong("%w", err)
	}
	if o.PartitionKey == o.SortKey {
		wrong("PartitionKey and SortKey are both %q", o.SortKey)
	}
	for _, name := range []string{o.PartitionKey, o.SortKey} {
		if slices.Contains(ownAttributes, name) {
			wrong("%q cannot be a key attribute: slots and bases use the attributes %q", name, ownAttributes)
		}
	}
	if o.Shards < 1 || o.Shards > maxShards {
		wrong("Shards is %d, want 1 to %d", o.Shards, maxShards)
	}
	if err := (layout.Layout{Shards: 1, Format: o.Format}).Validate(); err != nil {
		errs = append(errs, err)
	}
	if o.Interval < minInterval || o.Interval > maxInterval {
		wrong("Interval is %v, want %v to %v", o.Interval, minInterval, maxInterval)
	}
	if o.Idle < minUpkeep || o.Dead < minUpkeep || o.FoldEvery >= 0 && o.FoldEvery < minUpkeep {
		wrong("Idle, Dead and FoldEvery are %v, %v and %v, want %v or more: otherwise most requests would be upkeep of counters",
			o.Idle, o.Dead, o.FoldEvery, minUpkeep)
	}
	if o.Retention < minRetention {
		wrong("Retention is %v, want %v or more: copies of requests that arrive later would be counted again",
			o.Retention, minRetention)
	}
	if o.MaxCounters < 0 || o.MaxConcurrency < 0 {
		wrong("MaxCounters and MaxConcurrency are %d and %d, want 0 or more", o.MaxCounters, o.MaxConcurrency)
	}
	if o.Origin != nil {
		o.Origin.validate(&o, wrong)
	}
	return errors.Join(errs...)
}
