package place

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
)

func TestID(t *testing.T) {
	one := []string{"sk"}
	for _, c := range []struct {
		value types.AttributeValue
		want  string
	}{
		{sv("order-7"), "order-7"},
		{&types.AttributeValueMemberB{Value: []byte{0, 255}}, "\x00\xff"},
		{&types.AttributeValueMemberN{Value: "1.50E1"}, "15"},
		{&types.AttributeValueMemberN{Value: "015.0"}, "15"},
	} {
		if got, err := idOf(Item{"sk": c.value}, one); got != c.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
	for _, item := range []Item{{}, {"sk": &types.AttributeValueMemberBOOL{}}, {"sk": &types.AttributeValueMemberN{Value: "x"}}} {
		if _, err := idOf(item, one); !errors.Is(err, ErrItem) || !strings.Contains(err.Error(), `"sk"`) {
			t.Errorf("%v: got %v, want an ErrItem that names the attribute", item, err)
		}
	}
}

// Ids of several attributes are the same only if the attributes are.
func TestIDOfSeveral(t *testing.T) {
	several := []string{"a", "b"}
	value := rapid.Custom(func(t *rapid.T) types.AttributeValue {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("01S\x01")), 1, 3, -1).Draw(t, "text")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return sv(text)
		case 1:
			return nv(len(text))
		}
		return &types.AttributeValueMemberB{Value: []byte(text)}
	})
	rapid.Check(t, func(t *rapid.T) {
		x := Item{"a": value.Draw(t, "a"), "b": value.Draw(t, "b")}
		y := Item{"a": value.Draw(t, "c"), "b": value.Draw(t, "d")}
		idX, _ := idOf(x, several)
		idY, _ := idOf(y, several)
		if (idX == idY) != attribute.Same(x, y) {
			t.Fatalf("%s has id %q and %s has %q", showItem(x), idX, showItem(y), idY)
		}
	})
}

// Stored items are where these bytes say.
func TestIDOfSeveralStaysTheSame(t *testing.T) {
	for want, item := range map[string]Item{
		"S\x03xyzN\x0215":        {"a": sv("xyz"), "b": &types.AttributeValueMemberN{Value: "15.0"}},
		"B\x02\x00\xffS\x04user": {"a": &types.AttributeValueMemberB{Value: []byte{0, 255}}, "b": sv("user")},
	} {
		if got, err := idOf(item, []string{"a", "b"}); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", showItem(item), got, err, want)
		}
	}
}

func TestIDOfNothing(t *testing.T) {
	if id, err := idOf(ov("sk", "1"), nil); !errors.Is(err, ErrOptions) {
		t.Errorf("got %q, %v, want ErrOptions", id, err)
	}
	if id, err := idOf(ov("user", ""), []string{"user"}); !errors.Is(err, ErrItem) {
		t.Errorf("got %q, %v, want ErrItem", id, err)
	}
}
