package move

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// byID moves the items of a movable collection, whose own keys are spread and who are found by their ids.
type byID struct {
	mover   *Mover
	table   express.Table
	control *adapt.Control
	book    *passage.Book
}

// newByID returns the mover of a movable collection. It sends nothing.
func newByID(m *Mover) (*byID, error) {
	o := &m.options.Collection
	table, err := express.NewTable(o.Table, o.PartitionKey, o.SortKey)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", heatsink.ErrOptions, err)
	}
	control := &adapt.Control{
		Client: m.client, Table: o.Table, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Collection: collectionName(&m.options),
		Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil),
	}
	if o.ControlTable != "" {
		control.Table, control.PartitionKey, control.SortKey = o.ControlTable, adapt.TableKey, ""
	}
	book := passage.NewBook(passage.Options{Control: control, Table: o.Table, Own: passage.Arrangement{Layout: o.Layout, Clock: place.TimeUnit(o.EventTime.Unit)}, Moved: m.moved.Load, Logger: m.options.Logger})
	return &byID{mover: m, table: table, control: control, book: book}, nil
}

// target returns where items are to be moved, given where they are. It is nil if the options do not say.
func (m *byID) target(now passage.Arrangement) (*passage.Arrangement, error) {
	o := &m.mover.options
	to := passage.Arrangement{Layout: o.To, Widths: maps.Clone(o.Widths), Prefixes: maps.Clone(o.Prefixes), Table: m.into(now)}
	if o.To.Shards == 0 { // then the strategy has no effect, but programs know by it how items are found
		to.Layout.Strategy = now.Layout.Strategy
	}
	switch {
	case o.To != (layout.Layout{}):
	case !o.varies() && o.Into == "":
		return nil, nil
	case !o.varies(): // the table alone changes
		to = now
		to.Table = m.into(now)
	default: // only these keys
		to = passage.Arrangement{Layout: now.Layout, Clock: now.Clock, Widths: merged(now.Widths, o.Widths), Prefixes: merged(now.Prefixes, o.Prefixes), Table: now.Table}
		if to.Layout.Shards == 0 {
			to.Layout.Format.BareZero = true // other keys stay as they are
		}
		if !to.Layout.Format.BareZero {
			return nil, fmt.Errorf("%w: Widths or Prefixes gives some keys their own number of shards, but the present layout is %q, in which all keys have a suffix: "+
				"name a layout with BareZero in To as well, such as --to %q, to which all keys move", heatsink.ErrOptions, now.Layout.String(), bareZero(now.Layout).String())
		}
	}
	if to.Clock = place.TimeUnit(o.Collection.EventTime.Unit); now.Timed() { // all programs have the one of the record
		to.Clock = now.Clock
	}
	if err := to.Validate(); err != nil {
		return nil, fmt.Errorf("%w: the layout to move to: %w", heatsink.ErrOptions, err)
	}
	return &to, nil
}

// bareZero returns a layout whose shard 0 is the key as it is.
func bareZero(l layout.Layout) layout.Layout {
	l.Format.BareZero = true
	return l
}

// into returns the table that items are to be moved into, as an arrangement has it.
func (m *byID) into(now passage.Arrangement) string {
	o := &m.mover.options
	switch o.Into {
	case "":
		return now.Table
	case passage.TableName(o.Collection.Table):
		return ""
	}
	return o.Into
}

// name returns the table of an arrangement, as requests name it.
func (m *byID) name(table string) string {
	return passage.Sibling(m.mover.options.Collection.Table, table)
}

// trip is one Plan, Run, Back or Verify of a movable collection under way.
type trip struct {
	*work
	*byID
	carrier *carry.Carrier
}

// newTrip returns a trip over a described table.
func (m *byID) newTrip(table *types.TableDescription) *trip {
	t := &trip{work: m.mover.newWork(table), byID: m}
	once := dispatch.Retry{Attempts: 1} // the trip itself decides how fast it tries again
	t.carrier = &carry.Carrier{Client: &tally{Client: m.mover.client, add: t.addIndex}, Reads: dispatch.New(once, nil, nil), Writes: dispatch.New(once, nil, nil)}
	return t
}

// addIndex adds write units of indexes to the result.
func (t *trip) addIndex(units float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result.IndexUnits += units
}

// placeOf returns an item's homes as the record has them.
func (m *byID) placeOf(v *passage.View, at located, item place.Item) carry.Place {
	o := &m.mover.options.Collection
	key := func(partition string) place.Item {
		return place.Item{o.PartitionKey: text(partition), o.SortKey: item[o.SortKey]}
	}
	p := carry.Place{
		Homes: express.Homes{Table: m.table, Old: key(at.old), New: key(at.new), OldTable: m.name(at.oldIn), NewTable: m.name(at.newIn)},
		Phase: v.Record.Stage.Phase, Generation: uint64(v.Record.Generation), Lease: v.Lease(),
	}
	if !at.twoHomes() {
		p.Phase = forward.Settled
	}
	return p
}

// current returns what the record says now, by a read that is sent after the call, and whether no request of an earlier stage can arrive any more.
func (m *byID) current(ctx context.Context) (v *passage.View, waited bool, err error) {
	stamp, err := m.book.Stamp(ctx)
	if err != nil {
		return nil, false, err
	}
	if v, err = m.book.View(ctx); err != nil {
		return nil, false, err
	}
	return v, v.Waited(stamp), nil
}
