package main

import "testing"

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		spread                    spread
		shards, occupied, sharing int
		text                      string
	}{
		{spread{0, 1, 0, 0}, 1, 1, 0, "Partitions: 4. The key is on one of them."},
		{spread{1, 0, 2, 3, 0}, 6, 3, 5, "Partitions: 5. The 6 shards are on 3 of them (expected: 3.7); 5 share a partition."},
		{spread{1, 1}, 2, 2, 0, "Partitions: 2. The 2 shards are on 2 of them (expected: 1.5)."},
	} {
		if s := c.spread; s.shards() != c.shards || s.occupied() != c.occupied || s.sharing() != c.sharing || s.String() != c.text {
			t.Errorf("%v: got %d, %d, %d, %q, want %d, %d, %d, %q", []int(s), s.shards(), s.occupied(), s.sharing(), s.String(),
				c.shards, c.occupied, c.sharing, c.text)
		}
	}
}
