package ratelimit

import (
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
)

// What is called repeatable leaves the same if it is done twice, whatever the condition says. Every algorithm also has an
// update that does not, and that a lost answer must end.
func TestRepeatableUpdates(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "limits", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, a := range []Algorithm{SlidingWindow, FixedWindow, SlidingLog, TokenBucket} {
		o := Options{Table: "limits", Limit: 5, Algorithm: a}.withDefaults()
		algorithm := o.algorithm()
		update := func(q *question) (heatsink.Item, expression, error) {
			e := algorithm.count(q)
			in := &dynamodb.UpdateItemInput{TableName: aws.String("limits"), Key: heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: a.String()}, "sk": &types.AttributeValueMemberS{Value: "1"},
			}}
			e.apply(in, o.TTL, now.Unix())
			in.ConditionExpression = aws.String("(" + e.condition + ") OR attribute_not_exists(nothing)") // always
			out, err := db.Client().UpdateItem(t.Context(), in)
			if err != nil {
				return nil, e, err
			}
			return out.Attributes, e, nil
		}
		var seen heatsink.Item
		final := 0
		for step := range 4 {
			at := now.Add(time.Duration(step) * time.Second)
			q := question{now: at, n: 1, share: 5, ttl: now.Unix(), known: true, seen: seen}
			first, second := q, q
			once, _, err := update(&first)
			if err != nil {
				t.Fatalf("%v, step %d: %v", a, step, err)
			}
			twice, e, err := update(&second)
			if err != nil {
				t.Fatalf("%v, step %d: %v", a, step, err)
			}
			same := reflect.DeepEqual(once, twice)
			if e.repeatable && !same {
				t.Errorf("%v, %q is called repeatable: once %v, twice %v", a, e.update, once, twice)
			}
			if !e.repeatable && !same {
				final++
			}
			seen = twice
		}
		if final == 0 {
			t.Errorf("%v: no update was one that must not be repeated", a)
		}
	}
}
