package ratelimit

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Options describe a limiter. Table and Limit are all it takes: then at most Limit are let through in any hour. All
// processes that check the same keys must have the same Algorithm, Limit, Window, Slots, Burst and Shards, and with a
// lease the same LeaseFor.
type Options struct {
	// Table is the table's name or ARN. Several limiters may share one.
	Table string

	// PartitionKey, SortKey and TTL name the attributes that hold the key and the time to live. Defaults: pk, sk, ttl.
	PartitionKey, SortKey, TTL string

	// Prefix goes before every key: the key "k1" is stored as RATE_LIMIT#k1#SHARD_0. Default: RATE_LIMIT#.
	Prefix string

	// Name tells limiters apart that have the same Algorithm and Window and shall count the same keys separately.
	// Others do anyway. Limiters that differ in Limit only, as for customers with different contracts, count together.
	// 128 bytes at most.
	Name string

	// Algorithm says what the limit means. Default: SlidingWindow.
	Algorithm Algorithm

	// Limit is how many are let through in a Window, 1 to 1,000,000,000; of a SlidingLog, 1,000 for each shard at most.
	Limit int

	// Window is a whole number of milliseconds, 366 days at most. Default: an hour.
	Window time.Duration

	// Slots is how many parts a SlidingWindow has, 1 to 100. Default: 20.
	Slots int

	// Burst is how many tokens a full TokenBucket has. Default: Limit.
	Burst int

	// Shards is how many items, under as many partition keys, share the limit of one key, 256 at most. One takes 1,000
	// checks a second; see the package's comment for what more of them cost. Default: 1.
	Shards int

	// FailOpen lets everything through when DynamoDB cannot say. Default: nothing.
	FailOpen bool

	// Timeout is the longest that a check takes. Default: 1 s.
	Timeout time.Duration

	// Remember is how long a refusal is believed without asking again, at most: it never is for longer than until there
	// may be room again. It is how long a Reset, or a higher limit, may take to be noticed by other processes. Default:
	// 10 s. Negative: not at all.
	Remember time.Duration

	// Memory is of how many keys a limiter remembers refusals and leases. The least recently used are forgotten.
	// Default: 10,000, of some 100 bytes for each shard.
	Memory int

	// Lease is how many a process may take for a key at a time, to let them through without asking. Default: 1, no more
	// than it was asked for. LeaseFor is how long they are good. Default: 1 s; 0 if Lease is 1.
	Lease    int
	LeaseFor time.Duration

	// Keep is how long after its last use an item lives, before DynamoDB may delete it. Default: 24 h; in any case it
	// is two windows, or the time that a bucket takes to fill twice.
	Keep time.Duration

	// Retry says how requests are repeated. Defaults as in heatsink, but for 3 Attempts and a Timeout of half of
	// Options.Timeout.
	Retry heatsink.Retry

	// Rand makes the choice of shards repeatable. Default: a source of its own.
	Rand rand.Source

	// Logger is told at debug level about each request that is repeated. Default: nobody.
	Logger *slog.Logger
}

const (
	maxLimit    = 1_000_000_000
	maxWindow   = 366 * 24 * time.Hour
	maxSlots    = 100
	maxShards   = 256
	maxName     = 128
	maxLogShare = 1_000 // of one item, which is then 9 KB
	maxLogCost  = 100   // as many paths as an expression may comfortably have
)

// withDefaults fills in what was left out.
func (o Options) withDefaults() Options {
	o.PartitionKey = cmp.Or(o.PartitionKey, "pk")
	o.SortKey = cmp.Or(o.SortKey, "sk")
	o.TTL = cmp.Or(o.TTL, "ttl")
	o.Prefix = cmp.Or(o.Prefix, "RATE_LIMIT#")
	o.Window = cmp.Or(o.Window, time.Hour)
	if o.Algorithm == SlidingWindow {
		o.Slots = cmp.Or(o.Slots, 20)
	}
	if o.Algorithm == TokenBucket {
		o.Burst = cmp.Or(o.Burst, o.Limit)
	}
	o.Shards = cmp.Or(o.Shards, 1)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.Remember = cmp.Or(o.Remember, 10*time.Second)
	o.Memory = cmp.Or(o.Memory, 10_000)
	o.Lease = cmp.Or(o.Lease, 1)
	if o.Lease > 1 {
		o.LeaseFor = cmp.Or(o.LeaseFor, time.Second)
	}
	o.Keep = cmp.Or(o.Keep, 24*time.Hour)
	o.Retry.Attempts = cmp.Or(o.Retry.Attempts, 3)
	o.Retry.Timeout = cmp.Or(o.Retry.Timeout, o.Timeout/2)
	return o
}

// validate returns everything that is wrong at once, of options with their defaults.
func (o Options) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
		}
	}
	check(o.Table != "", "Table is empty")
	check(o.Algorithm.valid(), "unknown %v", o.Algorithm)
	check(o.Limit >= 1 && o.Limit <= maxLimit, "Limit is %d; 1 to %d can be", o.Limit, maxLimit)
	check(o.Window > 0 && o.Window <= maxWindow && o.Window%time.Millisecond == 0,
		"Window is %v; whole milliseconds up to %v can be", o.Window, maxWindow)
	check(o.Shards >= 1 && o.Shards <= maxShards, "Shards is %d; 1 to %d can be", o.Shards, maxShards)
	if err := schema.CheckNames(o.PartitionKey, o.SortKey, o.TTL); err != nil {
		check(false, "%w", err)
	}
	check(utf8.ValidString(o.Name), "Name %q is not valid UTF-8", o.Name)
	check(len(o.Name) <= maxName, "Name has %d bytes; %d can be", len(o.Name), maxName)
	check(o.Timeout > 0, "Timeout is negative: %v", o.Timeout)
	check(o.Memory > 0, "Memory is negative: %d", o.Memory)
	check(o.Keep > 0, "Keep is negative: %v", o.Keep)
	o.checkNames(check)
	o.checkAlgorithm(check)
	o.checkLease(check)
	return errors.Join(faults...)
}

// checkNames checks that no two attributes have the same name.
func (o Options) checkNames(check func(ok bool, format string, args ...any)) {
	taken := map[string]bool{}
	for _, name := range []string{
		countAttribute, logAttribute, slotAttribute, slotsAttribute, sumAttribute, fullAttribute,
	} {
		taken[name] = true
	}
	for _, name := range []string{o.PartitionKey, o.SortKey, o.TTL} {
		check(!taken[name], "attribute %q is taken: PartitionKey, SortKey and TTL need names of their own", name)
		taken[name] = true
	}
}

func (o Options) checkAlgorithm(check func(ok bool, format string, args ...any)) {
	if o.Algorithm == SlidingWindow {
		check(o.Slots >= 1 && o.Slots <= maxSlots, "Slots is %d; 1 to %d can be", o.Slots, maxSlots)
	} else {
		check(o.Slots == 0, "Slots is set, but the algorithm is a %v", o.Algorithm)
	}
	if o.Algorithm != TokenBucket {
		check(o.Burst == 0, "Burst is set, but the algorithm is a %v", o.Algorithm)
	} else {
		check(o.Burst >= 1 && o.Burst <= maxLimit, "Burst is %d; 1 to %d can be", o.Burst, maxLimit)
		check(time.Duration(o.Limit) <= o.Window, "%d tokens in %v is one in less than a nanosecond", o.Limit, o.Window)
		fill := o.Window.Hours() * float64(o.Burst) / float64(max(o.Limit, 1))
		check(fill <= maxWindow.Hours(), "the bucket takes %.0f hours to fill; %.0f can be", fill, maxWindow.Hours())
	}
	if o.Algorithm == SlidingLog {
		check(o.Limit <= maxLogShare*o.Shards,
			"a SlidingLog keeps %d times for each shard at most: a Limit of %d takes %d shards, or a SlidingWindow",
			maxLogShare, o.Limit, (o.Limit+maxLogShare-1)/maxLogShare)
	}
}

func (o Options) checkLease(check func(ok bool, format string, args ...any)) {
	check(o.Lease >= 1, "Lease is negative: %d", o.Lease)
	check(o.Lease > 1 || o.LeaseFor == 0, "LeaseFor is set without a Lease")
	check(o.LeaseFor >= 0 && o.LeaseFor <= o.Window && o.LeaseFor%time.Millisecond == 0,
		"LeaseFor is %v; whole milliseconds up to the Window of %v can be", o.LeaseFor, o.Window)
	if o.Algorithm == SlidingLog {
		check(o.Lease <= maxLogCost, "Lease is %d; of a SlidingLog %d can be taken at a time", o.Lease, maxLogCost)
	}
}

// algorithm returns what the options ask for. What was leased is used up to LeaseFor after it was counted: a sliding
// window that is longer by as much has all of what is used within Window.
func (o Options) algorithm() algorithm {
	window := o.Window
	if o.Algorithm == SlidingWindow || o.Algorithm == SlidingLog {
		window += o.LeaseFor
	}
	name := ""
	if o.Name != "" {
		name = o.Name + "#"
	}
	switch o.Algorithm {
	case FixedWindow:
		return fixedWindow{fmt.Sprintf("%sfixed#%v", name, window), window}
	case SlidingLog:
		return slidingLog{fmt.Sprintf("%slog#%v", name, window), window}
	case TokenBucket:
		return tokenBucket{fmt.Sprintf("%sbucket#%v", name, window), window, o.Limit, o.Burst}
	}
	return newSlidingWindow(fmt.Sprintf("%ssliding#%v#%d", name, window, o.Slots), window, o.Slots)
}

// shares returns how much of the limit each shard has: all of them together have all of it. A limit below the number of
// shards uses as many.
func (o Options) shares() []int {
	total := o.Limit
	if o.Algorithm == TokenBucket {
		total = o.Burst
	}
	shares := make([]int, min(o.Shards, total))
	for i := range shares {
		shares[i] = total / len(shares)
		if i < total%len(shares) {
			shares[i]++
		}
	}
	return shares
}

// items returns the options of the table that requests go through, which are tried so many times.
func (o Options) items(attempts int) direct.Options {
	retry := o.Retry
	retry.Attempts = attempts
	return direct.Options{Table: o.Table, PartitionKey: o.PartitionKey, Retry: retry, Logger: o.Logger}
}
