package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/layout"
)

// Client is the part of *dynamodb.Client that a limiter uses.
type Client = heatsink.Client

// Limiter checks keys against a limit. Its methods may be called concurrently. What they cost is added to the
// heatsink.Meter of their context, except for the write unit of an update that a condition refused, which DynamoDB
// charges and does not report.
type Limiter struct {
	options   Options // with defaults
	algorithm algorithm
	shares    []int
	keep      time.Duration
	layout    layout.Layout
	memory    *memory
	outage    outage
	dice      dice

	// Where another shard can be asked instead, a request is sent once; else it is repeated as the options say.
	once, insisting *direct.Table
}

// Open returns the limiter of options. It does no I/O, and the limiter needs no closing. Open one limiter of each kind
// per process, because each remembers refusals and holds leases of its own.
func Open(client Client, options Options) (*Limiter, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	once, err := direct.Open(client, options.items(1))
	if err != nil {
		return nil, err
	}
	insisting, err := direct.Open(client, options.items(options.Retry.Attempts))
	if err != nil {
		return nil, err
	}
	l := &Limiter{
		options: options, algorithm: options.algorithm(), shares: options.shares(),
		layout: layout.Layout{Shards: options.Shards}, once: once, insisting: insisting,
	}
	l.memory = newMemory(options.Memory, len(l.shares))
	now := time.Now()
	l.keep = max(options.Keep, 2*l.algorithm.lapse(now).Sub(now), 2*options.Window)
	if options.Rand != nil {
		l.dice.rand = rand.New(options.Rand)
	}
	return l, nil
}

// Allow checks whether one more is allowed, and counts it if so. It is AllowN with 1.
//
// key is an API key, a user or an address. It is stored and appears in errors: if it is a secret, pass a hash of it.
func (l *Limiter) Allow(ctx context.Context, key string) (Decision, error) {
	return l.AllowN(ctx, key, 1)
}

// AllowN checks whether n more are allowed, all or none, and counts them if so. One shard must have room for all n, so
// n is at most a shard's share of the limit. With several shards, n may be refused while each shard has less than n
// left, together up to Shards × (n − 1).
//
// Act on the decision even if there is an error. An error that wraps ErrUnavailable gives the reason why
// Decision.Failed is set.
func (l *Limiter) AllowN(ctx context.Context, key string, n int) (Decision, error) {
	if err := l.admissible(key, n); err != nil {
		return Decision{Limit: l.limit()}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Timeout, errTimeout)
	defer cancel()
	if l.options.Lease > 1 {
		return l.leased(ctx, key, n)
	}
	_, d, err := l.newCheck(key, n, n).run(ctx)
	return d, err
}

// Peek returns the decision of Allow without counting. Remaining is the room of all shards together. Peek reads one
// item per shard with strong consistency, whatever the limiter remembers. Permits that other processes have leased
// count as used.
func (l *Limiter) Peek(ctx context.Context, key string) (Decision, error) {
	if err := l.admissible(key, 1); err != nil {
		return Decision{Limit: l.limit()}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Timeout, errTimeout)
	defer cancel()
	d := Decision{Limit: l.limit()}
	shards := make([]int, len(l.shares))
	for shard := range shards {
		shards[shard] = shard
	}
	now := time.Now()
	var faults []error
	for shard, seen := range l.look(ctx, l.insisting, key, now, shards, true) {
		room, err := 0, seen.err
		if err == nil {
			room, err = l.algorithm.room(seen.item, l.shares[shard], now)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if d.Remaining += room; room > 0 {
			continue
		}
		wait := l.algorithm.free(seen.item, l.shares[shard], 1, now).Sub(now)
		if d.RetryAfter == 0 || wait < d.RetryAfter {
			d.RetryAfter = wait
		}
	}
	if err := errors.Join(faults...); err != nil {
		return l.failed(ctx, err)
	}
	if d.Allowed = d.Remaining > 0; d.Allowed {
		d.RetryAfter = 0
	}
	return d, nil
}

// Reset clears the count of a key, which then has its whole limit again. Other processes notice within
// Options.Remember, and may still use what they have leased. Reset deletes one item per shard, and its error names the
// shards that could not be deleted.
func (l *Limiter) Reset(ctx context.Context, key string) error {
	if err := l.admissible(key, 1); err != nil {
		return err
	}
	now := time.Now()
	faults := make([]error, l.options.Shards)
	var running sync.WaitGroup
	for shard := range l.options.Shards {
		running.Go(func() {
			faults[shard] = l.insisting.Delete(ctx, l.itemKey(key, shard, now), nil)
		})
	}
	running.Wait()
	l.memory.forget(key)
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("reset the rate limit of %q: %w", key, err)
	}
	return nil
}

// limit is the whole of the shares.
func (l *Limiter) limit() int {
	if l.options.Algorithm == TokenBucket {
		return l.options.Burst
	}
	return l.options.Limit
}

// admissible returns an error if a key cannot be stored or n never be let through.
func (l *Limiter) admissible(key string, n int) error {
	if key == "" {
		return fmt.Errorf("%w: the key is empty", ErrKey)
	}
	if _, err := l.layout.ShardKey(l.options.Prefix+key, time.Time{}, l.options.Shards-1); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("%w: %d, want at least 1", ErrCost, n)
	}
	if l.options.Algorithm == SlidingLog && n > maxLogCost {
		return fmt.Errorf("%w: %d, but a %v allows at most %d at once", ErrCost, n, l.options.Algorithm, maxLogCost)
	}
	if most := l.shares[0]; n > most {
		return fmt.Errorf("%w: %d, but one shard allows at most %d, its share of the limit of %d over %d shards",
			ErrCost, n, most, l.limit(), len(l.shares))
	}
	return nil
}

// itemKey returns the key of the item that counts in a shard at a time. The key was found admissible.
func (l *Limiter) itemKey(key string, shard int, now time.Time) heatsink.Item {
	shardKey, _ := l.layout.ShardKey(l.options.Prefix+key, time.Time{}, shard)
	return heatsink.Item{
		l.options.PartitionKey: &types.AttributeValueMemberS{Value: shardKey},
		l.options.SortKey:      &types.AttributeValueMemberS{Value: l.algorithm.sortKey(now)},
	}
}

// sight is what was read of a shard.
type sight struct {
	item heatsink.Item // nil: there is none
	err  error
}

// look reads the items of shards at the same time.
func (l *Limiter) look(
	ctx context.Context, items *direct.Table, key string, now time.Time, shards []int, consistent bool,
) []sight {
	sights := make([]sight, len(shards))
	var running sync.WaitGroup
	for i, shard := range shards {
		running.Go(func() {
			s := &sights[i]
			s.item, s.err = items.Get(ctx, l.itemKey(key, shard, now), func(in *dynamodb.GetItemInput) {
				in.ConsistentRead = aws.Bool(consistent)
			})
		})
	}
	running.Wait()
	return sights
}

// failed is the decision when DynamoDB could not say.
func (l *Limiter) failed(ctx context.Context, err error) (Decision, error) {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return Decision{Allowed: l.options.FailOpen, Limit: l.limit(), Failed: true}, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// dice is a source of randomness that goroutines may share.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand // nil: the process's
}

func (d *dice) shuffle(all []int) {
	swap := func(i, j int) { all[i], all[j] = all[j], all[i] }
	if d.rand == nil {
		rand.Shuffle(len(all), swap)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rand.Shuffle(len(all), swap)
}
