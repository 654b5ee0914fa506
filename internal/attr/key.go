package attr

import "strings"

// A key's bytes are escaped so that a shorter one sorts before every longer one
// that starts with it, whatever follows in the composite key: 00 becomes 00 FF
// and the end is 00 01.
const (
	escape      = 0x00
	escapedZero = 0xFF
	escapedEnd  = 0x01
)

// AppendKey appends the value of a key attribute, of kind S, N or B, such that
// the byte order of the results is the order of the values, also when more is
// appended behind them.
func AppendKey(dst []byte, v Value) []byte {
	if v.Kind == N {
		return append(dst, v.Str...) // a Number ends itself
	}
	return append(AppendKeyPrefix(dst, v.Str), escape, escapedEnd)
}

// AppendKeyPrefix appends the part of AppendKey's result that every S or B key
// beginning with prefix has in common.
func AppendKeyPrefix(dst []byte, prefix string) []byte {
	for {
		i := strings.IndexByte(prefix, escape)
		if i < 0 {
			return append(dst, prefix...)
		}
		dst = append(dst, prefix[:i]...)
		dst = append(dst, escape, escapedZero)
		prefix = prefix[i+1:]
	}
}

// CutKey takes the first value off what AppendKey has put together and returns it with the rest. It returns false if the
// bytes are not those of a key of this kind.
func CutKey(key []byte, kind Kind) (v Value, rest []byte, ok bool) {
	if kind == N {
		n := numberLength(key)
		if n == 0 {
			return Value{}, nil, false
		}
		return Value{Kind: N, Str: string(key[:n])}, key[n:], true
	}
	var text []byte
	for i := 0; i+1 < len(key); i++ {
		switch {
		case key[i] != escape:
			text = append(text, key[i])
		case key[i+1] == escapedEnd:
			return Value{Kind: kind, Str: string(text)}, key[i+2:], true
		case key[i+1] == escapedZero:
			text = append(text, escape)
			i++
		default:
			return Value{}, nil, false
		}
	}
	return Value{}, nil, false
}

// numberLength returns the length of the Number that bytes begin with, 0 if they begin with none.
func numberLength(key []byte) int {
	if strings.HasPrefix(string(key), string(Zero)) {
		return len(Zero)
	}
	for n := 4; n <= min(len(key), 3+maxDigits/2); n++ {
		if Number(key[:n]).valid() {
			return n
		}
	}
	return 0
}
