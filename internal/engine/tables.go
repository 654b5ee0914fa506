package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

const maxTables = 2500

// checkTableName checks the TableName of an operation on the table itself. Such
// a fault is reported before any other.
func checkTableName(name *string) error {
	if name == nil {
		return invalid("The parameter 'TableName' is required but was not present in the request")
	}
	var c constraints
	c.resourceName("tableName", shortName(name))
	return c.err()
}

// missingTable is what operations on tables themselves answer.
func missingTable(name string) *Error {
	return errorf(TypeResourceNotFound, "Requested resource not found: Table: %s not found", name)
}

// lookup returns the table called name, not held in any way.
func (e *Engine) lookup(name string) (*table, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, errClosed()
	}
	t := e.tables[name]
	if t == nil {
		return nil, missingTable(name)
	}
	return t, nil
}

// view calls look with a table, held for reading. Of one that is being restored there is
// nothing to see yet but its description.
func (e *Engine) view(ctx context.Context, in *TableInput, look func(*table)) error {
	return e.describing(ctx, in, func(t *table) error {
		if t.restoring.Load() != nil {
			return missingTable(t.name)
		}
		look(t)
		return nil
	})
}

// describing calls look with a table, held for reading, whatever its state is.
func (e *Engine) describing(ctx context.Context, in *TableInput, look func(*table) error) error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	name := nameOf(*in.TableName)
	t, err := e.lookup(name)
	if err != nil {
		return err
	}
	if err := t.lock.rlock(ctx); err != nil {
		return fmt.Errorf("table %s: %w", name, err)
	}
	defer t.release()
	switch t.dropped {
	case nil:
		return look(t)
	case errDeleted:
		return missingTable(name)
	default:
		return t.dropped
	}
}

// change calls edit with a table that is held for writing, stores what it did to
// the table's record along with what it put into the batch, and calls done. If
// edit or storing fails, the record is as it was before, and the table's
// partitions fit it again.
func (e *Engine) change(ctx context.Context, name string, edit func(*table, *store.Batch) error, done func(*table)) error {
	return e.changeFor(ctx, name, false, edit, done)
}

// changeFor is change, for one that frees space or not. A nearly full disk takes those
// that do, although the record is stored again.
func (e *Engine) changeFor(ctx context.Context, name string, frees bool, edit func(*table, *store.Batch) error, done func(*table)) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	if err := e.store.Room(frees); err != nil { // before edit changes more than the record
		return err
	}
	if err := e.lockAdmin(ctx); err != nil {
		return err
	}
	defer e.admin.unlock()
	t, err := e.changeable(name)
	if err != nil {
		return err
	}
	if err := t.lock.lock(ctx); err != nil {
		return fmt.Errorf("table %s: %w", name, err)
	}
	defer t.lock.unlock()
	if t.restoring.Load() != nil {
		return missingTable(name)
	}
	if t.creating() {
		return errBeingCreated(name)
	}
	before, stored := t.record, false
	t.record = before.copy()
	defer func() {
		if !stored {
			t.record = before
			_ = t.resizePartitions(time.Now()) // what fitted before fits again
		}
	}()
	b := e.store.NewBatch()
	e.at(changed)
	if err = edit(t, b); err == nil {
		err = t.save(b)
	}
	e.at(staged)
	if err != nil {
		b.Discard()
		return err
	}
	if frees {
		b.Frees()
	}
	if err = b.Commit(); err != nil {
		return fmt.Errorf("store table %s: %w", name, err)
	}
	stored = true
	done(t)
	return nil
}

// lockAdmin waits until no other table is being created, changed or deleted.
func (e *Engine) lockAdmin(ctx context.Context) error {
	if err := e.admin.lock(ctx); err != nil {
		return fmt.Errorf("wait for changes of other tables: %w", err)
	}
	return nil
}

// copy returns a record that can be changed without changing r.
func (r tableRecord) copy() tableRecord {
	r.IndexIDs = maps.Clone(r.IndexIDs)
	r.Tags = slices.Clone(r.Tags)
	r.Description.LocalIndexes = slices.Clone(r.Description.LocalIndexes)
	r.Description.GlobalIndexes = slices.Clone(r.Description.GlobalIndexes)
	if r.Work != nil {
		r.Work = new(*r.Work)
	}
	if r.Recovery != nil {
		r.Recovery = new(*r.Recovery)
	}
	return r
}

// DescribeTable describes a table.
func (e *Engine) DescribeTable(ctx context.Context, in *TableInput) (d *TableDescription, err error) {
	err = e.describing(ctx, in, func(t *table) error {
		d = t.describe(time.Now())
		return nil
	})
	if isMissing(err) {
		if d = e.buried(nameOf(*in.TableName)); d != nil {
			return d, nil
		}
	}
	return d, err
}

// changeable is lookup for an operation that changes the table.
func (e *Engine) changeable(name string) (*table, error) {
	t, err := e.lookup(name)
	if isMissing(err) && e.buried(name) != nil {
		return nil, inUse("Table is being deleted: %s", name)
	}
	return t, err
}

// ListTables names the tables in order.
func (e *Engine) ListTables(_ context.Context, in *ListTablesInput) (*ListTablesOutput, error) {
	var c constraints
	c.resourceName("exclusiveStartTableName", in.ExclusiveStart)
	c.page(in.Limit, 100)
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	e.mu.RLock()
	names := slices.Collect(maps.Keys(e.tables))
	for name, g := range e.graves {
		if e.tables[name] == nil && time.Now().Before(g.until) {
			names = append(names, name)
		}
	}
	e.mu.RUnlock()
	slices.Sort(names)
	if in.ExclusiveStart != nil {
		i, found := slices.BinarySearch(names, *in.ExclusiveStart)
		if found {
			i++
		}
		names = names[i:]
	}
	out := &ListTablesOutput{TableNames: names}
	if limit := pageSize(in.Limit, 100); len(names) > limit {
		out.TableNames = names[:limit]
		out.LastEvaluated = names[limit-1]
	}
	return out, nil
}

// errDeleted marks a table that was deleted.
var errDeleted error = tableNotFound()

// DeleteTable deletes a table with everything in it. Its stream, if it has one,
// can be read for another day.
func (e *Engine) DeleteTable(ctx context.Context, in *TableInput) (*TableDescription, error) {
	if err := checkTableName(in.TableName); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	if err := e.lockAdmin(ctx); err != nil {
		return nil, err
	}
	defer e.admin.unlock()
	t, err := e.changeable(nameOf(*in.TableName))
	if err != nil {
		return nil, err
	}
	return e.drop(ctx, t)
}

func (e *Engine) drop(ctx context.Context, t *table) (*TableDescription, error) {
	if err := t.lock.lock(ctx); err != nil {
		return nil, fmt.Errorf("table %s: %w", t.name, err)
	}
	defer t.lock.unlock()
	if err := t.checkDrop(); err != nil {
		return nil, err
	}
	if to := e.restoring(func(r *restoring) bool { return r.Table == t.record.ID }); to != nil {
		return nil, inUse("Table %s is being restored from table %s", to.name, t.name)
	}
	now := time.Now()
	b := e.store.NewBatch()
	b.Delete(store.TableKey(t.name))
	kept, err := e.dropItems(t, b, now)
	if err != nil {
		b.Discard()
		return nil, err
	}
	var ended *streamRecord
	if t.stream != nil {
		var err error
		if ended, err = t.stream.disable(ctx, b, now); err != nil {
			b.Discard()
			return nil, err
		}
	}
	d := t.describe(now)
	d.deleting()
	e.at(staged)
	b.Frees() // what stays of a stream, or as a backup, is small or there already
	if err := b.Commit(); err != nil {
		return nil, fmt.Errorf("delete table %s: %w", t.name, err)
	}
	e.forget(t, d)
	if kept != nil {
		e.putBackup(kept)
		e.sweeper.wake(e)
	}
	if ended != nil {
		t.stream.become(ended)
		e.sweeper.wake(e)
	}
	t.dropPartitions()
	if e.options.Dropped != nil {
		e.options.Dropped(t.name) // last: the table is gone, whatever it does
	}
	return d, nil
}

// dropItems puts the end of a table's items into a batch. If it has point-in-time
// recovery, they stay as a backup.
func (e *Engine) dropItems(t *table, b *store.Batch, now time.Time) (kept *backup, err error) {
	id := t.record.ID
	if t.record.Recovery == nil {
		b.DeleteRange(store.Items(id))
		return nil, nil
	}
	b.DeleteRange(store.Derived(id))
	b.DeleteRange(store.History(id, 0, maxSequence))
	kept = e.newBackup(t, id, systemBackup, t.name+"$DeletedTableBackup", now)
	kept.Whole = true
	return kept, kept.save(b)
}

// deleting turns a description into that of a table that is being deleted, of
// which the service does not tell its keys, its indexes, its warm throughput and when
// it was created.
func (d *TableDescription) deleting() {
	d.Status = "DELETING"
	d.Created = time.Time{}
	d.KeySchema, d.AttributeDefinitions = nil, nil
	d.LocalIndexes, d.GlobalIndexes = nil, nil
	d.Warm = WarmThroughput{}
}

// forget makes a table unknown that is no longer stored. The caller holds it for
// writing.
func (e *Engine) forget(t *table, d *TableDescription) {
	t.dropped = errDeleted
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.tables, t.name)
	e.bury(t, d)
}

// DescribeLimits tells the account's quotas, which are the service's defaults.
// They are enforced with physics alone.
func (e *Engine) DescribeLimits(context.Context) (*Limits, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	return &Limits{AccountRead: 80_000, AccountWrite: 80_000, TableRead: 40_000, TableWrite: 40_000}, nil
}
