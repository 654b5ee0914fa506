package shape

import "strings"

// Matches reports whether a key may be of a shape, by the looks of both.
func Matches(shape, key string) bool {
	for {
		literal, rest, found := strings.Cut(shape, "{")
		if !found {
			return shape == key
		}
		place, after, found := strings.Cut(rest, "}")
		if !found {
			return shape == key
		}
		after0, ok := strings.CutPrefix(key, literal)
		if !ok {
			return false
		}
		next, _, _ := strings.Cut(after, "{")
		n := placeLength(place, after0, next)
		if n <= 0 {
			return false
		}
		shape, key = after, after0[n:]
	}
}

// placeLength returns how many bytes of a text a placeholder stands for, before the literal that follows it.
func placeLength(place, text, next string) int {
	fits := func(c byte) bool { return !separator(c) }
	switch place {
	case "other", "hidden":
		return 0
	case "n":
		fits = digit
	case "time":
		fits = func(c byte) bool { return c != '#' && c != '|' && c != '/' }
	case "email":
		fits = func(c byte) bool { return !separator(c) || c == '.' || c == '+' }
	}
	n := 0
	for n < len(text) && fits(text[n]) && (n == 0 || next == "" || !strings.HasPrefix(text[n:], next)) {
		n++
	}
	return n
}
