package main

import "testing"

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		spread                    spread
		shards, occupied, sharing int
		text                      string
	}{
		{spread{0, 1, 0, 0}, 1, 1, 0, "4 partitions. The key is on one of them."},
		{spread{1, 0, 2, 3, 0}, 6, 3, 5, "5 partitions. The 6 shards are on 3 of them (3.7 on average), 5 not alone."},
		{spread{1, 1}, 2, 2, 0, "2 partitions. The 2 shards are on 2 of them (1.5 on average)."},
	} {
		if s := c.spread; s.shards() != c.shards || s.occupied() != c.occupied || s.sharing() != c.sharing || s.String() != c.text {
			t.Errorf("%v: got %d, %d, %d, %q, want %d, %d, %d, %q", []int(s), s.shards(), s.occupied(), s.sharing(), s.String(),
				c.shards, c.occupied, c.sharing, c.text)
		}
	}
}
