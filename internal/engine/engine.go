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

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// Options configure an engine. The zero value is an engine in memory.
type Options struct {
	// Dir is the directory that holds the data. Empty: in memory.
	Dir string

	// Reserve is how many bytes of the directory's disk writes must leave free.
	// Below it they are answered with ServiceUnavailable, which SDKs retry. Zero:
	// 256 MB, or an eighth of a smaller disk. Negative: none.
	Reserve int64

	// FS is what the directory's database lies on, for tests and proofs that break
	// disks. Nil: the machine's disks.
	FS store.FS

	// MaxOpenFiles is how many files are kept open with a directory. Zero: 1000.
	MaxOpenFiles int

	// Region and Account appear in ARNs. Empty: us-east-1 and 000000000000.
	Region  string
	Account string

	// Logger is told about trouble in the background. Nil: nobody is.
	Logger *slog.Logger

	// TTLInterval is how long an expired item may still be there. Zero: a second.
	// It is longer after a computer was suspended or its clock was set, by
	// maxSleep at most. The service itself takes up to days.
	TTLInterval time.Duration

	// ShardDuration is how long a stream's shard takes records before a child
	// goes on in its place. Zero: four hours, as on the service.
	ShardDuration time.Duration

	// IteratorLife is how long a shard iterator may be used. Zero: 15 minutes, as
	// on the service.
	IteratorLife time.Duration

	// TokenLife is how long a transaction is remembered by its client's token.
	// Zero: ten minutes, as on the service.
	TokenLife time.Duration

	// TransactionTime is how long a transaction holds its items before it writes.
	// Zero: no longer than it takes, which is microseconds.
	TransactionTime time.Duration

	// StatusDelay is how long a new table is CREATING, a changed one UPDATING and a
	// deleted one DELETING, likewise indexes, and a new global index waits for its
	// backfill. Zero: no time.
	StatusDelay time.Duration

	// Physics makes tables consist of partitions that throttle. Nil: capacity is
	// counted but never refused.
	Physics *partition.Options

	// Lag sets eventually consistent reads back. Nil: all reads are consistent.
	Lag *Lag

	// Observe is told, with physics, what requests took of each partition key, and
	// what they were refused. It must be quick, as requests wait for it, and must
	// not call the engine. Several may call it at once. Nil: nobody is told.
	Observe func(*Access)

	// Dropped is told the name of a table that was deleted. Nil: nobody is.
	Dropped func(table string)

	reached   func(stage)   // of tests; nil: nobody asks
	fillBatch int           // of tests: items that a backfill handles at once; zero: fillBatch
	patience  time.Duration // of tests: how long an answer waits for copies; zero: patience
}

// LongestTime is the most that a time of the options may be. Until then tokens
// stay in memory and dates stay far from where they overflow.
const LongestTime = 365 * 24 * time.Hour

// ShortestShard is the least that Options.ShardDuration may be: shards are in order by
// the millisecond in which they begin.
const ShortestShard = 10 * time.Millisecond

// LongestTransaction is the most that Options.TransactionTime may be: who waits for a
// table, such as DeleteTable, waits for its transactions.
const LongestTransaction = time.Minute

// withDefaults returns the options with every default in its place.
func (o Options) withDefaults() Options {
	o.Region = cmp.Or(o.Region, "us-east-1")
	o.Account = cmp.Or(o.Account, "000000000000")
	o.TTLInterval = cmp.Or(max(o.TTLInterval, 0), time.Second)
	o.ShardDuration = cmp.Or(max(o.ShardDuration, 0), 4*time.Hour)
	o.IteratorLife = cmp.Or(max(o.IteratorLife, 0), 15*time.Minute)
	o.TokenLife = cmp.Or(max(o.TokenLife, 0), 10*time.Minute)
	o.TransactionTime = max(o.TransactionTime, 0)
	o.StatusDelay = max(o.StatusDelay, 0)
	o.fillBatch = cmp.Or(o.fillBatch, fillBatch)
	o.patience = cmp.Or(o.patience, patience)
	return o
}

// Engine answers DynamoDB's operations. Its methods may be called concurrently.
//
// Its locks are taken in this order: admin, tables by name, items by key (see
// itemLocks), the tokens', streams by number. mu, the chronicle's, the past's and the sweeper's are
// leaves: who holds one takes no other. Waiting for admin, tables, items and streams ends with
// the request's context; the others are held for moments. All are released by
// defer: the server recovers from panics and goes on.
type Engine struct {
	options Options
	store   *store.Store
	locks   *itemLocks
	tokens  *tokens
	sweeper sweeper
	jobs    *jobs
	account *partition.Account // nil without physics
	past    *past              // nil without a lag

	tally     throttleTally
	chronicle chronicle

	// admin lets the operations that change tables take turns, so that mu need
	// not be held while they wait for the disk or for requests under way.
	admin      turns
	nextTable  uint32 // also of backups
	nextStream uint32

	// mu guards the maps and closed. It is held for moments only.
	mu      sync.RWMutex
	tables  map[string]*table
	streams map[string]*stream // by ARN, also those of tables that are gone
	graves  map[string]grave   // of tables that show as being deleted
	backups map[string]*backup // by backupKey
	closed  bool

	closing sync.Once
	busy    sync.WaitGroup // operations between enter and leave
}

// stage is how far an operation has come. Tests break off operations at each.
type stage string

const (
	locked   stage = "its items are locked"
	decided  stage = "what becomes of them is known"
	staged   stage = "the batch is filled"
	recorded stage = "the batch is complete with stream records"
	applied  stage = "the batch is applied"
	changed  stage = "the table is held for a change"
	looked   stage = "the sweeper looks"
	filled   stage = "a backfill, backup or restore has stored some entries"
)

func (e *Engine) at(s stage) {
	if e.options.reached != nil {
		e.options.reached(s)
	}
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
