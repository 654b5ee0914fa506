package engine

import (
	"context"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// UpdateTable changes a table's settings. The answer shows the table as it is
// while the change is going on, as the service's does; it is done when the answer
// is there. An index is added and removed later, see indexWork.
func (e *Engine) UpdateTable(ctx context.Context, in *UpdateTableInput) (*TableDescription, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	var d *TableDescription
	var a alteration
	now := time.Now()
	err := e.changeFor(ctx, nameOf(*in.TableName), in.frees(), func(t *table, b *store.Batch) error {
		if err := in.checkAgainst(t); err != nil {
			return err
		}
		d = t.describe(now)
		in.edit(&t.record, now)
		if err := t.resizePartitions(now); err != nil {
			return err
		}
		d.updating(in, &t.record)
		if err := e.alterIndexes(t, in, b, &a, now); err != nil {
			return err
		}
		err := e.alterStream(ctx, t, in, b, &a, now)
		d.StreamViewType = t.record.Description.StreamViewType
		d.LatestStreamARN, d.LatestStreamLabel = t.record.Description.LatestStreamARN, t.record.Description.LatestStreamLabel
		return err
	}, func(t *table) {
		e.happened(t, &a)
		e.settle(t, in, d)
	})
	if err != nil {
		a.discard()
		return nil, err
	}
	return d, nil
}

// frees reports whether the request only makes room, or lets others do so: it removes
// an index, ends the stream, or allows to delete the table.
func (in *UpdateTableInput) frees() bool {
	switch {
	case in.BillingMode != nil, in.TableClass != nil, in.ProvisionedThroughput != nil, in.OnDemandThroughput != nil, in.WarmThroughput != nil,
		in.Encryption != nil,
		in.Stream != nil && *in.Stream.Enabled, in.DeletionProtection != nil && *in.DeletionProtection:
		return false
	}
	return !slices.ContainsFunc(in.IndexUpdates, func(u IndexUpdate) bool { return u.Delete == nil })
}

// alterStream opens or ends the table's stream.
func (e *Engine) alterStream(ctx context.Context, t *table, in *UpdateTableInput, b *store.Batch, a *alteration, now time.Time) (err error) {
	switch {
	case in.Stream == nil:
	case *in.Stream.Enabled:
		a.opened = e.createStream(&t.record.Description, *in.Stream.ViewType, now)
		err = t.record.attach(a.opened).save(b)
	default:
		a.ended = t.stream
		t.record.StreamID, t.record.Description.StreamViewType = 0, ""
		a.end, err = a.ended.disable(ctx, b, now)
	}
	return err
}

// edit changes a table's record as the request demands, its stream aside.
func (in *UpdateTableInput) edit(r *tableRecord, now time.Time) {
	now = now.UTC().Truncate(time.Millisecond)
	d := &r.Description
	if in.DeletionProtection != nil {
		d.DeletionProtection = *in.DeletionProtection
	}
	if in.TableClass != nil && (d.TableClass != "" || *in.TableClass != "STANDARD") {
		d.TableClass, d.TableClassChanged = *in.TableClass, now
	}
	if in.Encryption != nil {
		d.encrypt(in.Encryption)
	}
	if in.BillingMode != nil {
		r.switchBilling(*in.BillingMode, now)
	}
	d.Provisioned.set(in.ProvisionedThroughput, &d.Warm, now)
	d.OnDemand = d.OnDemand.merge(in.OnDemandThroughput, true)
	d.Warm.raise(in.WarmThroughput)
	for _, u := range in.IndexUpdates {
		switch {
		case u.Create != nil:
			r.addIndex(in, u.Create)
		case u.Delete != nil:
			r.removeIndex(*u.Delete.IndexName)
		default:
			x := r.global(*u.Update.IndexName)
			x.Provisioned.set(u.Update.ProvisionedThroughput, &x.Warm, now)
			x.OnDemand = x.OnDemand.merge(u.Update.OnDemandThroughput, true)
			x.Warm.raise(u.Update.WarmThroughput)
		}
	}
}

// switchBilling changes the billing mode, if it is another one.
func (r *tableRecord) switchBilling(mode string, now time.Time) {
	d := &r.Description
	onDemand := mode == "PAY_PER_REQUEST"
	if onDemand == d.onDemand() {
		return
	}
	d.BillingMode = mode
	d.OnDemand = nil
	if onDemand {
		d.BillingModeChanged = now
		d.Provisioned.Read, d.Provisioned.Write = 0, 0
		d.Warm.raise(initialThroughput())
	}
	for _, x := range r.globals() {
		x.OnDemand = nil
		if onDemand { // which the service counts as a decrease, of indexes alone
			x.Provisioned.expire(now)
			x.Provisioned.DecreasesToday++
			x.Provisioned.LastDecrease = now
			x.Provisioned.Read, x.Provisioned.Write = 0, 0
			x.Warm.raise(initialThroughput())
		}
	}
}

func initialThroughput() *Throughput {
	return &Throughput{Read: new(int64(initialReads)), Write: new(int64(initialWrites))}
}

// set changes a provisioned throughput and keeps the books; nil: no change. What
// was provisioned once stays warm.
func (p *ThroughputDescription) set(to *Throughput, warm *WarmThroughput, now time.Time) {
	if to == nil {
		return
	}
	if *to.Read > p.Read || *to.Write > p.Write {
		p.LastIncrease = now
	}
	if *to.Read < p.Read || *to.Write < p.Write {
		p.expire(now)
		p.DecreasesToday++
		p.LastDecrease = now
	}
	p.Read, p.Write = *to.Read, *to.Write
	warm.raise(to)
}

// merge returns a maximum with the members of another one in their places. Minus
// one removes a member, unless it is to be kept for show.
func (t *Throughput) merge(with *Throughput, remove bool) *Throughput {
	if with == nil {
		return t
	}
	var merged Throughput
	if t != nil {
		merged = *t
	}
	for _, m := range []struct{ to, from **int64 }{{&merged.Read, &with.Read}, {&merged.Write, &with.Write}} {
		if *m.from == nil {
			continue
		}
		*m.to = *m.from
		if **m.from == -1 && remove {
			*m.to = nil
		}
	}
	return merged.orNil()
}

// updating turns the description of a table before a change into what is shown
// while the change goes on: most of what changes is still the old, and a status
// says so.
func (d *TableDescription) updating(in *UpdateTableInput, record *tableRecord) {
	after := &record.Description
	if in.ProvisionedThroughput != nil || in.BillingMode != nil || in.Stream != nil || in.TableClass != nil {
		d.Status = "UPDATING"
	}
	if in.BillingMode != nil {
		d.BillingMode = after.BillingMode
		if d.BillingMode == "PROVISIONED" && in.ProvisionedThroughput != nil && d.Provisioned.Read == 0 {
			d.Provisioned.Read, d.Provisioned.Write = after.Provisioned.Read, after.Provisioned.Write
		}
	}
	if in.ProvisionedThroughput != nil {
		d.Provisioned.LastIncrease, d.Provisioned.LastDecrease = after.Provisioned.LastIncrease, after.Provisioned.LastDecrease
	}
	d.OnDemand = d.OnDemand.merge(in.OnDemandThroughput, false)
	if in.WarmThroughput != nil {
		d.Warm.Status = "UPDATING"
	}
	if in.DeletionProtection != nil {
		d.DeletionProtection = after.DeletionProtection
	}
	d.SSEChanging = d.SSEChanging || in.Encryption != nil
	for i := range in.IndexUpdates {
		d.updatingIndex(&in.IndexUpdates[i], record)
	}
}

// updatingIndex is updating for one of the indexes.
func (d *TableDescription) updatingIndex(u *IndexUpdate, record *tableRecord) {
	switch {
	case u.Create != nil:
		d.AttributeDefinitions = record.Description.AttributeDefinitions
		d.GlobalIndexes = append(d.GlobalIndexes, record.Work.Index)
		d.working(record.Work, true)
	case u.Delete != nil:
		x := d.global(*u.Delete.IndexName)
		d.Status, x.Status, x.Backfilling = "UPDATING", "DELETING", nil
	default:
		x := d.global(*u.Update.IndexName)
		if u.Update.ProvisionedThroughput != nil || u.Update.OnDemandThroughput != nil {
			x.Status = "UPDATING"
		}
		x.OnDemand = x.OnDemand.merge(u.Update.OnDemandThroughput, false)
		if u.Update.WarmThroughput != nil {
			x.Warm.Status = "UPDATING"
		}
	}
}

// updatesIndex reports whether the request gives an index a throughput.
func (in *UpdateTableInput) updatesIndex(name string) bool {
	return slices.ContainsFunc(in.IndexUpdates, func(u IndexUpdate) bool {
		return u.Update != nil && *u.Update.IndexName == name && u.Update.ProvisionedThroughput != nil
	})
}
