package ratelimit

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Algorithm says what a limit means, and how it is stored. Each check is one conditional update of one item, which
// DynamoDB executes atomically. Concurrent checks therefore never exceed the limit.
type Algorithm uint8

// The algorithms. The zero value is SlidingWindow.
const (
	// SlidingWindow allows at most Limit in any period as long as Window. It divides the window into Slots and counts
	// the oldest slot as a whole. A permit therefore counts for at least Window, and at most Window + Window/Slots.
	SlidingWindow Algorithm = iota

	// FixedWindow allows at most Limit in every window. Windows follow each other without a gap, in UTC: hours begin on
	// the hour, days at midnight, weeks on Monday. Around the border of two windows, it may allow twice the limit
	// within moments. It is the cheapest algorithm, with one update per shard that is tried.
	FixedWindow

	// SlidingLog is an exact SlidingWindow: a permit counts for Window, to 2 ms. It stores the time of each permit in
	// nine bytes. A check therefore costs one write unit for about every hundred permits of a shard's share of the
	// limit.
	SlidingLog

	// TokenBucket allows Burst at once, and then Limit per Window at an even rate. In any time T it allows at most
	// Burst + Limit × T/Window.
	TokenBucket
)

var algorithmNames = [...]string{"sliding window", "fixed window", "sliding log", "token bucket"}

// String returns the algorithm's name in lower case.
func (a Algorithm) String() string {
	if a.valid() {
		return algorithmNames[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

func (a Algorithm) valid() bool { return int(a) < len(algorithmNames) }

// algorithm is what an Algorithm does. Its methods are pure: all they know is in their arguments. now is when the check
// began; share is how much the shard may let through.
type algorithm interface {
	// sortKey names the item that counts at this time.
	sortKey(now time.Time) string

	// count returns the update that counts q.n on an item, with the condition that keeps the limit.
	count(q *question) expression

	// room returns how much more an item lets through; nil if there is no item.
	room(item heatsink.Item, share int, now time.Time) (int, error)

	// free returns when an item will let n more through if nothing else comes, for an item whose room is less.
	free(item heatsink.Item, share, n int, now time.Time) time.Time

	// hint returns what the next guess may be based on; see question.hint.
	hint(item heatsink.Item) int64

	// lapse returns when what was seen of an item no longer says anything.
	lapse(now time.Time) time.Time
}

// question is what a shard is asked: to count n more.
type question struct {
	now   time.Time
	n     int
	share int
	ttl   int64 // of the item, in Unix seconds

	// seen is the item as DynamoDB has just shown it, because it did not fit a first guess; before that, known is
	// false. An item that is not there is known and nil.
	known bool
	seen  heatsink.Item

	// hint is what an earlier check has learnt about the shard, for the first guess; 0 if nothing.
	hint int64
}

// expression is an update and its condition.
type expression struct {
	update, condition string
	names             map[string]string // beside #ttl
	values            heatsink.Item     // beside :ttl
	repeatable        bool              // it sets what does not depend on what is there: doing it twice is doing it once
}

// apply makes an UpdateItem request of it. #ttl and :ttl are the time to live, which every update moves on.
func (e expression) apply(in *dynamodb.UpdateItemInput, ttlName string, ttl int64) {
	in.UpdateExpression, in.ConditionExpression = &e.update, &e.condition
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	in.ExpressionAttributeNames["#ttl"] = ttlName
	in.ExpressionAttributeValues[":ttl"] = number(ttl)
	// Neither costs a unit.
	in.ReturnValues = types.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}
