package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// indexWork is a global index that a table gets or loses. There is at most one.
//
//	added    wait for Options.StatusDelay, then fill the index, then it is ACTIVE
//	removed  wait as long, then it is gone with its entries
//
// While it waits, the table's status is UPDATING and writes know nothing of it: it
// is the table's idle index. While it is filled, writes maintain it; see builder.
type indexWork struct {
	Index    IndexDescription
	Removing bool
}

// maxIndexID is the greatest number of an index. Numbers are not used again: reads
// that a lag sets back could find entries of the index that had it.
const maxIndexID = progressIndex - 1

// globals are the settings of the global indexes that the table has or gets.
func (r *tableRecord) globals() (list []*IndexDescription) {
	for i := range r.Description.GlobalIndexes {
		list = append(list, &r.Description.GlobalIndexes[i])
	}
	if r.Work != nil && !r.Work.Removing {
		list = append(list, &r.Work.Index)
	}
	return list
}

// global returns those of the index of that name, or nil.
func (r *tableRecord) global(name string) *IndexDescription {
	for _, x := range r.globals() {
		if x.IndexName == name {
			return x
		}
	}
	return nil
}

// addIndex notes an index that is added, with the definitions of its attributes.
func (r *tableRecord) addIndex(in *UpdateTableInput, x *IndexInput) {
	d := &r.Description
	as := in.asCreate(x, d.onDemand())
	w := &indexWork{Index: x.describe(d.ARN)}
	w.Index.IndexName = strings.Clone(w.Index.IndexName)
	w.Index.Provisioned, w.Index.Warm = as.throughput(x.ProvisionedThroughput, x.WarmThroughput)
	w.Index.OnDemand = x.OnDemandThroughput.orNil()
	r.Work = w
	r.IndexIDs[w.Index.IndexName] = r.NextIndexID
	r.NextIndexID++
	d.AttributeDefinitions = slices.Clone(d.AttributeDefinitions)
	for _, name := range keyNames(x.KeySchema) {
		if definitionOf(d.AttributeDefinitions, name) == nil {
			d.AttributeDefinitions = append(d.AttributeDefinitions, *definitionOf(in.AttributeDefinitions, name))
		}
	}
	sortDefinitions(d.AttributeDefinitions)
}

// removeIndex notes that an index is removed. An index that is being filled can be.
func (r *tableRecord) removeIndex(name string) {
	d := &r.Description
	if r.Work == nil {
		r.Work = &indexWork{Index: *d.global(name)}
		d.GlobalIndexes = slices.DeleteFunc(d.GlobalIndexes, func(x IndexDescription) bool { return x.IndexName == name })
	}
	r.Work.Removing = true
}

// forgetIndex ends a removal: the entries go, and the definitions that only this
// index needed.
func (r *tableRecord) forgetIndex(b *store.Batch) {
	name := r.Work.Index.IndexName
	id := r.IndexIDs[name]
	b.DeleteRange(store.Index(r.ID, id))
	b.Delete(progressKey(r.ID, id))
	b.Delete(store.TallyKey(r.ID, id))
	delete(r.IndexIDs, name)
	r.Work = nil
	r.Description.prune()
}

// finishIndex ends an addition: the index is whole.
func (r *tableRecord) finishIndex(b *store.Batch) {
	x := r.Work.Index
	r.Description.GlobalIndexes = append(r.Description.GlobalIndexes, x)
	r.Work = nil
	b.Delete(progressKey(r.ID, r.IndexIDs[x.IndexName]))
}

func definitionOf(list []AttributeDefinition, name string) *AttributeDefinition {
	i := slices.IndexFunc(list, func(d AttributeDefinition) bool { return d.AttributeName == name })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// inUse is the answer to a change that another one stands in the way of.
func inUse(format string, args ...any) *Error {
	return errorf(TypeResourceInUse, "Attempt to change a resource which is still in use: %s", fmt.Sprintf(format, args...))
}

func errBeingCreated(table string) *Error { return inUse("Table is being created: %s", table) }

func errOnlineIndex() *Error {
	return errorf(TypeLimitExceeded, "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table")
}

// checkWork checks the request against the index that is being added or removed.
func (in *UpdateTableInput) checkWork(t *table) error {
	w := t.record.Work
	if w == nil {
		return nil
	}
	for i := range in.IndexUpdates {
		if err := in.IndexUpdates[i].checkWork(t, w); err != nil {
			return err
		}
	}
	if t.idle == nil {
		return nil // it is being filled, which keeps nobody from the table
	}
	name, doing, done := w.Index.IndexName, "creation", "created"
	if w.Removing {
		doing, done = "deletion", "deleted"
	}
	switches := in.BillingMode != nil && (*in.BillingMode == "PAY_PER_REQUEST") != t.record.Description.onDemand()
	switch {
	case in.ProvisionedThroughput != nil || switches:
		return inUse("Can't change table IOPS when an index is being %s. Table: %s Indexes: [%s]", done, t.name, name)
	case in.Stream != nil:
		return inUse("Can't change stream status when an index is being %s. Table: %s Indexes: [%s]", done, t.name, name)
	case in.OnDemandThroughput.orNil() != nil:
		return inUse("OnDemandThroughput cannot be updated while index %s is in progress for indexes: [%s]", doing, name)
	}
	return nil
}

// checkWork checks an update of an index. What concerns another index is checked
// as if there were no work, but that none may be added or removed.
func (u *IndexUpdate) checkWork(t *table, w *indexWork) error {
	name := *u.action().IndexName
	if name != w.Index.IndexName {
		if u.Create != nil && t.known(name) == nil || u.Delete != nil && t.record.global(name) != nil {
			return errOnlineIndex()
		}
		return nil
	}
	switch {
	case w.Removing:
		return inUse("Index is being deleted.  Table: %s Index: %s", t.name, name)
	case t.idle == nil:
		return nil
	case u.Update != nil:
		return inUse("Index is being created but is not backfilling yet.  Table: %s Index: %s", t.name, name)
	case u.Delete != nil:
		return inUse("Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. "+
			"Table: %s Index: %s", t.name, name)
	}
	return nil
}

// action is the one action of a checked update.
func (u *IndexUpdate) action() *IndexInput {
	switch {
	case u.Create != nil:
		return u.Create
	case u.Update != nil:
		return u.Update
	default:
		return u.Delete
	}
}

// alteration is what an UpdateTable changes besides the table's record.
type alteration struct {
	opened, ended *stream
	end           *streamRecord // what is left of the ended one
	added         *index
	removed       *index
}

// alterIndexes prepares the index that the record says is added, or removed.
func (e *Engine) alterIndexes(t *table, in *UpdateTableInput, b *store.Batch, a *alteration, now time.Time) error {
	r := &t.record
	for i := range in.IndexUpdates {
		switch u := &in.IndexUpdates[i]; {
		case u.Create != nil:
			x := newIndex(r, &r.Work.Index, false, t.keys)
			if err := e.newIndexPartitions(r, x, &r.Work.Index, now); err != nil {
				return quotaError(err)
			}
			a.added = x
		case u.Delete != nil:
			a.removed = t.index(*u.Delete.IndexName)
			if e.options.StatusDelay == 0 {
				r.forgetIndex(b)
			}
		}
	}
	return nil
}

// discard undoes what was prepared for a change that did not come about.
func (a *alteration) discard() {
	if a.added != nil {
		a.added.dropPartitions()
	}
}

// happened makes the change, which is stored, known. The caller holds the table for
// writing.
func (e *Engine) happened(t *table, a *alteration) {
	if a.opened != nil {
		t.stream = a.opened
		e.addStream(a.opened)
	}
	if a.ended != nil {
		t.stream = nil
		a.ended.become(a.end)
		e.sweeper.wake(e)
	}
	if x := a.removed; x != nil {
		t.indexes = slices.DeleteFunc(slices.Clone(t.indexes), func(o *index) bool { return o == x })
		x.filling = false
		x.dropPartitions()
		if t.record.Work != nil {
			t.idle = x
			e.build(t, x, e.options.StatusDelay)
		}
	}
	if x := a.added; x != nil {
		if e.options.StatusDelay > 0 {
			t.idle = x
		} else {
			t.fill(x)
		}
		e.build(t, x, e.options.StatusDelay)
	}
}

// fill makes writes maintain an index from now on.
func (t *table) fill(x *index) {
	x.filling = true
	t.idle = nil
	t.indexes = append(slices.Clone(t.indexes), x)
}
