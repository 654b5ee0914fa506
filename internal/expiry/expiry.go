// Package expiry handles items whose time to live is over. DynamoDB deletes them some time later. Until then, heatsink
// leaves them out of its reads.
package expiry

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Item is an item in the form of the AWS SDK.
type Item = map[string]types.AttributeValue

// TTL is the time to live of a collection's items. With the zero TTL, items never expire.
type TTL struct {
	Attribute string        // holds the time of expiry; "" if there is none
	After     time.Duration // the time to live of items without their own; 0 means forever
}

// DynamoDB deletes an item some time after the number in its time-to-live attribute. It ignores a number more than five
// years ago, including 0, as a mistake. heatsink leaves out exactly the items that DynamoDB is about to delete.
const longAgo = 5 * 365 * 24 * time.Hour

// Alive is a filter for items that have not expired. AddAlive adds its names and values.
const Alive = "(NOT attribute_type(#hs_ttl, :hs_n) OR #hs_ttl > :hs_now OR #hs_ttl < :hs_old)"

// AddAlive adds the names and values of Alive.
func (t TTL) AddAlive(names map[string]string, values Item) {
	now := time.Now()
	names["#hs_ttl"] = t.Attribute
	values[":hs_n"] = &types.AttributeValueMemberS{Value: "N"}
	values[":hs_now"] = Seconds(now)
	values[":hs_old"] = Seconds(now.Add(-longAgo))
}

// Expired reports whether an item has expired and DynamoDB is about to delete it.
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

// Give returns the item with a time to live. The result is a copy unless nothing is added. A value of 0 counts as
// missing, because a struct whose field was not set writes 0.
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

// Seconds converts a time to the format of a time to live: seconds since 1970.
func Seconds(t time.Time) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.Unix(), 10)}
}
