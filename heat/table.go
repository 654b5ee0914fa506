package heat

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table is what a recorder knows and counts of a table and its indexes. Calls load the view and never lock.
type table struct {
	name   string
	slots  *slots // for what is counted
	others bool   // it stands for all tables without a slot, and learns nothing
	view   atomic.Pointer[tableView]
	apart  atomic.Int64 // when a write last told indexes apart, since the recorder was made; see apartEvery

	mu    sync.Mutex // of those who change the view
	asked time.Time  // when somebody last tried to look the table up
	note  string     // why that failed, "" if it did not
}

// tableView is the known structure of a table. It does not change: learning more makes a new one.
type tableView struct {
	own     resourceView
	indexes []resourceView // global ones
	locals  []resourceView // local ones, which are part of the table's partitions: counted as the table

	// doubted says that a call failed as if the table had changed: the next call looks it up again.
	doubted bool
}

// keyed returns the table for a call that gives a whole key. If it has one attribute that is the partition key, known
// or not, unless the options say otherwise.
func (v *tableView) keyed(key map[string]types.AttributeValue) resourceView {
	own := v.own
	if len(key) == 1 && !own.names.given && !(own.names.known() && hasAll(key, own.names.partition)) {
		for name := range key {
			own.names.partition, own.single = []string{name}, false
		}
	}
	return own
}

// resourceView is a table or an index with its key.
type resourceView struct {
	*counters
	names    keyNames
	capacity *Capacity
	projects projection // of a global index
	single   bool       // it is known that a key is one item: a table without a sort key
}

// forget drops what a description said.
func (v *resourceView) forget() {
	v.names.forget()
	v.capacity, v.projects, v.single = nil, projection{}, false
	v.known.Store(v.names.given)
}

// unproven reports whether nothing has shown that the table or index exists.
func (v *resourceView) unproven() bool { return !v.known.Load() && !v.counted() }

// newTable returns an unknown table, with a slot for every index.
func newTable(name string) *table { return newTableIn(nil, name) }

func newTableIn(r *slots, name string) *table {
	t := &table{name: name, slots: r}
	t.view.Store(&tableView{own: t.resource("")})
	return t
}

// resource returns the table or an index with nothing counted.
func (t *table) resource(index string) resourceView {
	return resourceView{counters: &counters{Resource: Resource{t.name, index}, slots: t.slots}}
}

// index returns what a read or a throttle of an index is counted as: the index, or the table if the index is local.
// An index that is not known is taken for a global one.
func (t *table) index(name string) resourceView {
	v := t.view.Load()
	if name == "" || t.others {
		return v.own
	}
	if i := find(v.locals, name); i >= 0 {
		return resourceView{counters: v.own.counters, names: v.locals[i].names, capacity: v.own.capacity}
	}
	if i := find(v.indexes, name); i >= 0 {
		return v.indexes[i]
	}
	v = t.change(func(v *tableView) { t.global(v, name) })
	return v.indexes[find(v.indexes, name)]
}

// mostIndexes is from how many indexes on those are dropped that may not exist. DynamoDB has 20, unless asked for more.
const mostIndexes = 100

// global returns the view of a global index, which it makes.
func (t *table) global(v *tableView, index string) *resourceView {
	i := find(v.indexes, index)
	if i < 0 {
		if len(v.indexes) >= mostIndexes {
			v.indexes = slices.DeleteFunc(v.indexes, func(v resourceView) bool { return v.unproven() })
		}
		i = len(v.indexes)
		v.indexes = append(v.indexes, t.resource(index))
	}
	return &v.indexes[i]
}

func find(views []resourceView, index string) int {
	return slices.IndexFunc(views, func(v resourceView) bool { return v.Index == index })
}

// change replaces the view by a changed copy.
func (t *table) change(edit func(*tableView)) *tableView {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changeLocked(edit)
}

func (t *table) changeLocked(edit func(*tableView)) *tableView {
	v := *t.view.Load()
	v.indexes, v.locals = slices.Clone(v.indexes), slices.Clone(v.locals)
	edit(&v)
	t.view.Store(&v)
	return &v
}

// askAgain is the least time between two lookups of a table that failed or seems to have changed.
const askAgain = time.Minute

// ask reports whether the table should be looked up now, to one caller at a time.
func (t *table) ask() bool {
	if v := t.view.Load(); t.others || v.own.names.known() && !v.doubted {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.askedOfLate() {
		return false
	}
	t.asked = time.Now()
	return true
}

func (t *table) askedOfLate() bool { return !t.asked.IsZero() && time.Since(t.asked) < askAgain }

// idle reports whether dropping the table loses nothing: nothing was counted or given, and it may be looked up again.
func (t *table) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := func(v resourceView) bool { return v.counted() || v.names.given }
	v := t.view.Load()
	return !used(v.own) && !slices.ContainsFunc(v.indexes, used) && !t.askedOfLate()
}

// doubt has the table looked up again at its next call, but not more often than askAgain. Until then what is known of
// it stays.
func (t *table) doubt() {
	if v := t.view.Load(); t.others || v.doubted || v.own.names.given || !v.own.names.known() {
		return
	}
	t.change(func(v *tableView) { v.doubted = true })
}

// forget drops what descriptions said, as there is no such table any more: its next call looks it up, but not more
// often than askAgain. What was counted stays.
func (t *table) forget() {
	if v := t.view.Load(); t.others || v.own.unproven() && !v.own.names.known() && len(v.indexes) == 0 {
		return
	}
	t.change(func(v *tableView) {
		v.own.forget()
		for i := range v.indexes {
			v.indexes[i].forget()
		}
		v.locals, v.doubted = nil, false
	})
}

// lookedUp notes the result of looking the table up.
func (t *table) lookedUp(err error) {
	if err == nil {
		return // it was learned
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = fmt.Sprintf("table %s could not be described (%v): calls that do not name its partition key are counted without a key", t.name, err)
}

func (t *table) lookupNote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.note
}

// setKey says what the partition key of the table or an index is called, for whom Options.Keys do.
func (t *table) setKey(index string, partition []string) {
	if t.others {
		return
	}
	t.change(func(v *tableView) {
		view := &v.own
		if index != "" {
			view = t.global(v, index)
		}
		view.names = keyNames{partition: partition, given: true}
		view.known.Store(true)
	})
}

// observeKey is setKey for observed names, which a description may replace.
func (t *table) observeKey(index string, partition []string) {
	if t.others {
		return
	}
	t.change(func(v *tableView) {
		view := &v.own
		if index != "" {
			view = t.global(v, index)
		}
		view.names.partition = partition
	})
}

// learn replaces what earlier descriptions said by a new one. Names that were given with the
// options stay. Indexes that are gone keep what was counted, but have no key any more.
func (t *table) learn(d *types.TableDescription) {
	if t.others {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note = ""
	t.changeLocked(func(v *tableView) {
		// The description is of before, or of a table whose warm throughput is not told yet.
		v.doubted = d.TableStatus == types.TableStatusUpdating || d.TableStatus == types.TableStatusCreating
		v.own.names.learn(d.KeySchema)
		v.own.capacity = tableCapacity(d)
		v.own.single = len(v.own.names.sort) == 0
		v.own.known.Store(true)
		t.learnGlobals(v, d)
		t.learnLocals(v, d)
	})
}

func (t *table) learnGlobals(v *tableView, d *types.TableDescription) {
	for i := range v.indexes {
		if CapacityOf(d, v.indexes[i].Index) == nil {
			v.indexes[i].forget()
		}
	}
	for i := range d.GlobalSecondaryIndexes {
		index := &d.GlobalSecondaryIndexes[i]
		view := t.global(v, aws.ToString(index.IndexName))
		view.names.learn(index.KeySchema)
		view.capacity = indexCapacity(v.own.capacity, index)
		view.projects = newProjection(index.Projection, v.own.names, view.names)
		view.known.Store(true)
	}
}

func (t *table) learnLocals(v *tableView, d *types.TableDescription) {
	v.locals = nil
	for i := range d.LocalSecondaryIndexes {
		index := &d.LocalSecondaryIndexes[i]
		local := t.resource(aws.ToString(index.IndexName))
		local.names.learn(index.KeySchema)
		v.locals = append(v.locals, local)
		v.indexes = slices.DeleteFunc(v.indexes, func(v resourceView) bool { return v.Index == local.Index && !v.counted() })
	}
}
