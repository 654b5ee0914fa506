package partition

import (
	"math"
	"testing"
	"time"
)

func TestBucketRateIsExact(t *testing.T) {
	// Offered three times its rate for ten minutes, in requests of any size, a
	// bucket lets exactly its rate pass, but for what it held at the start and
	// what it is owed at the end.
	for _, cost := range []float64{0.5, 1, 7, 400} {
		b := newBucket(1000, 200*time.Millisecond, 200*time.Millisecond, 0)
		every := instant(cost / 3000 * 1e9)
		passed := amount(0)
		const end = instant(10 * time.Minute)
		for at := instant(0); at < end; at += every {
			if !b.refuses(at) {
				b.charge(amountOf(cost), at)
				passed += amountOf(cost)
			}
		}
		b.refill(end)
		if got, want := passed+b.level, times(1000, 10*time.Minute)+times(1000, 200*time.Millisecond); got != want {
			t.Errorf("requests of %v: got %v units passed and left, want %v", cost, got.units(), want.units())
		}
	}
}

func TestBucketEdges(t *testing.T) {
	second := instant(time.Second)
	b := newBucket(10, time.Second, time.Second, second)
	take := func(units float64, at instant) {
		t.Helper()
		if b.refuses(at) {
			t.Errorf("at %v: refused, want passed", time.Duration(at))
		}
		b.charge(amountOf(units), at)
	}
	refused := func(at instant) {
		t.Helper()
		if !b.refuses(at) {
			t.Errorf("at %v: passed, want refused", time.Duration(at))
		}
	}
	take(9.5, second)
	take(1, second) // there is half a unit: enough to pass
	refused(second) // half a unit is owed
	refused(second / 2)
	refused(second + second/20)   // paid, but nothing is there
	take(0.5, second+second/20+1) // a billionth of ten units is something
	refused(second + second/20 + 1)
	refused(0) // the clock went back to the beginning
	if got, want := b.level, -amountOf(0.5)+10; got != want {
		t.Errorf("after the clock went backwards: got %d, want %d", got, want)
	}
	b.refill(1e15 * second / 1e9 * 300) // nine and a half years later
	if b.level != b.limit {
		t.Errorf("after years: got %v, want it full: %v", b.level.units(), b.limit.units())
	}
	b.charge(amountOf(math.Inf(1)), b.at)
	if got, want := b.level.units(), 10-float64(maxUnits); got != want {
		t.Errorf("after an endless request: got %v, want %v", got, want)
	}
	for range 20 {
		b.charge(maxAmount, b.at)
	}
	if b.level != -maxAmount {
		t.Errorf("got %d, want debt to end at %d", b.level, -maxAmount)
	}
	b.refill(b.at + 1)
	if got, want := b.level, -maxAmount+10; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestAmountOf(t *testing.T) {
	for _, c := range []struct {
		units float64
		want  amount
	}{
		{0, 0},
		{-1, 0},
		{math.NaN(), 0},
		{math.Inf(-1), 0},
		{0.5, unit / 2},
		{128.5, 128*unit + unit/2},
		{math.Inf(1), maxUnits * unit},
		{1e300, maxUnits * unit},
		{1e-12, 0},
	} {
		if got := amountOf(c.units); got != c.want {
			t.Errorf("%v: got %d, want %d", c.units, got, c.want)
		}
	}
}

func TestTimesSaturates(t *testing.T) {
	for _, c := range []struct {
		rate int64
		d    time.Duration
		want amount
	}{
		{1000, time.Second, 1000 * unit},
		{40_000, 300 * time.Second, 12_000_000 * unit},
		{math.MaxInt64, time.Hour, maxAmount},
		{math.MaxInt64, math.MaxInt64, maxAmount},
		{-1, time.Second, 0},
		{1, -1, 0},
	} {
		if got := times(c.rate, c.d); got != c.want {
			t.Errorf("%d × %v: got %d, want %d", c.rate, c.d, got, c.want)
		}
	}
}

func TestBucketWithoutLimit(t *testing.T) {
	var b bucket
	b.charge(maxAmount, 1)
	if b.refuses(1) || b.left(1) != 0 {
		t.Errorf("the zero bucket refuses or holds something: %+v", b)
	}
}

func TestBucketRefillsInSteps(t *testing.T) {
	b := newBucket(10, 10*time.Second, 0, 0)
	b.step = instant(2 * time.Second)
	for _, c := range []struct {
		after time.Duration
		want  float64
	}{{time.Second, 0}, {2*time.Second - 1, 0}, {2 * time.Second, 20}, {3 * time.Second, 20}, {7 * time.Second, 60}} {
		if got := b.left(instant(c.after)); got != c.want {
			t.Errorf("after %v: got %v, want %v", c.after, got, c.want)
		}
	}
}

func TestBucketResize(t *testing.T) {
	b := newBucket(100, 300*time.Second, time.Second, 0)
	b.resize(50, 300*time.Second, instant(time.Hour))
	if got := b.level.units(); got != 15_000 {
		t.Errorf("lowered: got %v units, want what fits, 15,000", got)
	}
	b.resize(100, 300*time.Second, instant(time.Hour))
	if got := b.level.units(); got != 15_000 {
		t.Errorf("raised: got %v units, want those that it had, 15,000", got)
	}
}
