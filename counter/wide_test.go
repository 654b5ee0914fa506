package counter

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWideIsArithmetic(t *testing.T) {
	bigOf := func(w wide) *big.Int {
		n, _ := new(big.Int).SetString(w.String(), 10)
		return n
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := rapid.Int64().Draw(rt, "a"), rapid.Int64().Draw(rt, "b"), rapid.Int64().Draw(rt, "c")
		sum := wideOf(a).plus(wideOf(b)).minus(wideOf(c))
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		want.Sub(want, big.NewInt(c))
		if got := bigOf(sum); got.Cmp(want) != 0 {
			rt.Fatalf("%d + %d - %d: got %v, want %v", a, b, c, got, want)
		}
		if n, ok := sum.int64(); ok != want.IsInt64() || ok && n != want.Int64() {
			rt.Fatalf("%v as an int64: got %d, %v", want, n, ok)
		}
		if parsed, ok := parseWide(sum.String()); !ok || parsed != sum {
			rt.Fatalf("%v read back: got %v, %v", sum, parsed, ok)
		}
	})
}

func TestParseWide(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-1": "-1", "1E+3": "1000", "10.0": "10", "1E-1": "", "1.5": "", "": "", "x": "",
		strings.Repeat("9", 38):                   strings.Repeat("9", 38),
		"-" + strings.Repeat("9", 38):             "-" + strings.Repeat("9", 38),
		"170141183460469231731687303715884105727": "170141183460469231731687303715884105727",
		"170141183460469231731687303715884105728": "",
		strings.Repeat("1", 65):                   "",
		"1E+125":                                  "",
	} {
		got, ok := parseWide(text)
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q: got %v, %v, want %q", text, got, ok, want)
		}
	}
}

func TestAmountFits(t *testing.T) {
	for _, c := range []struct {
		a, b amount
		fits bool
	}{
		{amount{}, amount{}, true},
		{amount{up: math.MaxInt64 - 1}, amount{up: 1}, true},
		{amount{up: math.MaxInt64}, amount{up: 1}, false},
		{amount{down: math.MaxInt64}, amount{up: 1}, true},
		{amount{down: math.MaxInt64}, amount{down: 1}, false},
		{amount{adds: math.MaxInt64}, amount{adds: 1}, false},
	} {
		if _, fits := c.a.plus(c.b); fits != c.fits {
			t.Errorf("%+v and %+v: got %v, want %v", c.a, c.b, fits, c.fits)
		}
	}
	if _, ok := amountOf(math.MinInt64); ok {
		t.Error("the negative of the least int64 fits")
	}
	if a, ok := amountOf(math.MinInt64 + 1); !ok || a.value() != math.MinInt64+1 {
		t.Errorf("got %+v, %v", a, ok)
	}
}
