package heat

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func stockOf(ttl string, options Options) *inventory {
	n := newInventory(newTable("orders").view.Load(), ttl, options)
	n.resources[0].view.names = keyNames{partition: []string{"pk"}, sort: []string{"sk"}}
	return n
}

func stored(pk, sk string, more ...string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
	for i := 0; i+1 < len(more); i += 2 {
		item[more[i]] = &types.AttributeValueMemberN{Value: more[i+1]}
	}
	return item
}

// An item has expired if its time is over, by less than five years, as DynamoDB has it.
func TestExpired(t *testing.T) {
	n := stockOf("ttl", Options{})
	n.now = time.Date(2026, 6, 22, 12, 0, 0, 0, time.UTC)
	at := func(t time.Time) string { return fmt.Sprint(t.Unix()) }
	for _, test := range []struct {
		name, value string
		want        bool
	}{
		{"a second ago", at(n.now.Add(-time.Second)), true},
		{"now", at(n.now), false},
		{"a fraction of a second ago", at(n.now.Add(-time.Second)) + ".9", true},
		{"five years ago", at(n.now.AddDate(-5, 0, 0)), false},
		{"almost five years ago", at(n.now.AddDate(-5, 0, 0).Add(time.Second)), true},
		{"nothing", "", false},
		{"no number", "1e9", false},
		{"a negative number", "-5", false},
		{"a number of too many digits", "99999999999999999999999", false},
	} {
		if got := n.expired(stored("A", "1", "ttl", test.value)); got != test.want {
			t.Errorf("%s, %q: got %v", test.name, test.value, got)
		}
	}
	if n.expired(stored("A", "1")) || n.expired(map[string]types.AttributeValue{"ttl": &types.AttributeValueMemberS{Value: at(n.now.Add(-time.Hour))}}) {
		t.Error("an item without a number has expired")
	}
}

// Items are counted by key, with their bytes, by the day that their sort key tells or else their key, and in patterns.
func TestInventory(t *testing.T) {
	n := stockOf("ttl", Options{Top: 2})
	past := fmt.Sprint(time.Now().Add(-time.Hour).Unix())
	for _, item := range []map[string]types.AttributeValue{
		stored("ORG#1", "2026-06-21T10:00:00Z"), stored("ORG#1", "2026-06-21"), stored("ORG#2", "2026-06-22", "ttl", past),
		stored("LOG#2026-06-20", "2026-06-23"), stored("LOG#2026-06-20", "x"), stored("LOG#2026-06-20", "y"), stored("ORG#3", "z"),
	} {
		n.add(item)
	}
	n.add(map[string]types.AttributeValue{"sk": &types.AttributeValueMemberS{Value: "no key"}})
	all := n.report(0.5)
	if len(all) != 1 {
		t.Fatalf("got %+v", all)
	}
	s := all[0].Stored
	if s.Items != 7 || s.Expired != 1 || s.Fraction != 0.5 || s.Distinct != (Distinct{Keys: 4}) {
		t.Errorf("got %+v", s)
	}
	logBytes := int64(3*(2+2+14) + 10 + 1 + 1)
	if len(s.Keys) != 2 || s.Keys[0] != (KeyItems{Key: "LOG#2026-06-20", Items: 3, Low: 3, Share: 3.0 / 7, Bytes: logBytes, Shape: "LOG#{day}"}) || s.Keys[1].Key != "ORG#1" {
		t.Errorf("got %+v", s.Keys)
	}
	growth := []KeyGrowth{{"LOG#{day}", "2026-06-20", 2}, {"LOG#{day}", "2026-06-23", 1}, {"ORG#{n}", "2026-06-21", 2}, {"ORG#{n}", "2026-06-22", 1}}
	if !reflect.DeepEqual(s.Growth, growth) {
		t.Errorf("got %+v, want %+v", s.Growth, growth)
	}
	patterns := []Pattern{
		{Shape: "ORG#{n}", Example: "ORG#1", Distinct: Distinct{Keys: 3}, Items: 4}, {Shape: "LOG#{day}", Example: "LOG#2026-06-20", Distinct: Distinct{Keys: 1}, Items: 3},
	}
	if !reflect.DeepEqual(all[0].Patterns, patterns) {
		t.Errorf("got %+v, want %+v", all[0].Patterns, patterns)
	}
}

// The values of a set have their items, and no traffic.
func TestInventoryOfASet(t *testing.T) {
	n := stockOf("", Options{})
	for i := range 10 {
		n.add(stored("STATUS#ACTIVE", fmt.Sprint(i)))
		if i < 3 {
			n.add(stored("STATUS#NEW", fmt.Sprint(i)))
		}
	}
	want := []Pattern{{
		Shape: "STATUS#{value}", Example: "STATUS#ACTIVE", Distinct: Distinct{Keys: 2}, Items: 13,
		Values: []PatternValue{{Value: "ACTIVE", Key: "STATUS#ACTIVE", Items: 10}, {Value: "NEW", Key: "STATUS#NEW", Items: 3}},
	}}
	if got := n.report(1)[0].Patterns; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Days are kept up to a number, and those that are known go on.
func TestDaysAreBounded(t *testing.T) {
	n := stockOf("", Options{})
	first := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 2 {
		for i := range mostDays + 5 {
			n.add(stored("A", first.AddDate(0, 0, i).Format(time.DateOnly)))
		}
	}
	growth := n.report(1)[0].Stored.Growth
	if len(growth) != mostDays || growth[0] != (KeyGrowth{"A", "2020-01-01", 2}) {
		t.Errorf("%d days, the first %+v", len(growth), growth[0])
	}
}

// A key seems to have grown if its first shards have about as much, and later ones less.
func TestGrownFrom(t *testing.T) {
	for _, test := range []struct {
		name   string
		counts []int64
		want   int
	}{
		{"nothing", nil, 0},
		{"one shard", []int64{100}, 0},
		{"alike", []int64{100, 104, 97, 101}, 0},
		{"two, then two more", []int64{200, 210, 100, 95}, 2},
		{"three steps", []int64{1000, 1010, 500, 510, 100, 90}, 2},
		{"from one", []int64{1000, 100, 100, 100}, 0},
		{"later ones with more", []int64{100, 100, 1000, 1000}, 0},
		{"a single one in between", []int64{1000, 1000, 500, 100, 100}, 0},
		{"the last alone", []int64{1000, 1000, 500}, 2},
		{"as far off as chance goes", []int64{100, 100, 44}, 0}, // 4 × √(2 × 100) is 56.6
		{"a bit further off", []int64{100, 100, 43}, 2},
		{"few", []int64{1, 0, 0, 0}, 0},
	} {
		if got := grownFrom(test.counts); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
