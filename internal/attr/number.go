package attr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Number is a decimal number of up to 38 significant digits between 1E-130 and
// 9.99…E+125 in magnitude, or zero, in a form whose byte order is the numbers'
// order and whose bytes are the same for the same number:
//
//	zero      80
//	positive  81, exponent+130, digits two by two (each pair plus one), 00
//	negative  every byte of its absolute value's form inverted
//
// The exponent is that of scientific notation, and its 256 possible values are
// exactly those of a byte. Trailing zeros are not kept. The 00 ends the digits
// below any pair, so that 1.2 sorts before 1.23, and after it once inverted.
type Number string

const (
	zeroByte     = 0x80
	positiveByte = 0x81
	maxDigits    = 38
	minExponent  = -130
	maxExponent  = 125
)

// Zero is the number 0.
const Zero = Number("\x80")

// What can be wrong with a number. The texts are DynamoDB's.
const (
	ErrNumberOverflow  = Fault("Number overflow. Attempting to store a number with magnitude larger than supported range")
	ErrNumberUnderflow = Fault("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	ErrNumberDigits    = Fault("Attempting to store more than 38 significant digits in a Number")
	ErrNumberEmpty     = Fault("The parameter cannot be converted to a numeric value")
)

// decimal is a number taken apart: 0.d₁d₂d₃… × 10^(exp+1) with d₁ ≠ 0, or zero
// with no digits.
type decimal struct {
	negative bool
	exp      int // of d₁, as in scientific notation
	n        int // how many digits
	digits   [maxDigits]byte
}

// ParseNumber reads a number as DynamoDB does: an optional sign, digits with an
// optional point, an optional exponent.
func ParseNumber(s string) (Number, error) {
	d, err := parseDecimal(s)
	if err != nil {
		return "", err
	}
	return d.number()
}

func notNumeric(s string) error {
	if s == "" {
		return ErrNumberEmpty
	}
	return Faultf("The parameter cannot be converted to a numeric value: %s", s)
}

func parseDecimal(s string) (d decimal, err error) {
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	var seen, zeros, intDigits int // digits seen; zeros held back after the last other digit
	point, overlong := false, false
	i := 0
scan:
	for ; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			break scan
		case d.n == 0 && c == '0':
			if point {
				intDigits-- // a zero right after the point shifts the first digit down
			}
		case c == '0':
			zeros++
			if !point {
				intDigits++
			}
		default:
			if d.n+zeros+1 > maxDigits {
				overlong = true
			} else {
				for ; zeros > 0; zeros-- {
					d.digits[d.n] = 0
					d.n++
				}
				d.digits[d.n] = c - '0'
				d.n++
			}
			if !point {
				intDigits++
			}
		}
		seen++
	}
	if seen == 0 {
		return d, notNumeric(s)
	}
	exp, ok := parseExponent(rest[i:])
	if !ok {
		return d, notNumeric(s)
	}
	if overlong {
		return d, ErrNumberDigits
	}
	if d.n == 0 { // zero has the range of other numbers, by the exponent that it is written with
		return decimal{}, outside(exp)
	}
	d.exp = intDigits - 1 + exp
	return d, nil
}

// parseExponent reads what follows the digits: nothing, or E and an integer of 64
// bits. An exponent that no number could have is cut short where it cannot matter.
func parseExponent(s string) (exp int, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	n, err := strconv.ParseInt(s[1:], 10, 64)
	if err != nil {
		return 0, false
	}
	return int(min(max(n, -1<<20), 1<<20)), true
}

// outside returns the error of an exponent that no number may have.
func outside(exp int) error {
	switch {
	case exp > maxExponent:
		return ErrNumberOverflow
	case exp < minExponent:
		return ErrNumberUnderflow
	}
	return nil
}

func (d *decimal) number() (Number, error) {
	if d.n == 0 {
		return Zero, nil
	}
	if err := outside(d.exp); err != nil {
		return "", err
	}
	var buf [3 + maxDigits/2]byte
	out := append(buf[:0], positiveByte, byte(d.exp-minExponent))
	for i := 0; i < d.n; i += 2 {
		pair := d.digits[i] * 10
		if i+1 < d.n {
			pair += d.digits[i+1]
		}
		out = append(out, pair+1)
	}
	out = append(out, 0)
	if d.negative {
		for i := range out {
			out[i] = ^out[i]
		}
	}
	return Number(out), nil
}

func (n Number) decimal() (d decimal) {
	if n == "" || n == Zero {
		return d
	}
	var flip byte
	if n[0] < zeroByte {
		d.negative, flip = true, 0xFF
	}
	d.exp = int(n[1]^flip) + minExponent
	for i := 2; i < len(n)-1; i++ {
		pair := (n[i] ^ flip) - 1
		d.digits[d.n] = pair / 10
		d.digits[d.n+1] = pair % 10
		d.n += 2
	}
	if d.n > 0 && d.digits[d.n-1] == 0 {
		d.n-- // the padding of an odd number of digits
	}
	return d
}

// valid reports whether n is the form of some number; stored bytes may be
// damaged.
func (n Number) valid() bool {
	if n == Zero {
		return true
	}
	if len(n) < 4 || len(n) > 3+maxDigits/2 {
		return false
	}
	var flip byte
	if n[0] < zeroByte {
		flip = 0xFF
	}
	if n[0]^flip != positiveByte || n[len(n)-1]^flip != 0 {
		return false
	}
	for i := 2; i < len(n)-1; i++ {
		if pair := n[i] ^ flip; pair < 1 || pair > 100 {
			return false
		}
	}
	return n[2]^flip > 10 && n[len(n)-2]^flip != 1
}

// String writes the number as DynamoDB returns it: plain digits without an
// exponent, however large or small.
func (n Number) String() string { return string(n.Append(nil)) }

// Append appends what String returns.
func (n Number) Append(dst []byte) []byte {
	d := n.decimal()
	if d.n == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	if d.exp < 0 {
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -d.exp-1)
	}
	for i := range d.n {
		if i == d.exp+1 && i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, '0'+d.digits[i])
	}
	return appendZeros(dst, d.exp+1-d.n)
}

func appendZeros(dst []byte, n int) []byte {
	for ; n > 0; n-- {
		dst = append(dst, '0')
	}
	return dst
}

// size is the number's share of its item's size, see Value.Size.
func (n Number) size() int {
	d := n.decimal()
	if d.n == 0 {
		return 1
	}
	// Digits count in pairs on each side of the point, trimmed of the zeros at
	// the number's ends.
	whole := min(max(d.exp+1, 0), d.n)
	fraction := d.n - whole
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if d.negative {
		size++
	}
	return size
}

// Int64 returns the number as an integer; ok is false if it has a fraction or
// does not fit.
func (n Number) Int64() (i int64, ok bool) {
	d := n.decimal()
	if d.n == 0 {
		return 0, true
	}
	if d.scale() < 0 || d.exp > 18 {
		return 0, false
	}
	c := d.coefficient(d.scale())
	return c.Int64(), c.IsInt64()
}

// Ceil returns the smallest integer that is not less than the number. Numbers of
// more than 18 digits before the point count as the largest int64, or the
// smallest.
func (n Number) Ceil() (i int64) {
	d := n.decimal()
	switch {
	case d.n == 0 || d.exp < 0 && d.negative:
		return 0
	case d.exp < 0:
		return 1
	case d.exp >= 18 && d.negative:
		return math.MinInt64
	case d.exp >= 18:
		return math.MaxInt64
	}
	for at := range d.exp + 1 {
		i = 10*i + int64(d.digits[at]) // zero after the last of them
	}
	if d.negative {
		return -i
	}
	if d.n > d.exp+1 {
		i++
	}
	return i
}

// Add returns n + m, an error if the sum needs more than 38 digits or is out of
// range.
func (n Number) Add(m Number) (Number, error) {
	a, b := n.decimal(), m.decimal()
	if a.n == 0 {
		return m, nil
	}
	if b.n == 0 {
		return n, nil
	}
	// Both as integers over the smaller power of ten.
	scale := min(a.scale(), b.scale())
	if x, ok := a.int64(scale); ok {
		if y, ok := b.int64(scale); ok {
			d := newDecimal(x+y, scale)
			return d.number()
		}
	}
	sum := a.coefficient(a.scale() - scale)
	sum.Add(sum, b.coefficient(b.scale()-scale))
	d, err := parseDecimal(sum.String())
	if err != nil {
		return "", err
	}
	if d.n > 0 {
		d.exp += scale
	}
	return d.number()
}

// scale is the power of ten that the last digit counts.
func (d *decimal) scale() int { return d.exp + 1 - d.n }

// int64 returns the number over 10^scale, which its last digit counts at least,
// if it has at most 18 digits: sums of two such numbers do not overflow.
func (d *decimal) int64(scale int) (v int64, ok bool) {
	zeros := d.scale() - scale
	if d.n+zeros > 18 {
		return 0, false
	}
	for _, digit := range d.digits[:d.n] {
		v = v*10 + int64(digit)
	}
	for range zeros {
		v *= 10
	}
	if d.negative {
		v = -v
	}
	return v, true
}

// newDecimal returns v × 10^scale.
func newDecimal(v int64, scale int) (d decimal) {
	if v == 0 {
		return d
	}
	d.negative = v < 0
	u := uint64(max(v, -v))
	for ; u%10 == 0; u /= 10 {
		scale++
	}
	var reversed [20]byte
	for ; u > 0; u /= 10 {
		reversed[d.n] = byte(u % 10)
		d.n++
	}
	for i := range d.n {
		d.digits[i] = reversed[d.n-1-i]
	}
	d.exp = scale + d.n - 1
	return d
}

// Sub returns n - m, with the errors of Add.
func (n Number) Sub(m Number) (Number, error) { return n.Add(m.neg()) }

func (n Number) neg() Number {
	if n == Zero {
		return n
	}
	out := []byte(n)
	for i := range out {
		out[i] = ^out[i]
	}
	return Number(out)
}

// coefficient returns the digits as an integer times 10^shift.
func (d *decimal) coefficient(shift int) *big.Int {
	var text strings.Builder
	if d.negative {
		text.WriteByte('-')
	}
	for _, digit := range d.digits[:d.n] {
		text.WriteByte('0' + digit)
	}
	for range shift {
		text.WriteByte('0')
	}
	c, _ := new(big.Int).SetString(text.String(), 10)
	return c
}
