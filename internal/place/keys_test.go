package place

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var (
	ofTable = Keys{PartitionKey: "pk", SortKey: "sk"}
	ofIndex = Keys{PartitionKey: "pk", SortKey: "sk", Index: "listing", TableKey: []string{"id"}, ShardAttribute: "shard"}
)

func TestKeyOf(t *testing.T) {
	item := ov("pk", "a", "sk", 1, "id", "i", "n", 2)
	for _, c := range []struct {
		name  string
		keys  Keys
		want  Item
		names []string
	}{
		{"table", ofTable, ov("pk", "a", "sk", 1), []string{"pk", "sk"}},
		{"table without a sort key", Keys{PartitionKey: "pk"}, ov("pk", "a"), []string{"pk"}},
		{"index", ofIndex, ov("id", "i"), []string{"id", "pk", "sk"}},
	} {
		got, err := c.keys.KeyOf(item)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		wantItem(t, c.name, got, c.want)
		if all := c.keys.AllKeys(); !slices.Equal(all, c.names) {
			t.Errorf("%s: all keys are %q, want %q", c.name, all, c.names)
		}
		for name := range c.want {
			lacking := Item{}
			for other, v := range item {
				if other != name {
					lacking[other] = v
				}
			}
			if _, err := c.keys.KeyOf(lacking); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"`+name+`"`) {
				t.Errorf("%s without %s: got %v, want an ErrItem that names it", c.name, name, err)
			}
		}
	}
}

// Keys are the same text if DynamoDB takes them for the same key.
func TestKeyText(t *testing.T) {
	text := func(pk string, sk types.AttributeValue) string {
		got, ok := ofTable.KeyText(Item{"pk": sv(pk), "sk": sk})
		if !ok {
			t.Errorf("%s and %v are refused", pk, sk)
		}
		return got
	}
	if text("a", nv(1)) != text("a", &types.AttributeValueMemberN{Value: "1.0"}) {
		t.Error("1 and 1.0 are two keys")
	}
	distinct := []string{text("a", sv("b")), text("ab", sv("c")), text("a", sv("bc")), text("a", nv(1)), text("a", sv("1")), text("a", &types.AttributeValueMemberB{Value: []byte("1")})}
	slices.Sort(distinct)
	if n := len(slices.Compact(distinct)); n != 6 {
		t.Errorf("got %d texts, want 6", n)
	}
	for _, sk := range []types.AttributeValue{&types.AttributeValueMemberN{Value: "x"}, &types.AttributeValueMemberBOOL{}, nil} {
		if got, ok := ofTable.KeyText(Item{"pk": sv("a"), "sk": sk}); ok {
			t.Errorf("%v is taken for a key, %q", sk, got)
		}
	}
}

func TestWithKeyOf(t *testing.T) {
	other, item := ov("pk", "a", "id", "i"), ov("pk", "changed", "sk", "added", "id", "changed", "n", 1)
	wantItem(t, "table", ofTable.WithKeyOf(other, item), ov("pk", "a", "id", "changed", "n", 1))
	wantItem(t, "index", ofIndex.WithKeyOf(other, item), ov("pk", "a", "sk", "added", "id", "i", "n", 1))
	wantItem(t, "the item itself", item, ov("pk", "changed", "sk", "added", "id", "changed", "n", 1))
}

func TestTableHome(t *testing.T) {
	for want, v := range map[string]types.AttributeValue{"i": sv("i"), "7": nv(7), "b": &types.AttributeValueMemberB{Value: []byte("b")}, "": nil} {
		if got := ofIndex.TableHome(Item{"id": v}); got.ShardKey != want || got.Shard != 0 {
			t.Errorf("%v: got %+v, want %q", v, got, want)
		}
	}
}

// An item that an index does not list has none of its key attributes, as DynamoDB refuses empty ones.
func TestListing(t *testing.T) {
	for _, c := range []struct {
		name   string
		item   Item
		listed bool
		stored Item
	}{
		{"listed", ov("id", "i", "pk", "a", "sk", "1"), true, ov("id", "i", "pk", "a", "sk", "1", "shard", 3)},
		{"no key", ov("id", "i", "sk", "1"), false, ov("id", "i", "sk", "1")},
		{"empty keys", ov("id", "i", "pk", "", "sk", ""), false, ov("id", "i")},
	} {
		if got := ofIndex.Listed(c.item); got != c.listed {
			t.Errorf("%s: got %t, want %t", c.name, got, c.listed)
		}
		if c.listed {
			ofIndex.list(Home{"a", 3}, c.item)
		} else {
			ofIndex.unlist(c.item)
		}
		wantItem(t, c.name, c.item, c.stored)
	}
	if err := ofIndex.checkListed(ov("id", "i", "pk", "a")); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"sk"`) {
		t.Errorf("without a sort key: got %v, want an ErrItem that names it", err)
	}
	if !ofTable.Listed(Item{}) {
		t.Error("every item of a table is in it")
	}
}
