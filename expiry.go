package heatsink

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// DynamoDB deletes an item some time after the number in its time-to-live attribute, unless that was more than five years
// ago: such a number, 0 among them, is taken for a mistake. So heatsink leaves out what DynamoDB is about to delete.
const longAgo = 5 * 365 * 24 * time.Hour

// alive is the filter for items that are not about to be deleted.
const alive = "(NOT attribute_type(#hs_ttl, :hs_n) OR #hs_ttl > :hs_now OR #hs_ttl < :hs_old)"

// addAlive adds what alive refers to.
func (c *core) addAlive(names map[string]string, values Item) {
	now := time.Now()
	names["#hs_ttl"] = c.options.TTL
	values[":hs_n"] = &types.AttributeValueMemberS{Value: "N"}
	values[":hs_now"] = epochSeconds(now)
	values[":hs_old"] = epochSeconds(now.Add(-longAgo))
}

// expired reports whether an item is about to be deleted.
func (c *core) expired(item Item, now time.Time) bool {
	at, ok := item[c.options.TTL].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	seconds, err := attr.ParseNumber(at.Value)
	if err != nil {
		return false
	}
	number := func(t time.Time) attr.Number {
		n, _ := attr.ParseNumber(epochSeconds(t).Value)
		return n
	}
	return number(now.Add(-longAgo)) <= seconds && seconds <= number(now) // Numbers compare as their values do
}

// withTTL returns the item with a time to live, which is a copy unless there is nothing to add. A struct that leaves the
// attribute out has it at 0.
func (c *core) withTTL(item Item) Item {
	o := &c.options
	if o.TTL == "" || o.TTLAfter == 0 {
		return item
	}
	if at, ok := item[o.TTL].(*types.AttributeValueMemberN); item[o.TTL] != nil && (!ok || at.Value != "0") {
		return item
	}
	item = maps.Clone(item)
	if item == nil {
		item = Item{}
	}
	item[o.TTL] = epochSeconds(time.Now().Add(o.TTLAfter))
	return item
}

func epochSeconds(t time.Time) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}
