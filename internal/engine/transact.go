package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

const (
	maxTransaction      = 100
	maxTransactionBytes = 4 << 20
)

// TransactWriteItems does up to a hundred writes, all of them or none.
func (e *Engine) TransactWriteItems(ctx context.Context, in *TransactWriteItemsInput) (*TransactWriteItemsOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	writes := make([]*write, len(in.Actions))
	names := make([]string, len(in.Actions))
	size := 0
	for i := range in.Actions {
		var err error
		if writes[i], err = in.Actions[i].write(); err != nil {
			return nil, err
		}
		writes[i].together = true
		names[i] = *in.Actions[i].tableName()
		size += writes[i].payload(in.Actions[i].expressions())
	}
	if size > maxTransactionBytes {
		return nil, errTransactionSize(size)
	}
	tables, err := e.openTables(ctx, slices.Clone(names))
	if err != nil {
		return nil, err
	}
	defer tables.release()
	if in.ClientRequestToken == nil {
		return e.transact(ctx, in, writes, names, tables)
	}
	return e.transactOnce(ctx, in, writes, names, tables)
}

// transactOnce does a transaction that has a token, unless it was done before.
func (e *Engine) transactOnce(ctx context.Context, in *TransactWriteItemsInput, writes []*write, names []string, tables openTables) (*TransactWriteItemsOutput, error) {
	token, request := *in.ClientRequestToken, in.fingerprint()
	earlier, err := e.tokens.begin(token, request)
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		return earlier.replay(in), nil
	}
	defer e.tokens.end(token)
	return e.transact(ctx, in, writes, names, tables)
}

func (in *TransactWriteItemsInput) validate() error {
	var c constraints
	if c.required("transactItems", in.HasActions) {
		c.length("transactItems", "TransactWriteItem", len(in.Actions), 1, maxTransaction)
	}
	c.text("clientRequestToken", in.ClientRequestToken, 1, 36, false)
	c.returns(&in.Returns)
	for i := range in.Actions {
		in.Actions[i].constrain(&c, i)
	}
	if err := c.err(); err != nil {
		return err
	}
	for i := range in.Actions {
		if in.Actions[i].members() != 1 {
			return invalid("TransactItems can only contain one of Check, Put, Update or Delete")
		}
	}
	return in.check()
}

func (a *TransactWrite) members() (n int) {
	for _, there := range [...]bool{a.Put != nil, a.Update != nil, a.Delete != nil, a.ConditionCheck != nil} {
		if there {
			n++
		}
	}
	return n
}

// constrain checks an action's parameters one by one.
func (a *TransactWrite) constrain(c *constraints, i int) {
	at := func(member, name string) string {
		return fmt.Sprintf("transactItems.%d.member.%s.%s", i+1, member, name)
	}
	one := func(member string, table *string, subject string, present bool, onFailure string) {
		if c.required(at(member, "tableName"), table != nil) {
			c.text(at(member, "tableName"), new(nameOf(*table)), 1, 255, true)
		}
		c.required(at(member, subject), present)
		c.enum(at(member, "returnValuesOnConditionCheckFailure"), onFailure, "ALL_OLD", "NONE")
	}
	if p := a.Put; p != nil {
		one("put", p.TableName, "item", p.HasItem, p.OnConditionFailure)
	}
	if u := a.Update; u != nil {
		one("update", u.TableName, "key", u.HasKey, u.OnConditionFailure)
		c.required(at("update", "updateExpression"), u.Expressions.Update != nil)
	}
	if d := a.Delete; d != nil {
		one("delete", d.TableName, "key", d.HasKey, d.OnConditionFailure)
	}
	if k := a.ConditionCheck; k != nil {
		one("conditionCheck", k.TableName, "key", k.HasKey, k.OnConditionFailure)
		c.required(at("conditionCheck", "conditionExpression"), k.Condition != nil)
	}
}

// tableName is the table the action goes to.
func (a *TransactWrite) tableName() *string {
	switch {
	case a.Put != nil:
		return a.Put.TableName
	case a.Update != nil:
		return a.Update.TableName
	case a.Delete != nil:
		return a.Delete.TableName
	default:
		return a.ConditionCheck.TableName
	}
}

// expressions are those of the action.
func (a *TransactWrite) expressions() *Expressions {
	switch {
	case a.Put != nil:
		return &a.Put.Expressions
	case a.Update != nil:
		return &a.Update.Expressions
	case a.Delete != nil:
		return &a.Delete.Expressions
	default:
		return &a.ConditionCheck.Expressions
	}
}

func (a *TransactWrite) write() (*write, error) {
	switch {
	case a.Put != nil:
		return newPut(a.Put)
	case a.Update != nil:
		w, err := newUpdate(a.Update)
		return w, withoutSize(err)
	case a.Delete != nil:
		return newRemove(a.Delete)
	default:
		return newCheck(a.ConditionCheck)
	}
}

// withoutSize is the error of an update in a transaction, which does not tell how
// large its expression is.
func withoutSize(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	const tooLong = "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"
	if strings.HasPrefix(e.Message, tooLong) {
		return invalid(tooLong)
	}
	return err
}

// transact takes the writes of a transaction to the disk.
func (e *Engine) transact(ctx context.Context, in *TransactWriteItemsInput, writes []*write, names []string, tables openTables) (*TransactWriteItemsOutput, error) {
	for i, w := range writes {
		// An empty key refuses the whole request, before any action is looked at.
		if err := w.checkEmptyKeys(tables[nameOf(names[i])]); err != nil {
			return nil, err
		}
	}
	var c cancellation
	for i, w := range writes {
		c.add(i, len(writes), w.bind(tables[nameOf(names[i])]))
		if err := c.err(); err != nil { // the service looks no further either
			return nil, err
		}
	}
	if hasDuplicateItems(writes) {
		return nil, errSameItem()
	}
	if err := e.runTransaction(ctx, writes, in.ClientRequestToken); err != nil {
		return nil, err
	}
	return e.answerTransaction(in, writes)
}

func errSameItem() *Error {
	return invalid("Transaction request cannot include multiple operations on one item")
}

func errTransactionSize(size int) *Error {
	return invalid("Transaction payload size cannot exceed %dMB. Payload Size: %d", maxTransactionBytes>>20, size)
}

// payload is what an action counts for the size of a transaction: what the
// request holds, not what is stored.
func (w *write) payload(x *Expressions) int {
	size := w.item.Size()
	for _, text := range [...]*string{x.Condition, x.Update} {
		if text != nil {
			size += len(*text)
		}
	}
	for i := range x.Values {
		size += x.Values[i].Value.Size()
	}
	return size
}

// runTransaction does a transaction, and waits until it is durable. A client that gives up while its items are held does not undo it, as
// on the service: it only does not hear how it ended.
func (e *Engine) runTransaction(ctx context.Context, writes []*write, token *string) error {
	var left error
	b, err := e.runTogether(ctx, writes, token, &left)
	if err == nil {
		err = b.Wait()
	} else {
		err = e.refuse(err)
	}
	if left != nil {
		return left
	}
	return err
}

// runTogether runs a transaction's writes under their items' locks. It goes on if ctx ends meanwhile, and sets left.
func (e *Engine) runTogether(ctx context.Context, writes []*write, token *string, left *error) (*store.Batch, error) {
	var held []*write
	defer func() { e.locks.unlockAll(held) }()
	if err := e.lockTransaction(ctx, writes, &held); err != nil {
		return nil, err
	}
	e.at(locked)
	if e.options.TransactionTime > 0 && !rest(ctx, e.options.TransactionTime) {
		*left = fmt.Errorf("hold the items of a transaction: %w", ctx.Err())
		ctx = context.WithoutCancel(ctx)
	}
	if err := e.room(writes...); err != nil {
		return nil, err
	}
	if err := e.decideTransaction(ctx, writes); err != nil {
		return nil, err
	}
	e.at(decided)
	if err := e.admitTransaction(ctx, writes); err != nil {
		return nil, err
	}
	return e.applyTransaction(ctx, writes, token)
}

// applyTransaction makes the writes happen along with their token.
func (e *Engine) applyTransaction(ctx context.Context, writes []*write, token *string) (*store.Batch, error) {
	b := e.store.NewBatch()
	if token != nil {
		e.tokens.record(b, *token, writes)
		defer func() {
			if !writes[0].applied { // for whatever reason
				e.tokens.revoke(*token)
			}
		}()
	}
	return b, e.apply(ctx, b, writes...)
}

// lockTransaction locks all items, or says which of them other transactions
// hold. Those that it locked it adds to held, in either case.
func (e *Engine) lockTransaction(ctx context.Context, writes []*write, held *[]*write) error {
	order := make([]int, len(writes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(writes[i].key, writes[j].key) })
	var c cancellation
	for _, i := range order {
		free, err := e.locks.lock(ctx, writes[i].key, true)
		if err != nil {
			return err
		}
		if free {
			*held = append(*held, writes[i])
		} else {
			c.conflict(i, len(writes))
		}
	}
	return c.err()
}

// decideTransaction decides all writes and collects every reason against them.
func (e *Engine) decideTransaction(ctx context.Context, writes []*write) error {
	var c cancellation
	for i, w := range writes {
		if err := w.load(e.store.View); err != nil {
			return err
		}
		c.add(i, len(writes), w.decide())
		w.bill.table *= 2 // a transaction prepares, then commits
	}
	if err := c.err(); err != nil {
		if throttled := throttleReasons(e.admitCancelled(ctx, writes)); throttled != nil {
			return throttled
		}
		return err
	}
	return nil
}

// admitTransaction admits all writes, or says which of them their partitions
// could not take.
func (e *Engine) admitTransaction(ctx context.Context, writes []*write) error {
	throttle, refused := e.admitAll(ctx, writes)
	return throttleReasons(throttle, refused)
}

// throttleReasons are the reasons of a transaction of which some actions were
// refused.
func throttleReasons(throttle *partition.Throttle, refused []bool) error {
	var c cancellation
	for i, was := range refused {
		if was {
			c.set(i, len(refused), cancels(throttle))
		}
	}
	return c.err()
}

func (e *Engine) answerTransaction(in *TransactWriteItemsInput, writes []*write) (*TransactWriteItemsOutput, error) {
	out := &TransactWriteItemsOutput{}
	for _, w := range writes {
		if err := e.addMetrics(&out.ItemCollectionMetrics, w, in.ItemCollectionMetrics); err != nil {
			return nil, err
		}
	}
	var spent tableBills
	for _, w := range writes {
		spent.add(w.table.name, w.bill)
	}
	out.ConsumedCapacity = spent.consumed(in.Returns.ConsumedCapacity, writeCapacity)
	return out, nil
}

// cancellation collects why a transaction does not go through, action by action.
type cancellation struct {
	reasons []CancellationReason
	other   error // something that is no action's fault
}

func (c *cancellation) set(i, n int, reason CancellationReason) {
	if c.reasons == nil {
		c.reasons = slices.Repeat([]CancellationReason{{Code: "None"}}, n)
	}
	c.reasons[i] = reason
}

// add takes what became of action i of n.
func (c *cancellation) add(i, n int, err error) {
	var answer *Error
	switch {
	case err == nil:
	case !errors.As(err, &answer):
		c.other = err
	case answer.Type == TypeConditionalCheckFailed:
		c.set(i, n, CancellationReason{Code: "ConditionalCheckFailed", Message: answer.Message, Item: answer.Item})
	case answer.Type == TypeDuplicateItem:
		c.set(i, n, CancellationReason{Code: "DuplicateItem", Message: answer.Message})
	case answer.Type == TypeValidation:
		c.set(i, n, CancellationReason{Code: "ValidationError", Message: answer.Message})
	default:
		c.other = err
	}
}

func (c *cancellation) conflict(i, n int) {
	c.set(i, n, CancellationReason{Code: "TransactionConflict", Message: "Transaction is ongoing for the item"})
}

func (c *cancellation) err() error {
	if c.other != nil {
		return c.other
	}
	if c.reasons == nil {
		return nil
	}
	codes := make([]string, len(c.reasons))
	for i, r := range c.reasons {
		codes[i] = r.Code
	}
	err := errorf(TypeTransactionCanceled, "Transaction cancelled, please refer cancellation reasons for specific reasons [%s]",
		strings.Join(codes, ", "))
	err.Reasons = c.reasons
	return err
}

// TransactGetItems reads up to a hundred items as of one moment.
func (e *Engine) TransactGetItems(ctx context.Context, in *TransactGetItemsInput) (*TransactGetItemsOutput, error) {
	gets, err := in.gets()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(gets))
	for i, g := range in.Gets {
		names[i] = *g.TableName
	}
	tables, err := e.openTables(ctx, slices.Clone(names))
	if err != nil {
		return nil, err
	}
	defer tables.release()
	var c cancellation
	for i := range gets {
		c.add(i, len(gets), gets[i].bind(tables[nameOf(names[i])]))
		if err := c.err(); err != nil { // the service looks no further either
			return nil, err
		}
	}
	return e.getTogether(ctx, in, gets)
}

// getTogether reads items that fit their tables, unless a transaction holds one.
func (e *Engine) getTogether(ctx context.Context, in *TransactGetItemsInput, gets []get) (*TransactGetItemsOutput, error) {
	keys := make([][]byte, len(gets))
	for i := range gets {
		keys[i] = gets[i].key
	}
	if hasDuplicates(keys) {
		return nil, errSameItem()
	}
	var c cancellation
	for i, key := range keys {
		if e.locks.inTransaction(key) {
			c.conflict(i, len(gets))
		}
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return e.transactGet(ctx, in, gets)
}

// get is one item that a TransactGetItems reads.
type get struct {
	item       attr.Item // the key
	projection *expr.Projection
	table      *table
	key        []byte
	units      float64
}

func (g *get) bind(t *table) error {
	g.table = t
	if err := t.checkRead(g.item, g.projection); err != nil {
		return err
	}
	g.key = t.itemKey(g.item)
	return nil
}

func (e *Engine) transactGet(ctx context.Context, in *TransactGetItemsInput, gets []get) (*TransactGetItemsOutput, error) {
	out := &TransactGetItemsOutput{Items: make([]attr.Raw, len(gets))}
	size, err := e.readGets(gets, out.Items)
	if err != nil {
		return nil, err
	}
	if size > maxTransactionBytes {
		return nil, errTransactionSize(size)
	}
	if err := throttleReasons(e.admitGets(ctx, gets)); err != nil {
		return nil, err
	}
	var spent tableBills
	for i := range gets {
		spent.add(gets[i].table.name, bill{table: gets[i].units})
	}
	out.ConsumedCapacity = spent.consumed(in.ConsumedCapacity, readCapacity)
	return out, e.store.AwaitDurable()
}

// readGets reads the items as of one moment, nil where there is none, and returns
// their size.
func (e *Engine) readGets(gets []get, items []attr.Raw) (size int, err error) {
	snapshot := e.store.Snapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	for i := range gets {
		g := &gets[i]
		stored, found, err := snapshot.Get(nil, g.key)
		if err != nil {
			return 0, err
		}
		raw := attr.Raw(stored)
		g.units = 2 * readUnits(raw.Size(), true)
		size += raw.Size()
		if !found {
			continue
		}
		if items[i], err = project(raw, g.projection); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// gets checks the request as far as that can be done without the tables.
func (in *TransactGetItemsInput) gets() ([]get, error) {
	var c constraints
	if c.required("transactItems", in.HasGets) {
		c.length("transactItems", "TransactGetItem", len(in.Gets), 1, maxTransaction)
	}
	c.consumedCapacity(in.ConsumedCapacity)
	for i, g := range in.Gets {
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if !c.required(at, g != nil) {
			continue
		}
		if c.required(at+".tableName", g.TableName != nil) {
			c.text(at+".tableName", new(nameOf(*g.TableName)), 1, 255, true)
		}
		c.required(at+".key", g.HasKey)
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	gets := make([]get, len(in.Gets))
	for i, g := range in.Gets {
		projection, err := g.projection()
		if err != nil {
			return nil, err
		}
		gets[i] = get{item: g.Key, projection: projection}
	}
	return gets, nil
}
