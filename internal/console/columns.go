package console

import (
	"fmt"
	"math"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// columns are the widths of the list's columns; 0: there is none.
type columns struct {
	units, refused, share, load, trend, key int
	words                                   int // 0: the words are below
}

// gap is between two columns.
const gap = 1

// newColumns divides a line. What does not fit is left out, from the least important on: the trend, then the words beside
// their keys.
func newColumns(width int) columns {
	c := columns{units: 9, refused: 8, share: 6, load: 6}
	switch {
	case width >= 180:
		c.load, c.trend = 20, 40
	case width >= 120:
		c.load, c.trend = 10, 16
	case width >= 90:
		c.load, c.trend = 10, 12
	case width >= 70:
		c.trend = 8
	}
	c.key = max(8, width-len("› ")-c.figures())
	if width >= 110 {
		c.words = c.key * 3 / 5
		c.key -= c.words + gap
	}
	return c
}

// figures returns the width of what stands before the keys.
func (c *columns) figures() int {
	n := 0
	for _, w := range [...]int{c.units, c.refused, c.share, c.load, c.trend} {
		if w > 0 {
			n += w + gap
		}
	}
	return n
}

// heads is the line above the list.
func (c *columns) heads() string {
	var b strings.Builder
	b.WriteString("  ")
	for _, column := range [...]struct {
		width int
		name  string
		left  bool
	}{
		{c.units, "UNITS/S", false},
		{c.refused, "THROTL/S", false},
		{c.share, "SHARE", false},
		{c.load, "LOAD", true},
		{c.trend, "TREND", true},
	} {
		if column.width > 0 {
			b.WriteString(fit(column.name, column.width, column.left) + " ")
		}
	}
	b.WriteString(fit("KEY", c.key, true))
	if c.words > 0 {
		b.WriteString(" WHY")
	}
	return b.String()
}

// line is a row as a line, without its mark.
func (c *columns) line(r *row) string {
	var b strings.Builder
	b.WriteString(fit(number(r.value), c.units, false) + " ")
	refused, share, load := "", "", ""
	if r.refuse >= tooCold {
		refused = number(r.refuse)
	}
	if r.share >= 0 {
		share = fmt.Sprintf("%.1f%%", 100*min(1, r.share))
	}
	if r.load >= 0 {
		load = bar(r.load, c.load)
	}
	b.WriteString(fit(refused, c.refused, false) + " ")
	b.WriteString(fit(share, c.share, false) + " ")
	b.WriteString(fit(load, c.load, true) + " ")
	if c.trend > 0 {
		b.WriteString(fit(sparkline(r.past, c.trend), c.trend, true) + " ")
	}
	b.WriteString(fit(r.keyText(), c.key, true))
	if c.words > 0 {
		b.WriteString(" " + fit(r.words, c.words, true))
	}
	return b.String()
}

// keyText is the key, as deep as its level, with a sign if it has shards to show.
func (r *row) keyText() string {
	sign := ""
	switch {
	case r.open:
		sign = "▾ "
	case r.opens:
		sign = "▸ "
	}
	return strings.Repeat("  ", r.level-1) + sign + r.text
}

// number is a figure in nine columns at most.
func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "?"
	case v >= 10_000_000:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1000:
		return figure.Thousands(v)
	}
	return fmt.Sprintf("%.1f", v)
}

// fit cuts a text to a width, or fills it up.
func fit(text string, width int, left bool) string {
	text = ansi.Truncate(text, width, "…")
	pad := strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
	if left {
		return text + pad
	}
	return pad + text
}

// bar draws how much of what a partition serves is used.
func bar(part float64, width int) string {
	if !(part > 0) { // no number, if nobody knows what a partition serves
		part = 0
	}
	full := int(min(1, part)*float64(width) + 0.5)
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}

// levels are the heights of a trend.
const levels = " ▁▂▃▄▅▆▇█"

// sparkline draws the last values, as high as they are beside the highest of all.
func sparkline(values []float64, width int) string {
	signs := []rune(levels)
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	values = values[max(0, len(values)-width):]
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", width-len(values)))
	for _, v := range values {
		i := 0
		if v > 0 && most > 0 {
			i = 1 + int(v/most*float64(len(signs)-2)+0.5)
		}
		b.WriteRune(signs[min(i, len(signs)-1)])
	}
	return b.String()
}
