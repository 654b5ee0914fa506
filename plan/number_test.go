package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Numbers as texts have them.
func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"0": grouped(0), "12.5": grouped(12.5), "12": grouped(12.04), "99.9": grouped(99.94), "100": grouped(99.96), "12,346": grouped(12_345.6),
		"-12.5": grouped(-12.5), "1,000,000": grouped(int64(1_000_000)), "99": grouped(99.0),
		"$0.00": dollars(0), "$99.99": dollars(99.99), "$100": dollars(100), "$1,235": dollars(1234.5),
		"0 %": percent(0), "0.1 %": percent(0.001), "9.9 %": percent(0.0994), "10 %": percent(0.1), "46 %": percent(0.456), "99 %": percent(0.99),
		"99.9 %": percent(0.999), "100 %": percent(1), "123 %": percent(1.234), "-5 %": percent(-0.05),
		"99999999999": plain(99_999_999_999), "0.000001": plain(1e-6), "1e+15": plain(1e15), "999999999999999": plain(999_999_999_999_999), "NaN": plain(math.NaN()), "-1e+20": plain(-1e20),
		"KEY": named("KEY"), `"a\n"`: named("a\n"), `" a"`: named(" a"), `"a "`: named("a "), "ä b": named("ä b"), `"\x1b"`: named("\x1b"),
		"time.Hour": nanoseconds(int64(time.Hour)), "90 * time.Minute": nanoseconds(int64(90 * time.Minute)), "2 * time.Hour": nanoseconds(int64(2 * time.Hour)),
		"1500 * time.Millisecond": nanoseconds(int64(1500 * time.Millisecond)), "time.Microsecond": nanoseconds(1000), "7 * time.Microsecond": nanoseconds(7000), "1001": nanoseconds(1001),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Lines have up to 110 characters, and those after the first are indented.
func TestWrapped(t *testing.T) {
	word := strings.Repeat("x", 9)
	ten := strings.TrimSpace(strings.Repeat(word+" ", 11)) // 109 characters
	for _, test := range []struct{ begin, text, want string }{
		{"", "", "\n"},
		{"- ", "a  b\nc", "- a b c\n"},
		{"", ten, ten + "\n"},
		{"x", ten, "x" + ten + "\n"},
		{"xx", ten, "xx" + strings.TrimSuffix(ten, " "+word) + "\n  " + word + "\n"},
		{"× ", ten, "× " + strings.TrimSuffix(ten, " "+word) + "\n  " + word + "\n"},
		{"", strings.Repeat("y", 200) + " z", strings.Repeat("y", 200) + "\nz\n"},
	} {
		if got := wrapped(test.begin, test.text); got != test.want {
			t.Errorf("%q and %q: got %q, want %q", test.begin, test.text, got, test.want)
		}
	}
	if got, want := indented("a\n\n\tb\n"), "  a\n\n  \tb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Notes are said in short, and the severity when it changes. A note without short words is named by its code.
func TestNotesInShort(t *testing.T) {
	notes := []Note{{Critical, "a", "x"}, {Critical, "b", "x"}, {Warning, "c", "x"}, {Warning, "d", "x"}}
	if got, want := inShort(notes), "critical: a, b; warning: c, d\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := inShort(nil); got != "" {
		t.Errorf("got %q", got)
	}
	for left, want := range map[int]string{
		0: "critical: a, b; warning: c, d\n",
		1: "critical: a: x\ncritical: b; warning: c, d\n",
		2: "critical: a: x\ncritical: b: x\nwarning: c, d\n",
		3: "critical: a: x\ncritical: b: x\nwarning: c: x\nwarning: d: x\n",
	} {
		b := brief{left: left}
		if got := b.notes(notes); got != want {
			t.Errorf("with %d lines left: got %q, want %q", left, got, want)
		}
	}
}

// Buckets hold up to 2,000 items, and a read touches up to eight.
func TestBucketsAtTheirLimits(t *testing.T) {
	for _, test := range []struct {
		items  float64
		window time.Duration
		want   layout.Bucket
	}{
		{10, 0, layout.NoBucket},
		{10, -1, layout.NoBucket},
		{2000, time.Hour, layout.Day},
		{2001, time.Hour, layout.Hour},
		{2000.0 / 7, time.Hour, layout.Week},
		{286, time.Hour, layout.Day},
		{2000.0 / 31, time.Hour, layout.Month},
		{65, time.Hour, layout.Week},
		{2000.0 / 366, time.Hour, layout.Year},
		{5.5, time.Hour, layout.Month},
		{1e6, 7 * time.Hour, layout.Hour},
		{1e6, 7*time.Hour + 1, layout.Day},
		{1e6, 7 * day, layout.Day},
		{1e6, 7*day + 1, layout.Week},
		{1e6, 7 * 7 * day, layout.Week},
		{1e6, 7*7*day + 1, layout.Month},
		{1e6, 7 * 30 * day, layout.Month},
		{1e6, 7*30*day + time.Second, layout.Year},
		{1e6, 100 * 365 * day, layout.Year},
	} {
		if got := chooseBucket(test.items, test.window); got != test.want {
			t.Errorf("%v items a day, a window of %v: got %s, want %s", test.items, test.window, got, test.want)
		}
	}
	for window, want := range map[time.Duration]int{0: 1, 1: 1, time.Hour: 1, time.Hour + 1: 2, 3 * time.Hour: 3} {
		if least, most := touched(layout.Hour, window); least != want || most != want+1 {
			t.Errorf("hours in %v: got %d to %d, want %d", window, least, most, want)
		}
	}
	if least, most := touched(layout.NoBucket, time.Hour); least != 1 || most != 1 {
		t.Errorf("no bucket: got %d to %d", least, most)
	}
}

// A table has as many partitions as its throughput needs.
func TestPartitionsOfTables(t *testing.T) {
	for want, tables := range map[int][]Table{
		1:  {{Partitions: 1}, {WriteUnits: 1}, {ReadUnits: 3000}, {WriteUnits: 1000, ReadUnits: 3000}},
		2:  {{WriteUnits: 1001}, {ReadUnits: 3001}, {WriteUnits: 1, WarmWrites: 1001}, {WriteUnits: 1, WarmReads: 3001}},
		4:  {{}, {WarmWrites: 4000}, {WarmReads: 12_000}, {WarmWrites: 1}},
		5:  {{WarmWrites: 4001}, {WarmReads: 12_001}},
		10: {{Partitions: 10, WriteUnits: 50_000, WarmWrites: 90_000}},
	} {
		for _, table := range tables {
			if got := table.partitions(); got != want {
				t.Errorf("%+v: got %d partitions, want %d", table, got, want)
			}
		}
	}
}

// Few keys, many keys and huge loads, on both sides of each limit.
func TestNeedAtItsLimits(t *testing.T) {
	for _, c := range []struct {
		requests float64
		keys     int
		share    float64
		want     Need
	}{
		{1000, 1, 1, NeedNot},
		{1001, 1, 1, NeedCritical},
		{1001, 999, 1, NeedCritical},
		{1001, 1000, 1, NeedEssential},
		{1e6, 10_000, 0, NeedEssential},
		{1e6 - 1, 9000, 0, NeedNot},
		{1e6, 10_001, 0, NeedNot},
		{3000, 2, 0, NeedCritical},
		{2000, 2, 0, NeedNot},
	} {
		if got := needOf(c.requests, c.keys, c.share, PartitionWrites); got != c.want {
			t.Errorf("%v requests on %d keys, %v of them on one: got %s, want %s", c.requests, c.keys, c.share, got, c.want)
		}
	}
}
