package attribute

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestSameItem(t *testing.T) {
	list := func(v ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: v} }
	number := func(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
	full := func() Item {
		return ov("s", "x", "n", 1, "b", &types.AttributeValueMemberB{Value: []byte{1}}, "yes", &types.AttributeValueMemberBOOL{Value: true},
			"null", &types.AttributeValueMemberNULL{Value: true}, "l", list(sv("a"), nv(1)), "m", &types.AttributeValueMemberM{Value: ov("a", 1)},
			"ss", &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "ns", &types.AttributeValueMemberNS{Value: []string{"1", "2"}},
			"bs", &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}})
	}
	for name, same := range map[string]func(Item){
		"itself":        func(Item) {},
		"number":        func(i Item) { i["n"] = number("1.00") },
		"set of texts":  func(i Item) { i["ss"] = &types.AttributeValueMemberSS{Value: []string{"b", "a"}} },
		"set of digits": func(i Item) { i["ns"] = &types.AttributeValueMemberNS{Value: []string{"2.0", "1"}} },
		"set of bytes":  func(i Item) { i["bs"] = &types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}} },
	} {
		other := full()
		if same(other); !Same(full(), other) {
			t.Errorf("%s: not the same", name)
		}
	}
	for name, differ := range map[string]func(Item){
		"more":   func(i Item) { i["z"] = nv(1) },
		"less":   func(i Item) { delete(i, "n") },
		"kind":   func(i Item) { i["n"] = sv("1") },
		"list":   func(i Item) { i["l"] = list(nv(1), sv("a")) },
		"map":    func(i Item) { i["m"] = &types.AttributeValueMemberM{Value: ov("a", 2)} },
		"set":    func(i Item) { i["ss"] = &types.AttributeValueMemberSS{Value: []string{"a"}} },
		"bool":   func(i Item) { i["yes"] = &types.AttributeValueMemberBOOL{} },
		"broken": func(i Item) { i["n"] = number("x") },
	} {
		other := full()
		if differ(other); Same(full(), other) {
			t.Errorf("%s: the same", name)
		}
	}
}

func TestBadNumbersAreNotTheSame(t *testing.T) {
	bad := func() Item { return Item{"n": &types.AttributeValueMemberN{Value: "x"}} }
	if Same(bad(), bad()) {
		t.Error("two items that DynamoDB refuses are the same")
	}
}
