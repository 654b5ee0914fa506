// Package figure writes numbers as people read them.
package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number is what can be written.
type Number interface{ int | int64 | float64 }

// Thousands writes a number with its thousands separated, rounded to a whole one: 12,345. What is no number is written as
// fmt does: NaN, +Inf.
func Thousands[N Number](n N) string {
	var digits string
	switch n := any(n).(type) {
	case int:
		digits = strconv.Itoa(n)
	case int64:
		digits = strconv.FormatInt(n, 10)
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return strconv.FormatFloat(n, 'f', 0, 64)
		}
		digits = strconv.FormatFloat(n, 'f', 0, 64)
		if digits == "-0" {
			return "0"
		}
	}
	digits, negative := strings.CutPrefix(digits, "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// Count writes a number, as Thousands does, with its noun: 1 item, 1,200 items.
func Count[N Number](n N, noun string) string {
	number := Thousands(n)
	if number == "1" {
		return "1 " + noun
	}
	return number + " " + noun + "s"
}

// Bytes writes a size in the largest unit that it has one of: 12 bytes, 1.5 KB, 2.0 GB.
func Bytes(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= u.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return Count(n, "byte")
}
