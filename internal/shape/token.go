package shape

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// token is a part of a key with the separators before it. Its prefix is words, which may or may not vary: that is learnt.
// Its tail is the name of what surely varies behind them, such as {n}. Either may be empty.
type token struct {
	seps   string
	prefix string
	tail   string
	hash   uint64 // of what the tail stands for
}

func (t *token) text() string { return t.seps + t.prefix + t.tail }

const (
	mostTokens  = 10 // of a key; what follows is one more
	longestWord = 40 // bytes of a part that is taken for words
)

// tokens cuts a key at its separators.
func tokens(key []byte) []token {
	var all []token
	for i := 0; i < len(key); {
		begin := i
		for i < len(key) && separator(key[i]) {
			i++
		}
		t := token{seps: string(key[begin:min(i, begin+longestWord)])}
		switch n, name := timeAt(key[i:]); {
		case i == len(key): // ends with separators
		case len(all) == mostTokens:
			t.tail, t.hash = "{id}", xxhash.Sum64(key[i:])
			i = len(key)
		case n > 0:
			t.tail, t.hash = name, xxhash.Sum64(key[i:i+n])
			i += n
		default:
			n = partLength(key[i:])
			t.cut(key[i : i+n])
			i += n
		}
		all = append(all, t)
	}
	return all
}

// separator reports whether a byte separates the parts of a key. Hyphens and underscores do so only inside a part.
func separator(c byte) bool {
	switch c {
	case '#', '|', ':', '/', '.', ' ', '=', ',', ';', '&', '~', '+', '!', '$', '%', '^', '*', '?', '\\', '(', ')', '[', ']', '<', '>':
		return true
	}
	return false
}

func joint(c byte) bool { return c == '-' || c == '_' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// partLength returns how far it is to the next separator. The dots of a mail address are none.
func partLength(text []byte) int {
	end, dot := len(text), -1
	for i, c := range text {
		if !separator(c) {
			continue
		}
		if c != '.' && c != '+' {
			end = i
			break
		}
		if dot < 0 {
			dot = i
		}
	}
	if dot >= 0 && bytes.IndexByte(text[:end], '@') < 0 {
		return dot
	}
	return end
}

// cut fills in the prefix and the tail of a part.
func (t *token) cut(part []byte) {
	t.prefix, t.tail = cutPart(part)
	if t.tail != "" {
		t.hash = xxhash.Sum64(part)
	}
}

// cutPart returns the words that a part begins with, and the name of what follows them.
func cutPart(part []byte) (prefix, tail string) {
	switch {
	case bytes.IndexByte(part, '@') > 0:
		return "", "{email}"
	case isUUID(part):
		return "", "{uuid}"
	case isDay(part):
		return "", compactDay
	case count(part, digit) == len(part):
		return "", "{n}"
	case len(part) >= 12 && count(part, isHex) == len(part) && count(part, digit) > 0:
		return "", "{hex}"
	case len(part) > longestWord:
		return "", "{id}"
	}
	words, at := 0, 0
	for at < len(part) {
		n := pieceLength(part[at:])
		piece := part[at : at+n]
		if !isWord(piece) {
			break
		}
		words++
		at = min(len(part), at+n+1)
	}
	rest := part[at:]
	switch {
	case len(rest) == 0:
		return literal(part), ""
	case words >= 2 && len(rest) == 1 && digit(rest[0]): // us-east-1
		return literal(part), ""
	case numbers(rest):
		return literal(part[:at]), numbersOf(rest)
	}
	if n := lettersBefore(rest); n > 0 { // user123
		return literal(part[:at+n]), "{n}"
	}
	return literal(part[:at]), "{id}"
}

// literal returns words as shapes have them: braces are for what varies.
func literal(text []byte) string {
	text = bytes.ReplaceAll(text, []byte("{"), []byte("("))
	return string(bytes.ReplaceAll(text, []byte("}"), []byte(")")))
}

// pieceLength returns how far it is to the next joint.
func pieceLength(text []byte) int {
	for i, c := range text {
		if joint(c) {
			return i
		}
	}
	return len(text)
}

// isWord reports whether a piece may be a word: letters, or a few of them and one digit as in v1 and EU2.
func isWord(piece []byte) bool {
	digits := count(piece, digit)
	if digits > 1 || digits == 1 && (len(piece) > 4 || len(piece) == 1 || !digit(piece[len(piece)-1])) {
		return false
	}
	turns := 0 // from lower case to upper case: userProfile has one in eleven letters, a random id one in four
	for i := 1; i < len(piece); i++ {
		if lower(piece[i-1]) && upper(piece[i]) {
			turns++
		}
	}
	return len(piece) >= 3*(turns+1) || turns < 2
}

// numbers reports whether a text is numbers with joints between them.
func numbers(text []byte) bool {
	return digit(text[0]) && digit(text[len(text)-1]) && count(text, func(c byte) bool { return digit(c) || joint(c) }) == len(text)
}

func numbersOf(text []byte) string {
	var shape []byte
	for i, c := range text {
		switch {
		case joint(c):
			shape = append(shape, c)
		case i == 0 || joint(text[i-1]):
			shape = append(shape, "{n}"...)
		}
	}
	return string(shape)
}

// lettersBefore returns how many letters are before the number that a text ends with, if it is nothing else.
func lettersBefore(text []byte) int {
	n := 0
	for n < len(text) && !digit(text[n]) {
		if joint(text[n]) {
			return 0
		}
		n++
	}
	if n < 3 || n == len(text) || count(text[n:], digit) != len(text)-n {
		return 0
	}
	return n
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' || c >= utf8.RuneSelf } // other scripts are taken for names

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

// lowerCase reports whether most letters of a text are in lower case.
func lowerCase(text string) bool {
	return count([]byte(text), lower) > count([]byte(text), upper)
}

// scrambled reports whether a text changes between lower and upper case as words do not.
func scrambled(text string) bool {
	for i := 1; i < len(text); i++ {
		if lower(text[i-1]) && upper(text[i]) {
			return true
		}
	}
	return false
}

func count(text []byte, is func(byte) bool) int {
	n := 0
	for _, c := range text {
		if is(c) {
			n++
		}
	}
	return n
}

func isUUID(part []byte) bool {
	if len(part) != 36 {
		return false
	}
	for i, c := range part {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// Of returns the shape of a single key, by its looks alone: numbers, times and the like vary, and so do words in lower case
// behind the first part. Words in capitals do not.
func Of(key []byte) string {
	var shape []byte
	for i, t := range tokens(key) {
		shape = append(shape, t.seps...)
		if i > 0 && lowerCase(t.prefix) && (t.tail == "" || strings.ContainsAny(t.prefix[:len(t.prefix)-1], "-_")) {
			shape = append(shape, "{id}"...)
			continue
		}
		if t.tail == compactDay {
			t.tail = "{day}"
		}
		shape = append(append(shape, t.prefix...), t.tail...)
	}
	return string(shape)
}
