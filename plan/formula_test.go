package plan

import (
	"math"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// 000-18, 000-27, 003-17, 004-07, 004-22, X11: the published examples, each by its own rule.
func TestShards(t *testing.T) {
	for _, c := range []struct {
		peak                                                     int64
		minimum, factored, cautious, conservative, generousCount int
	}{
		{0, 1, 1, 1, 2, 4},
		{1, 1, 1, 1, 2, 4},
		{500, 1, 1, 1, 2, 4},
		{666, 1, 1, 2, 2, 4},
		{667, 1, 2, 2, 2, 4},
		{1000, 1, 2, 2, 2, 4},
		{1001, 2, 2, 3, 4, 8},
		{5000, 5, 8, 10, 10, 20},
		{10_000, 10, 15, 20, 20, 40},
		{50_000, 50, 75, 100, 100, 200},
		{500_000, 500, 750, 1000, 1000, 2000},
	} {
		got := []int{dynamoDB.shardsFor(c.peak, 1), dynamoDB.shardsFor(c.peak, DefaultFactor), dynamoDB.shardsFor(c.peak, CautiousFactor), dynamoDB.conservativeShards(c.peak), dynamoDB.generousShards(c.peak)}
		want := []int{c.minimum, c.factored, c.cautious, c.conservative, c.generousCount}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d write units: got %v, want %v", c.peak, got, want)
		}
	}
	for _, c := range []struct {
		peak   int64
		factor float64
		want   int
	}{
		{-5, 1.5, 1},
		{10_000, 1.1, 11}, // 1.1 is less than it looks in binary, and no twelfth shard
		{10_000, 0.5, 10},
		{10_000, math.NaN(), 10},
		{10_000, math.Inf(1), 1000},
		{math.MaxInt64, 100, math.MaxInt64 / 10},
	} {
		if got := dynamoDB.shardsFor(c.peak, c.factor); got != c.want && c.peak != math.MaxInt64 || got < c.want {
			t.Errorf("%d write units × %v: got %d, want %d", c.peak, c.factor, got, c.want)
		}
	}
	if got := dynamoDB.readShardsFor(9001, 1); got != 4 {
		t.Errorf("9,001 read units: got %d shards, want 4", got)
	}
	if got := dynamoDB.generousShards(math.MaxInt64); got < dynamoDB.conservativeShards(math.MaxInt64) {
		t.Errorf("the largest load overflows: %d", got)
	}
}

// The formula multiplies before it rounds, never goes below what is needed, and never gives less to more.
func TestShardsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peak := rapid.Int64Range(0, math.MaxInt64).Draw(t, "peak")
		thousandths := rapid.Int64Range(1000, 100_000).Draw(t, "factor in thousandths")
		factor := float64(thousandths) / 1000
		exact := new(big.Int).Mul(big.NewInt(peak), big.NewInt(thousandths))
		exact.Add(exact, big.NewInt(999_999)).Div(exact, big.NewInt(1_000_000))
		want := int64(math.MaxInt)
		if exact.IsInt64() {
			want = max(exact.Int64(), 1)
		}
		got := dynamoDB.shardsFor(peak, factor)
		if int64(got) != want {
			t.Fatalf("got %d, want %d", got, want)
		}
		more := rapid.Int64Range(peak, math.MaxInt64).Draw(t, "more")
		if dynamoDB.shardsFor(more, factor) < got {
			t.Errorf("%d units get %d shards, %d get %d", peak, got, more, dynamoDB.shardsFor(more, factor))
		}
		if floor := dynamoDB.shardsFor(peak, 1); got < floor || dynamoDB.conservativeShards(peak) < floor || dynamoDB.generousShards(peak) < floor || floor < 1 {
			t.Errorf("below the floor of %d: %d, %d, %d", floor, got, dynamoDB.conservativeShards(peak), dynamoDB.generousShards(peak))
		}
	})
}

// 003-18, X12: the bands by requests, at their borders.
func TestBand(t *testing.T) {
	type band struct {
		from, to int
		more     bool
	}
	for _, c := range []struct {
		requests float64
		want     band
	}{
		{0, band{5, 10, false}},
		{499.9, band{5, 10, false}},
		{500, band{10, 20, false}},
		{2000, band{10, 20, false}},
		{2001, band{20, 50, false}},
		{5000, band{20, 50, false}},
		{5001, band{50, 100, true}},
	} {
		from, to, more := bandOf(c.requests)
		if got := (band{from, to, more}); got != c.want {
			t.Errorf("%v requests: got %v, want %v", c.requests, got, c.want)
		}
	}
}

// 000-02, 000-03, 000-24: what a partition bears, and N times that as an upper bound.
func TestUpperBound(t *testing.T) {
	if PartitionWrites != 1000 || PartitionReads != 3000 {
		t.Errorf("a partition takes %d and %d", PartitionWrites, PartitionReads)
	}
	for shards, want := range map[int][2]int64{
		-1: {1000, 3000}, 1: {1000, 3000}, 10: {10_000, 30_000}, 100: {100_000, 300_000},
	} {
		if writes, reads := upperBound(shards); writes != want[0] || reads != want[1] {
			t.Errorf("%d shards: got %d and %d, want %v", shards, writes, reads, want)
		}
	}
	if writes, reads := upperBound(math.MaxInt); writes <= 0 || reads <= 0 {
		t.Errorf("the largest number of shards overflows: %d and %d", writes, reads)
	}
}

func TestUnits(t *testing.T) {
	for bytes, want := range map[int]int64{0: 1, 1: 1, 1024: 1, 1025: 2, 3 << 10: 3, MaxItemBytes: 400} {
		if got := writeUnitsOf(bytes); got != want {
			t.Errorf("writing %d bytes: got %d units, want %d", bytes, got, want)
		}
	}
	for bytes, want := range map[int64]float64{0: 1, 1: 1, 4096: 1, 4097: 2, 1 << 20: 256} {
		if strong, eventual := readUnitsOf(bytes, true), readUnitsOf(bytes, false); strong != want || eventual != want/2 {
			t.Errorf("reading %d bytes: got %v and %v units, want %v and half of it", bytes, strong, eventual, want)
		}
	}
	for _, c := range []struct {
		writes, reads int64
		want          int
	}{
		{0, 0, 1},
		{4000, 12_000, 4},
		{4001, 0, 5},
		{1000, 9001, 4},
		{math.MaxInt64, 0, MaxShards},
	} {
		if got := dynamoDB.partitionsFor(c.writes, c.reads); got != c.want {
			t.Errorf("%d write and %d read units: got %d partitions, want %d", c.writes, c.reads, got, c.want)
		}
	}
}
