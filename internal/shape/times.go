package shape

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

// Times are the placeholders of times in shapes.
var Times = [...]string{"{time}", "{hour}", "{day}", "{week}", "{month}"}

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
		if form[i] == '0' != digit(text[i]) || form[i] != '0' && form[i] != text[i] {
			return false
		}
	}
	return true
}

// zoneLength returns the length of the fraction of a second and the zone that follow a time.
func zoneLength(text []byte) int {
	n := 0
	if n < len(text) && text[n] == '.' {
		for n++; n < len(text) && digit(text[n]); n++ {
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

// FindDay returns the first date in a text, such as 2026-06-22, or nil.
func FindDay(text []byte) []byte {
	const form = "0000-00-00"
	for i := range text {
		if (i == 0 || separator(text[i-1])) && hasForm(text[i:], form) {
			return text[i : i+len(form)]
		}
	}
	return nil
}

// compactDay is the tail of numbers such as 20260622. If they are alone in their place they are days, else numbers like
// the others.
const compactDay = "{yyyymmdd}"

func isDay(part []byte) bool {
	if len(part) != 8 || count(part, digit) != 8 || part[0] != '2' || part[1] != '0' {
		return false
	}
	month, day := 10*(part[4]-'0')+part[5]-'0', 10*(part[6]-'0')+part[7]-'0'
	return month >= 1 && month <= 12 && day >= 1 && day <= 31
}
