package attr_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// What AppendKey puts together, CutKey takes apart.
func TestCutKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []attr.Value
		var key []byte
		for range rapid.IntRange(1, 4).Draw(t, "values") {
			var v attr.Value
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				v = attr.Value{Kind: attr.S, Str: string(rapid.SliceOf(rapid.SampledFrom([]byte("a\x00\x01\xffz"))).Draw(t, "text"))}
			case 1:
				v = attr.Value{Kind: attr.B, Str: string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))}
			default:
				n, err := attr.ParseNumber(rapid.StringMatching(`-?[0-9]{1,18}(\.[0-9]{1,18})?`).Draw(t, "number"))
				if err != nil {
					t.Fatal(err)
				}
				v = attr.Value{Kind: attr.N, Str: string(n)}
			}
			values = append(values, v)
			key = attr.AppendKey(key, v)
		}
		for i, want := range values {
			got, rest, ok := attr.CutKey(key, want.Kind)
			if !ok || got.Kind != want.Kind || got.Str != want.Str {
				t.Fatalf("value %d: got %q, %t, want %q", i, got.Str, ok, want.Str)
			}
			key = rest
		}
		if len(key) != 0 {
			t.Fatalf("%x is left", key)
		}
	})
}

func TestCutKeyOfWhatIsNone(t *testing.T) {
	for _, key := range []string{"", "abc", "a\x00", "a\x00\x02", "\x80"} {
		if v, _, ok := attr.CutKey([]byte(key), attr.S); ok {
			t.Errorf("%q is %q", key, v.Str)
		}
	}
	if _, _, ok := attr.CutKey([]byte("\x01\x02"), attr.N); ok {
		t.Error("two bytes are a number")
	}
}
