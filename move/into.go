package move

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/passage"
)

// admitTables describes all tables of a record and of the arrangement that items are to move to, nil if there is none. It refuses those that
// items cannot move to or from. own is the table of the collection, which was admitted. Tables have names as passage.Arrangement has them.
func (m *byID) admitTables(ctx context.Context, own *types.TableDescription, r *passage.Record, to *passage.Arrangement) (map[string]*types.TableDescription, error) {
	tables := map[string]*types.TableDescription{"": own}
	for _, a := range []*passage.Arrangement{&r.Now, r.Next, to} {
		if a == nil || tables[a.Table] != nil {
			continue
		}
		table, err := m.admitOther(ctx, m.name(a.Table), own)
		if err != nil {
			return nil, fmt.Errorf("table %s, which items are to be in: %w", m.name(a.Table), err)
		}
		tables[a.Table] = table
	}
	if r.Next != nil {
		to = r.Next
	}
	if to != nil && to.Table != r.Now.Table {
		if err := admitIndexes(tables[r.Now.Table], tables[to.Table]); err != nil {
			return nil, fmt.Errorf("table %s, which items are to be in: %w", m.name(to.Table), err)
		}
	}
	return tables, nil
}

// admitOther describes another table, and refuses one that is not like the collection's own.
func (m *byID) admitOther(ctx context.Context, name string, own *types.TableDescription) (*types.TableDescription, error) {
	table, err := m.mover.describeTable(ctx, name)
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent {
		return nil, fmt.Errorf("%w: there is no such table: create it first, with the keys of table %s: %w", ErrUnsupported, aws.ToString(own.TableName), err)
	}
	if err != nil {
		return nil, err
	}
	keys := keysOf(own.KeySchema)
	if got := keysOf(table.KeySchema); !equal(got, keys) {
		return nil, fmt.Errorf("%w: it has the key %q, and table %s has %q: want the same names", ErrUnsupported, got, aws.ToString(own.TableName), keys)
	}
	for _, key := range keys {
		if got, want := kindOfAttribute(table, key), kindOfAttribute(own, key); got != want {
			return nil, fmt.Errorf("%w: its key %q has the type %s, and that of table %s has %s: want the same", ErrUnsupported, key, got, aws.ToString(own.TableName), want)
		}
	}
	if err := m.admitShape(table); err != nil {
		return nil, err
	}
	return table, m.admitTTL(ctx, name)
}

// admitIndexes refuses a table with an index that may refuse an item of another table. DynamoDB refuses an item if the key attribute of an
// index has another type, or is too long for it. An item that is frozen could not be copied then.
func admitIndexes(from, to *types.TableDescription) error {
	type role struct {
		kind types.KeyType
		name string
	}
	known := map[role]bool{}
	for _, x := range from.GlobalSecondaryIndexes {
		for _, k := range x.KeySchema {
			known[role{k.KeyType, aws.ToString(k.AttributeName)}] = true
		}
	}
	for _, k := range from.KeySchema {
		known[role{k.KeyType, aws.ToString(k.AttributeName)}] = true
	}
	for _, x := range to.GlobalSecondaryIndexes {
		for _, k := range x.KeySchema {
			name := aws.ToString(k.AttributeName)
			fits := known[role{types.KeyTypeRange, name}] || k.KeyType == types.KeyTypeHash && known[role{types.KeyTypeHash, name}] // a sort key is shorter
			if !fits || kindOfAttribute(from, name) != kindOfAttribute(to, name) {
				return fmt.Errorf("%w: its index %s has the key attribute %q of type %s, which no index of table %s checks: an item that does not fit could not be copied; "+
					"create the index when the move is over", ErrUnsupported, aws.ToString(x.IndexName), name, kindOfAttribute(to, name), aws.ToString(from.TableName))
			}
		}
	}
	return nil
}

// controlIn returns the control items of another table.
func (m *byID) controlIn(table string) *adapt.Control {
	c := m.control
	return &adapt.Control{
		Client: c.Client, Table: m.name(table), PartitionKey: c.PartitionKey, SortKey: c.SortKey, Collection: c.Collection,
		Reads: dispatch.New(dispatch.Retry{}, nil, nil), Writes: dispatch.New(dispatch.Retry{}, nil, nil),
	}
}

// prepare makes the table that items are to move into say where the collection's record is, before the first of them moves: see
// passage.Seat.
func (m *byID) prepare(ctx context.Context, v *passage.View, to *passage.Arrangement) error {
	if to.Table == "" || to.Table == v.Record.Now.Table {
		return nil
	}
	return m.point(ctx, v, to)
}

// point makes another table say where the collection's record is, if it does not.
func (m *byID) point(ctx context.Context, v *passage.View, to *passage.Arrangement) error {
	own, there, found, err := m.charters(ctx, v, to)
	if err != nil {
		return err
	}
	into := m.controlIn(to.Table)
	if err := unsupported(m.book.Point(ctx, into, &v.Record, *to)); err != nil {
		return err
	}
	if found && slices.Equal(own.Needs, there.Needs) {
		return nil
	}
	return into.Rewrite(ctx, own) // it says that the record must be found
}

// vacant returns an error if a table that items are to move into cannot say where the record is.
func (m *byID) vacant(ctx context.Context, v *passage.View, to *passage.Arrangement) error {
	if _, _, _, err := m.charters(ctx, v, to); err != nil {
		return err
	}
	return unsupported(m.book.Vacant(ctx, m.controlIn(to.Table), &v.Record))
}

func unsupported(err error) error {
	if errors.Is(err, passage.ErrStage) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}

// charters returns the charters of the collection in its own table and in another one, which must be alike before the move begins. found is
// false if the other one has none.
func (m *byID) charters(ctx context.Context, v *passage.View, to *passage.Arrangement) (own, there charter.Charter, found bool, err error) {
	into := m.controlIn(to.Table)
	own, found, err = m.control.Charter(ctx)
	if err != nil || !found { // meet has found it
		return own, there, false, errors.Join(err, m.lostCharter(found))
	}
	there, found, err = into.Charter(ctx)
	if err != nil {
		return own, there, false, fmt.Errorf("charter of collection %q in table %s: %w", into.Collection, into.Table, err)
	}
	begun := v.Record.Next != nil || v.Record.Now.Table == to.Table
	if found && !begun { // else a program may have written it anew
		if err := errors.Join(charter.Compare(own, there), charter.Compare(there, own)); err != nil {
			return own, there, false, fmt.Errorf("%w: table %s has the charter of another collection with this name: %w", ErrUnsupported, into.Table, err)
		}
	}
	return own, there, found, nil
}

func (m *byID) lostCharter(found bool) error {
	if found {
		return nil
	}
	return fmt.Errorf("the charter of collection %q is gone: start the programs, which write it", m.control.Collection)
}

// settleIn makes the table that has all items the one with the record, and their layout the only one that programs may have.
func (m *byID) settleIn(ctx context.Context, v *passage.View) error {
	now := &v.Record.Now
	if err := m.point(ctx, v, now); err != nil { // somebody may have deleted control items there
		return err
	}
	into := m.controlIn(now.Table)
	written, found, err := into.Charter(ctx)
	if err == nil && !found { // somebody has just deleted it
		written, _, err = m.control.Charter(ctx)
	}
	if err == nil { // first, so that what a program is told to have is never refused
		err = rewrite(ctx, into, written, *now)
	}
	if err != nil {
		return fmt.Errorf("charter of collection %q in table %s: %w", into.Collection, into.Table, err)
	}
	return m.handOver(ctx, now.Table)
}

// handOver hands the record over to another table: see passage.Seat. It goes on where another one has stopped.
func (m *byID) handOver(ctx context.Context, table string) error {
	err := m.book.Handover(ctx, m.controlIn(table))
	if errors.Is(err, passage.ErrStage) {
		return fmt.Errorf("%w: %w", ErrStage, err)
	}
	return err
}
