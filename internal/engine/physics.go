package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// With physics, tables and global indexes consist of partitions that take so many
// units a second and no more. Everything in this file does nothing without.

// newPartitions gives a table and its global indexes their partitions: as many as
// they need or, if they had more when the engine was closed, those. What local
// indexes cost is charged to the table.
func (e *Engine) newPartitions(t *table, now time.Time) error {
	if e.account == nil {
		return nil
	}
	d := &t.record.Description
	set, err := e.newSet(now, t.record.ID, store.BaseIndex, partition.Config{
		Resource:     d.ARN,
		Owner:        newResource(t.name, "", t.keys),
		LocalIndexes: t.hasLocalIndex(),
		Capacity:     d.capacity(d.Provisioned, d.OnDemand, d.Warm),
		Bytes:        t.usage.bytes.Load(),
	})
	t.partitions = set
	for _, x := range t.record.globals() {
		if err == nil {
			err = e.newIndexPartitions(&t.record, t.known(x.IndexName), x, now)
		}
	}
	if err != nil {
		t.dropPartitions()
		return quotaError(err)
	}
	return nil
}

// newIndexPartitions gives a global index its partitions.
func (e *Engine) newIndexPartitions(r *tableRecord, x *index, d *IndexDescription, now time.Time) (err error) {
	if e.account == nil {
		return nil
	}
	x.partitions, err = e.newSet(now, r.ID, x.id, partition.Config{
		Resource: d.ARN,
		Owner:    newResource(r.Description.TableName, x.name, x.keys),
		Index:    true,
		Capacity: r.Description.capacity(d.Provisioned, d.OnDemand, d.Warm),
		Bytes:    x.usage.bytes.Load(),
	})
	return err
}

func (e *Engine) newSet(now time.Time, table uint32, index uint16, c partition.Config) (*partition.Set, error) {
	stored, found, err := e.store.Get(nil, store.BordersKey(table, index))
	if err != nil {
		return nil, err
	}
	if found {
		if err := json.Unmarshal(stored, &c.Boundaries); err != nil {
			return nil, fmt.Errorf("read borders of partitions: %w", err)
		}
	}
	return e.account.NewSet(now, c)
}

// saveBorders stores where partitions meet, which is all that is kept of them.
func (e *Engine) saveBorders() error {
	if e.account == nil {
		return nil
	}
	now := time.Now()
	b := e.store.NewBatch()
	b.DeleteRange(store.Borders())
	for _, t := range e.tables {
		sets := map[uint16]*partition.Set{store.BaseIndex: t.partitions}
		for _, x := range t.indexes {
			if x.partitions != nil {
				sets[x.id] = x.partitions
			}
		}
		for id, s := range sets {
			text, err := json.Marshal(s.Boundaries(now))
			if err != nil {
				b.Discard()
				return err
			}
			b.Set(store.BordersKey(t.record.ID, id), text)
		}
	}
	b.Upkeep()
	return b.Commit()
}

// resizePartitions makes the partitions follow a changed description, all of them
// or none.
func (t *table) resizePartitions(now time.Time) error {
	if t.partitions == nil {
		return nil
	}
	d := &t.record.Description
	type change struct {
		set  *partition.Set
		from partition.Capacity
	}
	var done []change
	resize := func(s *partition.Set, to partition.Capacity) error {
		from := s.Capacity()
		if from == to {
			return nil
		}
		if err := s.Update(now, to); err != nil {
			return err
		}
		done = append(done, change{s, from})
		return nil
	}
	err := resize(t.partitions, d.capacity(d.Provisioned, d.OnDemand, d.Warm))
	for _, d := range t.record.globals() {
		if x := t.known(d.IndexName); x != nil && err == nil { // nil: it is being added just now
			err = resize(x.partitions, t.record.Description.capacity(d.Provisioned, d.OnDemand, d.Warm))
		}
	}
	if err != nil {
		for _, c := range done {
			_ = c.set.Update(now, c.from) // what fitted before fits again
		}
		return quotaError(err)
	}
	return nil
}

func (t *table) dropPartitions() {
	if t.partitions != nil {
		t.partitions.Drop()
	}
	for _, x := range t.indexes {
		x.dropPartitions()
	}
	if t.idle != nil {
		t.idle.dropPartitions()
	}
}

func (x *index) dropPartitions() {
	if x.partitions != nil {
		x.partitions.Drop()
		x.partitions = nil
	}
}

// quotaError returns the answer to a request of more capacity than a quota allows.
func quotaError(err error) error {
	var q *partition.QuotaError
	if !errors.As(err, &q) {
		return err
	}
	units := "ReadCapacityUnits"
	if q.Writes {
		units = "WriteCapacityUnits"
	}
	region := strings.Split(q.Resource, ":")[3]
	const refer = "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
	if q.Account {
		return errorf(TypeLimitExceeded, "This request would have caused the %s limit to be exceeded for the account in %s. "+
			"Current %s reserved by the account: %d. Limit: %d. Requested: %d. "+refer, units, region, units, q.Reserved, q.Quota, q.Requested)
	}
	of, kind := "", "table"
	if _, index, found := strings.Cut(q.Resource, "/index/"); found {
		of, kind = " for index "+index, "index"
	}
	return errorf(TypeLimitExceeded, "The requested %s%s, %d, is above the per %s maximum for the account in %s. Per %s maximum: %d. "+refer,
		units, of, q.Requested, kind, region, kind, q.Quota)
}

// capacity is what the description says of the table or one of its indexes. A
// warm throughput that nobody asked for is left to the physics.
func (d *TableDescription) capacity(p ThroughputDescription, most *Throughput, warm WarmThroughput) partition.Capacity {
	var c partition.Capacity
	usual := partition.Rate{Read: initialReads, Write: initialWrites}
	if !d.onDemand() {
		c.Mode = partition.Provisioned
		c.Provisioned = partition.Rate{Read: p.Read, Write: p.Write}
		usual = c.Provisioned
	}
	if warm.Read > usual.Read {
		c.Warm.Read = warm.Read
	}
	if warm.Write > usual.Write {
		c.Warm.Write = warm.Write
	}
	if most != nil && most.Read != nil {
		c.Maximum.Read = *most.Read
	}
	if most != nil && most.Write != nil {
		c.Maximum.Write = *most.Write
	}
	return c
}

// charges appends what the write costs, and where.
func (w *write) charges(list []partition.Charge) []partition.Charge {
	units := w.bill.table
	for _, u := range w.bill.local {
		units += u
	}
	grows := w.after.Size() - w.before.Size()
	if w.failed {
		grows = 0 // it costs all the same
	}
	list = append(list, partition.Charge{
		Set: w.table.partitions, Place: store.Place(w.key), Write: units, Bytes: int64(grows),
	})
	for i := range w.entries {
		if c := &w.entries[i]; !c.index.local {
			list = c.charges(list)
		}
	}
	return list
}

// charges appends what the change of an entry costs. One that moves is deleted in
// one place and written in another.
func (c *entryChange) charges(list []partition.Charge) []partition.Charge {
	before, after := c.before.Size(), c.after.Size()
	if c.before != nil && c.moved() {
		list = append(list, partition.Charge{
			Set: c.index.partitions, Place: store.Place(c.beforeKey), Write: writeUnits(before), Bytes: -int64(before),
		})
		before = 0
	}
	if c.after != nil {
		list = append(list, partition.Charge{
			Set: c.index.partitions, Place: store.Place(c.afterKey),
			Write: indexUnits(before, after, false), Bytes: int64(after - before),
		})
	}
	return list
}

// admitCharges asks the partitions, and tells what they answered to whoever wants
// to know.
func (e *Engine) admitCharges(ctx context.Context, charges ...partition.Charge) *partition.Throttle {
	now := time.Now()
	throttle := partition.Admit(now, charges...)
	e.tally.count(throttle)
	e.tell(ctx, now, throttle, charges...)
	return throttle
}

// tell lets Contributor Insights and the observer know what was charged, or refused
// if throttle is not nil.
func (e *Engine) tell(ctx context.Context, now time.Time, throttle *partition.Throttle, charges ...partition.Charge) {
	countKeys(now, throttle, charges...)
	e.observe(ctx, now, throttle, charges...)
}

// admit asks the partitions that a write touches whether they can take it, and
// charges them if they all can.
func (e *Engine) admit(ctx context.Context, w *write) *partition.Throttle {
	if e.account == nil {
		return nil
	}
	var room [4]partition.Charge
	return e.admitCharges(ctx, w.charges(room[:0])...)
}

// admitAll is admit for the writes of a transaction. refused tells which of them
// ran into a limit themselves.
func (e *Engine) admitAll(ctx context.Context, writes []*write) (throttle *partition.Throttle, refused []bool) {
	if e.account == nil {
		return nil, nil
	}
	var charges []partition.Charge
	var owner []int
	for i, w := range writes {
		charges = w.charges(charges)
		for len(owner) < len(charges) {
			owner = append(owner, i)
		}
	}
	throttle = e.admitCharges(ctx, charges...)
	return throttle, owners(throttle, owner, len(writes))
}

// owners says which of n actions own the charges that were refused.
func owners(t *partition.Throttle, owner []int, n int) []bool {
	if t == nil {
		return nil
	}
	refused := make([]bool, n)
	for _, c := range t.Causes {
		refused[owner[c.Charge]] = true
	}
	return refused
}

// admitCancelled is admitAll for a transaction that changes nothing, as a condition
// of it does not hold: it costs what it would have, but for its indexes.
func (e *Engine) admitCancelled(ctx context.Context, writes []*write) (throttle *partition.Throttle, refused []bool) {
	if e.account == nil {
		return nil, nil
	}
	var charges []partition.Charge
	var owner []int
	for i, w := range writes {
		charges = append(charges, partition.Charge{Set: w.table.partitions, Place: store.Place(w.key), Write: w.bill.table})
		owner = append(owner, i)
	}
	throttle = e.admitCharges(ctx, charges...)
	return throttle, owners(throttle, owner, len(writes))
}

// shrink notes that items go which nobody pays for.
func (e *Engine) shrink(writes []*write) {
	if e.account == nil || len(writes) == 0 {
		return
	}
	var charges []partition.Charge
	for _, w := range writes {
		charges = append(charges, partition.Charge{Set: w.table.partitions, Place: store.Place(w.key), Bytes: -int64(w.before.Size())})
		for i := range w.entries {
			if c := &w.entries[i]; !c.index.local {
				charges = c.charges(charges)
				charges[len(charges)-1].Write = 0 // a deletion has one charge
			}
		}
	}
	partition.Settle(time.Now(), charges...)
}

// admitRead is admit for an item that is read by its key.
func (e *Engine) admitRead(ctx context.Context, t *table, key []byte, units float64, consistent bool) *partition.Throttle {
	if e.account == nil {
		return nil
	}
	return e.admitCharges(ctx, partition.Charge{
		Set: t.partitions, Place: store.Place(key), Read: units, Eventual: !consistent,
	})
}

// admitGets is admitAll for the items of a TransactGetItems.
func (e *Engine) admitGets(ctx context.Context, gets []get) (throttle *partition.Throttle, refused []bool) {
	if e.account == nil {
		return nil, nil
	}
	charges := make([]partition.Charge, len(gets))
	owner := make([]int, len(gets))
	for i := range gets {
		charges[i] = partition.Charge{Set: gets[i].table.partitions, Place: store.Place(gets[i].key), Read: gets[i].units}
		owner[i] = i
	}
	throttle = e.admitCharges(ctx, charges...)
	return throttle, owners(throttle, owner, len(gets))
}

// partitions are those that a page is read from.
func (r *read) partitions() *partition.Set {
	if r.index != nil && !r.index.local {
		return r.index.partitions
	}
	return r.table.partitions
}

// charge is what a page costs, or its beginning as far as it is known before.
func (r *read) charge(units float64) partition.Charge {
	c := partition.Charge{
		Set: r.partitions(), Place: store.Place(r.within.Lower), Read: units, Eventual: !r.in.ConsistentRead,
	}
	if r.reverse {
		c.Place = store.Place(r.within.Upper)
	}
	if r.first != nil {
		c.Place, c.To = store.Place(r.first), store.Place(r.last)
	}
	return c
}

// admitPage asks whether a page may be read. What it costs is known afterwards.
func (e *Engine) admitPage(ctx context.Context, r *read) *partition.Throttle {
	if e.account == nil {
		return nil
	}
	now := time.Now()
	page := r.charge(readUnits(0, r.in.ConsistentRead))
	throttle := partition.Check(now, page)
	e.tally.count(throttle)
	if throttle != nil {
		e.tellPage(ctx, now, r, throttle, page)
	}
	return throttle
}

// settlePage charges a page that was read.
func (e *Engine) settlePage(ctx context.Context, r *read, units float64) {
	if e.account == nil {
		return
	}
	now := time.Now()
	charges := []partition.Charge{r.charge(units)}
	if r.fetched.table > 0 {
		items := charges[0] // behind a local index, in the same collection
		items.Read = r.fetched.table
		charges = append(charges, items)
	}
	partition.Settle(now, charges...)
	e.tellPage(ctx, now, r, nil, charges...)
}

// tellPage is tell for a page, which is of a partition key.
func (e *Engine) tellPage(ctx context.Context, now time.Time, r *read, throttle *partition.Throttle, charges ...partition.Charge) {
	of := resourceOf(r.partitions())
	if e.options.Observe == nil && of.insights.Load() == nil {
		return
	}
	page := charges[0]
	for _, items := range charges[1:] { // it is one request
		page.Read += items.Read
	}
	page.Place = nil // a scan is of no key
	if r.key != nil {
		page.Place = of.partitionKey(store.Place(r.within.Lower)) // in whatever direction it is read
	}
	e.tell(ctx, now, throttle, page)
}

// throttled is the exception that a refused request is answered with.
func throttled(t *partition.Throttle) *Error {
	e := &Error{Type: string(t.Exception()), Message: throttleText(t.Causes[0])}
	for _, c := range t.Reasons() {
		e.Throttling = append(e.Throttling, ThrottlingReason{Reason: string(c.Reason), Resource: c.Resource()})
	}
	return e
}

func throttleText(c partition.Cause) string {
	index := strings.HasPrefix(string(c.Reason), "Index")
	switch c.Exception() {
	case partition.ProvisionedThroughputExceededException:
		if index {
			return "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. " +
				"Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API"
		}
		return "The level of configured provisioned throughput for the table was exceeded. " +
			"Consider increasing your provisioning level with the UpdateTable API"
	case partition.RequestLimitExceeded:
		return "Throughput exceeds the current throughput limit for your account. " +
			"Please contact AWS Support at https://aws.amazon.com/support request a limit increase"
	}
	switch {
	case strings.HasSuffix(string(c.Reason), "MaxOnDemandThroughputExceeded"):
		return "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
	case index:
		return "Throughput exceeds the current capacity for one or more global secondary indexes. " +
			"DynamoDB is automatically scaling your index so please try again shortly."
	}
	return "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly. " +
		"If exceptions persist, check if you have a hot key: " +
		"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
}

// cancels returns why a transaction's action was cancelled that its partition
// could not take.
func cancels(t *partition.Throttle) CancellationReason {
	e := throttled(t)
	code := "ThrottlingError"
	if e.Type == TypeProvisionedExceeded {
		code = "ProvisionedThroughputExceeded"
	}
	return CancellationReason{Code: code, Message: e.Message}
}
