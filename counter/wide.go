package counter

import (
	"math"
	"math/big"
	"math/bits"
)

// wide is a whole number of 128 bits, two's complement: the sum of any number of slots that this world will see. Unlike
// a big.Int it is a value that can be compared.
type wide struct {
	hi int64
	lo uint64
}

func wideOf(n int64) wide { return wide{n >> 63, uint64(n)} }

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + int64(carry), lo}
}

func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - int64(borrow), lo}
}

// int64 returns the number, and false if it does not fit.
func (a wide) int64() (int64, bool) { return int64(a.lo), a.hi == int64(a.lo)>>63 }

// String returns the number in decimal, as DynamoDB takes it.
func (a wide) String() string {
	n := big.NewInt(a.hi)
	n.Lsh(n, 64)
	return n.Or(n, new(big.Int).SetUint64(a.lo)).String()
}

// parseWide reads a number as DynamoDB returns it, and reports false if it is not a whole one or has more than 128
// bits.
func parseWide(text string) (wide, bool) {
	const most = 64 // characters: DynamoDB's numbers have 38 digits, and exponents of three
	if len(text) > most {
		return wide{}, false
	}
	rational, ok := new(big.Rat).SetString(text)
	if !ok || !rational.IsInt() || rational.Num().BitLen() > 127 {
		return wide{}, false
	}
	n := rational.Num()
	lo := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return wide{new(big.Int).Rsh(n, 64).Int64(), lo.Uint64()}, true
}

// sum is an amount of any size.
type sum struct{ up, down, adds wide }

func sumOf(a amount) sum { return sum{wideOf(a.up), wideOf(a.down), wideOf(a.adds)} }

func (s sum) plus(t sum) sum { return sum{s.up.plus(t.up), s.down.plus(t.down), s.adds.plus(t.adds)} }

func (s sum) negative() sum {
	return sum{wide{}.minus(s.up), wide{}.minus(s.down), wide{}.minus(s.adds)}
}

func (s sum) value() wide { return s.up.minus(s.down) }
