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

// Options say where counters are and how they are kept. Only Table is needed.
type Options struct {
	// Table is the table's name or ARN.
	Table string

	// PartitionKey and SortKey name the table's key attributes, both strings. Defaults: "pk" and "sk".
	PartitionKey, SortKey string

	// Shards is over how many partition keys the writers of a counter are spread: each shard takes 1,000 flushes a
	// second, which is 50 busy processes at the default Interval, and each costs a read one request more. It may differ
	// between processes and change at any time; readers find out. But a counter that had many once is read from as many
	// for ever. Default: 4; at most 1,024.
	Shards int

	// Format is how the keys of shards are spelt. All processes must agree on it. Default: VIEWS#SHARD_0.
	Format layout.Format

	// Interval is about the longest an Add waits for others before they are stored together, and so what an Add takes
	// beside its request. Between two flushes of a counter there is this time, or less, 20 ms at the least, if 100 Adds
	// wait. Throttled, it goes up to a second. Default: 50 ms. From 20 ms to 1 s.
	Interval time.Duration

	// Idle is after how long without Adds this process gives a counter up: it folds its slot and forgets about it.
	// Default: 5 minutes. At least 100 ms.
	Idle time.Duration

	// Dead is after how long without a write somebody else's slot is taken for that of a process that has died, and
	// folded. If it only slept, it finds out and goes on with a new one. Default: 10 minutes. At least 100 ms.
	Dead time.Duration

	// Retention is for how long a folded slot stays in the table, by the clocks of who folded and who removes it. That
	// bounds two things. Of a process that slept for longer, Adds that were on their way fail with ErrUncertain. And
	// copies of a process's requests that the network delivers later than that are counted again, because the slot that
	// made them harmless is gone.
	//
	// DynamoDB takes a request up to 15 minutes from the time it was signed at, and each of the clocks may be 15 minutes
	// off: so no copy can be later than an hour, and less than 62 minutes is refused. Of a counter that has gathered
	// more than 40 folded slots, they stay for 62 minutes. Default: 24 hours.
	Retention time.Duration

	// FoldEvery is how often, on average, this process looks after each counter that it adds to, as Fold does. Default:
	// 1 hour. At least 100 ms. Negative: never, so that somebody has to call Fold.
	FoldEvery time.Duration

	// MaxCounters is how many counters this process keeps in memory, about 1 KB each. With more, those that were not
	// used for the longest time are given up. Default: 10,000.
	MaxCounters int

	// MaxConcurrency is how many flushes this process has under way at a time. Default: 64.
	MaxConcurrency int

	// Cache configures Cached.
	Cache cache.Options

	// Retry says how reads and folds are repeated, and with Timeout how long any request may take; that has another
	// default: 2 seconds. Flushes are repeated until they work, as long as somebody waits for them.
	Retry heatsink.Retry

	// Logger is told what callers do not see: at warning level that Adds which nobody waits for cannot be stored, at
	// debug level that slots were folded or were found folded by others. Default: nobody.
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
			wrong("%q cannot be a key attribute: it is one of %q, which slots and bases have", name, ownAttributes)
		}
	}
	if o.Shards < 1 || o.Shards > maxShards {
		wrong("Shards is %d: from 1 to %d", o.Shards, maxShards)
	}
	if err := (layout.Layout{Shards: 1, Format: o.Format}).Validate(); err != nil {
		errs = append(errs, err)
	}
	if o.Interval < minInterval || o.Interval > maxInterval {
		wrong("Interval is %v: from %v to %v", o.Interval, minInterval, maxInterval)
	}
	if o.Idle < minUpkeep || o.Dead < minUpkeep || o.FoldEvery >= 0 && o.FoldEvery < minUpkeep {
		wrong("Idle, Dead and FoldEvery are %v, %v and %v, want %v or more: below, the upkeep of counters would be most of the requests",
			o.Idle, o.Dead, o.FoldEvery, minUpkeep)
	}
	if o.Retention < minRetention {
		wrong("Retention is %v, want %v or more: copies of requests that arrive later would be counted again",
			o.Retention, minRetention)
	}
	if o.MaxCounters < 0 || o.MaxConcurrency < 0 {
		wrong("MaxCounters and MaxConcurrency cannot be negative: %d, %d", o.MaxCounters, o.MaxConcurrency)
	}
	return errors.Join(errs...)
}
