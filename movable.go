package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// movable does the operations on single items of a collection whose items may move: see Options.Movable. Where an item is depends
// on the collection's record, which every operation looks at first.
type movable struct {
	ready   func(context.Context) error // whether the charter agrees
	book    *passage.Book
	carrier *carry.Carrier
	schema  *place.Schema
	table   express.Table
	sender  *sender
	chooser *place.Chooser
	list    bool // items are appended and never found by id
	hint    passage.Hint
}

// newMovable returns the operations of a movable collection, nil if it is none. The error wraps ErrOptions.
func newMovable(client Client, o *Options, control *adapt.Control, charter *adapt.Book, schema *place.Schema, s *sender, chooser *place.Chooser) (*movable, error) {
	if !o.Movable {
		return nil, nil
	}
	table, err := express.NewTable(o.Table, o.PartitionKey, o.SortKey)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	m := &movable{schema: schema, table: table, sender: s, ready: charter.Ready, chooser: chooser, list: o.Layout.Strategy == layout.Random}
	m.carrier = &carry.Carrier{Client: client, Reads: s.reads, Writes: s.writes}
	m.book = passage.NewBook(passage.Options{
		Control: control, Table: o.Table, Own: passage.Arrangement{Layout: o.Layout, Clock: schema.EventTime.Unit}, Moved: charter.Moved, Logger: o.Logger,
		Follow: func(table string) *adapt.Control {
			return &adapt.Control{
				Client: control.Client, Table: table, PartitionKey: o.PartitionKey, SortKey: o.SortKey, Collection: control.Collection,
				Reads: control.Reads, Writes: control.Writes,
			}
		},
	})
	return m, nil
}

// view returns what the record says, if the charter allows this process to use the collection.
func (m *movable) view(ctx context.Context) (*passage.View, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	return m.book.View(ctx)
}

// at returns where an item is, or moves from and to, by what the process knows of the record, with its two homes. They are the same
// if the item does not move. key is the item's key in the table with the logical partition key.
func (m *movable) at(v *passage.View, key Item) (carry.Place, [2]place.Home, error) {
	r := &v.Record
	at := carry.Place{Phase: r.Stage.Phase, Generation: uint64(r.Generation), Lease: v.Lease()}
	var homes [2]place.Home
	logical, ok := key[m.schema.PartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return at, homes, fmt.Errorf("%w: partition key %q is %s, want a non-empty string", ErrItem, m.schema.PartitionKey, attribute.Describe(key[m.schema.PartitionKey]))
	}
	err := r.Check(logical.Value)
	if err != nil {
		return at, homes, fmt.Errorf("%w: %w", ErrItem, err)
	}
	schema := m.schema
	if clock, timed := r.Clock(); timed {
		schema = schema.Timed(clock) // the record's, because it is the same for all programs
	}
	if homes[forward.Old], err = schema.HomeIn(r.Now.For(logical.Value), key); err != nil {
		return at, homes, err
	}
	if next := r.Announced; next != nil && next.Timed() { // an id that gets no bucket must not be put any more
		if _, err = m.schema.Timed(next.Clock).HomeIn(next.For(logical.Value), key); err != nil {
			return at, homes, err
		}
	}
	homes[forward.New] = homes[forward.Old]
	in := [2]string{v.Table(&r.Now), v.Table(&r.Now)}
	if at.Phase != forward.Settled {
		if homes[forward.New], err = schema.HomeIn(r.Next.For(logical.Value), key); err != nil {
			return at, homes, err
		}
		in[forward.New] = v.Table(r.Next)
	}
	if homes[forward.Old] == homes[forward.New] && in[forward.Old] == in[forward.New] {
		at.Phase = forward.Settled
	}
	at.Homes = express.Homes{
		Table: m.table, Old: m.schema.KeyAt(key, homes[forward.Old]), New: m.schema.KeyAt(key, homes[forward.New]),
		OldTable: in[forward.Old], NewTable: in[forward.New],
	}
	return at, homes, nil
}

// locate returns the keys under which an item may be stored, the new home first. A key alone does not tell the table, so items that may be
// in another one than Options.Table are refused.
func (m *movable) locate(ctx context.Context, like Item) ([]Item, error) {
	if err := m.checkList("locate"); err != nil {
		return nil, err
	}
	key, err := m.schema.KeyOf(like)
	if err != nil {
		return nil, err
	}
	v, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	at, _, err := m.at(v, key)
	if err != nil {
		return nil, err
	}
	for _, home := range []forward.Home{forward.New, forward.Old} {
		unused := at.Phase == forward.Settling && home == forward.Old
		if in := at.Homes.In(home).Name(); in != m.sender.table && !unused {
			return nil, fmt.Errorf("%w: locate: the item is in table %s, or moves between that and another one, and a key does not tell the table: "+
				"use the collection's own operations until the move is finished and Options.Table names the new table", ErrOptions, in)
		}
	}
	switch {
	case at.Phase == forward.Settled:
		return []Item{at.Homes.Old}, nil
	case at.Phase == forward.Settling:
		return []Item{at.Homes.New}, nil
	}
	return []Item{at.Homes.New, at.Homes.Old}, nil
}

// decode is decodeStored. It knows the layouts that the record had when it was last read, and the process's own before that.
func (m *movable) decode(stored Item) (Item, layout.Place, error) {
	if key, ok := stored[m.schema.PartitionKey].(*types.AttributeValueMemberS); ok && layout.IsControl(key.Value) {
		return nil, layout.Place{}, ErrNotFound
	}
	slot, err := m.table.Slot(stored)
	switch {
	case err != nil:
		return nil, layout.Place{}, fmt.Errorf("%w: %w", ErrItem, err)
	case slot.Content == nil:
		return nil, layout.Place{}, ErrNotFound
	}
	parse := *m.schema
	if known := m.book.Layouts(); len(known) > 0 {
		parse.Layout, parse.Older = known[0], known[1:]
	}
	return parse.Decode(context.Background(), slot.Content)
}

// staleTimes is how often an operation begins again. A record changes once an hour, so that the last of them means damage.
const staleTimes = 5

// operate runs an operation on the item with this key, and returns where the item is.
func (m *movable) operate(ctx context.Context, operation string, key Item, u *express.User, repeatable bool) (carry.Result, place.Home, error) {
	if err := m.checkList(operation); err != nil {
		return carry.Result{}, place.Home{}, err
	}
	v, err := m.view(ctx)
	var stale error
	for range staleTimes {
		if err != nil {
			return carry.Result{}, place.Home{}, err
		}
		at, homes, err := m.at(v, key)
		if err != nil {
			return carry.Result{}, place.Home{}, err
		}
		result, err := m.attempt(ctx, v, at, homes, key, u, repeatable)
		if errors.Is(err, carry.ErrStale) {
			stale = err
			if v, err = m.book.Renew(ctx, v); err != nil {
				return result, homes[forward.Old], err
			}
			continue
		}
		if err != nil {
			return result, homes[forward.Old], m.failure(operation, bothTables(at), homes[forward.Old], err)
		}
		return result, homes[result.Home], m.failure(operation, result.Table, homes[result.Home], result.Refused)
	}
	return carry.Result{}, place.Home{}, m.unexplained(fmt.Sprintf("%s of key %s", operation, attribute.DescribeKey(key, m.schema.PartitionKey)), stale)
}

// bothTables names the tables that an item may be in, for an error that is not known to be of one of them.
func bothTables(at carry.Place) string {
	before, now := at.Homes.In(forward.Old).Name(), at.Homes.In(forward.New).Name()
	if before == now || !moves(at.Phase) {
		return before
	}
	return before + " or " + now
}

// attempt runs an operation once, at the place of a view.
func (m *movable) attempt(ctx context.Context, v *passage.View, at carry.Place, homes [2]place.Home, key Item, u *express.User, repeatable bool) (result carry.Result, err error) {
	if !moves(at.Phase) {
		return m.carrier.Operate(ctx, at, u, forward.OldFirst, repeatable)
	}
	sort, err := m.sortOf(key)
	if err != nil {
		return result, err
	}
	shard := homes[forward.Old].ShardKey
	guess, decided := m.hint.Guess(&v.Record, shard, sort, u.Kind()), false
	if guess.Both {
		result, decided, err = m.carrier.ReadBoth(ctx, at, u)
	}
	if !decided {
		result, err = m.carrier.Operate(ctx, at, u, guess.First, repeatable)
	}
	if err == nil {
		m.hint.Saw(&v.Record, shard, sort, u.Kind(), guess, result.Sight)
	}
	return result, err
}

// moves reports whether an item may be in either home in a phase.
func moves(p forward.Phase) bool { return p != forward.Settled && p != forward.Settling }

// sortOf returns the text of the sort key of a key, which is in DynamoDB's order.
func (m *movable) sortOf(key Item) (string, error) {
	sort, err := sortkey.Of(key[m.schema.SortKey])
	if err != nil {
		return "", fmt.Errorf("%w: sort key %s: %w", ErrItem, m.schema.SortKey, err)
	}
	return sort.Text, nil
}

// unexplained is the error of an operation that was stale each time that it began again.
func (m *movable) unexplained(operation string, stale error) error {
	if errors.Is(stale, lease.ErrOver) {
		return fmt.Errorf("%s in table %s: it takes longer than the minute for which the collection's record may be used, each of %d times: "+
			"do less at a time, or find out what is slow, or whose clock is wrong: %w", operation, m.sender.table, staleTimes, stale)
	}
	return fmt.Errorf("%w: %s in table %s: %w, but the collection's record does not say so: run heatsink move --verify", ErrLedger, operation, m.sender.table, stale)
}

// partOf returns what parts of transactions have as their table: a name that none can have, and that tells collections apart.
func (m *movable) partOf() *string {
	name := m.sender.table + ": a movable collection, whose parts heatsink.Transaction sends"
	return &name
}

// failure returns the error of a request in the library's terms, nil for nil.
func (m *movable) failure(operation, table string, home place.Home, err error) error {
	if err == nil {
		return nil
	}
	if lost, ok := errors.AsType[*carry.LostError](err); ok {
		err = &UnknownOutcomeError{lost.Err}
	}
	return m.sender.failure(&request{operation: operation, Home: home, in: table}, 1, err)
}

// checkList refuses what an append-only list does not have.
func (m *movable) checkList(operation string) error {
	if !m.list {
		return nil
	}
	return fmt.Errorf("%w: %s: the collection is Movable and its layout is Random, so that items are appended and listed only: "+
		"set Layout.Strategy to layout.Calculated for items that are found by id", ErrOptions, operation)
}

// appendItem is writer.put for a list. w is the writer of the collection.
func (m *movable) appendItem(ctx context.Context, w *writer, item Item, edits []func(*dynamodb.PutItemInput)) (done Written[Item], err error) {
	v, unread := m.view(ctx)
	for range staleTimes {
		if unread != nil {
			return done, unread
		}
		if err = m.checkKey(v, item); err != nil {
			return done, err
		}
		if done, err = m.appender(w, v).put(ctx, item, edits); !notSigned(err) {
			return done, err
		}
		v, unread = m.book.Renew(ctx, v)
	}
	return done, err
}

// appendItems is batchPut for a list.
func (m *movable) appendItems(ctx context.Context, w *writer, items int, encode func(i int) (Item, error)) error {
	errs, left := make([]error, items), make([]int, items)
	for i := range left {
		left[i] = i
	}
	v, err := m.view(ctx)
	for range staleTimes {
		if err != nil || len(left) == 0 {
			break
		}
		failed := batchPut(ctx, m.appender(w, v), len(left), func(i int) (Item, error) {
			item, err := encode(left[i])
			if err == nil {
				err = m.checkKey(v, item)
			}
			return item, err
		})
		var again []int
		for _, i := range left {
			errs[i] = nil
		}
		if batch, ok := errors.AsType[*BatchError](failed); ok {
			for _, f := range batch.Failed {
				errs[left[f.Position]] = f.Err
				if notSigned(f.Err) {
					again = append(again, left[f.Position])
				}
			}
		}
		if left = again; len(left) > 0 {
			v, err = m.book.Renew(ctx, v)
		}
	}
	if err != nil {
		for _, i := range left {
			errs[i] = err
		}
	}
	return batchError("BatchPut", errs)
}

// notSigned reports whether nothing was written because the lease was over.
func notSigned(err error) bool {
	_, unknown := errors.AsType[*UnknownOutcomeError](err)
	return errors.Is(err, lease.ErrOver) && !unknown
}

// checkKey refuses an item whose key one of the arrangements refuses.
func (m *movable) checkKey(v *passage.View, item Item) error {
	if key, ok := item[m.schema.PartitionKey].(*types.AttributeValueMemberS); ok {
		if err := v.Record.Check(key.Value); err != nil {
			return fmt.Errorf("%w: %w", ErrItem, err)
		}
	}
	return nil
}

// appender returns the writer of the shards that take new items, within the lease of a view. Nobody else puts an item with the same sort
// key, and no item of a list ever changes. So a put needs no condition: where it comes too late, it writes what is there already.
func (m *movable) appender(w *writer, v *passage.View) *writer {
	in := appendsTo(&v.Record)
	schema, sender, own := *m.schema, *w.sender, *w
	schema.Layout, schema.Hashed = in.Layout, true
	if in.Varies() {
		schema.Widths = in
	}
	sender.client = leased{sender.client, v.Lease()}
	own.schema, own.sender, own.movable = &schema, &sender, nil
	own.placer = place.NewPlacer(&schema, m.chooser)
	own.watcher = &watcher{schema: &schema}
	return &own
}

// appendsTo returns the arrangement whose shards take the new items of a list. While a move is split, some processes still read the old
// shards alone, so that only these take items. Of a list that becomes narrower, some of them stay, and take all.
func appendsTo(r *passage.Record) passage.Arrangement {
	switch r.Stage.Phase {
	case forward.Closed, forward.Settling:
		return *r.Next
	case forward.Split:
		narrower := r.Now
		narrower.Layout.Shards = r.Next.Layout.Shards
		if 0 < narrower.Layout.Shards && narrower.Layout.Shards < r.Now.Layout.Shards && !r.Now.Varies() && narrower.Equal(*r.Next) {
			return narrower
		}
	}
	return r.Now
}

// leased is a client whose writes of a list are bound by a lease.
type leased struct {
	Client
	lease lease.Lease
}

func (c leased) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return c.Client.PutItem(ctx, in, append(o, c.lease.Bind)...)
}

func (c leased) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return c.Client.BatchWriteItem(ctx, in, append(o, c.lease.Bind)...)
}

// put is writer.put.
func (m *movable) put(ctx context.Context, item Item, edits []func(*dynamodb.PutItemInput)) (Written[Item], error) {
	in := &dynamodb.PutItemInput{TableName: &m.sender.table, Item: m.schema.WithKeyOf(item, item)}
	for _, edit := range edits {
		edit(in)
	}
	in.TableName, in.Item = &m.sender.table, m.schema.WithKeyOf(item, in.Item)
	u, err := m.table.Put(in)
	return m.write(ctx, "PutItem", item, u, err, !wantsOld(in.ReturnValues))
}

// update is writer.update. It creates an item that is not there, as DynamoDB does.
func (m *movable) update(ctx context.Context, like Item, edits []func(*dynamodb.UpdateItemInput)) (Written[Item], error) {
	key, err := m.schema.KeyOf(like)
	if err != nil {
		return Written[Item]{}, err
	}
	in := &dynamodb.UpdateItemInput{TableName: &m.sender.table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(in)
	}
	in.TableName, in.Key = &m.sender.table, key
	u, err := m.table.Update(in)
	return m.write(ctx, "UpdateItem", like, u, err, idempotent(in) && !wantsOld(in.ReturnValues))
}

// delete is writer.delete. Deleting an item that is not there succeeds, as in DynamoDB.
func (m *movable) delete(ctx context.Context, like Item, edits []func(*dynamodb.DeleteItemInput)) (Written[Item], error) {
	key, err := m.schema.KeyOf(like)
	if err != nil {
		return Written[Item]{}, err
	}
	in := &dynamodb.DeleteItemInput{TableName: &m.sender.table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(in)
	}
	in.TableName, in.Key = &m.sender.table, key
	u, err := m.table.Delete(in)
	return m.write(ctx, "DeleteItem", like, u, err, !wantsOld(in.ReturnValues))
}

// write runs the user's write, if it was not refused, on the item with the key of like.
func (m *movable) write(ctx context.Context, operation string, like Item, u *express.User, refused error, repeatable bool) (Written[Item], error) {
	if err := m.checkList(operation); err != nil {
		return Written[Item]{}, err
	}
	if refused != nil {
		return Written[Item]{}, fmt.Errorf("%w: %w", ErrItem, refused)
	}
	key, err := m.schema.KeyOf(like)
	if err != nil {
		return Written[Item]{}, err
	}
	result, home, err := m.operate(ctx, operation, key, u, repeatable)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		m.schema.RestoreLike(failed.Item, like)
	}
	if err != nil {
		return Written[Item]{}, err
	}
	m.schema.RestoreLike(result.Returned, like)
	return Written[Item]{ShardKey: home.ShardKey, Shard: home.Shard, Attributes: result.Returned}, nil
}

// get is finder.get.
func (m *movable) get(ctx context.Context, like Item, edits []func(*dynamodb.GetItemInput)) (Item, error) {
	key, err := m.schema.KeyOf(like)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.GetItemInput{TableName: &m.sender.table, Key: maps.Clone(key)}
	for _, edit := range edits {
		edit(in)
	}
	in.TableName, in.Key = &m.sender.table, key
	u, err := m.table.Get(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrItem, err)
	}
	result, _, err := m.operate(ctx, "GetItem", key, u, true)
	switch {
	case err != nil:
		return nil, err
	case result.Outcome != forward.Found:
		return nil, ErrNotFound
	}
	m.schema.RestoreLike(result.Content, like)
	return result.Content, nil
}

// find reads the whole item with a key with strong consistency, and returns where it is. It has its stored partition key. It is nil if
// there is none.
func (m *movable) find(ctx context.Context, key Item) (Item, shelf, error) {
	strong := true
	u, err := m.table.Get(&dynamodb.GetItemInput{TableName: &m.sender.table, Key: key, ConsistentRead: &strong})
	if err != nil {
		return nil, shelf{}, err
	}
	result, home, err := m.operate(ctx, "GetItem", key, u, true)
	return result.Content, shelf{result.Table, home.ShardKey}, err
}

// batchPut puts items one by one, a few at a time: a BatchWriteItem has no conditions. Of items with the same key it puts the last.
func (m *movable) batchPut(ctx context.Context, items int, encode func(i int) (Item, error)) error {
	var groups keyGroups[int]
	errs := make([]error, items)
	encoded := make([]Item, items)
	for i := range errs {
		if encoded[i], errs[i] = encode(i); errs[i] == nil {
			errs[i] = groups.add(m.schema, encoded[i], i)
		}
	}
	inParallel(len(groups.groups), func(i int) {
		same := groups.groups[i]
		_, err := m.put(ctx, encoded[same[len(same)-1]], nil)
		for _, position := range same {
			errs[position] = err
		}
	})
	return batchError("BatchPut", errs)
}

// lookUp reads items as get does. Those that do not move are read many at a time. An item with a mark is read again by itself.
func (m *movable) lookUp(ctx context.Context, f *finder, all []*lookup) {
	v, err := m.view(ctx)
	if refused := m.checkList("BatchGet"); refused != nil {
		err = refused
	}
	var groups keyGroups[*lookup]
	for _, l := range all {
		if l.err == nil {
			l.err = err
		}
		if l.err == nil {
			l.err = groups.add(m.schema, l.key, l)
		}
	}
	var settled []*sought
	var apart []*lookup
	for _, same := range groups.groups {
		one := same[0]
		at, homes, err := m.at(v, one.key)
		switch {
		case err != nil:
			one.err = err
		case at.Phase == forward.Settled:
			name, _ := m.schema.KeyText(at.Homes.Old) // it is as good a key as the logical one
			s := &sought{key: at.Homes.Old, home: homes[forward.Old], name: name}
			one.wanted = []*sought{s}
			settled = append(settled, s)
		default:
			apart = append(apart, one)
		}
	}
	requests := slices.Collect(slices.Chunk(settled, maxBatchGet))
	if len(requests) > 0 {
		in := groups.groups[0][0].in // all are the same, but for the key
		own, sender := *f, *f.sender
		sender.table = v.Table(&v.Record.Now) // all that do not move have their home there
		own.sender = &sender
		inParallel(len(requests), func(i int) { own.fetchAll(ctx, requests[i], in, v.Lease().Bind) })
	}
	for _, same := range groups.groups {
		if one := same[0]; len(one.wanted) > 0 && !m.take(one) {
			apart = append(apart, one)
		}
	}
	inParallel(len(apart), func(i int) { apart[i].item, apart[i].err = m.get(ctx, apart[i].like, nil) })
	for _, same := range groups.groups {
		for _, l := range same[1:] {
			l.item, l.err = maps.Clone(same[0].item), same[0].err
		}
	}
}

// take takes what was read of an item. It is false if that does not tell.
func (m *movable) take(l *lookup) bool {
	s := l.wanted[0]
	if s.err != nil {
		l.err = s.err
		return !errors.Is(s.err, lease.ErrOver)
	}
	slot, err := m.table.Slot(s.item)
	switch {
	case err != nil:
		l.err = err
	case slot.State.Forwarded():
		return false
	case slot.State != forward.Live:
		l.err = ErrNotFound
	default:
		l.item = slot.Content
		m.schema.RestoreLike(l.item, l.like)
	}
	return true
}
