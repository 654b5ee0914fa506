package plan

import (
	"testing"

	"pgregory.net/rapid"
)

func drawDemand(t *rapid.T) demand {
	return demand{
		load:       rapid.Float64Range(0.01, 30).Draw(t, "load"),
		others:     rapid.SampledFrom([]float64{0, 0, 1, 10}).Draw(t, "others"),
		choice:     rapid.SampledFrom([]Choice{Uniform, Aware}).Draw(t, "choice"),
		confidence: rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 0.999}).Draw(t, "confidence"),
		target:     rapid.SampledFrom([]float64{0.5, 0.7, 1}).Draw(t, "target"),
		dense:      rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "dense"),
		fair:       rapid.SampledFrom([]int{1, 4}).Draw(t, "fair"),
	}
}

// What is found takes the load, with nothing to spare, and is never less for more load.
func TestFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDemand(t)
		more := d
		more.load += rapid.Float64Range(0, 5).Draw(t, "more")

		partitions := rapid.IntRange(1, 60).Draw(t, "partitions")
		from := rapid.IntRange(1, 20).Draw(t, "from")
		n, ok := d.shards(from, partitions)
		if ok && (!d.suffice(Spread{n, partitions}) || n > from && d.suffice(Spread{n - 1, partitions}) || n > max(d.most(partitions), from)) {
			t.Errorf("%d shards on %d partitions are not the fewest for %+v", n, partitions, d)
		}
		if m, also := more.shards(from, partitions); also && (!ok || m < n) {
			t.Errorf("%d shards, %v, on %d partitions; for more load %d", n, ok, partitions, m)
		}
		if widest := d.widest(from, partitions); ok && n > widest {
			t.Errorf("%d shards on %d partitions, of which %d get the most", n, partitions, widest)
		}

		square, ok := d.square()
		if !ok || !d.suffice(square) || square.Partitions > 1 && d.suffice(d.fairly(square.Partitions-1)) {
			t.Errorf("%v, %v is not the smallest square for %+v", square, ok, d)
		}
		if larger, ok := more.square(); !ok || larger.Partitions < square.Partitions {
			t.Errorf("%v, for more load %v", square, larger)
		}
		if p, ok := d.partitions(square.Shards, 1); !ok || p > square.Partitions {
			t.Errorf("%d partitions, %v, for %v", p, ok, square)
		}
	})
}

// If nothing will do, that is the answer, and it comes at once.
func TestFitBeyondMeasure(t *testing.T) {
	for _, choice := range []Choice{Uniform, Aware} {
		d := demand{load: 1e9, choice: choice, confidence: 0.99, target: 0.7, dense: 4, fair: 1}
		if n, ok := d.shards(1, 100); ok {
			t.Errorf("%s: got %d shards", choice, n)
		}
		if s, ok := d.square(); ok {
			t.Errorf("%s: got %v", choice, s)
		}
		d.load, d.others = 1, 1e9
		if n, ok := d.shards(1, MaxShards); ok {
			t.Errorf("%s: got %d shards among others that fill everything", choice, n)
		}
		if s, ok := d.square(); ok {
			t.Errorf("%s: got %v among others that fill everything", choice, s)
		}
	}
}
