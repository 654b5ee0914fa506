package replica

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
	"github.com/heatsink-go/heatsink/layout"
)

// Client is the part of *dynamodb.Client that a Store uses.
type Client = heatsink.Client

// Store keeps items with data of type T, which is anything that the SDK's attributevalue can store, and their copies.
// Its methods may be called concurrently. What they cost is added to the heatsink.Meter of their context. A Get that
// another Get of this process refreshes a copy for costs nothing more.
type Store[T any] struct {
	options Options // with defaults
	copies  layout.Layout
	table   *direct.Table
	once    *direct.Table // does not retry
	flights flights
	turns   turns
	last    atomic.Int64 // the last version that was made here from the clock
}

// Open returns the store that options describe. It does no I/O and needs no closing.
func Open[T any](client Client, options Options) (*Store[T], error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	settings := direct.Options{
		Table: options.Table, PartitionKey: options.Names.ID, Retry: options.Retry, Logger: options.Logger,
	}
	table, err := direct.Open(client, settings)
	if err != nil {
		return nil, err
	}
	settings.Retry.Attempts = 1
	once, err := direct.Open(client, settings)
	if err != nil {
		return nil, err
	}
	return &Store[T]{
		options: options, copies: layout.Layout{Shards: options.Copies}, table: table, once: once,
		flights: flights{maxStale: options.MaxStale, by: make(map[string]*flight)},
		turns:   turns{by: make(map[string]*line)},
	}, nil
}

// Item is an item as it was stored.
type Item[T any] struct {
	ID      string
	Data    T
	Version Version
	Expires time.Time // in whole seconds; zero if the item does not expire
}

// Version tells the states of an item apart, and orders them: a later write has a greater one. It is the time of the
// write in microseconds since 1970, or more where that would not be greater. It can be handed to clients, for AtLeast.
type Version int64

// maxVersion is the greatest version that is taken for one, far beyond any clock, so that there is always a next.
const maxVersion Version = 1 << 61

// next returns a version that is greater than one that the item has, or is said to have. It is also greater than all that
// this store has made from its clock. The other version may come from a client or a broken clock. So only the clock moves
// s.last, or one bad version would spread to every item that this store writes.
func (s *Store[T]) next(stored Version) (Version, error) {
	if stored >= maxVersion {
		return 0, fmt.Errorf("version %d has no next: delete the item with another tool, and put it again", stored)
	}
	for {
		last := s.last.Load()
		v := max(time.Now().UnixMicro(), last+1)
		if s.last.CompareAndSwap(last, v) {
			return max(Version(v), stored+1), nil
		}
	}
}

// check refuses ids that cannot be one. An id that ends like a shard key could be the key of another item's copy.
func (s *Store[T]) check(id string) error {
	if layout.IsControl(id) {
		return fmt.Errorf("%w: id %.80q begins with the reserved prefix %q", ErrInput, id, layout.ControlPrefix)
	}
	if _, err := s.copies.ShardKey(id, time.Time{}, s.options.Copies-1); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return nil
}

// copyKey returns the key of a copy. The id must have passed check.
func (s *Store[T]) copyKey(id string, copy int) string { return id + s.copies.Suffix(copy) }
