package docs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// The tables of docs/key-format.md are what package layout gives.
func TestKeyFormat(t *testing.T) {
	hashes := []layout.Hash{layout.XXHash, layout.FNV, layout.CRC32, layout.MD5, layout.Product}
	at := time.Date(2024, 12, 30, 15, 4, 5, 0, time.UTC)
	vectors, formats, buckets := 0, 0, 0
	for _, l := range pageOf(t, "docs/key-format.md").prose {
		cells := strings.Split(strings.Trim(l.text, "| "), " | ")
		first := strings.Trim(cells[0], "`")
		switch {
		case len(cells) == 6 && first != "id" && !strings.HasPrefix(first, "---"):
			vectors++
			for i, h := range hashes {
				if want := fmt.Sprintf("%d, %d", h.Shard(first, 10), h.Shard(first, 1000)); cells[i+1] != want {
					t.Errorf("line %d: %s of %s is %s, want %s", l.number, h, first, cells[i+1], want)
				}
			}
		case len(cells) == 3 && strings.HasPrefix(first, "{key}"):
			formats++
			format, err := layout.ParseFormat(first)
			if err != nil {
				t.Errorf("line %d: %v", l.number, err)
			}
			keys, err := layout.Layout{Shards: 8, Format: format}.ShardKeys("K", at, at)
			if err != nil {
				t.Fatal(err)
			}
			if want := "`" + keys[0] + "`, `" + keys[7] + "`"; cells[2] != want {
				t.Errorf("line %d: %s gives %s, want %s", l.number, first, cells[2], want)
			}
		}
		for _, b := range []layout.Bucket{layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year} {
			if first != b.String() || len(cells) < 2 {
				continue
			}
			buckets++
			if want, err := b.Text(at); err != nil || strings.Trim(cells[1], "` |") != want {
				t.Errorf("line %d: a %s is %s, want %s, %v", l.number, b, cells[1], want, err)
			}
		}
	}
	if vectors != 5 || formats != 6 || buckets != 5 {
		t.Errorf("%d vectors, %d formats and %d buckets were found, want 5, 6 and 5", vectors, formats, buckets)
	}
}
