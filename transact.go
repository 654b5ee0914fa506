package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/version"
)

// transactions builds the parts of callers' own transactions. It sends nothing.
type transactions struct {
	schema   *place.Schema
	movable  *movable // nil if items stay where they are
	placer   *place.Placer
	versions *version.Keeper
	ttl      expiry.TTL
	table    string
}

// put returns a put as part of a transaction.
func (t *transactions) put(ctx context.Context, item Item, edits []func(*types.Put)) (part types.TransactWriteItem, err error) {
	if err := t.check(); err != nil {
		return part, err
	}
	put := &types.Put{TableName: &t.table, Item: t.schema.WithKeyOf(item, t.ttl.Give(item))}
	for _, edit := range edits {
		edit(put)
	}
	put.TableName, put.Item = &t.table, t.schema.WithKeyOf(item, put.Item)
	if t.movable != nil {
		put.TableName = t.movable.partOf() // see Transaction
		return types.TransactWriteItem{Put: put}, nil
	}
	p, err := t.placer.Place(ctx, put.Item, put.ConditionExpression != nil)
	if err != nil {
		return part, err
	}
	put.Item = t.placer.Stored(p, put.Item)
	return types.TransactWriteItem{Put: put}, nil
}

// update returns an update as part of a transaction.
func (t *transactions) update(ctx context.Context, like Item, edits []func(*types.Update)) (part types.TransactWriteItem, err error) {
	update, err := partFor(ctx, t, like, edits, func(u *types.Update) (**string, *Item) { return &u.TableName, &u.Key })
	if err != nil {
		return part, err
	}
	assigned := compose.Assignments(aws.ToString(update.UpdateExpression), update.ExpressionAttributeNames, update.ExpressionAttributeValues)
	if err := t.schema.CheckAssignments(assigned, like); err != nil {
		return part, err
	}
	if t.schema.Index != "" && t.schema.Listed(like) {
		_, listing, err := t.placer.Listing(ctx, like, assigned)
		if err != nil {
			return part, err
		}
		if err := compose.Set(listing, &update.UpdateExpression, &update.ExpressionAttributeNames, &update.ExpressionAttributeValues); err != nil {
			return part, err
		}
	}
	return types.TransactWriteItem{Update: update}, nil
}

// delete returns a delete as part of a transaction.
func (t *transactions) delete(ctx context.Context, like Item, edits []func(*types.Delete)) (types.TransactWriteItem, error) {
	del, err := partFor(ctx, t, like, edits, func(d *types.Delete) (**string, *Item) { return &d.TableName, &d.Key })
	return types.TransactWriteItem{Delete: del}, err
}

// condition returns a condition as part of a transaction.
func (t *transactions) condition(ctx context.Context, like Item, edits []func(*types.ConditionCheck)) (types.TransactWriteItem, error) {
	check, err := partFor(ctx, t, like, edits, func(c *types.ConditionCheck) (**string, *Item) { return &c.TableName, &c.Key })
	return types.TransactWriteItem{ConditionCheck: check}, err
}

// partFor returns a part for one item, after the edits. The edits see the table and the key, which where returns, but
// cannot change them.
func partFor[P any](ctx context.Context, t *transactions, like Item, edits []func(*P), where func(*P) (table **string, key *Item)) (*P, error) {
	key, err := t.key(ctx, like)
	if err != nil {
		return nil, err
	}
	part := new(P)
	table, own := where(part)
	*table, *own = &t.table, maps.Clone(key)
	for _, edit := range edits {
		edit(part)
	}
	*table, *own = &t.table, key
	if t.movable != nil {
		*table = t.movable.partOf() // see Transaction
	}
	return part, nil
}

// check refuses transactions in a collection with versions. A part that is built before another write has an older
// version, so DynamoDB would cancel it without a reason that the caller could see.
func (t *transactions) check() error {
	if t.movable != nil {
		return t.movable.checkList("a transaction")
	}
	if !t.versions.Keeps() {
		return nil
	}
	return fmt.Errorf("%w: transactions are not possible with Options.Version %q: leave Version out, or write items one by one", ErrOptions, t.versions.Name())
}

// key returns the table's key of an item. It returns ErrScattered if the item may be in several shards.
func (t *transactions) key(ctx context.Context, like Item) (Item, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.movable != nil {
		return t.schema.KeyOf(like)
	}
	return t.schema.OnlyKey(ctx, like, "a transaction cannot look for the item: send the write by itself")
}

// Transaction is a transaction with items of movable collections, whose places only heatsink knows. It is one TransactWriteItems, and
// may have parts of other collections and other tables as well:
//
//	take, err := accounts.TransactUpdate(ctx, Account{ID: "a"}, …)
//	give, err := accounts.TransactUpdate(ctx, Account{ID: "b"}, …)
//	var t heatsink.Transaction
//	t.Add(accounts, take, give)
//	err = t.Write(ctx)
//
// A part of a movable collection names no table that could be, so that DynamoDB refuses it if it is sent by itself. The zero Transaction
// has no parts.
type Transaction struct {
	parts []transactPart
}

type transactPart struct {
	of   *movable // nil if the part is sent as it is
	part types.TransactWriteItem
}

// Transacted is a Collection of any type.
type Transacted interface{ transacted() *core }

func (c *Collection[T]) transacted() *core { return c.core }

// Add adds parts: of a collection, from its TransactPut, TransactUpdate, TransactDelete or TransactCheck, or of no collection if of is
// nil.
func (t *Transaction) Add(of Transacted, parts ...types.TransactWriteItem) {
	var m *movable
	if of != nil {
		m = of.transacted().movable
	}
	for _, part := range parts {
		t.parts = append(t.parts, transactPart{m, part})
	}
}

// Write does what all parts say, or nothing. While nothing moves that is one request. While items move, a part may take up to three
// single requests before.
//
// A transaction that DynamoDB cancels is a TransactionCanceledException of the SDK. Its CancellationReasons are in the order of the parts,
// and their items have logical keys. Conflicts and throttles are retried. If an answer is lost and no later one shows what became
// of the transaction, the error is an *UnknownOutcomeError. Without a part of a movable collection it is ErrOptions: send the parts with
// the SDK then.
func (t *Transaction) Write(ctx context.Context) error {
	first := slices.IndexFunc(t.parts, func(p transactPart) bool { return p.of != nil })
	if first < 0 {
		return fmt.Errorf("%w: none of the transaction's %d parts is of a movable collection: send them with TransactWriteItems", ErrOptions, len(t.parts))
	}
	views := map[*movable]*passage.View{}
	var stale error
	for range staleTimes {
		actions, err := t.actions(ctx, views)
		if err != nil {
			return err
		}
		err = t.parts[first].of.carrier.Transact(ctx, actions)
		if !errors.Is(err, carry.ErrStale) {
			return t.outcome(err)
		}
		stale = err
		for m, v := range views {
			if views[m], err = m.book.Renew(ctx, v); err != nil {
				return err
			}
		}
	}
	return t.parts[first].of.unexplained(fmt.Sprintf("transaction of %d parts", len(t.parts)), stale)
}

// tableOf returns the table of a part.
func tableOf(part types.TransactWriteItem) string {
	switch {
	case part.Put != nil:
		return aws.ToString(part.Put.TableName)
	case part.Update != nil:
		return aws.ToString(part.Update.TableName)
	case part.Delete != nil:
		return aws.ToString(part.Delete.TableName)
	case part.ConditionCheck != nil:
		return aws.ToString(part.ConditionCheck.TableName)
	}
	return ""
}

// actions returns the parts by what is known of where their items are. It fills in views.
func (t *Transaction) actions(ctx context.Context, views map[*movable]*passage.View) ([]carry.Action, error) {
	actions := make([]carry.Action, len(t.parts))
	for i, p := range t.parts {
		if p.of == nil {
			actions[i].Other = p.part
			continue
		}
		if name := tableOf(p.part); name != *p.of.partOf() {
			return nil, fmt.Errorf("%w: part %d of the transaction is for table %q, but was added with a movable collection of table %q, which has not made it: "+
				"make it with the collection's TransactPut, TransactUpdate, TransactDelete or TransactCheck, or add a part of another table with Add(nil, part)",
				ErrOptions, i, name, p.of.sender.table)
		}
		user, err := p.of.table.Part(p.part)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w: %w", i, ErrItem, err)
		}
		if views[p.of] == nil {
			if views[p.of], err = p.of.view(ctx); err != nil {
				return nil, err
			}
		}
		key, err := p.of.schema.KeyOf(user.Key())
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		if actions[i], err = p.of.action(views[p.of], key, user); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return actions, nil
}

// action returns what a user asks of the item with a key, as part of a transaction.
func (m *movable) action(v *passage.View, key Item, u *express.User) (carry.Action, error) {
	at, homes, err := m.at(v, key)
	a := carry.Action{At: at, User: u}
	if err != nil || !moves(at.Phase) {
		return a, err
	}
	sort, err := m.sortOf(key)
	if err != nil {
		return a, err
	}
	shard := homes[forward.Old].ShardKey
	guess := m.hint.Guess(&v.Record, shard, sort, u.Kind())
	a.First = guess.First
	a.Saw = func(s forward.Sight) { m.hint.Saw(&v.Record, shard, sort, u.Kind(), guess, s) }
	return a, nil
}

// outcome returns the error of a transaction in the library's terms, with logical keys.
func (t *Transaction) outcome(err error) error {
	if lost, ok := errors.AsType[*carry.LostError](err); ok {
		return &UnknownOutcomeError{lost.Err}
	}
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(canceled.CancellationReasons) != len(t.parts) {
		return err
	}
	for i, p := range t.parts {
		if p.of == nil {
			continue
		}
		if user, bad := p.of.table.Part(p.part); bad == nil {
			p.of.schema.RestoreLike(canceled.CancellationReasons[i].Item, user.Key())
		}
	}
	return err
}
