package attribute

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestItemSize(t *testing.T) {
	for _, test := range []struct {
		name string
		item Item
		want Size
	}{
		{"nothing", Item{}, Size{0, 64}},
		{"a string", Item{"name": text("value")}, Size{9, 64 + 96}},
		{"a number and a binary", Item{"n": number("123"), "b": &types.AttributeValueMemberB{Value: make([]byte, 1000)}}, Size{1005, 64 + 2*96}},
		{"null and bool", Item{"n": &types.AttributeValueMemberNULL{}, "b": &types.AttributeValueMemberBOOL{}}, Size{2, 64 + 2*96}},
		{"sets", Item{
			"ss": &types.AttributeValueMemberSS{Value: []string{"a", "bc"}},
			"ns": &types.AttributeValueMemberNS{Value: []string{"1", "2", "3"}},
			"bs": &types.AttributeValueMemberBS{Value: [][]byte{{1, 2, 3, 4}}},
		}, Size{6 + 3 + 3 + 4, 64 + 3*96 + 6*32}},
		{"a list", Item{"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{text("abc"), number("1")}}}, Size{5, 64 + 96 + 2*32}},
		{"a map", Item{"m": &types.AttributeValueMemberM{Value: Item{"in": text("side")}}}, Size{7, 64 + 96 + 64 + 96}},
	} {
		if got := SizeOf(test.item); got != test.want || TotalSize(test.item) != test.want.Bytes+test.want.Extra {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}
