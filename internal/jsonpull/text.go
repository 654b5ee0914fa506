package jsonpull

import (
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string whose opening quote is next.
func (d *Decoder) quoted() string {
	start := d.pos + 1
	i := start + plain(d.text[start:])
	if i < len(d.text) && d.text[i] == '"' {
		d.pos = i + 1
		return d.text[start:i]
	}
	return d.escaped(start)
}

// escaped reads a string with escapes that begins at start.
func (d *Decoder) escaped(start int) string {
	var out []byte
	d.pos = start
	for {
		n := plain(d.text[d.pos:])
		out = append(out, d.text[d.pos:d.pos+n]...)
		d.pos += n
		switch {
		case d.at('"'):
			d.pos++
			return string(out)
		case !d.at('\\'): // a control character, or the end
			d.syntax()
			return ""
		}
		r := d.escape()
		if d.err != nil {
			return ""
		}
		out = utf8.AppendRune(out, r)
	}
}

// escape reads what begins with a backslash.
func (d *Decoder) escape() rune {
	d.pos++
	if d.pos == len(d.text) {
		d.syntax()
		return 0
	}
	c := d.text[d.pos]
	d.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c)
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		r := d.hex4()
		if !utf16.IsSurrogate(r) {
			return r
		}
		if d.at('\\') && d.pos+1 < len(d.text) && d.text[d.pos+1] == 'u' {
			d.pos += 2
			if r = utf16.DecodeRune(r, d.hex4()); r != utf8.RuneError {
				return r
			}
		}
	}
	d.pos--
	d.syntax()
	return 0
}

// hex4 reads four hexadecimal digits.
func (d *Decoder) hex4() rune {
	if len(d.text)-d.pos < 4 {
		d.syntax()
		return 0
	}
	n, err := strconv.ParseUint(d.text[d.pos:d.pos+4], 16, 16)
	if err != nil {
		d.syntax()
	}
	d.pos += 4
	return rune(n)
}

// AppendString appends s as a JSON string. Of the bytes that may stand for
// themselves none is escaped.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plain(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// plain returns how many bytes at the beginning of s stand for themselves
// within a JSON string: no quote, no backslash, no control character.
func plain(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if found := special(load(s[i : i+8])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// special looks at eight bytes at once. The lowest bit it sets is the top bit
// of the first special byte; above that it may set others wrongly, where a
// subtraction has borrowed.
func special(w uint64) uint64 {
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & tops
}

// load is a single instruction once compiled.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
