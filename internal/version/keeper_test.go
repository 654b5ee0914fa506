package version

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/expr/compose"
	"github.com/heatsink-go/heatsink/internal/place"
)

// keeper returns a keeper of versions in v, of a table with key pk and time to live ttl.
func keeper() *Keeper { return New("v", "pk", expiry.TTL{Attribute: "ttl"}) }

// at returns an item with a version.
func at(version string) Item { return Item{"v": &types.AttributeValueMemberS{Value: version}} }

func TestNewest(t *testing.T) {
	one, two := newText(1), newText(2)
	for _, c := range []struct {
		name   string
		copies []Item
		want   int
	}{
		{"none", []Item{nil, nil}, -1},
		{"the larger", []Item{at(one), at(two)}, 1},
		{"whatever the order", []Item{at(two), nil, at(one)}, 0},
		{"a tombstone", []Item{at(one), at(two + gone)}, 1},
		{"a version before none", []Item{{}, at(one)}, 1},
		{"the first without", []Item{nil, {}, {}}, 1},
		{"a foreign one is none", []Item{at("zzz"), at(one)}, 1},
	} {
		if got := keeper().Newest(c.copies); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestAbsent(t *testing.T) {
	now := time.Now()
	expired := at(newText(1))
	expired["ttl"] = expiry.Seconds(now.Add(-time.Minute))
	for _, c := range []struct {
		name string
		item Item
		want bool
	}{
		{"no item", nil, true},
		{"a version", at(newText(1)), false},
		{"a tombstone", at(newText(1) + gone), true},
		{"expired", expired, true},
		{"a text that is no version", at("x" + gone), false},
	} {
		if got := keeper().Absent(c.item, now); got != c.want {
			t.Errorf("%s: got %t, want %t", c.name, got, c.want)
		}
	}
	if New("", "pk", expiry.TTL{}).Absent(at(newText(1)+gone), now) {
		t.Error("without versions there is no tombstone")
	}
}

func TestTombstone(t *testing.T) {
	k := keeper()
	key := Item{"pk": &types.AttributeValueMemberS{Value: "a"}}
	put, claim, err := k.Tombstone(&dynamodb.DeleteItemInput{TableName: aws.String("t"), Key: key})
	if err != nil {
		t.Fatal(err)
	}
	sent := claim.Put(put)
	if !k.Buried(sent.Item) || len(sent.Item) != 3 || sent.Item["pk"] != key["pk"] || len(key) != 1 {
		t.Errorf("got %v, want the key, a version and a time to live; the caller's key is %v", sent.Item, key)
	}
	until, least := sent.Item["ttl"].(*types.AttributeValueMemberN).Value, expiry.Seconds(time.Now().Add(tombstoneLife-time.Minute)).Value
	if until < least {
		t.Errorf("it lives until %s, want %s at least", until, least)
	}
}

// What cannot have a claim's condition is refused, and nothing is where there are no versions.
func TestClaimRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		in   dynamodb.PutItemInput
		want error // nil: any
		says string
	}{
		{"legacy parameters", dynamodb.PutItemInput{Expected: map[string]types.ExpectedAttributeValue{"a": {}}}, place.ErrOptions, "use expressions"},
		{"an open parenthesis", dynamodb.PutItemInput{ConditionExpression: aws.String("a = b) OR (c = d")}, place.ErrItem, "parenthesis"},
		{"a name of heatsink's", dynamodb.PutItemInput{ExpressionAttributeNames: map[string]string{"#hs_v": "a"}}, nil, "#hs_v"},
		{"a value of heatsink's", dynamodb.PutItemInput{ExpressionAttributeValues: Item{":hs_v": nil}}, nil, ":hs_v"},
	} {
		claim, err := keeper().ClaimPut(&c.in)
		if err == nil || claim != nil || !strings.Contains(err.Error(), c.says) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, %v, want %v with %s", c.name, claim, err, c.want, c.says)
		}
		if claim, err := New("", "pk", expiry.TTL{}).ClaimPut(&c.in); claim != nil || err != nil {
			t.Errorf("%s, without versions: got %v, %v", c.name, claim, err)
		}
	}
}

// Neither a delete nor an update with parameters that know no expressions can keep a version.
func TestLegacyParameters(t *testing.T) {
	expected := map[string]types.ExpectedAttributeValue{"a": {}}
	put, claim, err := keeper().Tombstone(&dynamodb.DeleteItemInput{Key: Item{}, Expected: expected})
	if put != nil || claim != nil || !errors.Is(err, place.ErrOptions) {
		t.Errorf("delete: got %v, want ErrOptions", err)
	}
	if _, _, err := keeper().Tombstone(&dynamodb.DeleteItemInput{Key: Item{}, ConditionExpression: aws.String("(")}); !errors.Is(err, place.ErrItem) {
		t.Errorf("delete with an open parenthesis: got %v, want ErrItem", err)
	}
	for _, in := range []*dynamodb.UpdateItemInput{{Expected: expected}, {AttributeUpdates: map[string]types.AttributeValueUpdate{"a": {}}}} {
		if claim, err := keeper().ClaimUpdate(in); claim != nil || !errors.Is(err, place.ErrOptions) {
			t.Errorf("update: got %v, want ErrOptions", err)
		}
	}
}

func TestCheckAssignments(t *testing.T) {
	assigned := compose.Assignments("REMOVE pk SET v = :v", nil, nil)
	if err := keeper().CheckAssignments(assigned, Item{}); !errors.Is(err, place.ErrItem) || !strings.Contains(err.Error(), `the SET clause changes "v"`) {
		t.Errorf("got %v, want an ErrItem", err)
	}
	if err := keeper().CheckAssignments(assigned[:1], Item{}); err != nil {
		t.Errorf("got %v for another attribute", err)
	}
	if err := New("", "pk", expiry.TTL{}).CheckAssignments(compose.Assignments("SET v = :v", nil, nil), Item{}); err != nil {
		t.Errorf("without versions: got %v", err)
	}
}

// Versions of one keeper grow, also if the clock stands still.
func TestTick(t *testing.T) {
	k := keeper()
	last := k.tick(0)
	for range 1000 {
		next := k.tick(0)
		if next <= last {
			t.Fatalf("%d comes after %d", next, last)
		}
		last = next
	}
	if ahead := last + uint64(time.Hour); k.tick(ahead) <= ahead {
		t.Error("a version is not above that of a clock that is ahead")
	}
}

// Versions of one keeper also grow within one tick of the clock, where only their random digits would differ.
func TestVersionsAscendAtOneInstant(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		k, last := keeper(), ""
		for i := range 1000 {
			claim, err := k.ClaimPut(&dynamodb.PutItemInput{})
			if err != nil {
				t.Fatal(err)
			}
			if claim.version <= last {
				t.Fatalf("claim %d: %s comes after %s", i, claim.version, last)
			}
			last = claim.version
		}
	})
}
