package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

const (
	maxBatchGet      = 100
	maxBatchWrite    = 25
	maxBatchGetBytes = 16 << 20
)

// BatchGetItem returns up to a hundred items of any tables.
func (e *Engine) BatchGetItem(ctx context.Context, in *BatchGetItemInput) (*BatchGetItemOutput, error) {
	projections, err := in.validate()
	if err != nil {
		return nil, err
	}
	g := batchGet{in: in, most: maxBatchGetBytes}
	if in.More != nil {
		g.most = unaskedBytes
	}
	for i := range in.Tables {
		if err := e.batchGetTable(ctx, &g, &in.Tables[i], projections[i]); err != nil {
			return nil, err
		}
	}
	if g.refusal != nil && !g.processed {
		return nil, throttled(g.refusal)
	}
	if slices.ContainsFunc(in.Tables, func(b BatchGetTable) bool { return b.ConsistentRead }) {
		if err := e.store.AwaitDurable(); err != nil {
			return nil, err
		}
	}
	return &g.out, nil
}

// batchGet is a BatchGetItem as far as it has come.
type batchGet struct {
	in        *BatchGetItemInput
	out       BatchGetItemOutput
	bytes     int // returned
	most      int // of them; see fits
	asked     bool
	processed bool
	refusal   *partition.Throttle // the first key's that its partition could not take
}

// unaskedBytes is how much is returned before it is asked whether there is room
// for more. The first items always are.
const unaskedBytes = 1 << 20

// fits reports whether another item may be returned.
func (g *batchGet) fits(ctx context.Context, size int) bool {
	if g.bytes+size <= g.most {
		return true
	}
	if !g.asked && g.in.More != nil {
		g.asked = true
		if g.in.More(ctx) {
			g.most = maxBatchGetBytes
		}
	}
	return g.bytes+size <= g.most
}

// errMapKeys is the constraint on the names of a batch's tables.
const errMapKeys = "Map keys must satisfy constraint: [Member must have length less than or equal to 255, " +
	"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"

// wellNamed reports whether tables have names that tables can have.
func wellNamed[T any](tables []T, name func(*T) string) bool {
	for i := range tables {
		if n := nameOf(name(&tables[i])); len(n) < 3 || len(n) > 255 || !isName(n) {
			return false
		}
	}
	return true
}

// echo is the request's tables as faults show them.
func (in *BatchGetItemInput) echo() string {
	if in.Echo == nil {
		return ""
	}
	return in.Echo(in.Tables)
}

// validate checks everything that can be checked without the tables.
func (in *BatchGetItemInput) validate() ([]*expr.Projection, error) {
	if len(in.Tables) == 0 {
		return nil, invalid("The requestItems parameter is required for BatchGetItem")
	}
	var c constraints
	if !wellNamed(in.Tables, func(t *BatchGetTable) string { return t.TableName }) {
		c.fault("'"+in.echo()+"'", "requestItems", errMapKeys)
	}
	c.consumedCapacity(in.ConsumedCapacity)
	if err := c.err(); err != nil {
		return nil, err
	}
	total := 0
	for i := range in.Tables {
		b := &in.Tables[i]
		if len(b.Keys) == 0 {
			return nil, invalid("1 validation error detected: Value at 'RequestItems.%s.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1",
				b.TableName)
		}
		if len(b.Keys) > maxBatchGet {
			return nil, invalid("1 validation error detected: Value at 'RequestItems.%s.member.Keys' failed to satisfy constraint: Member must have length less than or equal to %d",
				b.TableName, maxBatchGet)
		}
		c.legacy(b.Legacy, "requestItems."+b.TableName+".member.")
		total += len(b.Keys)
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	if total > maxBatchGet {
		return nil, invalid("Too many items requested for the BatchGetItem call")
	}
	for i := range in.Tables {
		if err := in.check(&in.Tables[i].Expressions); err != nil {
			return nil, err
		}
	}
	if in.BadValue != nil {
		return nil, asError(in.BadValue)
	}
	projections := make([]*expr.Projection, len(in.Tables))
	for i := range in.Tables {
		var err error
		if projections[i], err = in.Tables[i].projectionOnly(); err != nil {
			return nil, err
		}
	}
	return projections, nil
}

func errDuplicateKeys() *Error { return invalid("Provided list of item keys contains duplicates") }

func (e *Engine) batchGetTable(ctx context.Context, g *batchGet, b *BatchGetTable, p *expr.Projection) error {
	t, err := e.openTable(ctx, nameOf(b.TableName))
	keys := make([][]byte, len(b.Keys))
	if err != nil { // two keys that are the same come first, if they are so without a schema
		for i, key := range b.Keys {
			keys[i] = attr.NewRaw(key)
		}
		if hasDuplicates(keys) {
			return errDuplicateKeys()
		}
		return err
	}
	defer t.release()
	for i, key := range b.Keys {
		if err := t.checkRead(key, p); err != nil {
			return err
		}
		keys[i] = t.itemKey(key)
	}
	if hasDuplicates(keys) {
		return errDuplicateKeys()
	}
	response := BatchGetResponse{TableName: b.TableName}
	left := *b
	left.Keys = nil
	var spent bill
	for i, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		stored, found, err := e.get(t, key, b.ConsistentRead)
		if err != nil {
			return err
		}
		raw := attr.Raw(stored)
		if !g.fits(ctx, raw.Size()) {
			left.Keys = append(left.Keys, b.Keys[i])
			continue
		}
		units := readUnits(raw.Size(), b.ConsistentRead)
		if throttle := e.admitRead(ctx, t, key, units, b.ConsistentRead); throttle != nil {
			g.refusal = cmp.Or(g.refusal, throttle)
			left.Keys = append(left.Keys, b.Keys[i])
			continue
		}
		g.processed = true
		spent.table += units
		if !found {
			continue
		}
		g.bytes += raw.Size()
		if raw, err = project(raw, p); err != nil {
			return err
		}
		response.Items = append(response.Items, raw)
	}
	g.out.Responses = append(g.out.Responses, response)
	if left.Keys != nil {
		g.out.Unprocessed = append(g.out.Unprocessed, left)
	}
	if c := spent.consumed(t.name, g.in.ConsumedCapacity, undirected); c != nil {
		g.out.ConsumedCapacity = append(g.out.ConsumedCapacity, c)
	}
	return nil
}

// hasDuplicates reports whether a key is there twice.
func hasDuplicates(keys [][]byte) bool {
	sorted := slices.Clone(keys)
	slices.SortFunc(sorted, bytes.Compare)
	return len(slices.CompactFunc(sorted, bytes.Equal)) < len(keys)
}

// BatchWriteItem puts and deletes up to 25 items of any tables.
func (e *Engine) BatchWriteItem(ctx context.Context, in *BatchWriteItemInput) (*BatchWriteItemOutput, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	var names, targets []string
	var writes []*write
	for i := range in.Tables {
		b := &in.Tables[i]
		names = append(names, b.TableName)
		for j := range b.Writes {
			w, err := newBatchWrite(&b.Writes[j])
			if err != nil {
				return nil, err
			}
			writes, targets = append(writes, w), append(targets, nameOf(b.TableName))
		}
	}
	tables, err := e.openTables(ctx, names)
	if err != nil {
		return nil, err
	}
	defer tables.release()
	for i, w := range writes {
		t := tables[targets[i]]
		if err := cmp.Or(t.checkBatched(w.item), w.bind(t)); err != nil {
			return nil, err
		}
	}
	if hasDuplicateItems(writes) {
		return nil, invalid("Provided list of item keys contains duplicates")
	}
	turnedAway, err := e.runBatch(ctx, writes)
	if err != nil {
		return nil, err
	}
	return e.answerBatch(in, writes, turnedAway)
}

// echo is the request's tables as faults show them, in Java's notation.
func (in *BatchWriteItemInput) echo() string {
	var tables []string
	for i := range in.Tables {
		t := &in.Tables[i]
		var writes []string
		for j := range t.Writes {
			w := &t.Writes[j]
			kind, member, it := "put", "item", w.Item
			if w.Delete {
				kind, member, it = "delete", "key", w.Key
			}
			var fields []string
			for k := range it {
				fields = append(fields, it[k].Name+"="+expr.Describe(&it[k].Value))
			}
			writes = append(writes, fmt.Sprintf("WriteRequest(%sRequest=%sRequest(%s={%s}))", kind, strings.ToUpper(kind[:1])+kind[1:], member, strings.Join(fields, ", ")))
		}
		tables = append(tables, t.TableName+"=["+strings.Join(writes, ", ")+"]")
	}
	return "{" + strings.Join(tables, ", ") + "}"
}

func (in *BatchWriteItemInput) validate() error {
	if len(in.Tables) == 0 {
		return invalid("The requestItems parameter is required for BatchWriteItem")
	}
	var c constraints
	c.returns(&in.Returns)
	if len(c.faults) == 0 && !wellNamed(in.Tables, func(t *BatchWriteTable) string { return t.TableName }) {
		c.fault("'"+in.echo()+"'", "requestItems", errMapKeys)
	}
	total := 0
	for i := range in.Tables {
		b := &in.Tables[i]
		total += len(b.Writes)
		if n := len(b.Writes); n == 0 || n > maxBatchWrite {
			shown := strings.TrimSuffix(strings.Repeat("WriteRequest, ", n), ", ")
			c.fault(fmt.Sprintf("'{%s=[%s]}'", b.TableName, shown), "requestItems",
				"Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]")
			continue
		}
		for j := range b.Writes {
			if w := &b.Writes[j]; w.NoKey || w.NoItem {
				at := fmt.Sprintf("requestItems.%s.member.%d.member.", b.TableName, j+1)
				c.required(at+"deleteRequest.key", !w.NoKey)
				c.required(at+"putRequest.item", !w.NoItem)
			}
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	if total > maxBatchWrite {
		return invalid("Too many items requested for the BatchWriteItem call")
	}
	if err := in.check(); err != nil {
		return err
	}
	for i := range in.Tables {
		for j := range in.Tables[i].Writes {
			if w := &in.Tables[i].Writes[j]; w.Put == w.Delete {
				return invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
			}
		}
	}
	return asError(in.BadValue)
}

func newBatchWrite(b *BatchWrite) (*write, error) {
	if b.Put {
		return newPut(&PutItemInput{Item: b.Item})
	}
	return newRemove(&DeleteItemInput{Key: b.Key})
}

func hasDuplicateItems(writes []*write) bool {
	keys := make([][]byte, len(writes))
	for i, w := range writes {
		keys[i] = w.key
	}
	return hasDuplicates(keys)
}

// runBatch does the writes, and returns those it could not because a transaction
// held their items or their partitions could not take them. That it could do none
// for want of capacity is an error.
func (e *Engine) runBatch(ctx context.Context, writes []*write) (turnedAway map[*write]bool, err error) {
	turnedAway = map[*write]bool{}
	b, err := e.runAll(ctx, writes, turnedAway)
	if err != nil {
		return nil, e.refuse(err)
	}
	return turnedAway, b.Wait()
}

// runAll runs writes under their items' locks.
func (e *Engine) runAll(ctx context.Context, writes []*write, turnedAway map[*write]bool) (*store.Batch, error) {
	held := slices.Clone(writes)
	slices.SortFunc(held, func(a, b *write) int { return bytes.Compare(a.key, b.key) })
	taken := 0 // of held; the rest is not locked yet
	defer func() { e.locks.unlockAll(held[:taken]) }()
	for _, w := range held {
		free, err := e.locks.lock(ctx, w.key, false)
		if err != nil {
			return nil, err
		}
		if !free {
			turnedAway[w] = true
			continue
		}
		held[taken] = w
		taken++
	}
	e.at(locked)
	if err := e.room(held[:taken]...); err != nil {
		return nil, err
	}
	var accepted []*write
	var refusal *partition.Throttle
	for _, w := range writes {
		if turnedAway[w] {
			continue
		}
		err := w.load(e.store.View)
		if err == nil {
			err = w.decide()
		}
		if err != nil {
			return nil, err
		}
		e.at(decided)
		if throttle := e.admit(ctx, w); throttle != nil {
			refusal = cmp.Or(refusal, throttle)
			turnedAway[w] = true
			continue
		}
		accepted = append(accepted, w)
	}
	if refusal != nil && len(accepted) == 0 {
		return nil, throttled(refusal)
	}
	b := e.store.NewBatch()
	return b, e.apply(ctx, b, accepted...)
}

func (e *Engine) answerBatch(in *BatchWriteItemInput, writes []*write, turnedAway map[*write]bool) (*BatchWriteItemOutput, error) {
	out := &BatchWriteItemOutput{}
	for i := range in.Tables {
		b := &in.Tables[i]
		left := BatchWriteTable{TableName: b.TableName}
		var spent bill
		var t *table
		for j := range b.Writes {
			w := writes[0]
			writes = writes[1:]
			t = w.table
			if turnedAway[w] {
				left.Writes = append(left.Writes, b.Writes[j])
				continue
			}
			spent.add(w.bill)
			if err := e.addMetrics(&out.ItemCollectionMetrics, w, in.ItemCollectionMetrics); err != nil {
				return nil, err
			}
		}
		if left.Writes != nil {
			out.Unprocessed = append(out.Unprocessed, left)
		}
		if c := spent.consumed(t.name, in.ConsumedCapacity, undirected); c != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, c)
		}
	}
	return out, nil
}

// addMetrics adds the metrics of the collection that a write went to, once for
// each collection.
func (e *Engine) addMetrics(to *map[string][]*ItemCollectionMetrics, w *write, asked string) error {
	list := (*to)[w.table.name]
	hash := w.table.keys.hash[0].Name
	measured := func(m *ItemCollectionMetrics) bool { return m.Key.Get(hash).Equal(w.item.Get(hash)) }
	if slices.ContainsFunc(list, measured) {
		return nil
	}
	m, err := e.collectionMetrics(w.table, w.item, asked)
	if m == nil || err != nil {
		return err
	}
	if *to == nil {
		*to = map[string][]*ItemCollectionMetrics{}
	}
	(*to)[w.table.name] = append(list, m)
	return nil
}
