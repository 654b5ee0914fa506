// Package store keeps bytes under ordered keys, on Pebble: in memory, or in a
// directory, in which case a write is durable before it is acknowledged. It
// knows which kinds of keys there are and in which order they lie, and nothing
// of what is in them.
package store

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

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

	// Logger is told about trouble in the background. Nil: nobody is.
	Logger *slog.Logger
}

// Store is an open store. Its methods may be called concurrently, Close last.
type Store struct {
	View
	db      *pebble.DB
	lock    io.Closer // of the directory; nil in memory
	durable bool
	crowd   *crowd
}

// Pebble takes the memory of its memtables, of which there may be several at a
// time, out of the cache's size: a cache no larger than they are is no cache.
const (
	memTableSize = 32 << 20
	cacheSize    = 128<<20 + 2*memTableSize
)

// Open opens the store that options name, and creates it if there is none yet.
// A directory that is in use, is not a store, is damaged or was written by a
// later version is refused and left as it was.
func Open(options Options) (*Store, error) {
	if options.Dir == "" {
		db, err := pebble.Open("", pebbleOptions(vfs.NewMem(), options.Logger, false))
		if err != nil {
			return nil, fmt.Errorf("open store in memory: %w", err)
		}
		return newStore(db, nil), nil
	}
	s, err := openDir(options)
	if err != nil {
		return nil, fmt.Errorf("open data directory %s: %w", options.Dir, err)
	}
	return s, nil
}

func newStore(db *pebble.DB, lock io.Closer) *Store {
	return &Store{View: View{db}, db: db, lock: lock, durable: lock != nil, crowd: newCrowd()}
}

func pebbleOptions(fs vfs.FS, logger *slog.Logger, durable bool) *pebble.Options {
	o := &pebble.Options{
		FS:                          fs,
		Logger:                      pebbleLog{logger},
		FormatMajorVersion:          pebble.FormatNewest,
		DisableWAL:                  !durable,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: 4,
		CacheSize:                   cacheSize,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       1000,
	}
	if !durable {
		// Without the ticker that wakes ten times a second to see whether another
		// compaction may run: compactions are also started when one ends and after
		// flushes, and a synctest bubble would live through every tick.
		o.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	}
	for i := range o.Levels {
		if !durable {
			o.Levels[i].Compression = uncompressed
		}
		// Most reads are of single items that exist in one level alone.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// uncompressed is for memory: what compression saves there, reading pays for.
func uncompressed() *sstable.CompressionProfile { return sstable.NoCompression }

// Close ends all work and releases everything. Iterators and batches must have
// been closed before.
func (s *Store) Close() error {
	err := s.db.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// Snapshot returns a view of everything as it is now, to read several ranges and
// keys at one moment.
func (s *Store) Snapshot() *Snapshot {
	snap := s.db.NewSnapshot()
	return &Snapshot{View{snap}, snap}
}

// pebbleLog passes Pebble's complaints on and drops its chatter.
type pebbleLog struct{ to *slog.Logger }

func (l pebbleLog) Infof(string, ...any) {}

func (l pebbleLog) Errorf(format string, args ...any) {
	if l.to != nil {
		l.to.Error("store: " + fmt.Sprintf(format, args...))
	}
}

// Fatalf is called when a write can neither be completed nor undone, as on a
// full disk: going on would acknowledge what is not there.
func (l pebbleLog) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	panic("heatsink: store: " + fmt.Sprintf(format, args...))
}
