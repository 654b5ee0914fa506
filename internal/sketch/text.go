package sketch

import (
	"fmt"
	"unicode/utf8"
)

// MaxText is how many bytes of a key are kept. Of longer ones the beginning is, and the upper half of the hash.
const MaxText = 96

// text is a key as far as it is kept, in place, so that keeping one allocates nothing.
type text struct {
	bytes [MaxText]byte
	n     uint8
}

const mark = "…"

func (t *text) set(hash uint64, keep func([]byte) []byte) {
	all := keep(t.bytes[:0:MaxText])
	if len(all) <= MaxText {
		t.n = uint8(copy(t.bytes[:], all))
		return
	}
	tail := fmt.Appendf(nil, "%s%08x", mark, hash>>32)
	cut := MaxText - len(tail)
	for cut > 0 && !utf8.RuneStart(all[cut]) {
		cut--
	}
	n := copy(t.bytes[:], all[:cut])
	t.n = uint8(n + copy(t.bytes[n:], tail))
}

// Cut returns what is kept of a text.
func Cut(hash uint64, keep func([]byte) []byte) string {
	var t text
	t.set(hash, keep)
	return t.String()
}

func (t *text) String() string { return string(t.bytes[:t.n]) }
