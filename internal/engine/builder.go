package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// builder adds an index to a table that is in use, or removes one.
//
// While an index is filled, this holds for each item whose lock is free: the index
// has the item's entry as it must be, or none. Writes keep it so: they store the
// entry of what they write, and delete the old one if it is there. The builder
// comes to every item once, in the order of keys, and under its lock stores the
// entry that is missing. Behind it no entry is missing.
//
// How far it has come is stored along with the entries. After a crash it goes on
// from there; entries that it finds are left alone.
type builder struct {
	engine *Engine
	table  *table
	index  *index

	removing bool
	last     []byte        // the last item it came to; nil: none
	pause    time.Duration // after which it comes again when it was refused
}

const (
	fillBatch = 256      // items that get their entries at once, at most
	fillBytes = 1 << 20  // of entries at once, about
	fillLook  = 16 << 10 // items that it looks at before it takes a breath
	leastWait = 10 * time.Millisecond
	mostWait  = time.Second
	retryWait = time.Minute // after an error that is not expected
)

// progressIndex is the number of the index in which it is stored how far the
// backfills of a table's indexes have come: their number, and the last item's key.
const progressIndex = ttlIndex - 1 // the one before has the store's tallies

func progressKey(table uint32, index uint16) []byte {
	return binary.BigEndian.AppendUint16(store.AppendIndex(nil, table, progressIndex), index)
}

// errAbandoned says that the index is not to be filled any more.
var errAbandoned = errors.New("the index is being removed")

// build starts a builder for the table's work, after a while. The caller holds the
// table for writing, or nobody knows it yet.
func (e *Engine) build(t *table, x *index, after time.Duration) {
	b := &builder{engine: e, table: t, index: x, removing: t.record.Work.Removing}
	e.jobs.run(func(ctx context.Context) {
		if rest(ctx, after) {
			b.run(ctx)
		}
	})
}

// resumeWork goes on where the engine was closed, or crashed. What was to be waited
// for is over.
func (e *Engine) resumeWork(t *table) { e.build(t, t.known(t.record.Work.Index.IndexName), 0) }

// rest waits. It returns false if ctx ends.
func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run works until the work is done, or ctx ends.
func (b *builder) run(ctx context.Context) {
	for {
		err := b.attempt(ctx)
		if err == nil || errors.Is(err, errAbandoned) || ctx.Err() != nil {
			return
		}
		b.engine.complain(ctx, "change an index", err, "table", b.table.name, "index", b.index.name)
		wait := retryWait
		if errors.Is(err, store.ErrNoWrites) {
			wait = mostWait // the disk has no room, for now
		}
		if !rest(ctx, wait) {
			return
		}
	}
}

func (b *builder) attempt(ctx context.Context) (err error) {
	defer b.engine.survive(&err)
	if b.removing {
		return b.change(ctx, (*tableRecord).forgetIndex, func(t *table) { t.idle = nil })
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	if err := b.fill(ctx); err != nil {
		return err
	}
	return b.change(ctx, (*tableRecord).finishIndex, func(*table) {
		b.index.filling, b.index.whole = false, time.Now()
	})
}

// change changes the table's record, if the work is still the builder's: an index
// can be removed while it is filled, and so can its table.
func (b *builder) change(ctx context.Context, edit func(*tableRecord, *store.Batch), done func(*table)) error {
	err := b.engine.changeFor(ctx, b.table.name, b.removing, func(t *table, batch *store.Batch) error {
		w := t.record.Work
		if t != b.table || w == nil || w.Removing != b.removing || t.known(w.Index.IndexName) != b.index {
			return errAbandoned
		}
		edit(&t.record, batch)
		return nil
	}, done)
	if gone := (*Error)(nil); errors.As(err, &gone) && gone.Type == TypeResourceNotFound {
		return errAbandoned
	}
	return err
}

// begin makes writes maintain the index, if they do not yet.
func (b *builder) begin(ctx context.Context) error {
	switch err := b.hold(ctx); {
	case err == nil:
		b.table.release()
		return nil
	case !errors.Is(err, errAbandoned):
		return err
	}
	return b.change(ctx, func(*tableRecord, *store.Batch) {}, func(t *table) { t.fill(b.index) })
}

// fill gives every item its entry.
func (b *builder) fill(ctx context.Context) error {
	if b.last == nil {
		last, found, err := b.engine.store.Get(nil, progressKey(b.index.table, b.index.id))
		if err != nil {
			return err
		}
		if found {
			b.come(last)
		}
	}
	for {
		keys, last, err := b.look(ctx)
		if err != nil {
			return err
		}
		if err := b.storeAll(ctx, keys); err != nil {
			return err
		}
		if last == nil {
			return nil
		}
		b.come(last)
	}
}

// come notes how far it has come.
func (b *builder) come(last []byte) {
	b.last = last
	b.index.passed.Store(binary.BigEndian.Uint64(store.Place(last)))
}

// look returns the keys of some items that belong into the index, and the last item
// that it looked at, nil if there is no item left.
func (b *builder) look(ctx context.Context) (keys [][]byte, last []byte, err error) {
	if err := b.hold(ctx); err != nil {
		return nil, nil, err
	}
	defer b.table.release()
	r := store.Index(b.index.table, store.BaseIndex)
	if b.last != nil {
		r.Lower = append(bytes.Clone(b.last), 0)
	}
	it, err := b.engine.store.Read(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	looks := 0
	for ok := it.First(); ok; ok = it.Next() {
		if b.index.coversRaw(it.Value()) {
			keys = append(keys, bytes.Clone(it.Key()))
		}
		if looks++; looks == fillLook || len(keys) == b.engine.options.fillBatch {
			return keys, bytes.Clone(it.Key()), nil
		}
	}
	return keys, nil, nil
}

// hold holds the table for reading, if the index is still to be filled.
func (b *builder) hold(ctx context.Context) error {
	t := b.table
	if err := ctx.Err(); err != nil { // also if there is nothing to wait for: the engine is closed
		return err
	}
	if err := t.lock.rlock(ctx); err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	if t.dropped != nil || !b.index.filling {
		t.release()
		return errAbandoned
	}
	return nil
}

// storeAll stores the entries of items. It waits when the index's partitions can
// take no more, and when a transaction holds an item.
func (b *builder) storeAll(ctx context.Context, keys [][]byte) error {
	for len(keys) > 0 {
		n, err := b.storeSome(ctx, keys)
		if err != nil {
			return err
		}
		keys = keys[n:]
		b.engine.at(filled)
		switch {
		case len(keys) == 0:
		case n > 0:
			b.pause = leastWait
		default:
			b.pause = min(max(2*b.pause, leastWait), mostWait)
			if !rest(ctx, b.pause) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// storeSome stores the entries of the first of the items. It returns how many that
// are: none if the first one could not be.
func (b *builder) storeSome(ctx context.Context, keys [][]byte) (n int, err error) {
	if err := b.hold(ctx); err != nil {
		return 0, err
	}
	defer b.table.release()
	batch, n, err := b.storeHeld(ctx, keys)
	if err != nil || n == 0 {
		return 0, err
	}
	return n, batch.Wait() // others may write the items while this waits for the disk
}

// storeHeld stores entries under their items' locks.
func (b *builder) storeHeld(ctx context.Context, keys [][]byte) (*store.Batch, int, error) {
	e := b.engine
	if err := e.store.Room(false); err != nil { // before partitions are charged
		return nil, 0, err
	}
	held := 0 // of keys
	defer func() {
		for _, key := range keys[:held] {
			e.locks.unlock(key)
		}
	}()
	batch := e.store.NewBatch()
	var n int
	var added store.Tally
	for n < len(keys) && added.Bytes < fillBytes {
		free, err := e.locks.lock(ctx, keys[n], false)
		if err != nil {
			batch.Discard()
			return nil, 0, err
		}
		if !free {
			break // it is in a transaction
		}
		held++
		entry, key, err := b.missing(keys[n])
		if err != nil {
			batch.Discard()
			return nil, 0, err
		}
		if entry != nil {
			if !b.admit(key, entry) {
				break
			}
			batch.Set(key, entry)
			added.Items++
			added.Bytes += int64(entry.Size())
		}
		n++
	}
	if n == 0 {
		batch.Discard()
		return nil, 0, nil
	}
	batch.Set(progressKey(b.index.table, b.index.id), keys[n-1])
	batch.Count(b.index.table, b.index.id, added)
	if err := batch.Apply(); err != nil {
		return nil, 0, err
	}
	b.index.usage.add(added)
	return batch, n, nil
}

// missing returns the entry that the index lacks of an item, and its key; nil if it
// lacks none. The caller holds the item.
func (b *builder) missing(item []byte) (entry attr.Raw, key []byte, err error) {
	view := b.engine.store.View
	raw, found, err := view.Get(nil, item)
	if err != nil || !found {
		return nil, nil, err // deleted meanwhile
	}
	it, err := attr.Raw(raw).Decode()
	if err != nil {
		return nil, nil, err
	}
	key, entry = b.index.entry(it, raw)
	if entry == nil {
		return nil, nil, nil
	}
	if _, found, err = view.Get(nil, key); err != nil || found {
		return nil, nil, err
	}
	return entry, key, nil
}

// admit asks the index's partitions whether they can take an entry. A backfill
// shares their capacity with the writes of the table.
func (b *builder) admit(key []byte, entry attr.Raw) bool {
	e := b.engine
	if e.account == nil {
		return true
	}
	now := time.Now()
	charge := partition.Charge{
		Set: b.index.partitions, Place: store.Place(key),
		Write: writeUnits(entry.Size()), Bytes: int64(entry.Size()),
	}
	if !partition.Offer(now, charge) {
		return false
	}
	e.tell(context.Background(), now, nil, charge)
	return true
}
