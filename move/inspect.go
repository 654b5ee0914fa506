package move

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
)

const (
	// So many ids, by their hash, are told apart when the same id is looked for in both homes: 16 for each item of the table, within bounds.
	// Two ids with the same hash only cost reads.
	leastSeen, mostSeen = 1 << 16, 1 << 27
	// settleTime is how long an id may be in between, while a program creates it.
	settleTime = 5 * time.Second
	leaseTimes = 20
	inspectors = 8 // suspects of a segment that are looked at, at a time
)

// inspection is a strong pass over a movable collection that changes nothing.
type inspection struct {
	*trip
	seed   maphash.Seed
	schema *place.Schema

	mu     sync.Mutex
	record passage.Record
	atlas  *atlas
	seen   [2]*bitmap      // ids that are live in old homes and in new ones; of a list, the first has all
	told   map[uint64]bool // hashes of ids that were reported: one with two homes is met twice
}

const maxTold = 100_000

// verify reads all items, and reports those that are not as the stage has them.
func (m *byID) verify(ctx context.Context) (Report, error) {
	table, err := m.meet(ctx)
	if err != nil {
		return Report{}, err
	}
	t := m.newTrip(table)
	o := &t.options.Collection
	i := &inspection{trip: t, seed: maphash.MakeSeed(), schema: newAtlas(o.PartitionKey, o.SortKey, passage.Arrangement{}, nil).schema}
	v, _, err := m.current(ctx)
	if err != nil {
		return Report{}, err
	}
	i.know(v)
	source, err := t.newSource(v.Record.Now, nil, true)
	if err != nil {
		return Report{}, err
	}
	source.read(&v.Record.Now, v.Record.Next, v.Record.Former)
	p := &pass{work: t.work, segments: source.segments(), mode: scanStrong, keys: []string{o.PartitionKey, o.SortKey}, fetch: source.page, handle: i.take}
	err = t.tell(ctx, p.run)
	t.work.mu.Lock()
	defer t.work.mu.Unlock()
	return *t.report, err
}

// know makes the record of a view the one that items are judged by.
func (i *inspection) know(v *passage.View) *atlas {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.atlas == nil || v.Record.Generation != i.record.Generation {
		o := &i.options.Collection
		i.record, i.atlas = v.Record, atlasOf(o.PartitionKey, o.SortKey, &v.Record)
	}
	return i.atlas
}

// take judges the items of a page, and looks again at those that seem wrong.
func (i *inspection) take(ctx context.Context, in string, items []place.Item) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turns := make(chan struct{}, inspectors)
	var all sync.WaitGroup
	for _, item := range items {
		v, err := i.book.View(ctx)
		if err != nil {
			cancel(err)
			break
		}
		atlas := i.know(v)
		slot, odd := i.byID.table.Slot(item)
		at := atlas.find(in, item, slot.State)
		i.count(at, slot.State, odd, &v.Record)
		if !i.suspect(at, slot.State, odd, item, &v.Record) {
			continue
		}
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-turns }()
			if err := i.examine(ctx, in, item); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// count counts an item where it lies.
func (i *inspection) count(at located, state forward.State, odd error, r *passage.Record) {
	i.work.mu.Lock()
	defer i.work.mu.Unlock()
	i.report.Scanned++
	if at.spot == atControl {
		return
	}
	if odd == nil && (state == forward.Live || state == forward.Frozen && r.Stage.Phase != forward.Settled) {
		i.report.Listed++
		from := atOld
		if r.Stage.Phase == forward.Back || r.Stage.Trace == forward.Returned {
			from = atNew
		}
		if at.spot == from && r.Next != nil && state == forward.Live {
			i.report.Waiting++
		}
	}
	if odd == nil && state == forward.Live && (at.spot == atOld || at.spot == atNew || at.spot == atBoth) {
		i.report.Right++ // unless it turns out to be wrong
	}
}

// suspect reports whether an item has to be looked at again, with what its other home has.
func (i *inspection) suspect(at located, state forward.State, odd error, item place.Item, r *passage.Record) bool {
	switch {
	case at.spot == atControl:
		return false
	case r.List():
		return i.suspectInList(at, state, odd, item, r)
	case odd != nil, at.spot == astray, at.spot == atUnknown:
		return true
	case at.spot == atBoth:
		return state != forward.Live
	case at.spot == atOld && state == forward.Stub && r.Stage.Phase != forward.Settled:
		return false // its id is in the new home, or absent: an operation that creates nothing may leave a stub as well
	case state == forward.Live && r.Stage.Phase == forward.Settled:
		return at.spot == atOld && r.Next == nil || at.spot == atNew && r.Next != nil
	case state == forward.Live, state == forward.Dead && at.spot == atNew && r.Stage.Phase != forward.Settled:
		both := i.twice(at, item)
		return both || at.spot == atOld && r.Stage.Phase == forward.Settling || at.spot == atNew && r.Stage.Phase == forward.Back && state == forward.Live
	case state == forward.Frozen && (r.Stage.Phase == forward.Split || r.Stage.Phase == forward.Closed):
		return at.spot != atOld
	}
	return true
}

// twice notes that an id is live in a home, and reports whether it was seen live in the other one.
func (i *inspection) twice(at located, item place.Item) bool {
	hash := i.hash(at, item)
	home := forward.Old
	if at.spot == atNew {
		home = forward.New
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.seen[home] == nil {
		bits := int(min(max(16*aws.ToInt64(i.work.table.ItemCount), leastSeen), mostSeen))
		i.seen = [2]*bitmap{newBitmap(bits), newBitmap(bits)}
	}
	i.seen[home].set(hash)
	return i.seen[home.Other()].has(hash)
}

// hash returns the hash of an id.
func (i *inspection) hash(at located, item place.Item) uint64 {
	o := &i.options.Collection
	key := cmp.Or(at.key, storedKey(item, o.PartitionKey))
	text, _ := i.schema.KeyText(place.Item{o.PartitionKey: text(key), o.SortKey: item[o.SortKey]})
	return maphash.String(i.seed, text)
}

// tellOf notes that an id is reported, and returns false if it was before.
func (i *inspection) tellOf(at located, item place.Item) bool {
	hash := i.hash(at, item)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.told[hash] {
		return false
	}
	if i.told == nil || len(i.told) >= maxTold {
		i.told = map[uint64]bool{}
	}
	i.told[hash] = true
	return true
}

// examine reads the homes of an item again, and reports what is wrong with them. It judges only what it has read while the record stayed
// the same, and gives an id that a program may just be creating some time.
func (i *inspection) examine(ctx context.Context, in string, item place.Item) error {
	lost, late := 0, 0
	for {
		v, err := i.book.View(ctx)
		if err != nil {
			return err
		}
		d, err := i.look(ctx, v, in, item)
		if overdue(err) {
			if late++; late < leaseTimes {
				continue
			}
		}
		if err != nil {
			return err
		}
		kind, why := d.kind()
		if kind == "" {
			return nil
		}
		again, err := i.book.Renew(ctx, v)
		switch {
		case err != nil:
			return err
		case again.Record.Generation != v.Record.Generation:
			continue
		case kind == kindLost && lost < 2:
			lost++
			if err := dispatch.Sleep(ctx, settleTime); err != nil {
				return err
			}
			continue
		}
		i.blame(kind, why, d, item)
		return nil
	}
}

// blame reports what is wrong with an item, once for each id.
func (i *inspection) blame(kind, why string, d *diagnosis, item place.Item) {
	first := i.tellOf(d.at, item)
	i.work.mu.Lock()
	defer i.work.mu.Unlock()
	if d.here == forward.Live && (d.at.spot == atOld || d.at.spot == atNew || d.at.spot == atBoth) {
		i.report.Right--
	}
	if first {
		i.report.find(i.finding(kind, d.at, item, why))
		i.report.tell(kind)
	}
}

// look reads what lies where an item was found and, if the id has two homes, what both have.
func (i *inspection) look(ctx context.Context, v *passage.View, in string, item place.Item) (*diagnosis, error) {
	atlas := i.know(v)
	d := &diagnosis{record: v.Record, item: item}
	pk := storedKey(item, i.options.Collection.PartitionKey)
	var err error
	if d.item, err = i.get(ctx, v, located{old: pk, new: pk, oldIn: in, newIn: in}, item, forward.Old); err != nil || len(d.item) == 0 {
		return d, err
	}
	var slot forward.Slot[express.Item]
	slot, d.odd = i.byID.table.Slot(d.item)
	d.at, d.here = atlas.find(in, d.item, slot.State), slot.State
	switch content := d.here == forward.Live || d.here == forward.Frozen; {
	case d.odd != nil:
	case d.at.spot == atUnknown || d.at.spot == astray: // no shard of it is known, or none that counts
	case v.Record.List() && content:
		err = i.twin(ctx, v, d)
	}
	if d.at.twoHomes() && d.odd == nil && err == nil {
		err = i.homes(ctx, v, d)
	}
	return d, err
}

// homes reads both homes: the new one, the old one, and the new one again. So a move between two reads is not taken for a second item.
func (i *inspection) homes(ctx context.Context, v *passage.View, d *diagnosis) error {
	for n, home := range []forward.Home{forward.New, forward.Old, forward.New} {
		item, err := i.get(ctx, v, d.at, d.item, home)
		if err != nil {
			return err
		}
		slot, odd := i.byID.table.Slot(item)
		if odd != nil {
			d.odd = odd
			return nil
		}
		*[]*forward.State{&d.first, &d.old, &d.new}[n] = slot.State
	}
	return nil
}

// get reads what a home has, with strong consistency and within the rate.
func (t *trip) get(ctx context.Context, v *passage.View, at located, item place.Item, home forward.Home) (place.Item, error) {
	where := t.placeOf(v, at, item)
	request, err := where.Homes.Express(forward.Request[express.Item]{Home: home}, nil)
	if err != nil {
		return nil, err
	}
	var got place.Item
	err = t.send(ctx, t.reads, 1, func(ctx context.Context) (*types.ConsumedCapacity, error) {
		request.Get.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
		out, err := t.client.GetItem(ctx, request.Get, dispatch.Once, where.Lease.Bind)
		if err != nil {
			return nil, err
		}
		got = out.Item
		t.work.mu.Lock()
		defer t.work.mu.Unlock()
		t.result.ReadUnits += capacity(out.ConsumedCapacity)
		return out.ConsumedCapacity, nil
	})
	return got, err
}

func storedKey(item place.Item, name string) string {
	v, _ := item[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// overdue reports whether a request was not sent because its lease was over.
func overdue(err error) bool { return errors.Is(err, lease.ErrOver) }
