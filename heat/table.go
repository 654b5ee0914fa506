package heat

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table is what is known of a table, and what was counted of it and its indexes. Calls load the view and never lock.
type table struct {
	name string
	view atomic.Pointer[tableView]

	mu    sync.Mutex // of those who change the view
	asked time.Time  // when somebody last tried to look the table up
}

// tableView is what a table is known to consist of. It does not change: who learns more makes a new one.
type tableView struct {
	own     resourceView
	indexes []resourceView // global ones
	locals  []resourceView // local ones, which are part of the table's partitions: counted as the table
}

// keyed returns the table for a call that gives a whole key. If it has one attribute that is the partition key, known or
// not.
func (v *tableView) keyed(key map[string]types.AttributeValue) resourceView {
	own := v.own
	if !own.names.known() && len(key) == 1 {
		for name := range key {
			own.names.partition = []string{name}
		}
	}
	return own
}

// resourceView is a table or an index with its key.
type resourceView struct {
	*counters
	names    keyNames
	capacity *Capacity
	single   bool // it is known that a key is one item: a table without a sort key
}

// keyNames are the attributes of a key: one or none of each kind of a table, up to four of an index.
type keyNames struct{ partition, sort []string }

func (k keyNames) known() bool { return len(k.partition) > 0 }

// counters are the flows of a table or index, made when there is something to count.
type counters struct {
	Resource
	flows [2]atomic.Pointer[flow]
}

func (c *counters) flow(d Direction, o *Options) *flow {
	if f := c.flows[d].Load(); f != nil {
		return f
	}
	c.flows[d].CompareAndSwap(nil, newFlow(o))
	return c.flows[d].Load()
}

func newTable(name string) *table {
	t := &table{name: name}
	t.view.Store(&tableView{own: resourceView{counters: &counters{Resource: Resource{Table: name}}}})
	return t
}

// index returns what a read or a throttle of an index is counted as: the index, or the table if the index is local.
// An index that is not known is taken for a global one.
func (t *table) index(name string) resourceView {
	v := t.view.Load()
	if name == "" {
		return v.own
	}
	if i := find(v.indexes, name); i >= 0 {
		return v.indexes[i]
	}
	if i := find(v.locals, name); i >= 0 {
		return resourceView{counters: v.own.counters, names: v.locals[i].names, capacity: v.own.capacity}
	}
	return t.change(func(v *tableView) {
		if find(v.indexes, name) < 0 {
			v.indexes = append(v.indexes, resourceView{counters: &counters{Resource: Resource{t.name, name}}})
		}
	}).index(name)
}

// index is index of a view that has the name.
func (v *tableView) index(name string) resourceView { return v.indexes[find(v.indexes, name)] }

func find(views []resourceView, index string) int {
	return slices.IndexFunc(views, func(v resourceView) bool { return v.Index == index })
}

// change replaces the view by a changed copy.
func (t *table) change(edit func(*tableView)) *tableView {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := *t.view.Load()
	v.indexes, v.locals = slices.Clone(v.indexes), slices.Clone(v.locals)
	edit(&v)
	t.view.Store(&v)
	return &v
}

// askAgain is after how long a table is looked up again that could not be.
const askAgain = time.Minute

// ask reports whether the table should be looked up now, to one caller at a time.
func (t *table) ask() bool {
	if t.view.Load().own.names.known() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked.IsZero() && time.Since(t.asked) < askAgain {
		return false
	}
	t.asked = time.Now()
	return true
}

// setKey says what the partition key of the table or an index is called, for whom Options.Keys do.
func (t *table) setKey(index string, partition []string) {
	if index != "" {
		t.index(index)
	}
	t.change(func(v *tableView) {
		if index == "" {
			v.own.names.partition = partition
		} else {
			v.indexes[find(v.indexes, index)].names.partition = partition
		}
	})
}

// learn takes note of what a description says. Names that were given with the options stay.
func (t *table) learn(d *types.TableDescription) {
	t.change(func(v *tableView) {
		v.own.names.learn(d.KeySchema)
		v.own.capacity = tableCapacity(d)
		v.own.single = len(v.own.names.sort) == 0
		for i := range d.GlobalSecondaryIndexes {
			index := &d.GlobalSecondaryIndexes[i]
			view := v.global(t.name, aws.ToString(index.IndexName))
			view.names.learn(index.KeySchema)
			view.capacity = indexCapacity(v.own.capacity, index)
		}
		for _, index := range d.LocalSecondaryIndexes {
			name := aws.ToString(index.IndexName)
			v.indexes = slices.DeleteFunc(v.indexes, func(v resourceView) bool { return v.Index == name })
			if find(v.locals, name) < 0 {
				local := resourceView{counters: &counters{Resource: Resource{t.name, name}}}
				local.names.learn(index.KeySchema)
				v.locals = append(v.locals, local)
			}
		}
	})
}

// global returns the view of a global index, which it makes.
func (v *tableView) global(table, index string) *resourceView {
	i := find(v.indexes, index)
	if i < 0 {
		i = len(v.indexes)
		v.indexes = append(v.indexes, resourceView{counters: &counters{Resource: Resource{table, index}}})
	}
	return &v.indexes[i]
}

func (k *keyNames) learn(elements []types.KeySchemaElement) {
	var partition, sort []string
	for _, element := range elements {
		if element.KeyType == types.KeyTypeHash {
			partition = append(partition, aws.ToString(element.AttributeName))
		} else {
			sort = append(sort, aws.ToString(element.AttributeName))
		}
	}
	if !k.known() {
		k.partition = partition
	}
	k.sort = sort
}
