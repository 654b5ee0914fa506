package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// table is one table: its record, which is stored, and what is derived from it.
type table struct {
	// lock is held for reading by everything that reads or writes items, and for
	// writing by what changes the table itself, so that such a change sees no
	// write half done.
	lock    tableLock
	record  tableRecord
	dropped error // why the table can no longer be used: it was deleted, or the engine closed

	name      string
	keys      keySchema
	indexes   []*index                  // those that writes maintain
	idle      *index                    // one that they do not: it waits for its backfill, or is being removed; nil: none
	usable    time.Time                 // when it is no longer being created
	whole     time.Time                 // when its restore ended; zero: before the engine was opened, or there was none
	restoring atomic.Pointer[restoring] // the record's, for those who do not hold the table
	settling  []settling                // changes that show as going on
	ttl       string                    // the TTL attribute; empty: none
	stream    *stream                   // nil: none
	usage     usage

	partitions *partition.Set // nil without physics
}

// tableRecord is what is stored of a table.
type tableRecord struct {
	ID          uint32
	Description TableDescription  // without counts
	IndexIDs    map[string]uint16 // of local and global indexes
	NextIndexID uint16
	TTL         string
	StreamID    uint32 // zero: no stream is open
	Tags        []Tag  `json:",omitempty"`

	// Work is the global index that is added or removed. It is not among those of
	// the description, so that nobody takes half an index for a whole one.
	Work *indexWork `json:",omitempty"`

	Recovery  *recovery  `json:",omitempty"` // nil: no point-in-time recovery
	Restoring *restoring `json:",omitempty"` // nil: the table is whole
}

// usage is how many items a table or index holds and how large they are.
type usage struct{ items, bytes atomic.Int64 }

func (u *usage) add(t store.Tally) {
	u.items.Add(t.Items)
	u.bytes.Add(t.Bytes)
}

// difference is what changes where an item becomes another one; nil: none.
func difference(before, after attr.Raw) store.Tally {
	t := store.Tally{Bytes: int64(after.Size() - before.Size())}
	if before != nil {
		t.Items--
	}
	if after != nil {
		t.Items++
	}
	return t
}

// newTable derives a table from its record.
func newTable(r tableRecord) *table {
	d := &r.Description
	t := &table{
		record: r,
		name:   d.TableName,
		keys:   newKeySchema(d.KeySchema, d.AttributeDefinitions),
		ttl:    r.TTL,
	}
	t.restoring.Store(r.Restoring)
	add := func(local bool, list []IndexDescription) {
		for i := range list {
			t.indexes = append(t.indexes, newIndex(&r, &list[i], local, t.keys))
		}
	}
	add(true, d.LocalIndexes)
	add(false, d.GlobalIndexes)
	if w := r.Work; w != nil {
		x := newIndex(&r, &w.Index, false, t.keys)
		if w.Removing {
			t.idle = x
		} else {
			x.filling = true
			t.indexes = append(t.indexes, x)
		}
	}
	return t
}

func newIndex(r *tableRecord, d *IndexDescription, local bool, base keySchema) *index {
	x := &index{
		id:    r.IndexIDs[d.IndexName],
		name:  d.IndexName,
		local: local,
		table: r.ID,
		keys:  newKeySchema(d.KeySchema, r.Description.AttributeDefinitions),
		base:  base,
		all:   d.ProjectionType == "ALL",
		kept:  map[string]bool{},
	}
	for _, name := range d.NonKey {
		x.kept[name] = true
	}
	for _, p := range slices.Concat(x.keys.parts, base.parts) {
		x.kept[p.Name] = true
	}
	return x
}

// index returns the index of that name that writes maintain, or nil.
func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}

// known returns the index of that name, in whatever state it is, or nil.
func (t *table) known(name string) *index {
	if t.idle != nil && t.idle.name == name {
		return t.idle
	}
	return t.index(name)
}

func (t *table) hasLocalIndex() bool {
	return slices.ContainsFunc(t.indexes, func(x *index) bool { return x.local })
}

// itemKey returns the key under which an item is stored. it has at least the
// table's key attributes.
func (t *table) itemKey(it attr.Item) []byte {
	key := store.AppendIndex(make([]byte, 0, 64), t.record.ID, store.BaseIndex)
	return t.keys.appendPlace(key, it)
}

// collection is the range of all items with the same hash key as it, in the
// table itself or in one of its local indexes.
func (t *table) collection(index uint16, it attr.Item) store.Range {
	prefix := store.AppendIndex(nil, t.record.ID, index)
	prefix = appendHash(prefix, t.keys.hash, it)
	return store.Range{Lower: prefix, Upper: store.After(prefix)}
}

// save puts the table's record into a batch.
func (t *table) save(b *store.Batch) error {
	text, err := json.Marshal(t.record)
	if err != nil {
		return fmt.Errorf("save table %s: %w", t.name, err)
	}
	b.Set(store.TableKey(t.name), text)
	return nil
}

// openTable returns the table called name, held for reading or writing items.
// The caller must call release. A missing table is the answer's error.
func (e *Engine) openTable(ctx context.Context, name string) (*table, error) {
	e.mu.RLock()
	t, closed := e.tables[name], e.closed
	e.mu.RUnlock()
	if closed {
		return nil, errClosed()
	}
	if t == nil {
		return nil, tableNotFound()
	}
	if err := t.lock.rlock(ctx); err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	if t.dropped != nil {
		defer t.release()
		return nil, t.dropped
	}
	if t.creating() {
		defer t.release()
		return nil, tableNotFound()
	}
	return t, nil
}

// creating reports whether the table is still being created.
func (t *table) creating() bool {
	return t.restoring.Load() != nil || !t.usable.IsZero() && time.Now().Before(t.usable)
}

func (t *table) release() { t.lock.runlock() }

// openTables are the tables that a request on several holds, by name.
type openTables map[string]*table

// openTables opens each of the named tables once, in the order of their names:
// in any other order, two requests could each wait behind a change of a table
// that waits for the other.
func (e *Engine) openTables(ctx context.Context, names []string) (openTables, error) {
	open := openTables{}
	for i, name := range names {
		names[i] = nameOf(name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		t, err := e.openTable(ctx, name)
		if err != nil {
			open.release()
			return nil, err
		}
		open[name] = t
	}
	return open, nil
}

// openThose is openTables for names of which some tables may be missing.
func (e *Engine) openThose(ctx context.Context, names map[string]bool) (openTables, error) {
	open := openTables{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		t, err := e.openTable(ctx, name)
		var answer *Error
		switch {
		case err == nil:
			open[name] = t
		case !errors.As(err, &answer) || answer.Type != TypeResourceNotFound:
			open.release()
			return nil, err
		}
	}
	return open, nil
}

func (o openTables) release() {
	for _, t := range o {
		t.release()
	}
}

// tableNotFound is what item operations answer; operations on tables themselves
// name the table.
func tableNotFound() *Error {
	return errorf(TypeResourceNotFound, "Requested resource not found")
}

// ttlIndex is the number of the index by which expired items are found: it holds
// the items' keys under the time they expire at.
const ttlIndex = 0xFFFF

// ttlKey returns the key of an item's entry in the ttlIndex, whose value is the
// item's key; nil if the item has no number in the TTL attribute.
func (t *table) ttlKey(attribute string, it attr.Item, itemKey []byte) []byte {
	at := it.Get(attribute)
	if at.Kind != attr.N {
		return nil
	}
	key := store.AppendIndex(make([]byte, 0, 96), t.record.ID, ttlIndex)
	return append(attr.AppendKey(key, at), itemKey...)
}
