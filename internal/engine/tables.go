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

// view calls look with a table, held for reading.
func (e *Engine) view(in *TableInput, look func(*table)) error {
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
	t.mu.RLock()
	defer t.mu.RUnlock()
	switch t.dropped {
	case nil:
		look(t)
		return nil
	case errDeleted:
		return missingTable(name)
	default:
		return t.dropped
	}
}

// change calls edit with a table that is held for writing, stores what it did to
// the table's record along with what it put into the batch, and calls done. If
// edit or storing fails, the record is as it was before.
func (e *Engine) change(name string, edit func(*table, *store.Batch) error, done func(*table)) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	if err := e.store.Room(false); err != nil { // before edit changes more than the record
		return err
	}
	e.admin.Lock()
	defer e.admin.Unlock()
	t, err := e.lookup(name)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.record
	t.record = before.copy()
	b := e.store.NewBatch()
	if err = edit(t, b); err == nil {
		err = t.save(b)
	}
	if err != nil {
		b.Discard()
	} else if err = b.Commit(); err != nil {
		err = fmt.Errorf("store table %s: %w", name, err)
	}
	if err != nil {
		t.record = before
		return err
	}
	done(t)
	return nil
}

// copy returns a record that can be changed without changing r.
func (r tableRecord) copy() tableRecord {
	r.IndexIDs = maps.Clone(r.IndexIDs)
	r.Description.LocalIndexes = slices.Clone(r.Description.LocalIndexes)
	r.Description.GlobalIndexes = slices.Clone(r.Description.GlobalIndexes)
	return r
}

// DescribeTable describes a table.
func (e *Engine) DescribeTable(_ context.Context, in *TableInput) (d *TableDescription, err error) {
	err = e.view(in, func(t *table) { d = t.describe(time.Now()) })
	return d, err
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
	names := slices.Sorted(maps.Keys(e.tables))
	e.mu.RUnlock()
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
func (e *Engine) DeleteTable(_ context.Context, in *TableInput) (*TableDescription, error) {
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
	e.admin.Lock()
	defer e.admin.Unlock()
	name := nameOf(*in.TableName)
	t, err := e.lookup(name)
	if err != nil {
		return nil, err
	}
	d, err := e.drop(t)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	delete(e.tables, name)
	e.mu.Unlock()
	return d, nil
}

func (e *Engine) drop(t *table) (*TableDescription, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.record.Description.DeletionProtection {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	now := time.Now()
	b := e.store.NewBatch()
	b.Delete(store.TableKey(t.name))
	b.DeleteRange(store.Items(t.record.ID))
	var ended *streamRecord
	if t.stream != nil {
		var err error
		if ended, err = t.stream.disable(b, now); err != nil {
			b.Discard()
			return nil, err
		}
	}
	if err := b.Commit(); err != nil {
		return nil, fmt.Errorf("delete table %s: %w", t.name, err)
	}
	if ended != nil {
		t.stream.become(ended)
		e.sweeper.wake(e)
	}
	t.dropped = errDeleted
	t.dropPartitions()
	if e.options.Dropped != nil {
		e.options.Dropped(t.name)
	}
	d := t.describe(now)
	d.Status = "DELETING"
	d.GlobalIndexes = nil // as in the service's answer
	return d, nil
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
