package version

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/place"
)

// What an attempt finds in its way tells what to do: take it for the own write, give up, or try again with a larger version.
func TestContest(t *testing.T) {
	unsent := errors.New("unsent")
	later := func(version string) string {
		time, _ := timeOf(version)
		return newText(time + 1000)
	}
	for _, c := range []struct {
		name   string
		lost   bool
		found  func(own string) Item // nil: the write succeeds
		sends  int
		left   bool
		failed any
	}{
		{"nothing in the way", false, nil, 1, false, nil},
		{"the own version", false, func(own string) Item { return at(own) }, 1, true, nil},
		{"a smaller one, so the caller's condition", false, func(string) Item { return at(newText(1)) }, 1, false, new(*types.ConditionalCheckFailedException)},
		{"no item, so the caller's condition", false, func(string) Item { return nil }, 1, false, new(*types.ConditionalCheckFailedException)},
		{"a larger one each time", false, func(own string) Item { return at(later(own)) }, maxRaises, false, new(*types.ConditionalCheckFailedException)},
		{"a larger one after a lost answer", true, func(own string) Item { return at(later(own)) }, 1, false, new(*types.ConditionalCheckFailedException)},
		{"somebody else's attribute", false, func(string) Item { return at("mine") }, 1, false, new(*dispatch.RejectedError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim, err := keeper().ClaimPut(&dynamodb.PutItemInput{})
			if err != nil {
				t.Fatal(err)
			}
			sends := 0
			var sum meter.Meter
			left, err := claim.Contest(meter.With(t.Context(), &sum), c.lost, func() error {
				sends++
				if c.found == nil {
					return nil
				}
				return &types.ConditionalCheckFailedException{Item: c.found(claim.version)}
			})
			if sends != c.sends || (left != nil) != c.left || (err != nil) != (c.failed != nil) {
				t.Errorf("got %v, %v after %d attempts, want an item: %t, an error: %t, %d attempts", left, err, sends, c.left, c.failed != nil, c.sends)
			}
			if got := sum.Cost().Requests; got != sends-1 {
				t.Errorf("%d requests were counted, want all %d but the first", got, sends)
			}
			if c.failed != nil && !errors.As(err, c.failed) {
				t.Errorf("got %v, want a %T", err, c.failed)
			}
		})
	}
	claim, _ := keeper().ClaimPut(&dynamodb.PutItemInput{})
	if _, err := claim.Contest(t.Context(), false, func() error { return unsent }); err != unsent {
		t.Errorf("got %v, want the error of the request", err)
	}
	_, err := claim.Contest(t.Context(), false, func() error { return &types.ConditionalCheckFailedException{Item: at("mine")} })
	if !errors.Is(err, place.ErrItem) {
		t.Errorf("got %v, want an ErrItem", err)
	}
}

// A larger version that another clock made is passed at once.
func TestContestRaises(t *testing.T) {
	claim, _ := keeper().ClaimPut(&dynamodb.PutItemInput{})
	ahead := newText(1 << 63)
	sends := 0
	if _, err := claim.Contest(t.Context(), false, func() error {
		if sends++; sends == 1 {
			return &types.ConditionalCheckFailedException{Item: at(ahead)}
		}
		return nil
	}); err != nil || claim.version <= ahead {
		t.Errorf("got %v and version %s, want one above %s", err, claim.version, ahead)
	}
}

// A tombstone is nothing to the caller: a condition holds of it if it holds where there is no item.
func TestHoldsOfNothing(t *testing.T) {
	names, values := map[string]string{"#a": "a"}, Item{":one": &types.AttributeValueMemberN{Value: "1"}}
	for condition, want := range map[string]bool{
		"attribute_not_exists(pk)":               true,
		"attribute_not_exists(#a) OR #a = :one":  true,
		"attribute_exists(pk)":                   false,
		"#a = :one":                              false,
		"NOT #a = :one":                          true,
		"this is no condition":                   false,
		"attribute_not_exists(pk) AND #b = :one": false,
	} {
		if got := holdsOfNothing(condition, names, values); got != want {
			t.Errorf("%s: got %t, want %t", condition, got, want)
		}
	}
	if holdsOfNothing("attribute_not_exists(pk)", nil, Item{":x": &types.AttributeValueMemberN{Value: "x"}}) {
		t.Error("a value that is no number was taken")
	}
}

// The condition of a put lets a tombstone pass for nothing, if the caller's condition holds of nothing.
func TestPutCondition(t *testing.T) {
	for condition, want := range map[string]string{
		"":                         newer,
		"attribute_not_exists(pk)": newer + " AND (contains(#hs_v, :hs_gone) OR (attribute_not_exists(pk)))",
		"attribute_exists(pk)":     newer + " AND " + Unburied + " AND (attribute_exists(pk))",
	} {
		in := &dynamodb.PutItemInput{Item: Item{}}
		if condition != "" {
			in.ConditionExpression = &condition
		}
		claim, err := keeper().ClaimPut(in)
		if err != nil {
			t.Fatal(err)
		}
		out := claim.Put(in)
		if *out.ConditionExpression != want || out.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
			t.Errorf("%q: got %q, returning %s, want %q", condition, *out.ConditionExpression, out.ReturnValuesOnConditionCheckFailure, want)
		}
		if _, ok := out.ExpressionAttributeValues[":hs_gone"]; ok != (condition != "") {
			t.Errorf("%q: got values %v", condition, out.ExpressionAttributeValues)
		}
	}
}

// A claim changes copies of a request.
func TestClaimLeavesRequests(t *testing.T) {
	claim, err := keeper().ClaimUpdate(&dynamodb.UpdateItemInput{})
	if err != nil {
		t.Fatal(err)
	}
	names, values := map[string]string{"#a": "a"}, Item{":b": nil}
	in := &dynamodb.UpdateItemInput{UpdateExpression: aws.String("SET #a = :b"), ConditionExpression: aws.String("#a = :b"), ExpressionAttributeNames: names, ExpressionAttributeValues: values}
	out := claim.Update(in)
	if len(names) != 1 || len(values) != 1 || *in.UpdateExpression != "SET #a = :b" || *in.ConditionExpression != "#a = :b" {
		t.Errorf("the request has become %+v", in)
	}
	if want := "SET #a = :b, #hs_v = :hs_v"; *out.UpdateExpression != want && *out.UpdateExpression != "SET #hs_v = :hs_v, #a = :b" {
		t.Errorf("got %q, want %q", *out.UpdateExpression, want)
	}
	if out.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
		t.Errorf("a failed condition returns %q, want the item", out.ReturnValuesOnConditionCheckFailure)
	}
	if out.ExpressionAttributeNames["#hs_pk"] != "pk" || out.ExpressionAttributeNames["#hs_ttl"] != "ttl" || out.ExpressionAttributeNames["#hs_v"] != "v" {
		t.Errorf("got names %v", out.ExpressionAttributeNames)
	}
}
