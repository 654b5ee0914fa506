package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// restorer fills a table that is being restored: it copies the items, undoes their
// changes since the time that is wanted, and makes the entries of indexes. Nobody
// else uses the table meanwhile. After a crash it begins anew, also after the disk had
// no room: what was copied is deleted meanwhile, so that others can write.
type restorer struct {
	engine *Engine
	table  *table
	from   *restoring
	view   *store.Snapshot // nil between two attempts: it keeps what others delete
}

// pourBytes and pourEntries are how much is copied at once, about.
const (
	pourBytes   = 1 << 20
	pourEntries = 4096
)

// startRestore starts to fill a table from what the view has. It returns false if the
// engine is being closed.
func (e *Engine) startRestore(t *table, view *store.Snapshot) (<-chan struct{}, bool) {
	r := &restorer{engine: e, table: t, from: t.restoring.Load(), view: view}
	done := make(chan struct{})
	ok := e.jobs.run(func(ctx context.Context) {
		defer close(done)
		r.run(ctx)
	})
	return done, ok
}

// run works until the table is whole, or ctx ends.
func (r *restorer) run(ctx context.Context) {
	defer r.leave()
	for {
		err := r.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		r.leave()
		r.engine.complain(ctx, "restore a table", errors.Join(err, r.clear()), "table", r.table.name)
		if !rest(ctx, retryWait) {
			return
		}
	}
}

func (r *restorer) leave() {
	if r.view != nil {
		_ = r.view.Close()
		r.view = nil
	}
}

// clear deletes what an attempt cut short left.
func (r *restorer) clear() error {
	b := r.engine.store.NewBatch()
	b.DeleteRange(store.Items(r.table.record.ID))
	return b.Commit()
}

// look returns what to restore from, once more.
func (r *restorer) look(ctx context.Context) (*store.Snapshot, error) {
	e := r.engine
	if r.from.Table == 0 { // a backup stays while a table is restored from it
		return e.store.Snapshot(), nil
	}
	if t, err := e.lookup(nameOf(r.from.Summary.TableARN)); err == nil {
		if err := t.lock.rlock(ctx); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.name, err)
		}
		defer t.release()
		if t.dropped == nil && t.record.ID == r.from.Table && t.record.reaches(r.from.At) {
			return e.store.Snapshot(), nil
		}
	}
	return nil, errors.New("what it was being restored from is gone, so the table will be removed by the next start")
}

func (r *restorer) attempt(ctx context.Context) (err error) {
	e, id := r.engine, r.table.record.ID
	defer e.survive(&err)
	if r.view == nil {
		if r.view, err = r.look(ctx); err != nil {
			return err
		}
	}
	if err := r.clear(); err != nil {
		return err
	}
	source := r.from.Backup
	if r.from.Table != 0 {
		source = r.from.Table
	}
	if err := e.copyItems(ctx, r.view.View, source, id); err != nil {
		return err
	}
	if r.from.Table != 0 {
		if err := r.undo(ctx); err != nil {
			return err
		}
	}
	if err := r.index(ctx); err != nil {
		return err
	}
	return r.finish(ctx)
}

// copyItems copies the items of a table, or backup, to another one.
func (e *Engine) copyItems(ctx context.Context, view store.View, from, to uint32) error {
	prefix := store.AppendIndex(nil, to, store.BaseIndex)
	return e.pour(ctx, view, store.Index(from, store.BaseIndex), false, func(b *store.Batch, key, value []byte) error {
		b.Set(append(bytes.Clone(prefix), store.Place(key)...), value)
		return nil
	})
}

// undo takes back the changes since the time that is wanted, the latest first.
func (r *restorer) undo(ctx context.Context) error {
	prefix := store.AppendIndex(nil, r.table.record.ID, store.BaseIndex)
	since := store.History(r.from.Table, r.from.At+1, maxSequence)
	return r.engine.pour(ctx, r.view.View, since, true, func(b *store.Batch, _, value []byte) error {
		place, before, err := cutPastItem(value)
		if err != nil {
			return err
		}
		key := append(bytes.Clone(prefix), place...)
		if before == nil {
			b.Delete(key)
		} else {
			b.Set(key, before)
		}
		return nil
	})
}

// index makes the entries of the table's indexes.
func (r *restorer) index(ctx context.Context) error {
	e, t := r.engine, r.table
	if len(t.indexes) == 0 {
		return nil
	}
	return e.pour(ctx, e.store.View, store.Index(t.record.ID, store.BaseIndex), false, func(b *store.Batch, _, value []byte) error {
		it, err := attr.Raw(value).Decode()
		if err != nil {
			return err
		}
		for _, x := range t.indexes {
			if key, entry := x.entry(it, value); entry != nil {
				b.Set(key, entry)
			}
		}
		return nil
	})
}

// pour walks a range, forwards or backwards, and has take put what becomes of each
// value into batches.
func (e *Engine) pour(ctx context.Context, view store.View, r store.Range, backwards bool,
	take func(b *store.Batch, key, value []byte) error,
) error {
	for {
		last, err := e.pourSome(ctx, view, r, backwards, take)
		switch {
		case err != nil:
			return err
		case last == nil:
			return nil
		case backwards:
			r.Upper = last
		default:
			r.Lower = append(last, 0)
		}
	}
}

// pourSome handles the first keys of a range, and returns the last of them; nil if
// none are left.
func (e *Engine) pourSome(ctx context.Context, view store.View, r store.Range, backwards bool,
	take func(b *store.Batch, key, value []byte) error,
) (last []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	it, err := view.Read(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	begin, next := it.First, it.Next
	if backwards {
		begin, next = it.Last, it.Prev
	}
	b := e.store.NewBatch()
	n, size := 0, 0
	for ok := begin(); ok; ok = next() {
		if err := take(b, it.Key(), it.Value()); err != nil {
			b.Discard()
			return nil, err
		}
		n++
		if size += len(it.Key()) + len(it.Value()); size >= pourBytes || n == pourEntries {
			last = bytes.Clone(it.Key())
			break
		}
	}
	if err := b.Commit(); err != nil {
		return nil, err
	}
	e.at(filled)
	return last, nil
}

// finish makes the table usable.
func (r *restorer) finish(ctx context.Context) error {
	e, t := r.engine, r.table
	held := map[uint16]store.Tally{}
	for id := range t.usages() {
		var err error
		if held[id], err = e.count(ctx, t.record.ID, id); err != nil {
			return err
		}
	}
	if err := e.lockAdmin(ctx); err != nil {
		return err
	}
	defer e.admin.unlock()
	if err := t.lock.lock(ctx); err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	defer t.lock.unlock()
	for id, u := range t.usages() {
		u.items.Store(held[id].Items)
		u.bytes.Store(held[id].Bytes)
	}
	if e.account != nil { // as many partitions as the items need
		t.dropPartitions()
		if err := e.newPartitions(t, time.Now()); err != nil {
			return err
		}
	}
	before := t.record
	t.record.Restoring = nil
	b := e.store.NewBatch()
	for id, tally := range held { // nothing was counted yet: see fill
		b.Count(t.record.ID, id, tally)
	}
	err := t.save(b)
	if err == nil {
		err = b.Commit()
	} else {
		b.Discard()
	}
	if err != nil {
		t.record = before
		return err
	}
	t.whole = time.Now()
	t.restoring.Store(nil)
	return nil
}

// giveUpRestores removes the tables that were being restored when the engine was
// closed, or crashed, from what is gone now.
func (e *Engine) giveUpRestores(ctx context.Context) error {
	for _, t := range e.tables {
		if t.record.Restoring == nil || e.hasSource(t.record.Restoring) {
			continue
		}
		e.complain(ctx, "restore a table", errors.New("what it was being restored from is gone, so the table is removed"), "table", t.name)
		b := e.store.NewBatch()
		b.Delete(store.TableKey(t.name))
		b.DeleteRange(store.Items(t.record.ID))
		if err := b.Commit(); err != nil {
			return err
		}
		delete(e.tables, t.name)
	}
	return nil
}

// hasSource reports whether a table can be restored from what it was to be.
func (e *Engine) hasSource(from *restoring) bool {
	for _, b := range e.backups {
		if b.ID == from.Backup {
			return true
		}
	}
	for _, t := range e.tables {
		if t.record.ID == from.Table && t.record.reaches(from.At) {
			return true
		}
	}
	return false
}

// reaches reports whether the table has the history since a time.
func (r *tableRecord) reaches(at uint64) bool {
	return r.Recovery != nil && uint64(r.Recovery.earliest(time.Now()).UnixNano()) <= at
}
