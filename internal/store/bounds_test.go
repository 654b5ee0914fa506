package store

import "testing"

// What a store in memory takes besides its items has a bound, and so has what a
// directory's takes. docs/local.md has the figures.
func TestMemoryIsBounded(t *testing.T) {
	for _, c := range []struct {
		name                   string
		store                  *Store
		cache, tables, waiting int64 // MB
	}{
		{"in memory", open(t, ""), 128, 128, 256},
		{"in a directory", open(t, t.TempDir()), 192, 128, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer closed(t, c.store)
			o := c.store.pebbleOptions(nil)
			table := int64(o.MemTableSize)
			if got := o.CacheSize >> 20; got > c.cache {
				t.Errorf("the cache takes %d MB, want %d at most", got, c.cache)
			}
			if got := table * int64(o.MemTableStopWritesThreshold) >> 20; got > c.tables {
				t.Errorf("memtables take %d MB, want %d at most", got, c.tables)
			}
			if got := table * int64(o.L0StopWritesThreshold) >> 20; c.waiting > 0 && got > c.waiting {
				t.Errorf("%d MB may wait for a compaction, want %d at most", got, c.waiting)
			}
		})
	}
}
