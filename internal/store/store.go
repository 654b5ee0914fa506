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

	// Logger is told about trouble in the background. Nil: nobody is, but of what
	// ends the process, which standard error tells.
	Logger *slog.Logger

	// FS is what the files lie on, for tests and proofs that break disks. Nil: the machine's disks.
	FS vfs.FS
}

// Store is an open store. Its methods may be called concurrently, Close last.
type Store struct {
	View
	db      *pebble.DB
	lock    io.Closer // of the directory; nil in memory
	durable bool
	logger  *slog.Logger // may be nil
	crowd   *crowd
	trouble chan error // one error of the background, for Close
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
		s := newStore(options, nil)
		db, err := pebble.Open("", s.pebbleOptions(vfs.NewMem()))
		if err != nil {
			return nil, fmt.Errorf("open store in memory: %w", err)
		}
		return s.on(db), nil
	}
	s, err := openDir(options)
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
		trouble: make(chan error, 1),
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
		FormatMajorVersion:          pebble.FormatNewest,
		DisableWAL:                  !s.durable,
		MemTableSize:                memTableSize,
		MemTableStopWritesThreshold: 4,
		CacheSize:                   cacheSize,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       1000,
	}
	if !s.durable {
		// Without the ticker that wakes ten times a second to see whether another
		// compaction may run: compactions are also started when one ends and after
		// flushes, and a synctest bubble would live through every tick.
		o.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	}
	for i := range o.Levels {
		if !s.durable {
			o.Levels[i].Compression = uncompressed
		}
		// Most reads are of single items that exist in one level alone.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// uncompressed is for memory: what compression saves there, reading pays for.
func uncompressed() *sstable.CompressionProfile { return sstable.NoCompression }

// listener says what to do about trouble in the background.
//
// A flush or a compaction that fails loses nothing: its input stays, it is tried
// again, and if the disk is what fails, so will soon a write, which ends the
// process. Nor does a damaged block of a table file end it, as it would without
// this listener. Every read of the block fails, so that what was in it is never
// taken for absent; Pebble leaves the file out of compactions for a while after
// each attempt; and everything else can still be read, and copied out.
func (s *Store) listener() pebble.EventListener {
	log := pebbleLog{s.logger}
	return pebble.EventListener{
		BackgroundError: func(err error) {
			log.Errorf("background error: %v", err)
			select {
			case s.trouble <- err:
			default:
			}
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) { log.Errorf("%s", info) },
		WALCreated: func(info pebble.WALCreateInfo) {
			// Open returns this error. Later Pebble panics, and so much in the
			// middle of things that the panic itself fails before mustGoOn.
			if info.Err != nil && s.db != nil {
				fatal(s.logger, fmt.Sprint("create a log: ", info.Err))
			}
		},
	}
}

// Close ends all work and releases everything. Iterators and batches must have
// been closed before.
func (s *Store) Close() error {
	if s.durable {
		s.settle()
	}
	err := s.db.Close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// settle moves everything from the log to table files. Those are accounted for,
// so that one that is missing or too short is noticed; a log that is cut off
// looks as after a crash. What cannot be moved is still in the log.
func (s *Store) settle() {
	defer s.mustGoOn()
	select {
	case <-s.trouble: // of the past
	default:
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		pebbleLog{s.logger}.Errorf("flush: %v", err)
		return
	}
	select {
	case <-flushed:
	case <-s.trouble: // which Pebble would try again and again
	}
}

// Snapshot returns a view of everything as it is now, to read several ranges and
// keys at one moment.
func (s *Store) Snapshot() *Snapshot {
	snap := s.db.NewSnapshot()
	return &Snapshot{View{snap, s}, snap}
}
