package console

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/round"
)

// shown is safe for this terminal: where it knows only ASCII, other characters are quoted as well.
func (m *Model) shown(text string) string {
	if m.ascii && strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return strconv.QuoteToASCII(text)
	}
	return round.Safe(text)
}
