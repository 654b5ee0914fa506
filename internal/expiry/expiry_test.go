package expiry

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/expr"
)

func TestExpired(t *testing.T) {
	now := time.Unix(1_800_000_000, 500)
	number := func(offset time.Duration) types.AttributeValue { return Seconds(now.Add(offset)) }
	for _, c := range []struct {
		name  string
		value types.AttributeValue
		want  bool
	}{
		{"missing", nil, false},
		{"now", number(0), true},
		{"a second ago", number(-time.Second), true},
		{"in a second", number(time.Second), false},
		{"a fraction of a second ago", &types.AttributeValueMemberN{Value: "1799999999.9"}, true},
		{"five years ago", number(-longAgo), true},
		{"longer ago", number(-longAgo - time.Second), false},
		{"not set", &types.AttributeValueMemberN{Value: "0"}, false},
		{"no number", &types.AttributeValueMemberN{Value: "soon"}, false},
		{"a text", &types.AttributeValueMemberS{Value: "1799999999"}, false},
	} {
		item := Item{}
		if c.value != nil {
			item["ttl"] = c.value
		}
		if got := (TTL{Attribute: "ttl"}).Expired(item, now); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
		if (TTL{}).Expired(item, now) {
			t.Errorf("%s: an item without a time to live has expired", c.name)
		}
	}
}

func TestGive(t *testing.T) {
	for _, c := range []struct {
		name  string
		ttl   TTL
		value types.AttributeValue
		given bool
	}{
		{"missing", TTL{"ttl", time.Hour}, nil, true},
		{"not set", TTL{"ttl", time.Hour}, &types.AttributeValueMemberN{Value: "0"}, true},
		{"the item's own", TTL{"ttl", time.Hour}, &types.AttributeValueMemberN{Value: "7"}, false},
		{"a text", TTL{"ttl", time.Hour}, &types.AttributeValueMemberS{Value: "0"}, false},
		{"for ever", TTL{"ttl", 0}, nil, false},
		{"no attribute", TTL{"", time.Hour}, nil, false},
	} {
		item := Item{}
		if c.value != nil {
			item["ttl"] = c.value
		}
		before := fmt.Sprint(item)
		got, least := c.ttl.Give(item), Seconds(time.Now().Add(time.Hour-time.Minute)).Value
		at, _ := got["ttl"].(*types.AttributeValueMemberN)
		if given := at != nil && len(at.Value) == len(least) && at.Value >= least; given != c.given {
			t.Errorf("%s: got %v, want a time in an hour: %t", c.name, got["ttl"], c.given)
		}
		if fmt.Sprint(item) != before {
			t.Errorf("%s: the caller's item was changed", c.name)
		}
	}
	if got := (TTL{"ttl", time.Hour}).Give(nil); len(got) != 1 {
		t.Errorf("of no item: got %v, want a time to live", got)
	}
}

// The filter of queries and the check of single items agree to the second on what has expired.
func TestAliveIsNotExpired(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // the clock stands still
		ttl, names, values := TTL{Attribute: "ttl"}, map[string]string{}, Item{}
		ttl.AddAlive(names, values)
		alive, err := expr.ParseCondition(expr.FilterExpression, Alive, expr.NewScope(names, engineItem(t, values)))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for _, c := range []struct {
			name  string
			value types.AttributeValue
			alive bool
		}{
			{"in a second", Seconds(now.Add(time.Second)), true},
			{"now", Seconds(now), false},
			{"a second ago", Seconds(now.Add(-time.Second)), false},
			{"a second before five years ago", Seconds(now.Add(-longAgo - time.Second)), true},
			{"five years ago", Seconds(now.Add(-longAgo)), false},
			{"a second after five years ago", Seconds(now.Add(-longAgo + time.Second)), false},
			{"a text", &types.AttributeValueMemberS{Value: Seconds(now).Value}, true},
		} {
			item := Item{"ttl": c.value}
			if got, expired := alive.Eval(engineItem(t, item)), ttl.Expired(item, now); got != c.alive || expired == c.alive {
				t.Errorf("%s: alive is %t and expired is %t, want alive to be %t and expired the opposite", c.name, got, expired, c.alive)
			}
		}
	})
}

// engineItem returns an item in the engine's form.
func engineItem(t *testing.T, item Item) attr.Item {
	t.Helper()
	var fields []attr.Field
	for name, value := range item {
		v, err := attribute.Canonical(value)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, attr.Field{Name: name, Value: v})
	}
	return attr.NewItem(fields...)
}
