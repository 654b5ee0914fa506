package layout_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/layout"
)

func TestControlKeysAreSpeltAsStored(t *testing.T) {
	for text, want := range map[string]layout.ControlKey{
		"_hs#L#orders##POST#12345":           {Role: layout.RoleLedger, Collection: "orders", Key: "POST#12345"},
		"_hs#S#orders##POST#12345":           {Role: layout.RoleSpare, Collection: "orders", Key: "POST#12345"},
		"_hs#H#orders#2024-12-02#POST#12345": {Role: layout.RoleHeat, Collection: "orders", Bucket: "2024-12-02", Key: "POST#12345"},
		"_hs#L#a.b-c_D9##_hs#L#x##y":         {Role: layout.RoleLedger, Collection: "a.b-c_D9", Key: "_hs#L#x##y"},
		"_hs#L#o###":                         {Role: layout.RoleLedger, Collection: "o", Key: "#"},
		"_hs#C#orders":                       {Role: layout.RoleCharter, Collection: "orders"},
		"_hs#M#orders":                       {Role: layout.RoleMove, Collection: "orders"},
		"_hs#P#orders":                       {Role: layout.RolePassage, Collection: "orders"},
	} {
		got, err := layout.ParseControlKey(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
		if want.String() != text || !layout.IsControl(want.String()) {
			t.Errorf("%+v is spelt %s, want %s", want, want, text)
		}
	}
}

// Whatever is valid can be parsed, to the same parts; and what is parsed is valid and spelt as it was.
func TestControlKeysParseToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[a-c#_\-é]{0,12}`), rapid.String())
		k := layout.ControlKey{
			Role:       rapid.SampledFrom([]layout.Role{layout.RoleLedger, layout.RoleHeat, layout.RoleSpare, layout.RoleCharter, layout.RoleMove, layout.RolePassage, 'x', '#', 0, 0xe9}).Draw(t, "role"),
			Collection: rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9_.\-]{1,64}`), text).Draw(t, "collection"),
		}
		if rapid.Bool().Draw(t, "keyed") {
			k.Bucket, k.Key = text.Draw(t, "bucket"), text.Draw(t, "key")
		}
		if k.Validate() == nil {
			if got, err := layout.ParseControlKey(k.String()); err != nil || got != k {
				t.Fatalf("%+v is spelt %q, which is parsed to %+v, %v", k, k, got, err)
			}
		}
		some := text.Draw(t, "text")
		for _, some := range []string{some, "_hs#" + some, "_hs#L#" + some, "_hs#C#" + some, "_hs#M#" + some, k.String()} {
			got, err := layout.ParseControlKey(some)
			if err != nil {
				if !errors.Is(err, layout.ErrKey) || got != (layout.ControlKey{}) {
					t.Fatalf("%q: got %+v, %v", some, got, err)
				}
				continue
			}
			if fault := got.Validate(); fault != nil || got.String() != some {
				t.Fatalf("%q is parsed to %+v, which is spelt %q: %v", some, got, got, fault)
			}
		}
	})
}

// What is no control item's is refused, with what is wrong.
func TestControlKeysThatAreRefused(t *testing.T) {
	ledger := layout.ControlKey{Role: layout.RoleLedger, Collection: "orders", Key: "a"}
	with := func(edit func(*layout.ControlKey)) layout.ControlKey {
		k := ledger
		edit(&k)
		return k
	}
	if err := ledger.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key  layout.ControlKey
		want string
	}{
		"no role":            {with(func(k *layout.ControlKey) { k.Role = 'X' }), "unknown role"},
		"no collection":      {with(func(k *layout.ControlKey) { k.Collection = "" }), "1 to 64 characters"},
		"long collection":    {with(func(k *layout.ControlKey) { k.Collection = strings.Repeat("a", 65) }), "1 to 64 characters"},
		"# in a collection":  {with(func(k *layout.ControlKey) { k.Collection = "a#b" }), "1 to 64 characters"},
		"no key":             {with(func(k *layout.ControlKey) { k.Key = "" }), "the key is empty"},
		"# in a bucket":      {with(func(k *layout.ControlKey) { k.Bucket = "2024#12" }), "the bucket \"2024#12\" has"},
		"key too long":       {with(func(k *layout.ControlKey) { k.Key = strings.Repeat("a", 2048) }), "2062 bytes, but a partition key has at most 2048"},
		"bytes":              {with(func(k *layout.ControlKey) { k.Key = "\xff" }), "not valid UTF-8"},
		"move with a key":    {with(func(k *layout.ControlKey) { k.Role = layout.RoleMove }), "a move is of the whole collection"},
		"charter with a key": {with(func(k *layout.ControlKey) { k.Role = layout.RoleCharter }), "a charter is of the whole collection"},
	} {
		if err := test.key.Validate(); !errors.Is(err, layout.ErrKey) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
	for _, text := range []string{"", "orders", "_hs", "_hs#", "_hs#L", "_hs#L#", "_hs#L#orders", "_hs#L#orders#", "_hs#L#orders##", "_hs#X#orders##a", "_hs#C#", "_hs#C#a#b", "_hs#M#", "_hs#M#a#b", "_HS#C#orders"} {
		if got, err := layout.ParseControlKey(text); !errors.Is(err, layout.ErrKey) {
			t.Errorf("%q is parsed to %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "orders", "_hs", "hs#", "_hs_g", " _hs#"} {
		if layout.IsControl(text) {
			t.Errorf("%q is taken for a control item", text)
		}
	}
}
