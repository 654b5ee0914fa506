package attrjson

import (
	"errors"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
)

func TestAppendStoredOfDamage(t *testing.T) {
	whole := attr.NewRaw(attr.Item{{Name: "a", Value: attr.List(attr.String("x"), jsonNumber(t, "12"), attr.Map(attr.Item{{Name: "b", Value: attr.Set(attr.NS, []attr.Value{jsonNumber(t, "1")})}}))}})
	if _, err := AppendStored(nil, whole); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := AppendStored(nil, whole[:i]); !errors.Is(err, attr.ErrDamaged) {
			t.Errorf("%d of %d bytes: got %v, want damage", i, len(whole), err)
		}
	}
	if _, err := AppendStored(nil, append(whole, 0)); !errors.Is(err, attr.ErrDamaged) {
		t.Errorf("one byte more: got %v, want damage", err)
	}
	for _, tag := range []byte{byte(attr.Invalid), byte(attr.Bool) + 2, 0xFF} {
		if _, err := AppendStored(nil, attr.Raw{1, 1, 1, 'a', tag}); !errors.Is(err, attr.ErrDamaged) {
			t.Errorf("kind %d: got %v, want damage", tag, err)
		}
	}
}

// Whatever is stored, writing it does not panic, and agrees with Decode about
// what is damaged.
func FuzzStored(f *testing.F) {
	f.Add([]byte(attr.NewRaw(attr.Item{{Name: "a", Value: attr.Boolean(false)}, {Name: "b", Value: attr.List(attr.String("x"))}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		it, damage := attr.Raw(b).Decode()
		text, err := AppendStored(nil, attr.Raw(b))
		if damage == nil && err != nil {
			t.Fatalf("it decodes, but: %v", err)
		}
		if damage == nil && string(text) != string(AppendItem(nil, it)) {
			t.Fatalf("got %s, want %s", text, AppendItem(nil, it))
		}
	})
}

func BenchmarkAppendStored(b *testing.B) {
	var d Decoder
	d.Reset(benchItem)
	raw := attr.NewRaw(d.Item(&ItemType))
	var dst []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(benchItem)))
	for b.Loop() {
		var err error
		if dst, err = AppendStored(dst[:0], raw); err != nil {
			b.Fatal(err)
		}
	}
}
