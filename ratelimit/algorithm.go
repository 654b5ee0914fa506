package ratelimit

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Algorithm says what a limit means, and what is stored to keep it. All of them count with one conditional update of
// one item, which DynamoDB does as a whole: however many check at once, none is let through too many.
type Algorithm uint8

// The algorithms. The zero value is SlidingWindow.
const (
	// SlidingWindow lets at most Limit through in any stretch of time as long as Window. It counts in Slots parts of
	// the window, the oldest of them as a whole: what was let through counts for Window at least and Window +
	// Window/Slots at most.
	SlidingWindow Algorithm = iota

	// FixedWindow lets at most Limit through in every window. Windows follow each other without a gap, in UTC: hours
	// begin on the hour, days at midnight, weeks on Monday. Around the border of two windows, twice the limit can come
	// within moments. It is the cheapest: always one update for each shard that is asked.
	FixedWindow

	// SlidingLog is SlidingWindow without the inaccuracy: what was let through counts for Window, to 2 ms. It keeps the
	// time of each, nine bytes, so a check costs a write unit for about every hundred that one shard's share of the
	// limit has.
	SlidingLog

	// TokenBucket lets Burst through at once, and Limit in every Window from then on, at an even rate: in any stretch
	// of time T at most Burst + Limit × T/Window.
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
