package judge_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/judge"
)

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		demand, second float64
		refused        bool
		want           judge.Verdict
		planned        float64
	}{
		{0, 0, false, judge.Cool, 0},
		{699, 0, false, judge.Cool, 699},
		{700, 0, false, judge.Warming, 700},
		{100, 990, false, judge.Warming, 990},
		{949, 5000, false, judge.Warming, 5000},
		{950, 0, false, judge.Alone, 1100},
		{5000, 0, true, judge.Alone, 5000},
		{700, 0, true, judge.Alone, 1100},
		{100, 990, true, judge.Alone, 1100},
		{699, 0, true, judge.Crowded, 699},
		{385, 0, true, judge.Crowded, 385},
		{200, 0, true, judge.Crowded, 200},
		{199, 0, true, judge.Bystander, 199},
	} {
		l := judge.Load{Demand: test.demand, Second: test.second, Refused: test.refused, Limit: 1000}
		if got := judge.Default().Judge(l); got != test.want {
			t.Errorf("%+v: got %d, want %d", l, got, test.want)
		}
		if got, guessed := judge.Default().Planned(l); got != test.planned || guessed != (test.planned > max(test.demand, test.second)) {
			t.Errorf("%+v: planned for %v (%v), want %v", l, got, guessed, test.planned)
		}
	}
}

// More demand, or a refusal, never makes a key cooler. A plan is for no less than was seen.
func TestJudgeIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := judge.Load{Demand: rapid.Float64Range(0, 5000).Draw(t, "demand"), Second: rapid.Float64Range(0, 5000).Draw(t, "second"), Limit: 1000}
		more := l
		more.Demand += rapid.Float64Range(0, 1000).Draw(t, "more")
		more.Refused = rapid.Bool().Draw(t, "refused")
		if a, b := judge.Default().Judge(l), judge.Default().Judge(more); b < a {
			t.Errorf("%+v is %d, but %+v is %d", l, a, more, b)
		}
		if units, _ := judge.Default().Planned(more); units < more.Demand {
			t.Errorf("%+v is planned for %v", more, units)
		}
	})
}

// Thresholds of one's own, and the limit of reads.
func TestJudgeByOtherThresholds(t *testing.T) {
	mine := judge.Thresholds{Warm: 0.3, Hot: 0.5}
	for _, test := range []struct {
		load    judge.Load
		want    judge.Verdict
		planned float64
	}{
		{judge.Load{Demand: 899, Limit: 3000}, judge.Cool, 899},
		{judge.Load{Demand: 900, Limit: 3000}, judge.Warming, 900},
		{judge.Load{Demand: 1500, Limit: 3000}, judge.Alone, 3300},
		{judge.Load{Demand: 3299, Limit: 3000}, judge.Alone, 3300},
		{judge.Load{Demand: 3301, Limit: 3000}, judge.Alone, 3301},
		{judge.Load{Demand: 600, Limit: 3000, Refused: true}, judge.Crowded, 600},
		{judge.Load{Demand: 599, Limit: 3000, Refused: true}, judge.Bystander, 599},
		{judge.Load{Demand: 1, Second: 600, Limit: 3000, Refused: true}, judge.Crowded, 600},
	} {
		if got := mine.Judge(test.load); got != test.want {
			t.Errorf("%+v: got %d, want %d", test.load, got, test.want)
		}
		if got, guessed := mine.Planned(test.load); math.Abs(got-test.planned) > 1e-9 || guessed != (got > max(test.load.Demand, test.load.Second)) {
			t.Errorf("%+v: planned for %v (%v), want %v", test.load, got, guessed, test.planned)
		}
	}
	for verdict, want := range map[judge.Verdict]bool{judge.Cool: false, judge.Bystander: false, judge.Warming: false, judge.Crowded: true, judge.Alone: true} {
		if verdict.Critical() != want {
			t.Errorf("verdict %d: critical %v", verdict, !want)
		}
	}
}

// Shards are judged one by one, and planned for together.
func TestJudgeShards(t *testing.T) {
	for _, test := range []struct {
		demand  float64
		shards  int
		want    judge.Verdict
		planned float64
	}{
		{3920, 4, judge.Alone, 4400},
		{3920, 5, judge.Warming, 3920},
		{3920, 8, judge.Cool, 3920},
		{3920, 0, judge.Alone, 3920},
	} {
		v, units, guessed := judge.Default().Over(judge.Load{Demand: test.demand, Limit: 1000}, test.shards)
		if v != test.want || math.Abs(units-test.planned) > 1e-9 || guessed != (test.planned > test.demand) {
			t.Errorf("%v over %d shards: got %d, planned for %v (%v)", test.demand, test.shards, v, units, guessed)
		}
	}
}

// A key is as hot as the fullest of its shards, and the others are planned for as they are.
func TestJudgeTheFullestShard(t *testing.T) {
	for _, test := range []struct {
		demand, fullest float64
		shards          int
		want, even      judge.Verdict
		planned         float64
	}{
		{1690, 1300, 4, judge.Alone, judge.Cool, 1690},
		{1300, 1300, 4, judge.Alone, judge.Cool, 1300},
		{1400, 1000, 4, judge.Alone, judge.Cool, 1500},
		{1100, 800, 4, judge.Warming, judge.Cool, 1100},
		{3920, 990, 4, judge.Alone, judge.Alone, 4400},
		{1300, 0, 4, judge.Cool, judge.Cool, 1300},
		{1300, 1300, 0, judge.Alone, judge.Alone, 1300},
	} {
		l := judge.Load{Demand: test.demand, Fullest: test.fullest, Limit: 1000}
		v, units, guessed := judge.Default().Over(l, test.shards)
		if even := judge.Default().Even(l, test.shards); v != test.want || even != test.even || math.Abs(units-test.planned) > 1e-9 || guessed != (test.planned > test.demand) {
			t.Errorf("%+v: got %d (evenly %d), planned for %v (%v)", test, v, even, units, guessed)
		}
	}
}

func TestUneven(t *testing.T) {
	for _, test := range []struct {
		share  float64
		shards int
		want   bool
	}{
		{0.77, 4, true}, {0.44, 4, true}, {0.43, 4, false}, {0.25, 8, true}, {0.24, 8, false}, {0.7, 2, true}, {0.6, 2, false}, {1, 1, false}, {1, 0, false},
	} {
		if got := judge.Uneven(test.share, test.shards, judge.Excess); got != test.want {
			t.Errorf("%v of %d shards: got %v", test.share, test.shards, got)
		}
	}
}

// Throttles are handled if all were repeated, and they are rare.
func TestHandled(t *testing.T) {
	for _, test := range []struct {
		throttled, retries, requests int64
		want                         bool
	}{
		{16, 16, 320, true}, {16, 16, 319, false}, {16, 15, 320, false}, {0, 0, 100, false},
	} {
		if got := judge.Handled(test.throttled, test.retries, test.requests); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

// The figures that the documentation of heat and plan states.
func TestFigures(t *testing.T) {
	if judge.Warm != 0.7 || judge.Hot != 0.95 || judge.Beside != 0.2 || judge.Beyond != 1.1 || judge.FewThrottles != 10 {
		t.Errorf("got %v, %v, %v, %v and %d", judge.Warm, judge.Hot, judge.Beside, judge.Beyond, judge.FewThrottles)
	}
}
