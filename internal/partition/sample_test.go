package partition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sampleOf feeds a sample with requests of equal load, as many as fill it.
func sampleOf(place func(n int, r *rand.Rand) []byte) *sample {
	r := rand.New(rand.NewPCG(1, 3))
	s := &sample{}
	for n := range 50_000 {
		s.add(place(n, r), 0.001, 0.1, r.Float64)
	}
	return s
}

func TestSampleFollowsTheLoad(t *testing.T) {
	// Of two places, one has three quarters of the requests, the other those
	// that are five times as large: 3 against 5 eighths of the load.
	r := rand.New(rand.NewPCG(1, 4))
	heavy, runs := 0.0, 200
	for range runs {
		s := &sample{}
		for range 20_000 {
			if r.Float64() < 0.75 {
				s.add([]byte("lightest"), 0.001, 0.1, r.Float64)
			} else {
				s.add([]byte("weighty!"), 0.005, 0.1, r.Float64)
			}
		}
		if len(s.ring) != sampleSize {
			t.Fatalf("got %d entries, want %d", len(s.ring), sampleSize)
		}
		heavy += below(s.ring, boundOf([]byte("zzzzzzzz"))) - below(s.ring, boundOf([]byte("weighty!")))
	}
	// 200 × 128 draws: the standard error is 0.003.
	if got := heavy / float64(runs); math.Abs(got-0.625) > 0.012 {
		t.Errorf("got %.3f of the sample, want 0.625", got)
	}
}

func TestSampleKeepsTheLatest(t *testing.T) {
	s := sampleOf(func(n int, _ *rand.Rand) []byte { return fmt.Appendf(nil, "%08d", n) })
	entries := s.inOrder()
	for i := 1; i < len(entries); i++ {
		if string(entries[i-1].place) >= string(entries[i].place) {
			t.Fatalf("entry %d is %s, after %s", i, entries[i].place, entries[i-1].place)
		}
	}
	// An interval is 100 requests: the sample reaches 12,800 requests back.
	if got := string(entries[0].place); got < "00035000" || got > "00039500" {
		t.Errorf("the oldest entry is %s, want about 00037200", got)
	}
}

func TestSampleWeighsLargeRequests(t *testing.T) {
	s := &sample{}
	half := func() float64 { return 0.5 }
	s.add([]byte("small"), 0.01, 1, half)
	s.add([]byte("large"), 7, 1, half)
	if len(s.ring) != 2 || s.ring[0].weight != 1 || s.ring[1].weight != 7 {
		t.Errorf("got %+v, want weights 1 and 7", s.ring)
	}
}

func TestBorderOfSample(t *testing.T) {
	at := func(hash uint64, format string, args ...any) []byte {
		return append(bound{hash: hash}.place(), fmt.Sprintf(format, args...)...)
	}
	const collection = 1 << 40
	for _, c := range []struct {
		name   string
		whole  bool
		place  func(n int, r *rand.Rand) []byte
		want   Obstacle
		lowest float64 // of the share below the border
		most   float64
	}{
		{
			name:  "spread keys",
			place: func(_ int, r *rand.Rand) []byte { return at(r.Uint64(), "key") }, lowest: 0.4, most: 0.6,
		},
		{
			name: "spread keys under a local index", whole: true,
			place: func(_ int, r *rand.Rand) []byte { return at(r.Uint64(), "key") }, lowest: 0.4, most: 0.6,
		},
		{
			name:  "one collection",
			place: func(_ int, r *rand.Rand) []byte { return at(collection, "%016x", r.Uint64()) }, lowest: 0.4, most: 0.6,
		},
		{
			name: "one collection under a local index", whole: true, want: LocalIndex,
			place: func(_ int, r *rand.Rand) []byte { return at(collection, "%016x", r.Uint64()) },
		},
		{
			name: "two collections under a local index", whole: true,
			place: func(_ int, r *rand.Rand) []byte {
				return at(collection*(1+r.Uint64N(2)), "%016x", r.Uint64())
			}, lowest: 0.35, most: 0.65,
		},
		{
			name: "single item", want: SingleItem,
			place: func(int, *rand.Rand) []byte { return at(collection, "only") },
		},
		{
			name: "single item under a local index", want: SingleItem, whole: true,
			place: func(int, *rand.Rand) []byte { return at(collection, "only") },
		},
		{
			name: "two items",
			place: func(_ int, r *rand.Rand) []byte {
				return at(collection, "%d", r.IntN(2))
			}, lowest: 0.35, most: 0.65,
		},
		{
			name: "single item in a little noise", want: SingleItem,
			place: func(_ int, r *rand.Rand) []byte {
				if r.Float64() < 0.99 {
					return at(collection, "only")
				}
				return at(r.Uint64(), "noise")
			},
		},
		{
			// It is parted from the half of the others on one side.
			name: "hot item among others",
			place: func(_ int, r *rand.Rand) []byte {
				if r.Float64() < 0.6 {
					return at(1<<63, "hot")
				}
				return at(r.Uint64(), "other")
			}, lowest: 0.1, most: 0.9,
		},
		{
			name: "rising sort key", want: MovingLoad,
			place: func(n int, _ *rand.Rand) []byte { return at(collection, "%09d", n) },
		},
		{
			name: "falling sort key", want: MovingLoad,
			place: func(n int, _ *rand.Rand) []byte { return at(collection, "%09d", 1e8-n) },
		},
		{
			name: "rising sort key, out of order by two hundred", want: MovingLoad,
			place: func(n int, r *rand.Rand) []byte { return at(collection, "%09d", n+r.IntN(200)) },
		},
		{
			name: "rising sort keys in many collections",
			place: func(n int, r *rand.Rand) []byte {
				return at(spread64(r.Uint64N(1000)), "%09d", n)
			}, lowest: 0.4, most: 0.6,
		},
		{
			name: "one key after the other", want: MovingLoad,
			place: func(n int, _ *rand.Rand) []byte { return at(spread64(uint64(n/10_000)), "") },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sampleOf(c.place)
			border, lower, got := s.border(c.whole)
			if got != c.want {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			if got == Unobstructed && (lower < c.lowest || lower > c.most) {
				t.Errorf("got %.2f of the load below the border, want %v to %v", lower, c.lowest, c.most)
			}
			if c.whole && len(border.rest) > 0 {
				t.Errorf("got the border %v, want one between collections", border)
			}
		})
	}
	few := &sample{}
	for i := range uint64(leastSample - 1) {
		few.add(at(i<<60, ""), 1, 0.1, func() float64 { return 0 })
	}
	if _, _, got := few.border(false); got != TooFewRequests {
		t.Errorf("got %v, want %v", got, TooFewRequests)
	}
}
