package gather

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The table of the design note: how many items to ask each of n shards for.
func TestPageSizeTable(t *testing.T) {
	shards := []int{4, 8, 16, 32, 64, 128, 256, 1000}
	for limit, want := range map[int][]int{
		25:   {11, 8, 6, 4, 3, 3, 2, 2},
		100:  {35, 21, 14, 9, 7, 5, 4, 3},
		1000: {281, 152, 84, 49, 29, 19, 13, 7},
	} {
		for i, n := range shards {
			if got := pageSize(limit, n, missChance); got != want[i] {
				t.Errorf("limit %d over %d shards: got %d, want %d", limit, n, got, want[i])
			}
		}
	}
	for _, test := range []struct{ limit, n, want int }{{1, 1, 1}, {1, 1000, 1}, {100, 1, 100}, {100, 0, 100}, {0, 8, 1}, {2, 2, 2}, {10, 64, 2}} {
		if got := pageSize(test.limit, test.n, missChance); got != test.want {
			t.Errorf("limit %d over %d shards: got %d, want %d", test.limit, test.n, got, test.want)
		}
	}
}

func TestPageSizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, n := rapid.IntRange(1, 5000).Draw(t, "limit"), rapid.IntRange(1, 1000).Draw(t, "shards")
		k := pageSize(limit, n, missChance)
		if k < 1 || k > limit || k*n < limit {
			t.Fatalf("limit %d over %d shards: %d", limit, n, k)
		}
		if more := pageSize(limit+1, n, missChance); more < k {
			t.Errorf("over %d shards: %d for limit %d, %d for %d", n, k, limit, more, limit+1)
		}
		if wider := pageSize(limit, n+1, missChance); wider > k {
			t.Errorf("limit %d: %d over %d shards, %d over %d", limit, k, n, wider, n+1)
		}
		// the definition, summed from below in products
		p, tail := 1/float64(n), 0.0
		exceeds := func(k int) float64 {
			below, at := 0.0, math.Pow(1-p, float64(limit))
			for i := 0; i <= k; i++ {
				below += at
				at *= float64(limit-i) / float64(i+1) * p / (1 - p)
			}
			return 1 - below
		}
		if n > 1 && limit < 500 {
			if tail = float64(n) * exceeds(k); tail > missChance+1e-6 {
				t.Errorf("limit %d over %d shards: %d is too few with chance %g", limit, n, k, tail)
			}
			if k > 1 {
				if tail = float64(n) * exceeds(k-1); tail < missChance-1e-6 {
					t.Errorf("limit %d over %d shards: %d would do, with chance %g", limit, n, k-1, tail)
				}
			}
		}
	})
}

// A limit that stands for "all" is not a reason to think long.
func TestPageSizeOfHugeLimits(t *testing.T) {
	for _, limit := range []int{1 << 20, 1 << 31, 1 << 40, math.MaxInt - 1, math.MaxInt} {
		for _, n := range []int{1, 2, 7, 1000, 1 << 17} {
			if got := pageSize(limit, n, missChance); got < limit/n || got > limit {
				t.Errorf("limit %d over %d shards: %d", limit, n, got)
			}
		}
	}
}

// How many entries a shard is asked for: of 1,000 bytes each, with memory for 2,000.
func TestSizingPage(t *testing.T) {
	for _, test := range []struct {
		name           string
		limit          int
		want, returned int // how far the read is, if it is not at the beginning
		progress       progress
		entries        int
	}{
		{"everything", 0, 0, 0, progress{beside: 10, sharing: 10}, 100},
		{"everything, further on", 0, 0, 500, progress{begun: true, returned: 50, beside: 10, sharing: 10}, 100},
		{"everything, with stages ahead", 0, 0, 0, progress{beside: 10, sharing: 50}, 20},
		{"everything, in too many shards", 0, 0, 0, progress{beside: 1 << 16, sharing: 1 << 16}, 1},
		{"a limit", 100, 0, 0, progress{beside: 8, sharing: 8}, 21},
		{"a limit, with one that was returned before", 100, 0, 0, progress{beside: 8, sharing: 8, skips: 1}, 22},
		{"a limit of one", 1, 0, 0, progress{beside: 8, sharing: 8}, 1},
		{"a limit that does not fit", 100_000, 0, 0, progress{beside: 8, sharing: 8}, 125},
		{"the rest of a limit, by an eighth", 100, 40, 60, progress{begun: true, returned: 8, beside: 12, sharing: 12}, 7},
		{"the rest of a limit, by one that has had nothing", 100, 40, 60, progress{begun: true, beside: 20, sharing: 20}, 2},
		{"the last of a limit", 100, 1, 99, progress{begun: true, returned: 90, beside: 8, sharing: 8}, 1},
		{"all filtered out", 100, 0, 0, progress{beside: 8, sharing: 8, filtered: 50}, 100},
		{"all of many filtered out", 0, 0, 0, progress{beside: 8, sharing: 8, filtered: 1 << 20}, 1 << 20},
	} {
		h := new(History)
		h.sizes.saw(pageOf(840))
		s := newSizing(Config{History: h, Limit: test.limit, Memory: 2_000_000}.withDefaults())
		if test.want > 0 {
			s.want = test.want
		}
		s.returned = test.returned
		if got := s.page(test.progress); got != test.entries {
			t.Errorf("%s: got %d, want %d", test.name, got, test.entries)
		}
	}
	h := new(History)
	h.passing.saw("tenth", 100, 10)
	s := newSizing(Config{History: h, Limit: 10, Filter: "tenth"}.withDefaults())
	if got := s.page(progress{beside: 1, sharing: 1}); got != 100 {
		t.Errorf("of which a tenth pass: got %d, want 100", got)
	}
}

// A group of shards that may hold everything is asked as if it were alone, for more if some entries do not count, and for one more than the
// merge returns.
func TestSizingPageOfAGroup(t *testing.T) {
	for _, test := range []struct {
		name     string
		limit    int
		yield    float64
		progress progress
		entries  int
	}{
		{"one shard has all", 50, 1, progress{among: 1, beside: 17, sharing: 17}, 51},
		{"one shard has all, of which a half counts", 50, 0.5, progress{among: 1, beside: 17, sharing: 2}, 122},
		{"sixteen shards", 50, 1, progress{among: 16, beside: 17, sharing: 17}, pageSize(50, 16, 0.001) + 1},
		{"with one that was returned before", 50, 1, progress{among: 1, beside: 17, sharing: 17, skips: 1}, 52},
		{"the rest, by one that has had nothing", 50, 1, progress{among: 16, begun: true, beside: 50, sharing: 17}, 4},
		{"more than fits", 1_000_000, 1, progress{among: 1, beside: 2, sharing: 100}, 10},
		{"all filtered out", 10, 1, progress{among: 1, beside: 2, sharing: 2, filtered: 40}, 80},
	} {
		h := new(History)
		h.sizes.saw(pageOf(840))
		s := newSizing(Config{History: h, Limit: test.limit, Yield: test.yield, Memory: 2_000_000}.withDefaults())
		if got := s.page(test.progress); got != test.entries {
			t.Errorf("%s: got %d, want %d", test.name, got, test.entries)
		}
	}
}

// The yield of a filter falls at once, and rises slowly. A read of a few entries says nothing.
func TestYield(t *testing.T) {
	h := new(History)
	for _, step := range []struct {
		met, counted int
		want         float64
	}{{4, 0, 1}, {10, 10, 1}, {100, 50, 0.5}, {64, 64, 0.5 + 0.5/64}, {10, 0, leastRate}} {
		if h.Yielded("f", step.met, step.counted); math.Abs(h.Yield("f")-step.want) > 1e-9 {
			t.Errorf("%d of %d: got %v, want %v", step.counted, step.met, h.Yield("f"), step.want)
		}
	}
	if got := h.Yield("another"); got != 1 {
		t.Errorf("of a filter that nobody has used: %v", got)
	}
}
