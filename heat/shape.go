package heat

import "bytes"

// appendShape appends the shape of a key: what varies from key to key is replaced by what it is, the rest stays.
//
//	THREAT#brand-abc#2026-06    THREAT#{id}#{month}
//	user-12345#2024-01-15#3     user-{n}#{day}#{n}
//	PAGE_VIEWS#SHARD_7          PAGE_VIEWS#SHARD_{n}
//	STATUS#ACTIVE               STATUS#ACTIVE
//
// It judges a part of a key by its looks alone: numbers, times, UUIDs and the like vary, and so do words in lower case
// behind the first part; words in capitals do not. Where that is wrong, and capitals turn out to be names, patternTable
// notices by their number.
func appendShape(dst, key []byte) []byte {
	for i := 0; i < len(key); {
		if separator(key[i]) {
			dst = append(dst, key[i])
			i++
			continue
		}
		if n, name := timeAt(key[i:]); n > 0 {
			dst = append(dst, name...)
			i += n
			continue
		}
		n := partLength(key[i:])
		dst = appendPart(dst, key[i:i+n], i == 0)
		i += n
	}
	return dst
}

// general appends a shape with its words replaced as well, but for the first part if keepFirst.
func general(dst, shape []byte, keepFirst bool) []byte {
	for i := 0; i < len(shape); {
		n := 1
		if !separator(shape[i]) {
			n = partLength(shape[i:])
		}
		part := shape[i : i+n]
		if separator(shape[i]) || i == 0 && keepFirst || bytes.IndexByte(part, '{') >= 0 {
			dst = append(dst, part...)
		} else {
			dst = append(dst, "{id}"...)
		}
		i += n
	}
	return dst
}

// family returns the shape that shapes with other words in the same places have in common. The first part is what keys are
// of, and stays, unless there is no other.
func family(shape []byte) []byte {
	return general(nil, shape, bytes.IndexFunc(shape, func(c rune) bool { return c < 0x80 && separator(byte(c)) }) >= 0)
}

func separator(c byte) bool {
	return c == '#' || c == '|' || c == ':' || c == '/' || c == '.' || c == ' '
}

// partLength returns how far it is to the next separator. The dots of a mail address are none.
func partLength(text []byte) int {
	end := len(text)
	for i, c := range text {
		if separator(c) && c != '.' {
			end = i
			break
		}
	}
	if dot := bytes.IndexByte(text[:end], '.'); dot >= 0 && bytes.IndexByte(text[:end], '@') < 0 {
		return dot
	}
	return end
}

// appendPart appends the shape of a part between separators.
func appendPart(dst, part []byte, first bool) []byte {
	looks := look(part)
	switch {
	case looks.at:
		return append(dst, "{email}"...)
	case isUUID(part):
		return append(dst, "{uuid}"...)
	case looks.digits == len(part):
		return append(dst, "{n}"...)
	case looks.digits > 0 && looks.hex == len(part) && len(part) >= 12:
		return append(dst, "{hex}"...)
	}
	// A word and a number: SHARD_7, user-12345, v2.
	if word := len(part) - looks.trailing; looks.digits == looks.trailing && looks.trailing > 0 && word <= longestWord {
		if c := part[word-1]; c == '_' || c == '-' {
			return append(append(dst, part[:word]...), "{n}"...)
		}
	}
	if looks.digits > 0 || len(part) > longestWord || !first && looks.lower > looks.upper {
		return append(dst, "{id}"...)
	}
	return append(dst, part...)
}

// longestWord is how many bytes a part may have that is taken for a word.
const longestWord = 40

// looks counts what a part consists of.
type looks struct {
	digits, hex, lower, upper int
	trailing                  int // digits at its end
	at                        bool
}

func look(part []byte) (l looks) {
	for _, c := range part {
		switch {
		case c >= '0' && c <= '9':
			l.digits++
			l.hex++
			l.trailing++
			continue
		case c >= 'a' && c <= 'z':
			l.lower++
			if c <= 'f' {
				l.hex++
			}
		case c >= 'A' && c <= 'Z':
			l.upper++
			if c <= 'F' {
				l.hex++
			}
		case c == '@':
			l.at = true
		case c >= 0x80: // letters of other scripts are taken for names
			l.lower++
		}
		l.trailing = 0
	}
	return l
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

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// times are the forms of time that keys have, the longest first: 0 stands for a digit.
var times = [...]struct{ form, name string }{
	{"0000-00-00T00:00:00", "{time}"},
	{"0000-00-00 00:00:00", "{time}"},
	{"0000-00-00T00:00", "{time}"},
	{"0000-00-00T00", "{hour}"},
	{"0000-00-00-00", "{hour}"},
	{"0000-00-00", "{day}"},
	{"0000-W00", "{week}"},
	{"0000-00", "{month}"},
}

// timeAt returns the length and the name of the time that a text begins with, 0 if it begins with none.
func timeAt(text []byte) (int, string) {
	for _, t := range times {
		n := len(t.form)
		if !hasForm(text, t.form) {
			continue
		}
		if t.name == "{time}" {
			n += zoneLength(text[n:])
		}
		if n == len(text) || separator(text[n]) {
			return n, t.name
		}
	}
	return 0, ""
}

func hasForm(text []byte, form string) bool {
	if len(text) < len(form) || text[0] != '1' && text[0] != '2' {
		return false
	}
	for i := range len(form) {
		digit := text[i] >= '0' && text[i] <= '9'
		if form[i] == '0' != digit || form[i] != '0' && form[i] != text[i] {
			return false
		}
	}
	return true
}

// zoneLength returns the length of the fraction of a second and the zone that follow a time.
func zoneLength(text []byte) int {
	n := 0
	if n < len(text) && text[n] == '.' {
		for n++; n < len(text) && text[n] >= '0' && text[n] <= '9'; n++ {
		}
	}
	if n < len(text) && text[n] == 'Z' {
		return n + 1
	}
	if n+6 <= len(text) && (text[n] == '+' || text[n] == '-') && text[n+3] == ':' {
		return n + 6
	}
	return n
}
