package bins

import (
	"testing"

	"pgregory.net/rapid"
)

func drawDemand(t *rapid.T) Demand {
	return Demand{
		Load:       rapid.Float64Range(0.01, 30).Draw(t, "load"),
		Others:     rapid.SampledFrom([]float64{0, 0, 1, 10}).Draw(t, "others"),
		Choice:     rapid.SampledFrom([]Choice{Uniform, Aware}).Draw(t, "choice"),
		Confidence: rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 0.999}).Draw(t, "confidence"),
		Target:     rapid.SampledFrom([]float64{0.5, 0.7, 1}).Draw(t, "target"),
		Dense:      rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "dense"),
		Fair:       rapid.SampledFrom([]int{1, 4}).Draw(t, "fair"),
	}
}

// What is found takes the load, with nothing to spare, and is never less for more load.
func TestFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := drawDemand(t)
		more := d
		more.Load += rapid.Float64Range(0, 5).Draw(t, "more")

		partitions := rapid.IntRange(1, 60).Draw(t, "partitions")
		from := rapid.IntRange(1, 20).Draw(t, "from")
		n, ok := d.Shards(from, partitions)
		if ok && (!d.Suffice(Spread{n, partitions}) || n > from && d.Suffice(Spread{n - 1, partitions}) || n > max(d.most(partitions), from)) {
			t.Errorf("%d shards on %d partitions are not the fewest for %+v", n, partitions, d)
		}
		if m, also := more.Shards(from, partitions); also && (!ok || m < n) {
			t.Errorf("%d shards, %v, on %d partitions; for more load %d", n, ok, partitions, m)
		}
		if widest := d.Widest(from, partitions); ok && n > widest {
			t.Errorf("%d shards on %d partitions, of which %d get the most", n, partitions, widest)
		}

		square, ok := d.Square()
		if !ok || !d.Suffice(square) || square.Partitions > 1 && d.Suffice(d.fairly(square.Partitions-1)) {
			t.Errorf("%v, %v is not the smallest square for %+v", square, ok, d)
		}
		if larger, ok := more.Square(); !ok || larger.Partitions < square.Partitions {
			t.Errorf("%v, for more load %v", square, larger)
		}
		if p, ok := d.Partitions(square.Shards, 1); !ok || p > square.Partitions {
			t.Errorf("%d partitions, %v, for %v", p, ok, square)
		}
	})
}

// If nothing will do, that is the answer, and it comes at once.
func TestFitBeyondMeasure(t *testing.T) {
	for _, choice := range []Choice{Uniform, Aware} {
		d := Demand{Load: 1e9, Choice: choice, Confidence: 0.99, Target: 0.7, Dense: 4, Fair: 1}
		if n, ok := d.Shards(1, 100); ok {
			t.Errorf("%s: got %d shards", choice, n)
		}
		if s, ok := d.Square(); ok {
			t.Errorf("%s: got %v", choice, s)
		}
		d.Load, d.Others = 1, 1e9
		if n, ok := d.Shards(1, Max); ok {
			t.Errorf("%s: got %d shards among others that fill everything", choice, n)
		}
		if s, ok := d.Square(); ok {
			t.Errorf("%s: got %v among others that fill everything", choice, s)
		}
	}
}
