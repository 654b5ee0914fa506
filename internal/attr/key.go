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
