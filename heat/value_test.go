package heat

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The size of an item is about what DynamoDB counts: names and values, three bytes for a map or a list, one for each member.
func TestItemSize(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	for _, test := range []struct {
		name  string
		value types.AttributeValue
		want  int // with a name of two bytes
	}{
		{"text", text("abcde"), 7},
		{"an empty text", text(""), 2},
		{"a number", number("12345"), 6},
		{"a short number", number("7"), 4},
		{"bytes", &types.AttributeValueMemberB{Value: []byte("abc")}, 5},
		{"a map", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"k": text("ab"), "kk": text("c")}}, 2 + 3 + (1 + 1 + 2) + (2 + 1 + 1)},
		{"a list", &types.AttributeValueMemberL{Value: []types.AttributeValue{text("ab"), number("12")}}, 2 + 3 + (1 + 2) + (1 + 2)},
		{"texts", &types.AttributeValueMemberSS{Value: []string{"ab", "c"}}, 5},
		{"numbers", &types.AttributeValueMemberNS{Value: []string{"12", "3456"}}, 2 + 2 + 3},
		{"bytes of several", &types.AttributeValueMemberBS{Value: [][]byte{[]byte("ab"), []byte("c")}}, 5},
		{"a truth", &types.AttributeValueMemberBOOL{Value: true}, 3},
		{"nothing", &types.AttributeValueMemberNULL{Value: true}, 3},
	} {
		if got := itemSize(map[string]types.AttributeValue{"at": test.value}); got != test.want {
			t.Errorf("%s: got %d bytes, want %d", test.name, got, test.want)
		}
	}
	if got := itemSize(nil); got != 1 {
		t.Errorf("an item without attributes: got %d bytes, want 1", got)
	}
}

// Units are by the size, rounded up; a key is a text, a number or bytes.
func TestUnitsOfItems(t *testing.T) {
	sized := func(n int) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"at": &types.AttributeValueMemberB{Value: make([]byte, n-2)}}
	}
	for bytes, want := range map[int][2]float64{2: {1, 1}, 1024: {1, 1}, 1025: {2, 1}, 4096: {4, 1}, 4097: {5, 2}, 8193: {9, 3}} {
		if writes, reads := writeUnits(sized(bytes)), readUnits(sized(bytes)); writes != want[0] || reads != want[1] {
			t.Errorf("%d bytes: got %v and %v units, want %v", bytes, writes, reads, want)
		}
	}
	for want, value := range map[string]types.AttributeValue{
		"a":    &types.AttributeValueMemberS{Value: "a"},
		"1.0":  &types.AttributeValueMemberN{Value: "1.0"},
		"AAE=": &types.AttributeValueMemberB{Value: []byte{0, 1}},
	} {
		if got, ok := appendKey([]byte("k|"), value); !ok || string(got) != "k|"+want {
			t.Errorf("got %q, %v, want %q", got, ok, want)
		}
	}
	if got, ok := appendKey([]byte("k|"), &types.AttributeValueMemberBOOL{}); ok || string(got) != "k|" {
		t.Errorf("a truth as key: got %q, %v", got, ok)
	}
}
