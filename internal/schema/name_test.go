package schema_test

import (
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/schema"
)

func TestCheckNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "pk": "", "日本": "", "\x00": "", strings.Repeat("x", 255): "",
		"\xff": "is not valid UTF-8", "a\xc3": "is not valid UTF-8", strings.Repeat("x", 256): "has 256 bytes, want at most 255",
	} {
		err := schema.CheckNames("first", name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", name, err, want)
		}
	}
}
