package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// grouped writes a number with separators, 12,345, and below a hundred with one decimal, 12.5.
func grouped[T int | int64 | float64](n T) string {
	x := float64(n)
	if math.Abs(x) < 99.95 && x != math.Trunc(x) {
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	return figure.Thousands(math.Round(x))
}

// plain writes a number as it is typed: 99999999999, and not 9.9999999999e+10.
func plain(x float64) string {
	if math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// named writes a key as it is, quoted if a terminal could not show it.
func named(key string) string {
	if strings.IndexFunc(key, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 || key != strings.TrimSpace(key) {
		return strconv.Quote(key)
	}
	return key
}

// dollars writes an amount of money, with cents if they matter.
func dollars(x float64) string {
	if x < 100 {
		return fmt.Sprintf("$%.2f", x)
	}
	return "$" + grouped(x)
}

// percent writes a share, with one decimal where that matters.
func percent(share float64) string {
	digits := 0
	if p := math.Abs(100 * share); p < 10 || p > 99 && p < 100 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', digits, 64), ".0") + " %"
}
