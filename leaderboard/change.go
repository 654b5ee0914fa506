package leaderboard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// change is what a submission in mode Sum asks DynamoDB to do to an entry.
type change struct {
	sets      []string
	condition string
	names     map[string]string
	values    heatsink.Item
}

// change returns what a submission, complete and checked, does to a sum. A player who is not on the board yet gets
// there; and an entry of another mode is left alone.
func (x box) change(s Submission) *change {
	names := x.options.Names
	c := &change{names: make(map[string]string), values: make(heatsink.Item)}
	c.name("place", names.Place)
	c.set("mode", names.Mode, text(x.options.Mode.String()))
	c.set("at", names.At, text(s.At.Format(timeLayout)))
	if !x.expires.IsZero() {
		c.set("ttl", names.TTL, number(strconv.FormatInt(x.expires.Unix(), 10)))
	}
	for i, name := range slices.Sorted(maps.Keys(s.Attributes)) {
		c.set("x"+strconv.Itoa(i), name, s.Attributes[name])
	}
	c.sum(s, names)
	return c
}

// sum adds to the score, and to the place along with it. The tie is of this submission alone, so the new place is not
// made from the old place but from the total, which is the score on the place's scale without a tie.
func (c *change) sum(s Submission, names Names) {
	c.add("score", names.Score, "score", strconv.FormatInt(s.Score, 10))
	c.add("total", names.Total, "total", scaled(s.Score))
	c.add("place", names.Place, "total", place(s.Score, tie(s.At, s.Player)))
	c.values[":zero"] = number("0")
	switch {
	case s.Score > 0:
		c.unless("#score <= :room")
		c.values[":room"] = number(strconv.FormatInt(math.MaxInt64-s.Score, 10))
	case s.Score < 0:
		c.unless("#score >= :room")
		c.values[":room"] = number(strconv.FormatInt(math.MinInt64-s.Score, 10))
	default: // nothing to add: the entry keeps the time at which it got there
		c.condition = "attribute_not_exists(#place)"
		c.values[":mode"] = text(Sum.String())
	}
}

func (c *change) name(as, name string) { c.names["#"+as] = name }

// set gives an attribute a value.
func (c *change) set(as, name string, value types.AttributeValue) {
	c.name(as, name)
	c.values[":"+as] = value
	c.sets = append(c.sets, fmt.Sprintf("#%s = :%s", as, as))
}

// add gives an attribute the sum of a number and what base was before the change.
func (c *change) add(as, name, base, n string) {
	c.name(as, name)
	c.values[":"+as] = number(n)
	c.sets = append(c.sets, fmt.Sprintf("#%s = if_not_exists(#%s, :zero) + :%s", as, base, as))
}

// unless lets the change happen if there is no entry, or one of this mode for which better is true.
func (c *change) unless(better string) {
	c.condition = "attribute_not_exists(#place) OR (#mode = :mode AND " + better + ")"
}

func (c *change) expression() *string { return aws.String("SET " + strings.Join(c.sets, ", ")) }

// edit makes the change a request.
func (c *change) edit(in *dynamodb.UpdateItemInput) {
	in.UpdateExpression, in.ConditionExpression = c.expression(), &c.condition
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.names, c.values
	in.ReturnValues = types.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}

// editPart makes the change a part of a transaction.
func (c *change) editPart(in *types.Update) {
	in.UpdateExpression, in.ConditionExpression = c.expression(), &c.condition
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = c.names, c.values
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
}
