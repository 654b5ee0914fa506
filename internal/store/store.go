// Package store keeps bytes under ordered keys, on Pebble: in memory, or in a
// directory, in which case a write is durable before it is acknowledged. It
// knows which kinds of keys there are and in which order they lie, and nothing
// of what is in them.
package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say where a store lives.
type Options struct {
	// Dir is the directory that holds the data. Empty: the data lives in memory
	// and is gone after Close.
	Dir string

	// Logger is told about trouble in the background. Nil: nobody is, but of what
	// ends the process, which standard error tells.
	Logger *slog.Logger

	// Reserve is how many bytes of the directory's disk writes must leave free.
	// Below it they are refused with ErrNoWrites, until there is space again. Zero:
	// 256 MB, or an eighth of a smaller disk. Negative: none: a full disk may then
	// end the process.
	Reserve int64

	// FS is what the directory's database lies on, for tests and proofs that break
	// disks. Nil: the machine's disks.
	FS FS

	// MaxOpenFiles is how many files a store in a directory keeps open, besides
	// some that it writes: 32 are enough for those. At least 74 are kept. Zero: 1000.
	MaxOpenFiles int
}

// Store is an open store. Its methods may be called concurrently, Close last.
type Store struct {
	View
	db      *pebble.DB
	lock    io.Closer // of the directory; nil in memory
	durable bool
	logger  *slog.Logger // may be nil
	crowd   *crowd
	files   int // to keep open; 0: Pebble's default
	trouble *trouble
	disk    *disk // nil in memory, as is space
	space   *space
	ram     *ram   // nil in a directory
	table   uint64 // the size of a memtable, in bytes

	pending atomic.Int64 // batches that may be visible and are not durable yet; see AwaitDurable
}

// Pebble takes the memory of its memtables, of which there may be several at a
// time, out of the cache's size: a cache no larger than they are is no cache.
const (
	memTableSize    = 32 << 20
	minMemTableSize = 1 << 20
	memTables       = 4 // that may be full before writers wait
	cacheSize       = 128<<20 + 2*memTableSize
)

// In memory a block that is not in the cache is a copy away, and one that is takes
// memory twice. So the cache is smaller. Memtables are not: with half their size
// batches of puts took 15 % longer.
//
// Files that wait for a compaction take memory as well, at most ramFlushes times
// the size of a memtable: then writers wait. In a directory the reserve of its disk
// is the bound.
const (
	ramCacheSize = 64<<20 + 2*memTableSize
	ramFlushes   = 8
)

// What a get reads is cold in a large directory. Two settings keep that little: the
// size of the last level but one, which decides how many levels there are, and that
// of index blocks. With Pebble's 4 KB nearly every get would read one of them.
const (
	dirBaseBytes  = 256 << 20
	dirIndexBlock = 64 << 10
)

// Open opens the store that options name, and creates it if there is none yet.
// A directory that is in use, is not a store, is damaged or was written by a
// later version is refused and left as it was.
//
// Opening a directory after a crash takes until everything in its logs is in table
// files, and as much free space as the logs have bytes. If ctx ends before, so does
// Open, and the directory can be opened again.
func Open(ctx context.Context, options Options) (*Store, error) {
	if options.Dir == "" {
		s := newStore(options, nil)
		s.ram = newRAM()
		db, err := pebble.Open("", s.pebbleOptions(s.ram))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open store in memory: %w", err), s.ram.release())
		}
		return s.on(db), nil
	}
	s, err := openDir(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", options.Dir, err)
	}
	return s, nil
}

// newStore returns a store that has no database yet.
func newStore(options Options, lock io.Closer) *Store {
	return &Store{
		lock:    lock,
		durable: lock != nil,
		logger:  options.Logger,
		crowd:   newCrowd(),
		files:   max(options.MaxOpenFiles, 0),
		trouble: newTrouble(options.Logger),
		table:   memTableSize,
	}
}

// on gives the store its database.
func (s *Store) on(db *pebble.DB) *Store {
	s.db, s.View = db, View{db, s}
	return s
}

func (s *Store) pebbleOptions(fs vfs.FS) *pebble.Options {
	listener := s.listener()
	o := &pebble.Options{
		FS:                          fs,
		Logger:                      pebbleLog{s.logger},
		EventListener:               &listener,
		Merger:                      adder,
		FormatMajorVersion:          pebble.FormatNewest,
		DisableWAL:                  !s.durable,
		MemTableSize:                s.table,
		MemTableStopWritesThreshold: memTables,
		CacheSize:                   cacheSize,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       1000,
		MaxOpenFiles:                s.files,
	}
	if s.durable {
		// What is deleted with a table or a backup gives its space back soon, also if nobody writes any more.
		o.FlushDelayDeleteRange = time.Second
		o.LBaseMaxBytes = dirBaseBytes
		o.Levels[0].IndexBlockSize = dirIndexBlock // and that of all levels after it
	} else {
		o.CacheSize, o.L0StopWritesThreshold = ramCacheSize, ramFlushes
		// Without the ticker that wakes ten times a second to see whether another
		// compaction may run: compactions are also started when one ends and after
		// flushes, and a synctest bubble would live through every tick.
		o.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	}
	for i := range o.Levels {
		if !s.durable {
			o.Levels[i].Compression = uncompressed
		}
		// Most reads are of single items that exist in one level alone. In the last
		// level a get uses no filter.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	o.Levels[len(o.Levels)-1].FilterPolicy = pebble.NoFilterPolicy
	return o
}

// uncompressed is for memory: what compression saves there, reading pays for.
func uncompressed() *sstable.CompressionProfile { return sstable.NoCompression }

// listener says what to do about trouble in the background; see trouble for that
// of flushes and compactions.
//
// A damaged block of a table file does not end the process, as it would without
// this listener. Every read of the block fails, so that what was in it is never
// taken for absent; Pebble leaves the file out of compactions for a while after
// each attempt; and everything else can still be read, and copied out. A damaged
// file is told of once.
func (s *Store) listener() pebble.EventListener {
	log := pebbleLog{s.logger}
	l := pebble.EventListener{
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			if s.trouble.damaged(info.Path) {
				log.Errorf("%s", info)
			}
		},
		WALCreated: func(info pebble.WALCreateInfo) {
			// Open returns this error. Later Pebble panics, and so much in the
			// middle of things that the panic itself fails before mustGoOn.
			if info.Err != nil && s.db != nil {
				fatal(s.logger, fmt.Sprint("create a log: ", info.Err))
			}
		},
	}
	s.trouble.listen(&l, s.failOpening)
	tell := l.BackgroundError
	l.BackgroundError = func(err error) {
		if s.disk == nil || s.disk.givenUp() == nil { // else Open tells why it failed, and the rest follows from that
			tell(err)
		}
	}
	return l
}

// failOpening ends an Open in which a flush failed, and reports whether the store
// is being opened.
func (s *Store) failOpening(err error) bool {
	if s.disk == nil || !s.disk.opening.Load() {
		return false
	}
	s.disk.giveUp(err)
	return true
}

// Close ends all work and releases everything. Iterators and batches must have
// been closed before.
func (s *Store) Close() error {
	s.trouble.end()
	if s.durable {
		s.settle()
	}
	err := s.db.Close()
	if s.ram != nil {
		err = errors.Join(err, s.ram.release())
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// settle moves everything from the log to table files. Those are accounted for,
// so that one that is missing or too short is noticed; a log that is cut off
// looks as after a crash. What cannot be moved is still in the log: on a disk that
// is full, or fails, it stays there, as to begin a flush takes a new log.
func (s *Store) settle() {
	if s.ask(forUpkeep) != nil || s.trouble.flush.failed() {
		return
	}
	defer s.mustGoOn()
	select {
	case <-s.trouble.met: // of the past
	default:
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		pebbleLog{s.logger}.Errorf("flush: %v", err)
		return
	}
	select {
	case <-flushed:
	case <-s.trouble.met: // which Pebble would try again and again
	}
}

// Snapshot returns a view of everything as it is now, to read several ranges and
// keys at one moment.
func (s *Store) Snapshot() *Snapshot {
	snap := s.db.NewSnapshot()
	return &Snapshot{View{snap, s}, snap}
}
