package engine

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

var returnValues = []string{"ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"}

// PutItem stores an item.
func (e *Engine) PutItem(ctx context.Context, in *PutItemInput) (*WriteOutput, error) {
	if err := checkWrite(&in.Request, in.TableName, "item", in.HasItem, &in.Expressions, &in.Returns, withoutCondition); err != nil {
		return nil, err
	}
	if in.valuesOrNone() != "NONE" && in.valuesOrNone() != "ALL_OLD" {
		return nil, invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	w, err := newPut(in)
	if err != nil {
		return nil, err
	}
	return e.write(ctx, w, *in.TableName, &in.Returns)
}

// UpdateItem changes an item, or creates it.
func (e *Engine) UpdateItem(ctx context.Context, in *UpdateItemInput) (*WriteOutput, error) {
	if err := checkWrite(&in.Request, in.TableName, "key", in.HasKey, &in.Expressions, &in.Returns, withoutUpdate); err != nil {
		return nil, err
	}
	w, err := newUpdate(in)
	if err != nil {
		return nil, err
	}
	return e.write(ctx, w, *in.TableName, &in.Returns)
}

// DeleteItem removes an item, if it is there.
func (e *Engine) DeleteItem(ctx context.Context, in *DeleteItemInput) (*WriteOutput, error) {
	if err := checkWrite(&in.Request, in.TableName, "key", in.HasKey, &in.Expressions, &in.Returns, withoutCondition); err != nil {
		return nil, err
	}
	if in.valuesOrNone() != "NONE" && in.valuesOrNone() != "ALL_OLD" {
		return nil, invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	w, err := newRemove(in)
	if err != nil {
		return nil, err
	}
	return e.write(ctx, w, *in.TableName, &in.Returns)
}

func checkWrite(r *Request, tableName *string, subject string, present bool, x *Expressions, returns *Returns, without string) error {
	var c constraints
	if present { // otherwise all that is wrong is told at once
		c.tableName(tableName)
		if err := c.err(); err != nil {
			return err
		}
		c.returns(returns, returnValues...)
	} else {
		c.consumedCapacity(returns.ConsumedCapacity)
		c.tableName(tableName)
		c.returnsBeside(returns, returnValues...)
	}
	c.legacy(x.Legacy, "")
	c.required(subject, present)
	if err := c.err(); err != nil {
		return err
	}
	if err := r.check(x); err != nil {
		return err
	}
	return cmp.Or(x.checkReferred(without), x.Legacy.checkOperator(r.BadValue))
}

// valuesOrNone returns ReturnValues, NONE by default.
func (r *Returns) valuesOrNone() string {
	if r.ReturnValues == "" {
		return "NONE"
	}
	return r.ReturnValues
}

// write runs a single write and answers it.
func (e *Engine) write(ctx context.Context, w *write, tableName string, returns *Returns) (*WriteOutput, error) {
	t, err := e.openTable(ctx, nameOf(tableName))
	if err != nil {
		return nil, err
	}
	defer t.release()
	if err := w.bind(t); err != nil {
		return nil, err
	}
	return e.runWrite(ctx, w, returns)
}

// runWrite runs a single write that fits its table, which is held, and answers it.
func (e *Engine) runWrite(ctx context.Context, w *write, returns *Returns) (*WriteOutput, error) {
	if err := e.run(ctx, w); err != nil {
		return nil, err
	}
	t := w.table
	metrics, err := e.collectionMetrics(t, w.item, returns.ItemCollectionMetrics)
	if err != nil {
		return nil, err
	}
	return &WriteOutput{
		Attributes:            w.returned(returns.valuesOrNone()),
		ConsumedCapacity:      w.bill.consumed(t.name, returns.ConsumedCapacity, undirected),
		ItemCollectionMetrics: metrics,
	}, nil
}

// returned is what ReturnValues asked for, nil if there is nothing of it.
func (w *write) returned(values string) attr.Raw {
	switch values {
	case "ALL_OLD":
		return w.before
	case "ALL_NEW":
		return w.after
	case "UPDATED_OLD":
		return w.touched(w.beforeItem)
	case "UPDATED_NEW":
		return w.touched(w.afterItem)
	}
	return nil
}

func (w *write) touched(it attr.Item) attr.Raw {
	if w.update == nil || it == nil {
		return nil
	}
	part := w.update.Touched(it)
	if len(part) == 0 {
		return nil
	}
	return attr.NewRaw(part)
}

// GetItem returns an item.
func (e *Engine) GetItem(ctx context.Context, in *GetItemInput) (*GetItemOutput, error) {
	var c constraints
	c.tableName(in.TableName)
	if err := c.err(); err != nil && in.HasKey {
		return nil, err
	}
	c.required("key", in.HasKey)
	c.consumedCapacity(in.ConsumedCapacity)
	c.legacy(in.Legacy, "")
	if err := c.err(); err != nil {
		return nil, err
	}
	if err := in.check(&in.Expressions); err != nil {
		return nil, err
	}
	projection, err := in.projection()
	if err != nil {
		return nil, err
	}
	t, err := e.openTable(ctx, nameOf(*in.TableName))
	if err != nil {
		return nil, err
	}
	defer t.release()
	if err := t.checkRead(in.Key, projection); err != nil {
		return nil, err
	}
	item, spent, err := e.getItem(ctx, t, in.Key, projection, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	return &GetItemOutput{Item: item, ConsumedCapacity: spent.consumed(t.name, in.ConsumedCapacity, undirected)}, nil
}

// getItem reads an item of a table by its key, nil if there is none.
func (e *Engine) getItem(ctx context.Context, t *table, item attr.Item, p *expr.Projection, consistent bool) (out attr.Raw, spent bill, err error) {
	key := t.itemKey(item)
	raw, found, err := e.get(t, key, consistent)
	if err != nil {
		return nil, spent, err
	}
	spent.table = readUnits(attr.Raw(raw).Size(), consistent)
	if throttle := e.admitRead(ctx, t, key, spent.table, consistent); throttle != nil {
		return nil, spent, throttled(throttle)
	}
	if found {
		out, err = project(raw, p)
	}
	if err == nil && consistent {
		err = e.store.AwaitDurable()
	}
	return out, spent, err
}

// projection parses the ProjectionExpression of a request that has no other
// expression; nil: everything.
func (in *GetItemInput) projection() (*expr.Projection, error) {
	if err := cmp.Or(in.checkReferred(""), asError(in.BadValue)); err != nil {
		return nil, err
	}
	return in.Expressions.projectionOnly()
}

func (x *Expressions) projectionOnly() (*expr.Projection, error) {
	if x.Projection == nil && !x.HasNames {
		return x.Legacy.projection()
	}
	scope, err := x.scope("")
	if err != nil {
		return nil, err
	}
	p, err := expr.ParseProjection(*x.Projection, scope)
	if err != nil {
		return nil, asError(err)
	}
	return p, asError(scope.Unused())
}

// checkRead checks a read by key against the table.
func (t *table) checkRead(key attr.Item, p *expr.Projection) error {
	if p != nil {
		if err := t.checkPaths(p.TopLevelAttributes()); err != nil {
			return err
		}
	}
	return t.checkKey(key)
}

// project returns the part of a stored item that a projection asks for.
func project(raw attr.Raw, p *expr.Projection) (attr.Raw, error) {
	if p == nil {
		return raw, nil
	}
	it, err := raw.Decode()
	if err != nil {
		return nil, err
	}
	return attr.NewRaw(p.Apply(it)), nil
}

// collectionMetrics measures the item collection that a write went to, if that
// was asked for and the table has local indexes, which is when its size is
// limited.
func (e *Engine) collectionMetrics(t *table, key attr.Item, asked string) (*ItemCollectionMetrics, error) {
	if asked != "SIZE" || !t.hasLocalIndex() {
		return nil, nil
	}
	size, err := e.rangeSize(t, 0, key)
	for _, x := range t.indexes {
		if x.local && err == nil {
			var more int
			more, err = e.rangeSize(t, x.id, key)
			size += more
		}
	}
	if err != nil {
		return nil, err
	}
	hash := t.keys.hash[0].Name
	gigabytes := math.Floor(float64(size) / (1 << 30))
	return &ItemCollectionMetrics{
		Key:     attr.NewItem(attr.Field{Name: hash, Value: key.Get(hash)}),
		LowerGB: gigabytes,
		UpperGB: gigabytes + 1,
	}, nil
}

func (e *Engine) rangeSize(t *table, index uint16, key attr.Item) (size int, err error) {
	it, err := e.store.Read(t.collection(index, key))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		size += attr.Raw(it.Value()).Size()
	}
	return size, nil
}
