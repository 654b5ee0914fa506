package heatsink

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/layout"
)

// A condition or a filter may stand in parentheses, whatever heatsink adds to it. DynamoDB refuses two pairs around the same.
func TestConditionsInParentheses(t *testing.T) {
	ctx, like := t.Context(), ov("pk", "a", "sk", "1")
	for name, options := range map[string]Options{
		"random":   {Layout: layout.Layout{Shards: 4}},
		"versions": {Layout: layout.Layout{Shards: 4, Strategy: layout.Calculated}, Version: "v", TTL: "ttl"},
	} {
		c := openItems(t, onItems(t), options)
		if _, err := c.Put(ctx, ov("pk", "a", "sk", "1", "n", 1), func(in *dynamodb.PutItemInput) {
			if options.Version != "" {
				in.ConditionExpression = aws.String("(attribute_not_exists(sk))")
			}
		}); err != nil {
			t.Errorf("%s: put: %v", name, err)
			continue
		}
		if _, err := c.Update(ctx, like, expression("SET n = :n", ":n", 2), func(in *dynamodb.UpdateItemInput) {
			in.ConditionExpression = aws.String("(n < :n)")
		}); err != nil {
			t.Errorf("%s: update: %v", name, err)
		}
		if got, err := all(ctx, c, Query{Key: "a", Filter: "(n = :n)", Values: ov(":n", 2)}, "sk"); err != nil || !slices.Equal(got, []string{"1"}) {
			t.Errorf("%s: query: got %q, %v", name, got, err)
		}
	}
}
