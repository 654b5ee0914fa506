package bins

import "testing"

// The page sizes that the library is built on.
func TestPageItems(t *testing.T) {
	for _, c := range []struct{ items, shards, want int }{
		{25, 4, 11},
		{25, 8, 8},
		{25, 16, 6},
		{25, 32, 4},
		{25, 64, 3},
		{25, 128, 3},
		{25, 256, 2},
		{25, 1000, 2},
		{100, 4, 35},
		{100, 8, 21},
		{100, 16, 14},
		{100, 32, 9},
		{100, 64, 7},
		{100, 128, 5},
		{100, 256, 4},
		{100, 1000, 3},
		{1000, 4, 281},
		{1000, 64, 29},
		{1000, 1000, 7},
		{100, 1, 100},
		{1, 100, 1},
		{0, 5, 1},
	} {
		if got := PageItems(c.items, c.shards); got != c.want {
			t.Errorf("%d items of %d shards: got %d, want %d", c.items, c.shards, got, c.want)
		}
	}
	if got := PageItems(1<<21, 4); got < 1<<19 || got > 1<<19+10_000 {
		t.Errorf("very many: got %d", got)
	}
}
