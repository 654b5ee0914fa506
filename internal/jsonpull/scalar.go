package jsonpull

import (
	"math"
	"strconv"
	"strings"
)

var (
	stringType  = Type{Scalar, "String"}
	booleanType = Type{Scalar, "Boolean"}
	integerType = Type{Scalar, "Integer"}
	longType    = Type{Scalar, "Long"}
)

// Text reads a string. Null is the empty string, as for all readers here it
// is the zero value.
func (d *Decoder) Text() string { return d.TextOf(&stringType) }

// TextOf reads a string that stands for something else, which t names.
func (d *Decoder) TextOf(t *Type) string {
	if d.peek() == '"' {
		return d.quoted()
	}
	if !d.Null() {
		d.mistyped(t)
	}
	return ""
}

// Bool reads true or false. The strings true, yes and 1 are true as well, and
// false, no and 0 are false, in either case, because that is how AWS reads
// them.
func (d *Decoder) Bool() bool {
	switch d.peek() {
	case 't':
		d.literal("true")
		return true
	case 'f':
		d.literal("false")
		return false
	case '"':
		at := d.pos
		switch word := strings.ToLower(d.quoted()); word {
		case "true", "yes", "1":
			return true
		case "false", "no", "0":
			return false
		}
		d.Fail(&TypeError{Found: String, Wanted: &booleanType, Offset: at})
		return false
	}
	if !d.Null() {
		d.mistyped(&booleanType)
	}
	return false
}

// Integer reads a number that AWS keeps in an int, see Long.
func (d *Decoder) Integer() int64 { return d.whole(&integerType) }

// Long reads a number that AWS keeps in a long. Fractions are rounded down, and
// what is out of range becomes the nearest int64.
func (d *Decoder) Long() int64 { return d.whole(&longType) }

func (d *Decoder) whole(t *Type) int64 {
	if !d.atNumber(t) {
		return 0
	}
	text, whole := d.number()
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	f, _ := strconv.ParseFloat(text, 64)
	switch f = math.Floor(f); {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// DoubleOf reads a number, with a fraction or not, that stands for something
// else, which t names.
func (d *Decoder) DoubleOf(t *Type) float64 {
	if !d.atNumber(t) {
		return 0
	}
	text, _ := d.number()
	f, _ := strconv.ParseFloat(text, 64)
	return f
}

func (d *Decoder) atNumber(t *Type) bool {
	c := d.peek()
	if c == '-' || isDigit(c) {
		return true
	}
	if !d.Null() {
		d.mistyped(t)
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads a number and reports whether it is an integer: no fraction, no
// exponent. Anything else is a syntax error.
func (d *Decoder) number() (text string, whole bool) {
	start := d.pos
	whole = true
	if d.at('-') {
		d.pos++
	}
	if d.at('0') {
		d.pos++
	} else {
		d.digits()
	}
	if d.at('.') {
		whole = false
		d.pos++
		d.digits()
	}
	if d.at('e') || d.at('E') {
		whole = false
		d.pos++
		if d.at('+') || d.at('-') {
			d.pos++
		}
		d.digits()
	}
	return d.text[start:d.pos], whole
}

// digits reads at least one digit.
func (d *Decoder) digits() {
	start := d.pos
	for d.pos < len(d.text) && isDigit(d.text[d.pos]) {
		d.pos++
	}
	if d.pos == start {
		d.syntax()
	}
}

func (d *Decoder) at(c byte) bool { return d.pos < len(d.text) && d.text[d.pos] == c }
