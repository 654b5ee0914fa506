package heatsink

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/gather"
)

func TestItemSize(t *testing.T) {
	for _, test := range []struct {
		name string
		item Item
		want weight
	}{
		{"nothing", Item{}, weight{0, 64}},
		{"a string", Item{"name": text("value")}, weight{9, 64 + 96}},
		{"a number and a binary", Item{"n": number("123"), "b": &types.AttributeValueMemberB{Value: make([]byte, 1000)}}, weight{1005, 64 + 2*96}},
		{"null and bool", Item{"n": &types.AttributeValueMemberNULL{}, "b": &types.AttributeValueMemberBOOL{}}, weight{2, 64 + 2*96}},
		{"sets", Item{
			"ss": &types.AttributeValueMemberSS{Value: []string{"a", "bc"}},
			"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2", "3"}},
			"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1, 2, 3, 4}}},
		}, weight{6 + 3 + 3 + 4, 64 + 3*96 + 6*32}},
		{"a list", Item{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("abc"), number("1")}}}, weight{5, 64 + 96 + 2*32}},
		{"a map", Item{"m": &types.AttributeValueMemberM{Value: Item{"in": text("side")}}}, weight{7, 64 + 96 + 64 + 96}},
	} {
		if got := weigh(test.item); got != test.want || itemSize(test.item) != test.want.bytes+test.want.extra {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A page's weight is what package gather is told of it.
func TestPageWeight(t *testing.T) {
	var page gather.Weight
	for _, value := range []string{"a", "abcd", "ab"} {
		weigh(Item{"x": text(value)}).addTo(&page)
	}
	if want := (gather.Weight{Entries: 3, Bytes: 3 + 7, Extra: 3 * 160, Largest: 5 + 160}); page != want {
		t.Errorf("got %+v, want %+v", page, want)
	}
}
