// Package expiry is about items whose time to live is over: DynamoDB deletes them some time later, and until then
// heatsink leaves them out of what it reads.
package expiry

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Item is an item as the AWS SDK has it.
type Item = map[string]types.AttributeValue

// TTL is the time to live of a collection's items. The zero TTL is of items that live for ever.
type TTL struct {
	Attribute string        // that holds the time; "" if there is none
	After     time.Duration // how long items live that do not say it themselves; 0 for ever
}

// DynamoDB deletes an item some time after the number in its time-to-live attribute, unless that was more than five years
// ago: such a number, 0 among them, is taken for a mistake. So heatsink leaves out what DynamoDB is about to delete.
const longAgo = 5 * 365 * 24 * time.Hour

// Alive is the filter for items that are not about to be deleted. AddAlive adds the names and values that it refers to.
const Alive = "(NOT attribute_type(#hs_ttl, :hs_n) OR #hs_ttl > :hs_now OR #hs_ttl < :hs_old)"

// AddAlive adds the names and values that Alive refers to.
func (t TTL) AddAlive(names map[string]string, values Item) {
	now := time.Now()
	names["#hs_ttl"] = t.Attribute
	values[":hs_n"] = &types.AttributeValueMemberS{Value: "N"}
	values[":hs_now"] = Seconds(now)
	values[":hs_old"] = Seconds(now.Add(-longAgo))
}

// Expired reports whether an item is about to be deleted.
func (t TTL) Expired(item Item, now time.Time) bool {
	at, ok := item[t.Attribute].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	seconds, err := attr.ParseNumber(at.Value)
	if err != nil {
		return false
	}
	number := func(t time.Time) attr.Number {
		n, _ := attr.ParseNumber(Seconds(t).Value)
		return n
	}
	return number(now.Add(-longAgo)) <= seconds && seconds <= number(now) // Numbers compare as their values do
}

// Give returns the item with a time to live, which is a copy unless there is nothing to add. A struct that leaves the
// attribute out has it at 0.
func (t TTL) Give(item Item) Item {
	if t.Attribute == "" || t.After == 0 {
		return item
	}
	if at, ok := item[t.Attribute].(*types.AttributeValueMemberN); item[t.Attribute] != nil && (!ok || at.Value != "0") {
		return item
	}
	item = maps.Clone(item)
	if item == nil {
		item = Item{}
	}
	item[t.Attribute] = Seconds(time.Now().Add(t.After))
	return item
}

// Seconds returns a time as DynamoDB has it in a time to live: seconds since 1970.
func Seconds(t time.Time) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}
