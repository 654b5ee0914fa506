package leaderboard

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		score int64
		tie   uint64
		want  string
	}{
		{0, 1_000_000, "1000000"},
		{1, 1_000_000, "10000000000001000000"},
		{-1, 1_000_000, "-9999999999999000000"},
		{-2, tieScale - 1, "-10000000000000000001"},
		{math.MaxInt64, tieScale - 1, "92233720368547758079999999999999999999"},
		{math.MinInt64, 1_000_000, "-92233720368547758079999999999999000000"},
	} {
		if got := place(c.score, c.tie); got != c.want {
			t.Errorf("place(%d, %d) = %s, want %s", c.score, c.tie, got, c.want)
		}
	}
}

// A place is the number that its definition says, with no more digits than DynamoDB keeps, and is ordered by score,
// then the earlier time.
func TestPlaceIsExactAndOrdered(t *testing.T) {
	scores := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	times := rapid.Custom(func(t *rapid.T) time.Time {
		return time.UnixMilli(rapid.OneOf(rapid.Int64Range(0, maxMillis), rapid.Int64Range(0, 2)).Draw(t, "ms"))
	})
	scale := new(big.Int).SetUint64(tieScale)
	parse := func(t *rapid.T, text string) *big.Int {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			t.Fatalf("%q is no number", text)
		}
		if digits := len(new(big.Int).Abs(n).String()); digits > 38 {
			t.Fatalf("%s has %d digits", text, digits)
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		s, u := scores.Draw(t, "s"), scores.Draw(t, "u")
		at, bt := times.Draw(t, "at"), times.Draw(t, "bt")
		a := parse(t, place(s, tie(at, "ada")))
		want := new(big.Int).Mul(big.NewInt(s), scale)
		want.Add(want, new(big.Int).SetUint64(tie(at, "ada")))
		if a.Cmp(want) != 0 {
			t.Fatalf("place of %d is %v, want %v", s, a, want)
		}
		if total := parse(t, scaled(s)); total.Cmp(new(big.Int).Mul(big.NewInt(s), scale)) != 0 {
			t.Fatalf("scaled %d is %v", s, total)
		}
		b := parse(t, place(u, tie(bt, "ada")))
		above := s > u || s == u && at.Before(bt)
		if (a.Cmp(b) > 0) != above {
			t.Fatalf("%d at %v has %v, %d at %v has %v", s, at, a, u, bt, b)
		}
	})
}

func TestTimesThatHaveAPlace(t *testing.T) {
	for _, at := range []time.Time{time.Unix(0, 0), day, time.UnixMilli(maxMillis)} {
		if err := checkTime(at); err != nil {
			t.Error(err)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(-1, 0), time.UnixMilli(maxMillis + 1), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if err := checkTime(at); !errors.Is(err, ErrInput) {
			t.Errorf("%v: got error %v", at, err)
		}
	}
}
