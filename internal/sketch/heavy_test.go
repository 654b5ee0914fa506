package sketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

func add[P any](h *sketch.Heavy[P], now int64, key string, weight float64) *P {
	return h.Add(now, xxhash.Sum64String(key), weight, sketch.Text(key))
}

// The promise of the sketch, against exact counts: bounds that hold, no wider than W/m, and no heavy key left out.
func TestHeavyKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.IntRange(1, 64).Draw(t, "entries")
		decay := rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(t, "decay")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		skew := rapid.Float64Range(1.01, 3).Draw(t, "skew")
		keys := rand.NewZipf(random, skew, 1, 500)

		h := sketch.NewHeavy[int](entries, decay)
		exact := make(map[string]float64)
		total, now := 0.0, int64(1)
		fade := func(by int64) {
			if decay == 0 {
				return
			}
			factor := math.Exp(-float64(by) / float64(decay))
			total *= factor
			for key := range exact {
				exact[key] *= factor
			}
		}
		for range rapid.IntRange(1, 3000).Draw(t, "adds") {
			if random.IntN(20) == 0 {
				by := random.Int64N(int64(20 * time.Second))
				now += by
				fade(by)
			}
			key, weight := fmt.Sprint("key-", keys.Uint64()), float64(random.IntN(10))
			if times := add(h, now, key, weight); times != nil {
				*times++
			}
			exact[key] += weight
			total += weight
		}

		slack := 2e-5 * (total + 1) // the factor is rounded in time
		if got := h.Total(now); math.Abs(got-total) > slack {
			t.Fatalf("total %g, want %g", got, total)
		}
		seen := make(map[string]bool)
		for i, got := range h.Top(now, entries) {
			seen[got.Text] = true
			if want := exact[got.Text]; got.Low > want+slack || got.High < want-slack {
				t.Fatalf("%d: %s weighs %g, not between %g and %g", i, got.Text, want, got.Low, got.High)
			}
			if width := got.High - got.Low; width > total/float64(entries)+slack {
				t.Fatalf("%s has an error of %g, %g allowed", got.Text, width, total/float64(entries))
			}
			if got.Extra == 0 {
				t.Fatalf("%s has an entry but was never added", got.Text)
			}
		}
		for key, weight := range exact {
			if weight > total/float64(entries)+slack && !seen[key] {
				t.Fatalf("%s weighs %g of %g and has no entry of %d", key, weight, total, entries)
			}
		}
	})
}

// A year of silence is no trouble for the arithmetic, nor is a clock that goes back.
func TestHeavyForgets(t *testing.T) {
	h := sketch.NewHeavy[struct{}](4, 10*time.Second)
	add(h, 1, "old", 1e9)
	year := int64(365 * 24 * time.Hour)
	add(h, year, "new", 1)
	add(h, year-int64(time.Second), "late", 1)
	top := h.Top(year, 3)
	if len(top) != 3 || top[2].Text != "old" || top[2].High > 1e-6 {
		t.Errorf("got %+v", top)
	}
	if total := h.Total(year); math.Abs(total-2) > 0.2 {
		t.Errorf("total %g, want about 2", total)
	}
}

func TestHeavyCutsLongTexts(t *testing.T) {
	h := sketch.NewHeavy[struct{}](4, 0)
	long := strings.Repeat("ä", 1024)
	add(h, 1, long, 2)
	add(h, 1, long+"!", 1)
	top := h.Top(1, 2)
	for _, got := range top {
		if len(got.Text) > sketch.MaxText || !utf8.ValidString(got.Text) || !strings.HasPrefix(got.Text, "ää") {
			t.Errorf("got %q", got.Text)
		}
	}
	if top[0].Text == top[1].Text {
		t.Error("two keys have the same text")
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	h := sketch.NewHeavy[int](16, time.Second)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprint("key-", i)
	}
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		key := keys[i%len(keys)]
		h.Add(int64(i), xxhash.Sum64String(key), 1, func(dst []byte) []byte { return append(dst, key...) })
		i++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDistinctWithinItsError(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000, 5000, 20_000, 1_000_000} {
		d := sketch.NewDistinct(12)
		for i := range n {
			hash := xxhash.Sum64String(fmt.Sprint("key-", i))
			d.Add(hash)
			d.Add(hash)
		}
		got := d.Count()
		if off := math.Abs(float64(got)-float64(n)) / max(1, float64(n)); off > 4*d.Error() {
			t.Errorf("%d counted as %d, %.1f%% off", n, got, 100*off)
		}
	}
}

func TestFewTellsOneFromSeveral(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, 20} {
		var f sketch.Few
		for i := range n {
			f.Add(xxhash.Sum64String(fmt.Sprint("item-", i)))
		}
		if got := f.Count(); (n < 2 && got != int64(n)) || (n >= 2 && (got < 2 || got > int64(2*n))) {
			t.Errorf("%d counted as %d", n, got)
		}
	}
}

func BenchmarkHeavyAdd(b *testing.B) {
	for _, distinct := range []int{1, 500, 1_000_000} {
		b.Run(fmt.Sprint(distinct), func(b *testing.B) {
			h := sketch.NewHeavy[int](1024, 10*time.Second)
			keys := make([]string, distinct)
			for i := range keys {
				keys[i] = fmt.Sprint("user-", i)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				key := keys[(i*7919)%distinct]
				h.Add(int64(i)*1000, xxhash.Sum64String(key), 1, func(dst []byte) []byte { return append(dst, key...) })
				i++
			}
		})
	}
}

// What comes late weighs what it would have weighed in time: old records that are read after new ones are no heat of now.
func TestHeavyOfTheDistantPast(t *testing.T) {
	h := sketch.NewHeavy[struct{}](4, 10*time.Second)
	hour := int64(time.Hour)
	add(h, 24*hour, "now", 1)
	for i := range int64(1000) {
		add(h, i*hour/1000, "yesterday", 1)
	}
	if top := h.Top(24*hour, 2); top[0].Text != "now" || top[0].Low != 1 || top[1].High > 1e-6 {
		t.Errorf("got %+v", top)
	}
}
