package attr

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parsed(t testing.TB, s string) Number {
	t.Helper()
	n, err := ParseNumber(s)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", s, err)
	}
	return n
}

func TestNumberString(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "+0": "0", "0.000": "0", "0e125": "0", "-0E-130": "0",
		"1e0000000000000000000000000002": "100",
		"1":                              "1", "+1": "1", "-1": "-1", "00042": "42", "1.0": "1", "3.1400": "3.14",
		"1.5E2": "150", "1.5e-2": "0.015", ".5": "0.5", "5.": "5", "100": "100", "1E2": "100",
		"-12.030":                                "-12.03",
		"1E-7":                                   "0.0000001",
		"1000000.":                               "1000000",
		"10.01":                                  "10.01",
		"1E+125":                                 "1" + strings.Repeat("0", 125),
		"1E-130":                                 "0." + strings.Repeat("0", 129) + "1",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
		"0.000012345678901234567890123456789012345678":           "0.000012345678901234567890123456789012345678",
		"1234567890123456789012345678901234567800000000000000":   "1234567890123456789012345678901234567800000000000000",
		"100000000000000000000000000000000000000000000000000000": "100000000000000000000000000000000000000000000000000000",
	} {
		if got := parsed(t, in).String(); got != want {
			t.Errorf("ParseNumber(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestNumberFaults(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", Fault("The parameter cannot be converted to a numeric value")},
		{"abc", Fault("The parameter cannot be converted to a numeric value: abc")},
		{"1.2.3", Fault("The parameter cannot be converted to a numeric value: 1.2.3")},
		{"1e", Fault("The parameter cannot be converted to a numeric value: 1e")},
		{"1e+", Fault("The parameter cannot be converted to a numeric value: 1e+")},
		{"--1", Fault("The parameter cannot be converted to a numeric value: --1")},
		{".", Fault("The parameter cannot be converted to a numeric value: .")},
		{" 1", Fault("The parameter cannot be converted to a numeric value:  1")},
		{"NaN", Fault("The parameter cannot be converted to a numeric value: NaN")},
		{"Infinity", Fault("The parameter cannot be converted to a numeric value: Infinity")},
		{"1E126", ErrNumberOverflow},
		{"-1E126", ErrNumberOverflow},
		{"1E9223372036854775807", ErrNumberOverflow},
		{"1E-9223372036854775808", ErrNumberUnderflow},
		{"1E9223372036854775808", Fault("The parameter cannot be converted to a numeric value: 1E9223372036854775808")},
		{"1E-9223372036854775809", Fault("The parameter cannot be converted to a numeric value: 1E-9223372036854775809")},
		{"1E1_0", Fault("The parameter cannot be converted to a numeric value: 1E1_0")},
		{"0E126", ErrNumberOverflow},
		{"-0.0E126", ErrNumberOverflow},
		{"0E-131", ErrNumberUnderflow},
		{"1E-131", ErrNumberUnderflow},
		{"0.1E-130", ErrNumberUnderflow},
		{"123456789012345678901234567890123456789", ErrNumberDigits},
		{"1.00000000000000000000000000000000000001", ErrNumberDigits},
	} {
		if got, err := ParseNumber(c.in); !errors.Is(err, c.want) {
			t.Errorf("ParseNumber(%q) = %q, %v, want %v", c.in, got, err, c.want)
		}
	}
}

// The sizes were measured on DynamoDB by bisecting its limit on an item's size.
func TestNumberSize(t *testing.T) {
	for in, want := range map[string]int{
		"0": 1, "-0": 1, "1": 2, "100": 2, "123": 3, "1.5": 3, "100.5": 4, "0.0000001": 2,
		"1E125": 2, "-42": 3, "12345678901234567890123456789012345678": 20,
	} {
		if got := parsed(t, in).size(); got != want {
			t.Errorf("size of %s = %d, want %d", in, got, want)
		}
	}
}

func TestNumberArithmetic(t *testing.T) {
	for _, c := range []struct {
		a, b, sum, difference string
	}{
		{"1", "2", "3", "-1"},
		{"0", "-5", "-5", "5"},
		{"-5", "0", "-5", "-5"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"99", "1", "100", "98"},
		{"1E20", "1", "100000000000000000001", "99999999999999999999"},
		{"5", "5", "10", "0"},
		{"-1.5", "1.5", "0", "-3"},
		{"1E125", "1E125", "2" + strings.Repeat("0", 125), "0"},
	} {
		sum, err := parsed(t, c.a).Add(parsed(t, c.b))
		if err != nil || sum.String() != c.sum {
			t.Errorf("%s + %s = %s, %v, want %s", c.a, c.b, sum, err, c.sum)
		}
		difference, err := parsed(t, c.a).Sub(parsed(t, c.b))
		if err != nil || difference.String() != c.difference {
			t.Errorf("%s - %s = %s, %v, want %s", c.a, c.b, difference, err, c.difference)
		}
	}
	if _, err := parsed(t, "1E40").Add(parsed(t, "1")); !errors.Is(err, ErrNumberDigits) {
		t.Errorf("1E40 + 1: %v, want %v", err, ErrNumberDigits)
	}
	if _, err := parsed(t, "9E125").Add(parsed(t, "9E125")); !errors.Is(err, ErrNumberOverflow) {
		t.Errorf("9E125 + 9E125: %v, want %v", err, ErrNumberOverflow)
	}
}

func TestNumberInt64(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "-7": -7, "1E3": 1000, "9223372036854775807": 1<<63 - 1, "-9223372036854775808": -1 << 63,
	} {
		if got, ok := parsed(t, in).Int64(); !ok || got != want {
			t.Errorf("Int64 of %s = %d, %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"0.5", "1.5", "9223372036854775808", "1E19", "1E125"} {
		if got, ok := parsed(t, in).Int64(); ok {
			t.Errorf("Int64 of %s = %d, want none", in, got)
		}
	}
}

func TestNumberCeil(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "7": 7, "-7": -7, "1E3": 1000, "1730000000": 1730000000, "12.5": 13, "-12.5": -12, "100.000001": 101,
		"1E-130": 1, "-1E-130": 0, "0.99": 1, "-0.99": 0, "1230": 1230, "1E17": 1e17,
		"999999999999999999": 999999999999999999, "999999999999999999.5": 1e18, "-999999999999999999.5": -999999999999999999,
		"1E18": math.MaxInt64, "9E125": math.MaxInt64, "-1E18": math.MinInt64, "-9E125": math.MinInt64,
	} {
		if got := parsed(t, in).Ceil(); got != want {
			t.Errorf("Ceil of %s = %d, want %d", in, got, want)
		}
	}
	n := parsed(t, "1730000000.5")
	if allocs := testing.AllocsPerRun(100, func() { n.Ceil() }); allocs != 0 {
		t.Errorf("got %v allocations, want none", allocs)
	}
}

// anyNumber draws the text of a number DynamoDB accepts.
func anyNumber(t *rapid.T) string {
	return rapid.StringMatching(`[-+]?[0-9]{1,19}(\.[0-9]{1,19})?(E[-+]?[0-9]{1,2})?`).Draw(t, "number")
}

func rational(t testing.TB, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("not a number: %q", s)
	}
	return r
}

func TestNumberKeepsValueAndOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := anyNumber(rt), anyNumber(rt)
		x, y := parsed(t, a), parsed(t, b)
		if rational(t, x.String()).Cmp(rational(t, a)) != 0 {
			rt.Fatalf("%s reads back as %s", a, x)
		}
		if !x.valid() {
			rt.Fatalf("the form of %s is not valid: %x", a, string(x))
		}
		if got, want := strings.Compare(string(x), string(y)), rational(t, a).Cmp(rational(t, b)); got != want {
			rt.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
		if sum, err := x.Add(y); err == nil {
			want := new(big.Rat).Add(rational(t, a), rational(t, b))
			if rational(t, sum.String()).Cmp(want) != 0 {
				rt.Fatalf("%s + %s = %s", a, b, sum)
			}
		}
	})
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.5E2", "1E-130", "00.100", "x", "1e", "9.99E125"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseNumber(s)
		if err != nil {
			return
		}
		if !n.valid() {
			t.Fatalf("the form of %q is not valid: %x", s, string(n))
		}
		if again := parsed(t, n.String()); again != n {
			t.Fatalf("%q reads back as %x, was %x", s, string(again), string(n))
		}
	})
}

func BenchmarkNumberAdd(b *testing.B) {
	for name, pair := range map[string][2]string{
		"small": {"12345", "1"}, "large": {"12345678901234567890123456789", "0.00001"},
	} {
		x, y := parsed(b, pair[0]), parsed(b, pair[1])
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Add(y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
