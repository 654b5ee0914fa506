package sortkey_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/internal/sortkey/sortkeytest"
)

// Numbers are what they are, however they are written.
func TestNumbersWrittenDifferently(t *testing.T) {
	first, err := sortkey.Of(number("1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range []any{1, int8(1), uint64(1), 1.0, number("1.0"), number("1E0"), number("0.1e1"), number("+1"), number("0001"), number("1.000000")} {
		got, err := sortkey.Of(written)
		if err != nil || got != first {
			t.Errorf("%v: got %q, %v, want %q", written, got.Text, err, first.Text)
		}
	}
}

func TestAfterPrefix(t *testing.T) {
	long := strings.Repeat("x", sortkey.MaxBytes-1)
	tests := []struct {
		name         string
		prefix, want sortkey.Value
		none         bool
	}{
		{name: "text", prefix: sortkey.Value{Kind: attr.S, Text: "ab"}, want: sortkey.Value{Kind: attr.S, Text: "ac"}},
		{name: "empty", prefix: sortkey.Value{Kind: attr.S, Text: ""}, none: true},
		{name: "zero byte", prefix: sortkey.Value{Kind: attr.S, Text: "a\x00"}, want: sortkey.Value{Kind: attr.S, Text: "a\x01"}},
		{name: "to two bytes", prefix: sortkey.Value{Kind: attr.S, Text: "a\x7f"}, want: sortkey.Value{Kind: attr.S, Text: "a\u0080"}},
		{name: "to three bytes", prefix: sortkey.Value{Kind: attr.S, Text: "a\u07ff"}, want: sortkey.Value{Kind: attr.S, Text: "a\u0800"}},
		{name: "over the surrogates", prefix: sortkey.Value{Kind: attr.S, Text: "a\ud7ff"}, want: sortkey.Value{Kind: attr.S, Text: "a\ue000"}},
		{name: "to four bytes", prefix: sortkey.Value{Kind: attr.S, Text: "a\uffff"}, want: sortkey.Value{Kind: attr.S, Text: "a\U00010000"}},
		{name: "last rune", prefix: sortkey.Value{Kind: attr.S, Text: "a\U0010ffff"}, want: sortkey.Value{Kind: attr.S, Text: "b"}},
		{name: "last runes", prefix: sortkey.Value{Kind: attr.S, Text: "a\U0010ffff\U0010ffff"}, want: sortkey.Value{Kind: attr.S, Text: "b"}},
		{name: "only last runes", prefix: sortkey.Value{Kind: attr.S, Text: "\U0010ffff\U0010ffff"}, none: true},
		{name: "of 1,024 bytes", prefix: sortkey.Value{Kind: attr.S, Text: long + "a"}, want: sortkey.Value{Kind: attr.S, Text: long + "b"}},
		{name: "grows beyond 1,024 bytes", prefix: sortkey.Value{Kind: attr.S, Text: long + "\x7f"}, want: sortkey.Value{Kind: attr.S, Text: long + "\u0080"}},
		{name: "binary", prefix: sortkey.Value{Kind: attr.B, Text: "a\x7f"}, want: sortkey.Value{Kind: attr.B, Text: "a\x80"}},
		{name: "binary FF", prefix: sortkey.Value{Kind: attr.B, Text: "a\xff\xff"}, want: sortkey.Value{Kind: attr.B, Text: "b"}},
		{name: "binary FE", prefix: sortkey.Value{Kind: attr.B, Text: "\xff\xfe"}, want: sortkey.Value{Kind: attr.B, Text: "\xff\xff"}},
		{name: "only FF", prefix: sortkey.Value{Kind: attr.B, Text: "\xff\xff"}, none: true},
		{name: "empty binary", prefix: sortkey.Value{Kind: attr.B, Text: ""}, none: true},
	}
	for _, test := range tests {
		got, ok := test.prefix.AfterPrefix()
		if ok == test.none || got != test.want {
			t.Errorf("%s: got %q, %t, want %q, %t", test.name, got.Text, ok, test.want.Text, !test.none)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]attr.Kind{attr.S, attr.B}).Draw(t, "kind")
		prefix, value := sortkeytest.Draw(t, kind, "prefix"), sortkeytest.Draw(t, kind, "value")
		if rapid.Bool().Draw(t, "inside") {
			value.Text = prefix.Text + value.Text
		}
		next, ok := prefix.AfterPrefix()
		begins := strings.HasPrefix(value.Text, prefix.Text)
		between := value.Compare(prefix) >= 0 && (!ok || value.Compare(next) < 0)
		if begins != between {
			t.Fatalf("%q begins with %q: %t; from there to %q: %t", value.Text, prefix.Text, begins, next.Text, between)
		}
	})
}

// The order is DynamoDB's: numbers by what they are worth, everything else by its bytes.
func TestCompareOrders(t *testing.T) {
	for _, rising := range [][]any{
		{number("-1E125"), -10, -9, number("-1E-130"), 0, number("1E-130"), 0.5, 9, 10, number("1E125")},
		{"", "\x00", "10", "9", "Z", "a", "aa", "é", "\ue000", "\U0010ffff"},
		{[]byte{}, []byte{0}, []byte{0, 0}, []byte{0x7f}, []byte{0x80}, []byte{0xff}, []byte{0xff, 0}},
	} {
		for i := range rising {
			for j := range rising {
				a, b := sortkeytest.Of(t, rising[i]), sortkeytest.Of(t, rising[j])
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got := a.Compare(b); got != want {
					t.Errorf("%v and %v: got %d, want %d", rising[i], rising[j], got, want)
				}
			}
		}
	}
}

// A value goes through its attribute unchanged, and keys through their attributes.
func TestAttributes(t *testing.T) {
	names := []string{"s", "n", "b"}
	values := []sortkey.Value{sortkeytest.Of(t, "é"), sortkeytest.Of(t, number("-1.50")), sortkeytest.Of(t, []byte{0, 255})}
	item := sortkey.Attributes(names, values)
	want := map[string]types.AttributeValue{
		"s": &types.AttributeValueMemberS{Value: "é"}, "n": number("-1.5"), "b": &types.AttributeValueMemberB{Value: []byte{0, 255}},
	}
	if !reflect.DeepEqual(item, want) {
		t.Errorf("got %v, want %v", item, want)
	}
	item["other"] = &types.AttributeValueMemberBOOL{}
	got, err := sortkey.OfAll(names, item)
	if err != nil || !reflect.DeepEqual(got, values) {
		t.Errorf("got %v, %v, want %v", got, err, values)
	}
	if _, err := sortkey.OfAll([]string{"s", "absent"}, item); err == nil || !strings.Contains(err.Error(), `"absent"`) {
		t.Errorf("got %v, want that the attribute is absent", err)
	}
	if _, err := sortkey.OfAll([]string{"other"}, item); err == nil || !strings.Contains(err.Error(), "cannot be a sort key") {
		t.Errorf("got %v, want that a boolean is no key", err)
	}
}
