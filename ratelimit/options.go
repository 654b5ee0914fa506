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
	"github.com/heatsink-go/heatsink/layout"
)

// Options describe a limiter. Only Table and Limit are required; the limiter then allows at most Limit in any hour. All
// processes that check the same keys must use the same Algorithm, Limit, Window, Slots, Burst and Shards and, with a
// lease, the same LeaseFor.
type Options struct {
	// Table is the table's name or ARN. Several limiters may share one.
	Table string

	// PartitionKey, SortKey and TTL name the attributes that hold the key and the time to live. Defaults: pk, sk, ttl.
	PartitionKey, SortKey, TTL string

	// Prefix precedes every key: the key "k1" is stored as RATE_LIMIT#k1#SHARD_0. Default: RATE_LIMIT#.
	Prefix string

	// Name separates limiters that have the same Algorithm and Window but must count the same keys separately. Limiters
	// with another Algorithm or Window always count separately. Limiters that differ only in Limit, such as those of
	// different contracts, count together. At most 128 bytes.
	Name string

	// Algorithm says what the limit means. Default: SlidingWindow.
	Algorithm Algorithm

	// Limit is how many are allowed in a Window, from 1 to 1,000,000,000. For a SlidingLog, at most 1,000 per shard.
	Limit int

	// Window is a whole number of milliseconds, at most 366 days. Default: one hour.
	Window time.Duration

	// Slots is the number of slots of a SlidingWindow, from 1 to 100. Default: 20.
	Slots int

	// Burst is the number of tokens of a full TokenBucket. Default: Limit.
	Burst int

	// Shards is the number of items, each with its own partition key, that share the limit of one key. At most 256.
	// Each serves 1,000 checks per second; the package comment describes their cost. Default: 1.
	Shards int

	// FailOpen allows all checks that DynamoDB does not answer. Default: they are refused.
	FailOpen bool

	// Timeout is the longest time that a check takes. Default: 1 s.
	Timeout time.Duration

	// Remember is the longest time that a refusal is repeated from memory. It is shorter if there may be room earlier.
	// It is also the longest time until other processes notice a Reset or a higher limit. Default: 10 s. Negative:
	// refusals are not remembered.
	Remember time.Duration

	// Memory is the number of keys whose refusals and leases a limiter remembers. Beyond it, the least recently used
	// are forgotten. Default: 10,000, at about 100 bytes per shard.
	Memory int

	// Lease is the largest number of permits that a process takes for a key at a time, to allow checks without a
	// request. Default: 1, which is no lease. LeaseFor is how long leased permits are valid. Default: 1 s, or 0 if
	// Lease is 1.
	Lease    int
	LeaseFor time.Duration

	// Keep is how long after its last use an item is kept, before DynamoDB may delete it. Default: 24 h. It is always
	// at least two windows, or twice the time that a bucket takes to fill.
	Keep time.Duration

	// Retry configures retries. Its defaults are those of heatsink, except 3 Attempts and a Timeout of half of
	// Options.Timeout.
	Retry heatsink.Retry

	// Rand makes the choice of shards reproducible. Default: a random seed.
	Rand rand.Source

	// Logger gets a debug message for each retry. Default: none.
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
	check(o.Algorithm.valid(), "Algorithm is %v, want SlidingWindow, FixedWindow, SlidingLog or TokenBucket", o.Algorithm)
	check(o.Limit >= 1 && o.Limit <= maxLimit, "Limit is %d, want 1 to %d", o.Limit, maxLimit)
	check(o.Window > 0 && o.Window <= maxWindow && o.Window%time.Millisecond == 0,
		"Window is %v, want whole milliseconds up to %v", o.Window, maxWindow)
	check(o.Shards >= 1 && o.Shards <= maxShards, "Shards is %d, want 1 to %d", o.Shards, maxShards)
	if err := schema.CheckNames(o.PartitionKey, o.SortKey, o.TTL); err != nil {
		check(false, "%w", err)
	}
	check(!layout.IsControl(o.Prefix), "Prefix %q begins with %s, which is for heatsink's control items", o.Prefix, layout.ControlPrefix)
	check(utf8.ValidString(o.Name), "Name %q is not valid UTF-8", o.Name)
	check(len(o.Name) <= maxName, "Name has %d bytes, want at most %d", len(o.Name), maxName)
	check(o.Timeout > 0, "Timeout is %v, want 0 or more", o.Timeout)
	check(o.Memory > 0, "Memory is %d, want 0 or more", o.Memory)
	check(o.Keep > 0, "Keep is %v, want 0 or more", o.Keep)
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
		check(!taken[name], "attribute %q is used twice: give PartitionKey, SortKey and TTL other names", name)
		taken[name] = true
	}
}

func (o Options) checkAlgorithm(check func(ok bool, format string, args ...any)) {
	if o.Algorithm == SlidingWindow {
		check(o.Slots >= 1 && o.Slots <= maxSlots, "Slots is %d, want 1 to %d", o.Slots, maxSlots)
	} else {
		check(o.Slots == 0, "Slots is set, but the algorithm is a %v", o.Algorithm)
	}
	if o.Algorithm != TokenBucket {
		check(o.Burst == 0, "Burst is set, but the algorithm is a %v", o.Algorithm)
	} else {
		check(o.Burst >= 1 && o.Burst <= maxLimit, "Burst is %d, want 1 to %d", o.Burst, maxLimit)
		check(time.Duration(o.Limit) <= o.Window, "Limit is %d in a Window of %v: a TokenBucket collects at most one token per nanosecond", o.Limit, o.Window)
		fill := o.Window.Hours() * float64(o.Burst) / float64(max(o.Limit, 1))
		check(fill <= maxWindow.Hours(), "the bucket takes %.0f hours to fill, want at most %.0f: lower Burst", fill, maxWindow.Hours())
	}
	if o.Algorithm == SlidingLog {
		check(o.Limit <= maxLogShare*o.Shards,
			"a SlidingLog stores at most %d times per shard: a Limit of %d needs %d shards, or a SlidingWindow",
			maxLogShare, o.Limit, (o.Limit+maxLogShare-1)/maxLogShare)
	}
}

func (o Options) checkLease(check func(ok bool, format string, args ...any)) {
	check(o.Lease >= 1, "Lease is %d, want 0 or more", o.Lease)
	check(o.Lease > 1 || o.LeaseFor == 0, "LeaseFor is set without a Lease")
	check(o.LeaseFor >= 0 && o.LeaseFor <= o.Window && o.LeaseFor%time.Millisecond == 0,
		"LeaseFor is %v, want whole milliseconds up to the Window of %v", o.LeaseFor, o.Window)
	if o.Algorithm == SlidingLog {
		check(o.Lease <= maxLogCost, "Lease is %d, but a SlidingLog allows at most %d at once", o.Lease, maxLogCost)
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
