package heatsink

import (
	"testing"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/gather"
)

// A page's weight is what package gather is told of it.
func TestPageWeight(t *testing.T) {
	var page gather.Weight
	for _, value := range []string{"a", "abcd", "ab"} {
		addSize(&page, attribute.SizeOf(Item{"x": text(value)}))
	}
	if want := (gather.Weight{Entries: 3, Bytes: 3 + 7, Extra: 3 * 160, Largest: 5 + 160}); page != want {
		t.Errorf("got %+v, want %+v", page, want)
	}
}
