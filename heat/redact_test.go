package heat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
)

// The hash is the HMAC-SHA256 of the key with the secret, and is appended.
func TestHashed(t *testing.T) {
	hashed := heat.Hashed([]byte("key"))
	got := string(hashed([]byte("to "), []byte("The quick brown fox jumps over the lazy dog")))
	if want := "to f7bc83f430538424"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Nothing of a key is left in a report that was redacted afterwards, and the same key still has the same text.
func TestRedactAReport(t *testing.T) {
	r := report(hotFlow("mail@example.com", 2000, 1), withPattern("mail@example.com", 1), func(r *heat.ResourceReport) {
		r.Reads = hotFlow("mail@example.com", 5000, 1)
		r.Stored = &heat.Stored{
			Keys:   []heat.KeyItems{{Key: "mail@example.com", Items: 7}},
			Growth: []heat.KeyGrowth{{Pattern: "mail@example.com", Day: "2026-01-01", Items: 7}},
		}
	})
	r.Redact(heat.Hashed([]byte("secret")))
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "example") {
		t.Errorf("got %s, %v", text, err)
	}
	want := string(heat.Hashed([]byte("secret"))(nil, []byte("mail@example.com")))
	resource := r.Resources[0]
	if resource.Writes.Keys[0].Key != want || resource.Reads.Keys[0].Key != want || resource.Stored.Keys[0].Key != want {
		t.Errorf("got %s, want %s everywhere", text, want)
	}
}
