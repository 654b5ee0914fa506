package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// charterPrefix is what the partition keys of charters begin with.
var charterPrefix = layout.ControlKey{Role: layout.RoleCharter}.String()

// ready refuses a collection whose charter says that it has another layout. A mover never writes a charter: the programs
// come first, so one that is missing mostly means that the name is wrong.
func (m *Mover) ready(ctx context.Context, table *types.TableDescription) error {
	o := &m.options.Collection
	name := collectionName(&m.options)
	stored, found, err := m.charterOf(ctx, table, o.ControlTable, name)
	recorded := o.Recorded || o.Adaptive != nil || o.Movable
	m.moved.Store(stored.Moved)
	switch {
	case err != nil:
		return fmt.Errorf("charter of collection %q: %w", name, err)
	case !found && recorded:
		return fmt.Errorf("%w: collection %q has none: set Options.Collection.Name as the programs have it, and start them before the move, because they write it",
			heatsink.ErrCharter, name)
	case found && o.Movable && !stored.Movable:
		return fmt.Errorf("%w: the charter of collection %q is that of programs without Options.Movable, which would lose writes while items move: "+
			"set Movable in all programs, rewrite the charter with Ledgers.Rewrite in one of them, and wait a minute", heatsink.ErrCharter, name)
	case found && !recorded:
		if err := m.agrees(name, stored); err != nil {
			return err
		}
	}
	if o.Name != "" && o.Name != o.Index.Name && !o.Movable {
		if err := m.meet(ctx, table, o.ControlTable, o.Index.Name); err != nil {
			return err
		}
	}
	if !recorded {
		return nil
	}
	q := anyQuery
	if o.Layout.Bucket != layout.NoBucket {
		q.From = time.Now()
		q.To = q.From.Add(1)
	}
	if _, err = m.collection.Plan(ctx, q); o.Movable && errors.Is(err, heatsink.ErrQuery) {
		return nil // the charter and the record have been read, and have buckets that the query does not know of
	}
	if err != nil && errors.Is(err, ctx.Err()) {
		return ctx.Err()
	}
	return err
}

// charterOf reads the charter of a name, beside the items if controlTable is "". There is none in a table that takes no control items.
func (m *Mover) charterOf(ctx context.Context, table *types.TableDescription, controlTable, name string) (charter.Charter, bool, error) {
	return m.charterIn(ctx, table, m.options.Collection.Table, controlTable, name)
}

// charterIn is charterOf for another table with the same keys.
func (m *Mover) charterIn(ctx context.Context, table *types.TableDescription, in, controlTable, name string) (charter.Charter, bool, error) {
	o := &m.options.Collection
	if (layout.ControlKey{Role: layout.RoleCharter, Collection: name}).Validate() != nil ||
		controlTable == "" && kindOfAttribute(table, o.PartitionKey) != types.ScalarAttributeTypeS {
		return charter.Charter{}, false, nil
	}
	control := &adapt.Control{
		Client: m.client, Table: in, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Collection: name,
		Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil),
	}
	if controlTable != "" {
		control.Table, control.PartitionKey, control.SortKey = controlTable, adapt.TableKey, ""
	}
	return control.Charter(ctx)
}

// agrees returns an error if items that are moved here would be where the programs of a charter do not have them. The charter is
// that of this collection, or of another one that this move changes as well.
func (m *Mover) agrees(name string, stored charter.Charter) error {
	o := &m.options.Collection
	own := stored.Index.Name == o.Index.Name
	if stored.Index.PartitionKey != o.Index.PartitionKey || !own && o.Index.ShardAttribute != "" {
		return nil // the move does not change what it lists by
	}
	mine := charter.Charter{
		Layout: o.Layout, Older: o.Older, ShardBy: o.ShardBy, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Index: charter.Index(o.Index),
	}
	switch {
	case o.Adaptive != nil:
		mine.Widths = charter.Adaptive
	case o.Widths != nil:
		mine.Widths = charter.ByProgram
	}
	if o.Layout.Bucket != layout.NoBucket {
		units := [...]string{charter.RFC3339, charter.UnixSeconds, charter.UnixMilliseconds}
		mine.EventTime = charter.EventTime{Attribute: o.EventTime.Attribute, Unit: units[o.EventTime.Unit]}
	}
	mine, err := charter.New(mine)
	if err != nil {
		return err
	}
	like := stored // as far as it decides where items are
	like.Older, like.Table, like.VersionAttribute = mine.Older, mine.Table, mine.VersionAttribute
	if !own {
		like.Index = mine.Index
	}
	if err = charter.Compare(mine, like); err == nil && stored.Widths == charter.Adaptive { // its ledgers have another name
		err = fmt.Errorf("%w: its widths are in ledgers of that name", heatsink.ErrCharter)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("the table has the charter of collection %q, which index %s lists by %q, and the move would put its items elsewhere: "+
		"move that collection (Options.Collection.Name %q and Recorded or Adaptive as in its programs, --name %s), "+
		"or, if no program uses it any more, delete the item %q: %w",
		name, stored.Index.Name, stored.Index.PartitionKey, name, name, layout.ControlKey{Role: layout.RoleCharter, Collection: name}, err)
}

// meet looks at the charter of another collection, and returns an error if the move would contradict it.
func (m *Mover) meet(ctx context.Context, table *types.TableDescription, controlTable, name string) error {
	stored, found, err := m.charterOf(ctx, table, controlTable, name)
	switch {
	case err != nil:
		return fmt.Errorf("charter of collection %q, which is in the table as well: %w", name, err)
	case !found:
		return nil
	}
	return m.agrees(name, stored)
}

// look returns an error if an item is the charter of another collection that the move would contradict. Control items have
// names that cannot be asked for, so a scan is what finds them.
func (w *work) look(ctx context.Context, item place.Item) error {
	id, ok := item[w.options.Collection.PartitionKey].(*types.AttributeValueMemberS)
	if !ok || !layout.IsControl(id.Value) {
		return nil
	}
	key, err := layout.ParseControlKey(id.Value)
	if err != nil || key.Role != layout.RoleCharter || w.options.Collection.ControlTable == "" && key.Collection == collectionName(&w.options) {
		return nil // no charter, or the own one
	}
	return w.meet(ctx, w.table, "", key.Collection)
}
