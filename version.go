package heatsink

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expr"
	"github.com/heatsink-go/heatsink/internal/expr/outline"
	"github.com/heatsink-go/heatsink/internal/meter"
)

// A version is a text that grows with every write of an item: 13 digits for the time of the write in nanoseconds and 13
// drawn at random, in base 32 with digits in the order of their bytes. Each write has a version of its own, and its
// condition is that the item has none or a smaller one. So an attempt that arrives late, behind a later write, changes
// nothing; and who finds the own version has succeeded, whatever became of the answer.
//
// A delete would take the version away with the item, and a late attempt would bring the item back. So it leaves a
// tombstone: the key, a version with a mark at its end, and a time to live.
const (
	versionBytes = 26
	gone         = "!deleted"

	// tombstoneLife is longer than a late attempt can be on its way. DynamoDB refuses what was signed more than 15 minutes
	// ago, and the clocks of the writer and of the deleter may each be as much off.
	tombstoneLife = time.Hour

	// maxRaises is how often one attempt gets a larger version because others were faster.
	maxRaises = 8
)

var versionText = base32.HexEncoding.WithPadding(base32.NoPadding)

// newVersion returns a version for a time.
func newVersion(at uint64) string {
	text := make([]byte, 0, versionBytes)
	for _, number := range [...]uint64{at, rand.Uint64()} {
		text = versionText.AppendEncode(text, binary.BigEndian.AppendUint64(nil, number))
	}
	return string(text)
}

// versionTime returns the time in a version, false if it is none.
func versionTime(version string) (at uint64, ok bool) {
	version = strings.TrimSuffix(version, gone)
	if len(version) != versionBytes {
		return 0, false
	}
	bytes, err := versionText.DecodeString(version[:versionBytes/2])
	if err != nil {
		return 0, false
	}
	return binary.BigEndian.Uint64(bytes), true
}

// versionOf returns the version that an item has, "" if none.
func (c *core) versionOf(item Item) (string, error) {
	name := c.options.Version
	switch v := item[name].(type) {
	case nil:
		return "", nil
	case *types.AttributeValueMemberS:
		if _, ok := versionTime(v.Value); ok {
			return v.Value, nil
		}
	}
	return "", fmt.Errorf("%w: %q is %s, which heatsink did not write: name another attribute as Options.Version", ErrItem, name, attribute.Describe(item[name]))
}

// buried reports whether an item is a tombstone.
func (c *core) buried(item Item) bool {
	if c.options.Version == "" {
		return false
	}
	version, err := c.versionOf(item)
	return err == nil && strings.HasSuffix(version, gone)
}

// absent reports whether an item that was read is not there for the collection: it has expired, or was deleted.
func (c *core) absent(item Item, now time.Time) bool {
	return item == nil || c.expired(item, now) || c.buried(item)
}

// newest returns which of the copies of an item counts: the one that was written last. Those without a version are the
// oldest, in the order of the item's homes. It is -1 if there is none; a tombstone counts like a copy.
func (c *core) newest(copies []Item, like Item) int {
	newest, last := -1, ""
	for i, item := range copies {
		if item == nil || i > 0 && c.otherItem(item, like) {
			continue
		}
		version, err := c.versionOf(item)
		if err != nil {
			version = ""
		}
		if newest < 0 || version > last {
			newest, last = i, version
		}
	}
	return newest
}

// addUnburied adds what unburied refers to.
func (c *core) addUnburied(names map[string]string, values Item) {
	names["#hs_v"], values[":hs_gone"] = c.options.Version, &types.AttributeValueMemberS{Value: gone}
}

const (
	unburied = "NOT contains(#hs_v, :hs_gone)"
	newer    = "(attribute_not_exists(#hs_v) OR #hs_v < :hs_v)"
)

// claim is the version of one write, and what its attempts have learnt.
type claim struct {
	core    *core
	version string // without the mark
	mark    string // of a tombstone
}

// newClaim returns the version of a write.
func (c *core) newClaim(mark string) *claim {
	return &claim{core: c, version: newVersion(c.tick(0)), mark: mark}
}

// tick returns the time for a version, which is later than those before and than another.
func (c *core) tick(other uint64) uint64 {
	for {
		last := c.lastVersion.Load()
		next := max(uint64(time.Now().UnixNano()), last+1, other+1)
		if c.lastVersion.CompareAndSwap(last, next) {
			return next
		}
	}
}

func (v *claim) attribute() types.AttributeValue {
	return &types.AttributeValueMemberS{Value: v.version + v.mark}
}

// guard is a condition with its names and values.
type guard struct {
	text   string
	names  map[string]string
	values Item
}

// over returns the condition of a write that replaces whatever is there: that it has no newer version, and the caller's. A
// tombstone is nothing to the caller, so of one the caller's condition holds if it holds of nothing.
func (v *claim) over(condition *string, names map[string]string, values Item) guard {
	e := v.own(names, values)
	e.text = newer
	if condition == nil {
		return e
	}
	e.values[":hs_gone"] = &types.AttributeValueMemberS{Value: gone}
	if holdsOfNothing(*condition, names, values) {
		e.text += " AND (contains(#hs_v, :hs_gone) OR (" + *condition + "))"
	} else {
		e.text += " AND " + unburied + " AND (" + *condition + ")"
	}
	return e
}

// within returns the condition of an update: that there is an item without a newer version, and the caller's.
func (v *claim) within(condition *string, names map[string]string, values Item) guard {
	e := v.own(names, values)
	e.names["#hs_pk"] = v.core.keyNames()[0]
	e.values[":hs_gone"] = &types.AttributeValueMemberS{Value: gone}
	v.core.addAlive(e.names, e.values)
	e.text = "attribute_exists(#hs_pk) AND " + unburied + " AND " + alive + " AND " + newer
	if condition != nil {
		e.text += " AND (" + *condition + ")"
	}
	return e
}

// own returns the names and values of a request with the version's.
func (v *claim) own(names map[string]string, values Item) guard {
	e := guard{names: make(map[string]string, len(names)+2), values: make(Item, len(values)+2)}
	maps.Copy(e.names, names)
	maps.Copy(e.values, values)
	e.names["#hs_v"], e.values[":hs_v"] = v.core.options.Version, v.attribute()
	return e
}

// holdsOfNothing reports whether a condition is true where there is no item. What cannot be read DynamoDB rejects.
func holdsOfNothing(condition string, names map[string]string, values Item) bool {
	fields := make([]attr.Field, 0, len(values))
	for name, value := range values {
		v, err := attribute.Canonical(value)
		if err != nil {
			return false
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	parsed, err := expr.ParseCondition(expr.ConditionExpression, condition, expr.NewScope(names, attr.NewItem(fields...)))
	return err == nil && parsed.Eval(nil)
}

// contest sends a write until its condition is not what stands against it: an attempt whose version is not the largest,
// because another writer's clock is ahead, gets a larger one. That is safe as long as no earlier attempt may have happened.
//
// It returns the item that the write left behind if an earlier attempt did it.
func (v *claim) contest(ctx context.Context, lost bool, send func() error) (left Item, err error) {
	for raises := range maxRaises {
		if raises > 0 {
			meter.Add(ctx, meter.Cost{Requests: 1}) // the dispatcher counts one
		}
		err = send()
		failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		if !ok {
			return nil, err
		}
		stored, fault := v.core.versionOf(failed.Item)
		switch {
		case fault != nil:
			return nil, &dispatch.RejectedError{Err: fault}
		case stored == v.version+v.mark:
			return failed.Item, nil
		case lost || stored < v.version:
			return nil, err // the caller's condition; or the write was done and is history, or never will be done
		}
		at, _ := versionTime(stored)
		v.version = newVersion(v.core.tick(at))
	}
	return nil, fmt.Errorf("%d writers were faster, one after another: %w", maxRaises, err)
}

// claimPut returns the claim of a put, nil if the collection keeps no versions.
func (c *core) claimPut(in *dynamodb.PutItemInput, mark string) (*claim, error) {
	if versioned, err := c.versioned(len(in.Expected) > 0); !versioned || err != nil {
		return nil, err
	}
	if err := checkGuarded(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	return c.newClaim(mark), nil
}

// versioned reports whether the collection keeps versions, and refuses parameters that cannot have their condition.
func (c *core) versioned(legacy bool) (bool, error) {
	if c.options.Version == "" {
		return false, nil
	}
	if legacy {
		return true, fmt.Errorf("%w: Expected and AttributeUpdates cannot keep Options.Version %q: use expressions", ErrOptions, c.options.Version)
	}
	return true, nil
}

// tombstone returns the put that a delete is in a collection with versions.
func (c *core) tombstone(in *dynamodb.DeleteItemInput) (*dynamodb.PutItemInput, error) {
	if _, err := c.versioned(len(in.Expected) > 0); err != nil {
		return nil, err
	}
	item := maps.Clone(in.Key)
	item[c.options.TTL] = epochSeconds(time.Now().Add(tombstoneLife))
	return &dynamodb.PutItemInput{
		TableName:                           in.TableName,
		Item:                                item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValues:                        in.ReturnValues,
		ReturnConsumedCapacity:              in.ReturnConsumedCapacity,
		ReturnItemCollectionMetrics:         in.ReturnItemCollectionMetrics,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}, nil
}

// put returns a put with the claim's version and condition.
func (v *claim) put(in *dynamodb.PutItemInput) *dynamodb.PutItemInput {
	e := v.over(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	own := *in
	own.Item = maps.Clone(in.Item)
	own.Item[v.core.options.Version] = v.attribute()
	own.ConditionExpression, own.ExpressionAttributeNames, own.ExpressionAttributeValues = &e.text, e.names, e.values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &own
}

// update returns an update with the claim's version and condition.
func (v *claim) update(in *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
	own := *in
	e := v.within(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	own.UpdateExpression = aws.String(outline.AddToSet(aws.ToString(in.UpdateExpression), "#hs_v = :hs_v"))
	own.ConditionExpression, own.ExpressionAttributeNames, own.ExpressionAttributeValues = &e.text, e.names, e.values
	own.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return &own
}

// checkVersion reports what is wrong with Options.Version.
func (o *Options) checkVersion(wrong func(format string, args ...any)) {
	if o.Version == "" {
		return
	}
	taken := slices.Concat(o.TableKey, o.ShardBy, []string{o.PartitionKey, o.SortKey, o.ShardAttribute, o.TTL, o.EventTime.Attribute})
	if slices.Contains(taken, o.Version) {
		wrong("Version %q is an attribute with another purpose: name one that heatsink alone writes", o.Version)
	}
	switch {
	case o.TTL == "":
		wrong("Version needs TTL: what a delete leaves behind has to go some time")
	case o.TTL == o.SortKey && o.Index == "" || slices.Contains(o.TableKey, o.TTL):
		wrong("Version needs a TTL that is no key: what a delete leaves behind has the item's key and a time of its own")
	}
}
