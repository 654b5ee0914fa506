package heatsink

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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

// pageOf returns the weight of a page of items with values of these sizes.
func pageOf(sizes ...int) pageWeight {
	var p pageWeight
	for _, n := range sizes {
		p.add(Item{"x": text(strings.Repeat("x", n))})
	}
	return p
}

func TestSizesFollow(t *testing.T) {
	const extra = 64 + 96
	var s sizes
	s.saw(pageWeight{})
	if got := s.estimate(); got != firstEstimate {
		t.Errorf("before any: %+v, want %+v", got, firstEstimate)
	}
	s.saw(pageOf(99, 99))
	if got, want := s.estimate(), (estimate{known: true, mean: 100 + extra, largest: 100 + extra, extra: extra}); got != want {
		t.Errorf("after the first: %+v, want %+v", got, want)
	}
	s.saw(pageOf(99, 99, 99, 100_000))
	if got := s.estimate(); got.largest != 100_001+extra || got.mean < 3000 || got.mean > 4000 {
		t.Errorf("after a large one: %+v, want it as the largest, and a mean that follows slowly", got)
	}
	for range 60 {
		s.saw(pageOf(999))
	}
	if got := s.estimate(); got.mean < 990+extra || got.mean > 1001+extra || got.largest < 30_000 || got.largest > 50_000 {
		t.Errorf("after 60 pages of 1,000: %+v, want their mean, and a largest between", got)
	}
}
