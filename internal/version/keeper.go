package version

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/place"
)

// Item is an item in the form of the AWS SDK.
type Item = map[string]types.AttributeValue

// tombstoneLife is longer than a late attempt can be in flight. DynamoDB refuses requests that were signed more than 15
// minutes ago. The clocks of the writer and of the deleter may each be off by as much.
const tombstoneLife = time.Hour

// Keeper keeps the versions of a collection's items. A keeper without a name keeps none: items have no versions, and
// there are no tombstones. A keeper must not be copied.
type Keeper struct {
	name string        // of the attribute
	key  string        // the table's partition key, which every item has
	ttl  expiry.TTL    // of the items, and so of tombstones
	last atomic.Uint64 // the time in the newest version that this keeper made
}

// New returns a keeper of the versions in the attribute name, or of none if name is empty. key is the table's partition
// key.
func New(name, key string, ttl expiry.TTL) *Keeper { return &Keeper{name: name, key: key, ttl: ttl} }

// Keeps reports whether items have versions.
func (k *Keeper) Keeps() bool { return k.name != "" }

// Name returns the attribute that holds the version, or "" without versions.
func (k *Keeper) Name() string { return k.name }

// of returns the version of an item, or "" if it has none. It returns ErrItem if another program wrote the attribute.
func (k *Keeper) of(item Item) (string, error) {
	switch v := item[k.name].(type) {
	case nil:
		return "", nil
	case *types.AttributeValueMemberS:
		if _, ok := timeOf(v.Value); ok {
			return v.Value, nil
		}
	}
	return "", fmt.Errorf("%w: attribute %q is %s, which is not a version that heatsink wrote: name another attribute as Options.Version", place.ErrItem, k.name, attribute.Describe(item[k.name]))
}

// Buried reports whether an item is a tombstone.
func (k *Keeper) Buried(item Item) bool {
	if !k.Keeps() {
		return false
	}
	version, err := k.of(item)
	return err == nil && strings.HasSuffix(version, gone)
}

// Absent reports whether an item does not exist for the collection: it is nil, has expired or was deleted.
func (k *Keeper) Absent(item Item, now time.Time) bool {
	return item == nil || k.ttl.Expired(item, now) || k.Buried(item)
}

// Newest returns the index of the copy that was written last. Copies without a version are the oldest, and the first of
// these is preferred. A tombstone counts as a copy. Newest returns -1 if all copies are nil.
func (k *Keeper) Newest(copies []Item) int {
	newest, last := -1, ""
	for i, item := range copies {
		if item == nil {
			continue
		}
		version, err := k.of(item)
		if err != nil {
			version = ""
		}
		if newest < 0 || version > last {
			newest, last = i, version
		}
	}
	return newest
}

// Unburied is a filter for items that are not tombstones. AddUnburied adds its names and values.
const Unburied = "NOT contains(#hs_v, :hs_gone)"

// AddUnburied adds the names and values of Unburied.
func (k *Keeper) AddUnburied(names map[string]string, values Item) {
	names["#hs_v"], values[":hs_gone"] = k.name, &types.AttributeValueMemberS{Value: gone}
}

// CheckAssignments returns an error if an update of the item changes the version itself.
func (k *Keeper) CheckAssignments(all []compose.Assignment, like Item) error {
	for _, a := range all {
		if k.Keeps() && a.Attribute == k.name {
			return fmt.Errorf("update of key %s: %w: the %s clause changes %q, which is Options.Version and set by heatsink: leave it out",
				attribute.DescribeKey(like, k.key), place.ErrItem, a.Clause, k.name)
		}
	}
	return nil
}

// ClaimPut returns the claim of a put, or nil without versions.
func (k *Keeper) ClaimPut(in *dynamodb.PutItemInput) (*Claim, error) {
	return k.claim(len(in.Expected) > 0, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

// ClaimUpdate returns the claim of an update, or nil without versions.
func (k *Keeper) ClaimUpdate(in *dynamodb.UpdateItemInput) (*Claim, error) {
	legacy := len(in.Expected) > 0 || len(in.AttributeUpdates) > 0
	return k.claim(legacy, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

// claim returns a claim for a request. It refuses legacy parameters, which cannot hold a claim's condition, and a
// condition that cannot be combined with another.
func (k *Keeper) claim(legacy bool, condition *string, names map[string]string, values Item) (*Claim, error) {
	if !k.Keeps() {
		return nil, nil
	}
	if err := k.checkLegacy(legacy); err != nil {
		return nil, err
	}
	if err := compose.CheckCondition(condition); err != nil {
		return nil, fmt.Errorf("%w: %w", place.ErrItem, err)
	}
	if err := compose.CheckPlaceholders(names, values); err != nil {
		return nil, err
	}
	return &Claim{keeper: k, version: newText(k.tick(0))}, nil
}

func (k *Keeper) checkLegacy(legacy bool) error {
	if !legacy {
		return nil
	}
	return fmt.Errorf("%w: Expected and AttributeUpdates are not possible with Options.Version %q: use expressions", place.ErrOptions, k.name)
}

// Tombstone converts a delete to the put of a tombstone, and returns its claim.
func (k *Keeper) Tombstone(in *dynamodb.DeleteItemInput) (*dynamodb.PutItemInput, *Claim, error) {
	if err := k.checkLegacy(len(in.Expected) > 0); err != nil {
		return nil, nil, err
	}
	item := maps.Clone(in.Key)
	item[k.ttl.Attribute] = expiry.Seconds(time.Now().Add(tombstoneLife))
	put := &dynamodb.PutItemInput{
		TableName:                           in.TableName,
		Item:                                item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValues:                        in.ReturnValues,
		ReturnConsumedCapacity:              in.ReturnConsumedCapacity,
		ReturnItemCollectionMetrics:         in.ReturnItemCollectionMetrics,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	claim, err := k.ClaimPut(put)
	if err != nil {
		return nil, nil, err
	}
	claim.mark = gone
	return put, claim, nil
}

// tick returns the time for a new version: later than all before it, and later than other.
func (k *Keeper) tick(other uint64) uint64 {
	for {
		last := k.last.Load()
		next := max(uint64(time.Now().UnixNano()), last+1, other+1)
		if k.last.CompareAndSwap(last, next) {
			return next
		}
	}
}
