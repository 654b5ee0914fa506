// Package quote shows what somebody else wrote: in an error message, or on a terminal.
package quote

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// most is how many bytes of a text an error shows.
const most = 80

// Text quotes a text, shortened if it is long.
func Text(s string) string {
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
}

// Printable returns a text as it is, or quoted if it has something in it that a terminal would obey.
func Printable(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(text)
	}
	return text
}
