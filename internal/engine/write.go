package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// write is one item's change on its way: what was asked for, then the item
// before and after, then what it costs. Single writes, batches and transactions
// all consist of it, and it always goes the same way:
//
//	newPut, newUpdate …   what was asked for is well-formed
//	bind                  it fits the table
//	lock, load            the item before is known and stays as it is
//	decide                its condition holds, the item after and its cost are known
//	admit                 the partitions it touches can take it
//	apply                 it has happened
type write struct {
	kind      writeKind
	item      attr.Item // put: the new item; otherwise: the key
	condition *expr.Condition
	update    *expr.Update
	onFailure string // ReturnValuesOnConditionCheckFailure
	expired   bool   // a deletion by TTL
	together  bool   // part of a transaction
	statement bool   // of PartiQL
	expiring  bool   // the item gets a TTL entry that it did not have before
	applied   bool   // it has happened

	table *table
	key   []byte     // under which the item is stored
	view  store.View // from which it was loaded

	before, after         attr.Raw // nil: no item
	beforeItem, afterItem attr.Item
	entries               []entryChange
	failed                bool // the condition does not hold: nothing will change
	bill                  bill
}

type writeKind int

const (
	put writeKind = iota
	update
	remove
	check // a transaction's ConditionCheck, which writes nothing
)

// What is said of values without an expression that could use them.
const (
	withoutCondition = "ConditionExpression is null"
	withoutUpdate    = "UpdateExpression and ConditionExpression are null"
)

// newPut takes a PutItem's parameters.
func newPut(in *PutItemInput) (*write, error) {
	if in.BadValue != nil {
		return nil, asError(in.BadValue)
	}
	w := &write{kind: put, item: in.Item, onFailure: in.OnConditionFailure}
	w.after = attr.NewRaw(in.Item)
	if w.after.Size() > maxItemSize {
		return nil, errItemSize()
	}
	return w, w.parse(&in.Expressions, withoutCondition)
}

// newUpdate takes an UpdateItem's parameters.
func newUpdate(in *UpdateItemInput) (*write, error) {
	if in.BadValue != nil {
		return nil, asError(in.BadValue)
	}
	w := &write{kind: update, item: in.Key, onFailure: in.OnConditionFailure}
	return w, w.parse(&in.Expressions, withoutUpdate)
}

// newRemove takes a DeleteItem's parameters, newCheck a ConditionCheck's.
func newRemove(in *DeleteItemInput) (*write, error) {
	if in.BadValue != nil && !in.BadValueLast {
		return nil, asError(in.BadValue)
	}
	w := &write{kind: remove, item: in.Key, onFailure: in.OnConditionFailure}
	return w, cmp.Or(w.parse(&in.Expressions, withoutCondition), asError(in.BadValue))
}

func newCheck(in *DeleteItemInput) (*write, error) {
	w, err := newRemove(in)
	if err == nil {
		w.kind = check
	}
	return w, err
}

func (w *write) parse(x *Expressions, withoutExpressions string) error {
	if x.Legacy != nil {
		if err := w.parseLegacy(x.Legacy); err != nil {
			return err
		}
	}
	if x.Condition == nil && x.Update == nil && !x.HasNames && !x.HasValues {
		return nil
	}
	scope, err := x.scope(withoutExpressions)
	if err != nil {
		return err
	}
	if x.Update != nil {
		if w.update, err = expr.ParseUpdate(*x.Update, scope); err != nil {
			return asError(err)
		}
	}
	if x.Condition != nil {
		if w.condition, err = expr.ParseCondition(expr.ConditionExpression, *x.Condition, scope); err != nil {
			return asError(err)
		}
	}
	return asError(scope.Unused())
}

// parseLegacy does the same for the parameters that expressions replaced.
func (w *write) parseLegacy(l *Legacy) (err error) {
	if w.update, err = l.update(); err != nil {
		return err
	}
	w.condition, err = l.expected()
	return err
}

// bind checks the write against the table it goes to.
func (w *write) bind(t *table) error {
	w.table = t
	if w.kind == put {
		if err := t.checkItem(w.item); err != nil {
			return err
		}
		w.afterItem = w.item
	} else {
		if err := t.checkKey(w.item); err != nil {
			return err
		}
	}
	if w.condition != nil {
		if err := t.checkPaths(w.condition.TopLevelAttributes()); err != nil {
			return err
		}
	}
	if w.update != nil {
		for name := range w.update.TopLevelAttributes() {
			if t.keys.has(name) {
				return invalidParameter("Cannot update attribute %s. This attribute is part of the key", name)
			}
		}
		if err := cmp.Or(t.checkAssigned(w.update), t.checkPaths(w.update.TopLevelAttributes()), t.checkPaths(w.update.Operands())); err != nil {
			return err
		}
	}
	// Outside of transactions and statements DynamoDB limits not only the item, but also what the update itself counts,
	// before its condition is asked.
	if w.update != nil && !w.together && !w.statement && w.update.Charge() > maxItemSize {
		return errUpdateSize()
	}
	w.key = t.itemKey(w.item)
	return nil
}

// load reads the item before. The caller holds its lock.
func (w *write) load(v store.View) error {
	w.view = v
	raw, found, err := v.Get(nil, w.key)
	if err == nil && found {
		w.before = raw
	}
	return err
}

// decode decodes the item before, for those who look into it.
func (w *write) decode() (err error) {
	if w.beforeItem == nil && w.before != nil {
		w.beforeItem, err = w.before.Decode()
	}
	return err
}

// decide finds out what becomes of the item. The error is a
// ConditionalCheckFailedException if its condition does not hold.
func (w *write) decide() error {
	w.bill.table = writeUnits(max(w.before.Size(), w.after.Size()))
	if w.condition != nil || w.kind == update {
		if err := w.decode(); err != nil {
			return err
		}
	}
	if w.condition != nil && !w.condition.Eval(w.beforeItem) {
		return w.conditionFailed()
	}
	switch w.kind {
	case update:
		if err := w.decideUpdate(); err != nil {
			return err
		}
	case remove:
		w.after = nil
	case check:
		w.after, w.afterItem = w.before, w.beforeItem
		return nil
	}
	return w.decideEntries()
}

func (w *write) conditionFailed() error {
	w.failed = true
	if w.statement && w.kind == put { // an INSERT has no other condition
		return errorf(TypeDuplicateItem, "Duplicate primary key exists in table")
	}
	err := errorf(TypeConditionalCheckFailed, "The conditional request failed")
	if w.onFailure == "ALL_OLD" {
		err.Item = w.before
	}
	return err
}

func (w *write) decideUpdate() error {
	from := w.beforeItem
	if w.before == nil {
		from = w.item
	}
	w.afterItem = from
	if w.update != nil {
		if w.update.Sets() == 0 && w.before == nil {
			w.afterItem = nil // taking away from an item that is not there does not make it
			return nil
		}
		var err error
		if w.afterItem, err = w.update.Apply(from); err != nil {
			return asError(err)
		}
		if err := w.table.checkUpdated(w.afterItem); err != nil {
			return w.worded(err)
		}
	}
	w.after = attr.NewRaw(w.afterItem)
	w.bill.table = writeUnits(max(w.before.Size(), w.after.Size()))
	if w.after.Size() > maxItemSize {
		return errUpdateSize()
	}
	return nil
}

// changes reports whether the item is another one afterwards.
func (w *write) changes() bool { return !bytes.Equal(w.before, w.after) }

// decideEntries finds out what becomes of the item's entries in the indexes.
func (w *write) decideEntries() error {
	t := w.table
	if len(t.indexes) > 0 || t.ttl != "" {
		if err := w.decode(); err != nil {
			return err
		}
	}
	for _, x := range t.indexes {
		c := entryChange{index: x}
		c.beforeKey, c.before = x.entry(w.beforeItem, w.before)
		if x.filling && c.before != nil {
			if err := c.look(w.view); err != nil {
				return err
			}
		}
		c.afterKey, c.after = x.entry(w.afterItem, w.after)
		if c.moved() || !bytes.Equal(c.before, c.after) {
			w.entries = append(w.entries, c)
			w.bill.charge(x, indexUnits(c.before.Size(), c.after.Size(), c.moved()))
		}
	}
	return nil
}

// entryChange is how an item's entry in an index changes. An entry that stays
// the same neither costs nor changes anything.
type entryChange struct {
	index               *index
	beforeKey, afterKey []byte
	before, after       attr.Raw // nil: no entry
}

// look finds out whether the entry before is there, of an index that is being
// filled: the backfill may not have come to the item. The caller holds the item,
// as the backfill does when it comes to it.
func (c *entryChange) look(v store.View) error {
	_, found, err := v.Get(nil, c.beforeKey)
	if !found {
		c.beforeKey, c.before = nil, nil
	}
	return err
}

func (c *entryChange) moved() bool { return !bytes.Equal(c.beforeKey, c.afterKey) }

// stage puts everything that changes, but for the stream record, into a batch.
func (w *write) stage(b *store.Batch) {
	if w.kind == check {
		return
	}
	for i := range w.entries {
		w.entries[i].stage(b)
	}
	if w.table.ttl != "" {
		w.stageTTL(b)
	}
	b.Count(w.table.record.ID, store.BaseIndex, difference(w.before, w.after))
	switch {
	case w.after != nil:
		b.Set(w.key, w.after)
	case w.before != nil:
		b.Delete(w.key)
	}
}

// count notes what the table and its indexes hold now.
func (w *write) count() {
	w.table.usage.add(difference(w.before, w.after))
	for i := range w.entries {
		c := &w.entries[i]
		c.index.usage.add(difference(c.before, c.after))
	}
}

func (c *entryChange) stage(b *store.Batch) {
	b.Count(c.index.table, c.index.id, difference(c.before, c.after))
	if c.before != nil && c.moved() {
		b.Delete(c.beforeKey)
	}
	if c.after != nil {
		b.Set(c.afterKey, c.after)
	}
}

// entry returns an item's entry in the index and its key, nil if the index does
// not cover the item or there is no item.
func (x *index) entry(it attr.Item, raw attr.Raw) (key []byte, entry attr.Raw) {
	if raw == nil || !x.covers(it) {
		return nil, nil
	}
	if !x.all {
		raw = attr.NewRaw(x.project(it))
	}
	return x.entryKey(it), raw
}

func (w *write) stageTTL(b *store.Batch) {
	var before, after []byte
	if w.before != nil {
		before = w.table.ttlKey(w.table.ttl, w.beforeItem, w.key)
	}
	if w.after != nil {
		after = w.table.ttlKey(w.table.ttl, w.afterItem, w.key)
	}
	if bytes.Equal(before, after) {
		return
	}
	if before != nil {
		b.Delete(before)
	}
	if after != nil {
		b.Set(after, w.key)
		w.expiring = true
	}
}

// apply makes the writes happen, all of them at once. They are visible when it
// returns, and durable after the batch's Wait. If ctx ends before it is their
// turn, nothing happens; later, ctx is not asked: what has happened is answered.
func (e *Engine) apply(ctx context.Context, b *store.Batch, writes ...*write) error {
	for _, w := range writes {
		w.stage(b)
	}
	e.at(staged)
	// Records must become visible in the order of their sequence numbers, or a
	// reader could pass over one that comes late: a stream's writers take turns.
	streams := streamsOf(writes)
	for _, s := range streams {
		if err := s.turns.lock(ctx); err != nil {
			b.Discard()
			return fmt.Errorf("wait for the stream: %w", err)
		}
		defer s.turns.unlock()
	}
	for _, w := range writes {
		if s := w.table.stream; s != nil && w.changes() {
			s.append(b, w.table.keys.of(w.item), w.before, w.after, w.expired)
		}
	}
	e.remember(b, writes)
	e.at(recorded)
	if err := e.past.keep(e.store); err != nil {
		b.Discard()
		return err
	}
	if err := b.Apply(); err != nil {
		return explain(err, writes)
	}
	for _, w := range writes {
		w.applied = true
		w.count()
		if w.expiring {
			e.sweeper.expect(e, expiry(w.afterItem.Get(w.table.ttl)))
		}
	}
	e.at(applied)
	return nil
}

// room returns an error if the disk has no room for the writes, before partitions
// are charged for them. Without partitions apply comes soon enough to it.
func (e *Engine) room(writes ...*write) error {
	if e.account == nil {
		return nil
	}
	onlyDeletes := true
	for _, w := range writes {
		onlyDeletes = onlyDeletes && w.kind == remove && w.table.stream == nil && w.table.record.Recovery == nil
	}
	return explain(e.store.Room(onlyDeletes), writes)
}

// explain adds to the refusal of a full disk why it also refuses deletions from a table
// that keeps what is deleted, and what to do.
func explain(err error, writes []*write) error {
	if !errors.Is(err, store.ErrNoWrites) {
		return err
	}
	for _, w := range writes {
		switch {
		case w.kind != remove:
		case w.table.record.Recovery != nil:
			return fmt.Errorf("%w; table %s keeps what is deleted, for point-in-time recovery: turn that off, then delete", err, w.table.name)
		case w.table.stream != nil:
			return fmt.Errorf("%w; the stream of table %s records deletions: turn it off, then delete", err, w.table.name)
		}
	}
	return err
}

// streamsOf returns the streams that the writes go to, in the order in which
// they are to be locked.
func streamsOf(writes []*write) []*stream {
	var streams []*stream
	for _, w := range writes {
		if s := w.table.stream; s != nil && !slices.Contains(streams, s) {
			streams = append(streams, s)
		}
	}
	slices.SortFunc(streams, func(a, b *stream) int { return int(a.id) - int(b.id) })
	return streams
}

// run takes a single write from its table to the disk.
func (e *Engine) run(ctx context.Context, w *write) error {
	b, err := e.runOne(ctx, w)
	if err != nil {
		return e.refuse(err)
	}
	return b.Wait() // others may write the item while this one waits for the disk
}

// refuse returns the error of a write once what it says of stored items is durable.
func (e *Engine) refuse(err error) error {
	if answer := (*Error)(nil); errors.As(err, &answer) {
		return cmp.Or(e.store.AwaitDurable(), err)
	}
	return err
}

// runOne runs a write under its item's lock.
func (e *Engine) runOne(ctx context.Context, w *write) (*store.Batch, error) {
	free, err := e.locks.lock(ctx, w.key, false)
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, errorf(TypeTransactionConflict, "Transaction is ongoing for the item")
	}
	defer e.locks.unlock(w.key)
	e.at(locked)
	if err := w.load(e.store.View); err != nil {
		return nil, err
	}
	refused := w.decide()
	if refused != nil && !isConditionFailure(refused) {
		return nil, refused
	}
	if err := e.room(w); err != nil {
		return nil, err
	}
	e.at(decided)
	// A condition that does not hold costs what the write would have.
	if throttle := e.admit(ctx, w); throttle != nil {
		return nil, throttled(throttle)
	}
	if refused != nil {
		return nil, refused
	}
	b := e.store.NewBatch()
	return b, e.apply(ctx, b, w)
}

// expire deletes items because of their TTL, those that still are expired, all in
// one batch. The caller holds the table for reading.
func (e *Engine) expire(ctx context.Context, t *table, itemKeys [][]byte, now time.Time) error {
	b, err := e.expireAll(ctx, t, itemKeys, now)
	if err != nil {
		return err
	}
	return b.Wait()
}

// expireAll deletes the items under their locks.
func (e *Engine) expireAll(ctx context.Context, t *table, itemKeys [][]byte, now time.Time) (*store.Batch, error) {
	slices.SortFunc(itemKeys, bytes.Compare) // the order in which items are locked
	var held []*write
	defer func() { e.locks.unlockAll(held) }()
	for _, key := range itemKeys {
		free, err := e.locks.lock(ctx, key, false)
		if err != nil {
			return nil, err
		}
		if free { // else it is in a transaction: the next sweep will see
			held = append(held, &write{kind: remove, table: t, key: key, expired: true})
		}
	}
	e.at(locked)
	var writes []*write
	for _, w := range held {
		err := w.load(e.store.View)
		if err == nil {
			err = w.decode()
		}
		if err == nil && t.expired(w.beforeItem, now) {
			w.item = w.beforeItem
			writes = append(writes, w)
			err = w.decide()
		}
		if err != nil {
			return nil, err
		}
	}
	e.at(decided)
	b := e.store.NewBatch()
	if err := e.apply(ctx, b, writes...); err != nil {
		return nil, err
	}
	e.shrink(writes) // TTL costs nothing: there was nothing to admit
	return b, nil
}
