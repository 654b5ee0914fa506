package adapt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/layout"
)

// Item is an item or a key in the form of the AWS SDK.
type Item = map[string]types.AttributeValue

// Client is the part of the SDK's client that control items take.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// TableKey is the partition key of a table for control items alone.
const TableKey = "pk"

// Control are the control items of a collection: one charter, and a ledger and an accumulator for each key that needs them.
type Control struct {
	Client                Client
	Table                 string // the data's own table, or one for control items alone
	PartitionKey, SortKey string // of that table; the sort key may be ""
	Collection            string // the collection's name
	Reads, Writes         *dispatch.Dispatcher

	sort atomic.Int32 // which of sortKeys the table's sort key takes: found out by the first read
}

// sortKeys are the sort keys that a control item may have. Options do not say of which type the table's sort key is, so the
// first read tries them one after another.
var sortKeys = [...]types.AttributeValue{
	&types.AttributeValueMemberS{Value: "-"},
	&types.AttributeValueMemberN{Value: "0"},
	&types.AttributeValueMemberB{Value: []byte("-")},
}

// key returns the key of a control item.
func (c *Control) key(k layout.ControlKey) Item {
	k.Collection = c.Collection
	key := Item{c.PartitionKey: &types.AttributeValueMemberS{Value: k.String()}}
	if c.SortKey != "" {
		key[c.SortKey] = sortKeys[c.sort.Load()]
	}
	return key
}

// get reads a control item: nil if there is none. Each attempt has the options.
func (c *Control) get(ctx context.Context, k layout.ControlKey, strong bool, options ...func(*dynamodb.Options)) (Item, error) {
	options = append(slices.Clip(options), dispatch.Once)
	in := &dynamodb.GetItemInput{TableName: &c.Table, ConsistentRead: aws.Bool(strong), ReturnConsumedCapacity: meter.Of(ctx).Wanted()}
	var out *dynamodb.GetItemOutput
	_, err := c.Reads.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) (err error) {
		in.Key = c.key(k)
		out, err = c.Client.GetItem(ctx, in, options...)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("GetItem %s %q: %w", c.Table, c.name(k), err)
	}
	meter.Read(ctx, 0, out.ConsumedCapacity)
	return out.Item, nil
}

// probe reads a control item, and finds out of which type the table's sort key is.
func (c *Control) probe(ctx context.Context, k layout.ControlKey, options ...func(*dynamodb.Options)) (Item, error) {
	var first error
	for i := range sortKeys {
		if i > 0 {
			c.sort.Store(int32(i))
		}
		item, err := c.get(ctx, k, true, options...)
		if err == nil || !dispatch.Invalid(err) {
			return item, err
		}
		if first = errors.Join(first, err); c.SortKey == "" {
			break
		}
	}
	c.sort.Store(0)
	return nil, fmt.Errorf("table %s with the keys %q and %q takes no control items: name its keys as they are, or, if its partition key is no string, "+
		"set Options.ControlTable to a table for them: %w", c.Table, c.PartitionKey, c.SortKey, first)
}

func (c *Control) name(k layout.ControlKey) string {
	k.Collection = c.Collection
	return k.String()
}

// values returns the attributes of a control item that are not its key.
func (c *Control) values(item Item) ([]ledger.Value, error) {
	values := make([]ledger.Value, 0, len(item))
	for name, v := range item {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			if name != c.PartitionKey && name != c.SortKey {
				values = append(values, ledger.Value{Name: name, Text: v.Value})
			}
		case *types.AttributeValueMemberN:
			if name != c.SortKey {
				values = append(values, ledger.Value{Name: name, Number: true, Text: v.Value})
			}
		default:
			if name != c.SortKey {
				return nil, fmt.Errorf("%w: attribute %q is a %T, want a string or a number", ledger.ErrRecord, name, v)
			}
		}
	}
	return values, nil
}

// item returns a control item with its key.
func (c *Control) item(k layout.ControlKey, values []ledger.Value) Item {
	item := c.key(k)
	for _, v := range values {
		if v.Number {
			item[v.Name] = &types.AttributeValueMemberN{Value: v.Text}
		} else {
			item[v.Name] = &types.AttributeValueMemberS{Value: v.Text}
		}
	}
	return item
}

// parse reads a ledger's item. No item is the record of a key that has none.
func (c *Control) parse(item Item, absent ledger.Record) (ledger.Record, error) {
	if item == nil {
		return absent, nil
	}
	values, err := c.values(item)
	if err != nil {
		return ledger.Record{}, err
	}
	return ledger.Parse(values)
}

// readLedger is the effect ReadLedger.
func (c *Control) readLedger(ctx context.Context, k layout.ControlKey, absent ledger.Record, asked ledger.ReadLedger) ledger.LedgerRead {
	item, err := c.get(ctx, k, asked.Strong)
	if err != nil {
		return ledger.LedgerRead{Asked: asked, Err: err}
	}
	record, err := c.parse(item, absent)
	return ledger.LedgerRead{Asked: asked, Record: record, Err: err}
}

// writeLedger is the effect WriteLedger. One that was answered is not sent again: the machine decides what to do.
func (c *Control) writeLedger(ctx context.Context, k layout.ControlKey, absent ledger.Record, w ledger.WriteLedger) ledger.LedgerWritten {
	in := &dynamodb.PutItemInput{
		TableName: &c.Table, Item: c.item(k, w.Record.Encode()),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnConsumedCapacity:              meter.Of(ctx).Wanted(),
	}
	conditionOn(in, w.If, w.Most, c.PartitionKey)
	lost := false
	_, err := c.Writes.Write(ctx, false, &lost, func(ctx context.Context, _ int) error {
		out, err := c.Client.PutItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	})
	if err == nil {
		return ledger.LedgerWritten{Outcome: ledger.Done}
	}
	err = fmt.Errorf("PutItem %s %q: %w", c.Table, c.name(k), err)
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && !lost {
		stored, bad := c.parse(failed.Item, absent)
		if bad != nil {
			return ledger.LedgerWritten{Outcome: ledger.Refused, Unparsed: bad, Err: err}
		}
		return ledger.LedgerWritten{Outcome: ledger.Refused, Record: stored, Err: err}
	}
	return ledger.LedgerWritten{Outcome: outcome(err, lost), Err: err}
}

// conditionOn sets the condition that the stored generation is the one given, 0 for none, and the stored read width at most most.
func conditionOn(in *dynamodb.PutItemInput, generation int64, most int, partitionKey string) {
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	if generation == 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(#pk)")
		in.ExpressionAttributeNames = map[string]string{"#pk": partitionKey}
		return
	}
	in.ConditionExpression = aws.String("#g = :g AND #r <= :r")
	in.ExpressionAttributeNames = map[string]string{"#g": ledger.GenerationName, "#r": ledger.ReadName}
	in.ExpressionAttributeValues = Item{":g": number(generation), ":r": number(int64(most))}
}

// outcome returns what became of a write.
func outcome(err error, lost bool) ledger.Outcome {
	if lost {
		return ledger.Unknown
	}
	switch dispatch.Judge(err) {
	case dispatch.Done:
		return ledger.Done
	case dispatch.Unknown:
		return ledger.Unknown
	case dispatch.NotSent, dispatch.Refused:
		return ledger.Throttled
	}
	return ledger.Failed
}

// The attributes of an accumulator: the units that all processes have offered, and those of them that were throttled.
const (
	offeredName  = "_hs_w"
	keyRangeName = "_hs_x"
)

// report adds to a key's accumulator and returns what it has then. A report that is lost or added twice blurs one rate. The
// accumulator may be on the very partition that is too hot. So each attempt takes another of the two that a key has.
func (c *Control) report(ctx context.Context, k layout.ControlKey, add ledger.Totals) (ledger.Totals, error) {
	number := func(f float64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatFloat(f, 'f', 3, 64)}
	}
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Table, UpdateExpression: aws.String("ADD #w :w, #x :x"),
		ExpressionAttributeNames:  map[string]string{"#w": offeredName, "#x": keyRangeName},
		ExpressionAttributeValues: Item{":w": number(add.Offered), ":x": number(add.KeyRange)},
		ReturnValues:              types.ReturnValueUpdatedNew, ReturnConsumedCapacity: meter.Of(ctx).Wanted(),
	}
	var t ledger.Totals
	var out *dynamodb.UpdateItemOutput
	_, err := c.Writes.Do(ctx, dispatch.Request{
		Send: func(ctx context.Context, attempt int) (err error) {
			k.Role, t.Spare = layout.RoleHeat, attempt%2 == 0
			if t.Spare {
				k.Role = layout.RoleSpare
			}
			in.Key = c.key(k)
			out, err = c.Client.UpdateItem(ctx, in, dispatch.Once)
			return err
		},
		Again: func(v dispatch.Verdict) bool { return v.Harmless() },
	})
	if err != nil {
		return ledger.Totals{}, fmt.Errorf("UpdateItem %s %q: %w", c.Table, c.name(k), err)
	}
	meter.Wrote(ctx, out.ConsumedCapacity)
	for name, field := range map[string]*float64{offeredName: &t.Offered, keyRangeName: &t.KeyRange} {
		n, ok := out.Attributes[name].(*types.AttributeValueMemberN)
		if !ok {
			return t, fmt.Errorf("UpdateItem %s %q: no attribute %s in the answer", c.Table, c.name(k), name)
		}
		if *field, err = strconv.ParseFloat(n.Value, 64); err != nil {
			return t, fmt.Errorf("UpdateItem %s %q: attribute %s: %w", c.Table, c.name(k), name, err)
		}
	}
	return t, nil
}

// create stores a control item if there is none, and returns the one that is stored then: nil if it is the given one.
func (c *Control) create(ctx context.Context, k layout.ControlKey, values []ledger.Value) (Item, error) {
	in := &dynamodb.PutItemInput{
		TableName: &c.Table, Item: c.item(k, values),
		ConditionExpression:                 aws.String("attribute_not_exists(#pk)"),
		ExpressionAttributeNames:            map[string]string{"#pk": c.PartitionKey},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		ReturnConsumedCapacity:              meter.Of(ctx).Wanted(),
	}
	_, err := c.Writes.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) error {
		out, err := c.Client.PutItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	}})
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && failed.Item != nil {
		return failed.Item, nil // perhaps of a lost attempt of this one
	}
	if err != nil {
		return nil, fmt.Errorf("PutItem %s %q: %w", c.Table, c.name(k), err)
	}
	return nil, nil
}

// replace stores a control item in place of the one that was read, nil for none. It reports false if somebody has changed that
// meanwhile: then nothing is stored, except perhaps by a lost attempt of this one.
func (c *Control) replace(ctx context.Context, k layout.ControlKey, values []ledger.Value, read Item) (bool, error) {
	in := &dynamodb.PutItemInput{TableName: &c.Table, Item: c.item(k, values), ReturnConsumedCapacity: meter.Of(ctx).Wanted()}
	c.unchanged(in, read)
	_, err := c.Writes.Do(ctx, dispatch.Request{Send: func(ctx context.Context, _ int) error {
		out, err := c.Client.PutItem(ctx, in, dispatch.Once)
		if err == nil {
			meter.Wrote(ctx, out.ConsumedCapacity)
		}
		return err
	}})
	if _, changed := errors.AsType[*types.ConditionalCheckFailedException](err); changed {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("PutItem %s %q: %w", c.Table, c.name(k), err)
	}
	return true, nil
}

// unchanged sets the condition that a charter is still the one that was read, nil for none.
func (c *Control) unchanged(in *dynamodb.PutItemInput, read Item) {
	if read == nil {
		in.ConditionExpression = aws.String("attribute_not_exists(#pk)")
		in.ExpressionAttributeNames = map[string]string{"#pk": c.PartitionKey}
		return
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = map[string]string{}, Item{}
	var parts []string
	for name, v := range read {
		if name != c.SortKey {
			alias := strconv.Itoa(len(parts))
			in.ExpressionAttributeNames["#"+alias], in.ExpressionAttributeValues[":"+alias] = name, v
			parts = append(parts, "#"+alias+" = :"+alias)
		}
	}
	for _, name := range charter.FreezeNames() { // what may be added to it
		if read[name] == nil {
			alias := strconv.Itoa(len(parts))
			in.ExpressionAttributeNames["#"+alias] = name
			parts = append(parts, "attribute_not_exists(#"+alias+")")
		}
	}
	in.ConditionExpression = aws.String(strings.Join(parts, " AND "))
}

// Key is a logical key in one bucket.
type Key struct {
	Text   string
	Bucket time.Time // the start of the bucket; the zero time without buckets
}
