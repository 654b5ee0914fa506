// Package engine is DynamoDB's operations: each a method that takes a request
// and returns an answer or an *Error, over items kept in the store.
//
// Reading order: api.go (the vocabulary), schema.go and table.go (where an item
// lies), write.go (how an item changes), read.go (how items are found), then the
// operations, a file for each family.
package engine

import (
	"cmp"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// Options configure an engine. The zero value is an engine in memory.
type Options struct {
	// Dir is the directory that holds the data. Empty: in memory.
	Dir string

	// FS is what the files of Dir lie on, for tests and proofs that break disks. Nil: the machine's disks.
	FS vfs.FS

	// Region and Account appear in ARNs. Empty: us-east-1 and 000000000000.
	Region  string
	Account string

	// Logger is told about trouble in the background. Nil: nobody is.
	Logger *slog.Logger

	// TTLInterval is how often expired items are looked for and deleted. Zero:
	// every second. The service itself takes up to days.
	TTLInterval time.Duration

	// ShardDuration is how long a stream's shard takes records before a child
	// goes on in its place. Zero: four hours, as on the service.
	ShardDuration time.Duration

	// Physics makes tables consist of partitions that throttle. Nil: capacity is
	// counted but never refused.
	Physics *partition.Options

	// Observe is told, with physics, what requests took of each partition key, and
	// what they were refused. It must be quick, as requests wait for it, and must
	// not call the engine. Several may call it at once. Nil: nobody is told.
	Observe func(*Access)

	// Dropped is told the name of a table that was deleted. Nil: nobody is.
	Dropped func(table string)
}

// withDefaults returns the options with every default in its place.
func (o Options) withDefaults() Options {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	o.TTLInterval = cmp.Or(max(o.TTLInterval, 0), time.Second)
	o.ShardDuration = cmp.Or(max(o.ShardDuration, 0), 4*time.Hour)
	return o
}

// Engine answers DynamoDB's operations. Its methods may be called concurrently.
//
// Its locks are taken in this order: admin, tables by name, items by key (see
// itemLocks), the tokens', streams by number. mu and the sweeper's are leaves: who
// holds one takes no other.
type Engine struct {
	options Options
	store   *store.Store
	locks   *itemLocks
	tokens  *tokens
	sweeper sweeper
	account *partition.Account // nil without physics

	// admin lets the operations that change tables take turns, so that mu need
	// not be held while they wait for the disk or for requests under way.
	admin      sync.Mutex
	nextTable  uint32
	nextStream uint32

	// mu guards the maps and closed. It is held for moments only.
	mu      sync.RWMutex
	tables  map[string]*table
	streams map[string]*stream // by ARN, also those of tables that are gone
	closed  bool

	closing sync.Once
	busy    sync.WaitGroup // operations between enter and leave
}

// errClosed answers what comes after Close.
func errClosed() *Error { return errorf(TypeInternal, "the engine is closed") }

// enter keeps the store open until leave. Operations on items do without: they
// hold their table, for which Close waits as well.
func (e *Engine) enter() error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return errClosed()
	}
	e.busy.Add(1)
	return nil
}

func (e *Engine) leave() { e.busy.Done() }
