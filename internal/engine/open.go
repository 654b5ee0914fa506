package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// Open opens an engine on the store that the options name, which it creates if
// there is none. It must be closed.
func Open(options Options) (*Engine, error) { return OpenContext(context.Background(), options) }

// OpenContext is Open, given up when ctx ends: the first time that a directory of
// an older version is opened all items are counted, which takes a while if there
// are many.
func OpenContext(ctx context.Context, options Options) (*Engine, error) {
	options = options.withDefaults()
	var account *partition.Account
	if options.Physics != nil {
		var err error
		if account, err = partition.NewAccount(*options.Physics); err != nil {
			return nil, err
		}
	}
	past, err := newPast(options.Lag)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{Dir: options.Dir, Logger: options.Logger, Reserve: options.Reserve, FS: options.FS, MaxOpenFiles: options.MaxOpenFiles})
	if err != nil {
		return nil, err
	}
	e := &Engine{
		options:    options,
		store:      s,
		locks:      newItemLocks(),
		tokens:     newTokens(options.TokenLife),
		account:    account,
		past:       past,
		tables:     map[string]*table{},
		streams:    map[string]*stream{},
		graves:     map[string]grave{},
		backups:    map[string]*backup{},
		admin:      newTurns(),
		nextTable:  1,
		nextStream: 1,
		jobs:       newJobs(),
	}
	e.sweeper.due.Store(noExpiry)
	if err := e.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open engine: %w", err), s.Close())
	}
	e.sweeper.wake(e)
	for _, t := range e.tables {
		if t.record.Work != nil {
			e.resumeWork(t)
		} else if t.record.Restoring != nil {
			e.startRestore(t, e.store.Snapshot())
		}
	}
	return e, nil
}

// load brings back everything that is stored besides the items.
func (e *Engine) load(ctx context.Context) error {
	if err := e.loadStreams(); err != nil {
		return err
	}
	if err := e.loadTables(); err != nil {
		return err
	}
	if err := e.loadBackups(); err != nil {
		return err
	}
	if err := e.loadHistory(); err != nil {
		return err
	}
	if err := e.giveUpRestores(ctx); err != nil {
		return err
	}
	if err := e.loadCounts(ctx); err != nil {
		return err
	}
	now := time.Now()
	for _, t := range e.tables {
		if err := e.newPartitions(t, now); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return e.tokens.load(e.store.View)
}

// each calls f with every key and value of a range, which are valid during the
// call alone.
func each(v store.View, r store.Range, f func(key, value []byte) error) (err error) {
	it, err := v.Read(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = f(it.Key(), it.Value())
	}
	return err
}

func (e *Engine) loadStreams() error {
	now := time.Now()
	return each(e.store.View, store.Streams(), func(_, value []byte) error {
		r := &streamRecord{}
		if err := json.Unmarshal(value, r); err != nil {
			return fmt.Errorf("read stream: %w", err)
		}
		last, err := e.lastSequence(r.ID)
		if err != nil {
			return err
		}
		e.streams[r.ARN] = newStream(r, max(last+1, sequenceAt(now)))
		e.nextStream = max(e.nextStream, r.ID+1)
		return nil
	})
}

// lastSequence is the greatest sequence number of a stream's records.
func (e *Engine) lastSequence(id uint32) (uint64, error) {
	it, err := e.store.Read(store.Records(id, 0, maxSequence))
	if err != nil {
		return 0, err
	}
	var last uint64
	if it.Last() {
		last = store.RecordSequence(it.Key())
	}
	return last, it.Close()
}

func (e *Engine) loadTables() error {
	open := map[uint32]*stream{}
	for _, s := range e.streams {
		open[s.id] = s
	}
	return each(e.store.View, store.Tables(), func(_, value []byte) error {
		var r tableRecord
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("read table: %w", err)
		}
		t := newTable(r)
		if r.StreamID != 0 {
			if t.stream = open[r.StreamID]; t.stream == nil {
				return fmt.Errorf("table %s: stream %d is missing in the store", t.name, r.StreamID)
			}
		}
		e.tables[t.name] = t
		e.nextTable = max(e.nextTable, r.ID+1)
		return nil
	})
}

// loadCounts brings back how much tables and indexes hold. What has no tally is
// counted: it is empty, or it was written before there were any.
func (e *Engine) loadCounts(ctx context.Context) error {
	b := e.store.NewBatch()
	for _, t := range e.tables {
		for id, u := range t.usages() {
			if err := e.loadCount(ctx, b, u, t.record.ID, id); err != nil {
				b.Discard()
				return fmt.Errorf("count table %s: %w", t.name, err)
			}
		}
	}
	b.Upkeep()
	return b.Commit()
}

// usages are the counts of a table and its indexes, by index number.
func (t *table) usages() map[uint16]*usage {
	all := map[uint16]*usage{store.BaseIndex: &t.usage}
	for _, x := range t.indexes {
		all[x.id] = &x.usage
	}
	return all
}

func (e *Engine) loadCount(ctx context.Context, b *store.Batch, u *usage, table uint32, index uint16) error {
	tally, found, err := e.store.Tally(table, index)
	if err != nil {
		return err
	}
	if !found {
		tally, err = e.count(ctx, table, index)
		b.Count(table, index, tally)
	}
	u.add(tally)
	return err
}

// count counts what a table or index holds.
func (e *Engine) count(ctx context.Context, table uint32, index uint16) (tally store.Tally, err error) {
	err = each(e.store.View, store.Index(table, index), func(_, value []byte) error {
		tally.Items++
		tally.Bytes += int64(attr.Raw(value).Size())
		return context.Cause(ctx)
	})
	return tally, err
}

// Close lets the operations under way finish, stops what runs in the background
// and closes the store. Operations that come later are answered with an error.
func (e *Engine) Close() (err error) {
	e.closing.Do(func() { err = e.close() })
	return err
}

func (e *Engine) close() error {
	e.jobs.close() // first: they are no operations under way, and go on at the next start
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.sweeper.close()
	e.busy.Wait()
	for _, t := range e.tables { // nobody changes the map any more
		_ = t.lock.lock(context.Background()) // which never ends
		t.dropped = errClosed()
		t.lock.unlock()
	}
	var err error
	if e.options.Dir != "" {
		err = e.saveBorders()
		if errors.Is(err, store.ErrNoWrites) {
			err = nil // as after a crash, partitions split once more
		}
	}
	return errors.Join(err, e.past.close(), e.store.Close())
}
