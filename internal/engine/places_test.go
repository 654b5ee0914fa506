package engine

import (
	"encoding/hex"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/expr"
)

// A key that an observer was told of as text is found where the engine put it, whatever its types.
func TestPlacesOfTextsAreThoseOfItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []expr.KeyPart
		var fields []attr.Field
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			kind := rapid.SampledFrom([]attr.Kind{attr.S, attr.N, attr.B}).Draw(t, "kind")
			v := attr.String(rapid.StringN(1, 20, -1).Draw(t, "text"))
			switch kind {
			case attr.N:
				n, err := attr.ParseNumber(rapid.StringMatching(`-?[1-9][0-9]{0,8}(\.[0-9]{1,3})?`).Draw(t, "number"))
				if err != nil {
					t.Fatal(err)
				}
				v = attr.Num(n)
			case attr.B:
				v = attr.Binary(v.Str)
			}
			name := string(rune('a' + i))
			parts = append(parts, expr.KeyPart{Name: name, Kind: kind})
			fields = append(fields, attr.Field{Name: name, Value: v})
		}
		schema := keySchema{hash: parts, parts: parts}
		want := schema.appendPlace(nil, attr.NewItem(fields...))
		texts, _ := newResource("t", "", schema).key(want)
		if got := placeOfTexts(parts, texts); !slices.Equal(got, want) {
			t.Fatalf("key %q: got %s, want %s", texts, hex.EncodeToString(got), hex.EncodeToString(want))
		}
	})
}

func TestPlacesOfWhatIsNoKey(t *testing.T) {
	number, binary := []expr.KeyPart{{Name: "a", Kind: attr.N}}, []expr.KeyPart{{Name: "a", Kind: attr.B}}
	for name, got := range map[string][]byte{
		"no number": placeOfTexts(number, []string{"x"}), "no base64": placeOfTexts(binary, []string{"%"}),
		"too many": placeOfTexts(number, []string{"1", "2"}), "no index": placeOfTexts(nil, nil),
	} {
		if got != nil {
			t.Errorf("%s: got %x", name, got)
		}
	}
}
