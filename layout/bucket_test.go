package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var allBuckets = []Bucket{NoBucket, Hour, Day, Week, Month, Year}

// instant reads a time of RFC 3339, or a date alone.
func instant(text string) time.Time {
	if len(text) == len(time.DateOnly) {
		text += "T00:00:00Z"
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// drawInstant draws a time that has every bucket, near the borders of some more often than not, and in some zone.
func drawInstant(t *rapid.T, label string) time.Time {
	first, end := instant("0003-01-01").Unix(), instant("9999-12-31").Unix()
	at := time.Unix(rapid.Int64Range(first, end).Draw(t, label), rapid.Int64Range(0, 999_999_999).Draw(t, label+" ns"))
	if b := rapid.SampledFrom(allBuckets).Draw(t, label+" snaps to"); b != NoBucket {
		at = b.Start(at).Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, label+" beside")))
	}
	return at.In(time.FixedZone("", rapid.IntRange(-14*3600, 14*3600).Draw(t, label+" zone")))
}

func TestBucketOfTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		bucket Bucket
		at     string
		text   string
		start  string
		next   string
	}{
		{"hour", Hour, "2024-12-02T15:30:45Z", "2024-12-02T15", "2024-12-02T15:00:00Z", "2024-12-02T16:00:00Z"},
		{"last hour of a year", Hour, "2024-12-31T23:59:59.999Z", "2024-12-31T23", "2024-12-31T23:00:00Z", "2025-01-01"},
		{"day, 001-07", Day, "2026-06-22T01:00:00Z", "2026-06-22", "2026-06-22", "2026-06-23"},
		{"leap day", Day, "2024-02-29T12:00:00Z", "2024-02-29", "2024-02-29", "2024-03-01"},
		{"day east of Greenwich", Day, "2024-12-02T00:30:00+02:00", "2024-12-01", "2024-12-01", "2024-12-02"},
		{"day west of Greenwich", Day, "2024-12-02T20:00:00-05:00", "2024-12-03", "2024-12-03", "2024-12-04"},
		{"hour in a zone of half hours", Hour, "2024-12-02T15:10:00+05:30", "2024-12-02T09", "2024-12-02T09:00:00Z", "2024-12-02T10:00:00Z"},
		{"week", Week, "2024-12-02T15:30:45Z", "2024-W49", "2024-12-02", "2024-12-09"},
		{"week of the year before", Week, "2021-01-03T23:59:59Z", "2020-W53", "2020-12-28", "2021-01-04"},
		{"week of the year after", Week, "2024-12-30T00:00:00Z", "2025-W01", "2024-12-30", "2025-01-06"},
		{"week that ends a year", Week, "2023-12-31T00:00:00Z", "2023-W52", "2023-12-25", "2024-01-01"},
		{"month, 001-13", Month, "2026-06-30T23:59:59Z", "2026-06", "2026-06-01", "2026-07-01"},
		{"December", Month, "2024-12-31T00:00:00Z", "2024-12", "2024-12-01", "2025-01-01"},
		{"year", Year, "2024-12-31T23:59:59Z", "2024", "2024-01-01", "2025-01-01"},
		{"second hour of all", Hour, "0001-01-01T01:00:00Z", "0001-01-01T01", "0001-01-01T01:00:00Z", "0001-01-01T02:00:00Z"},
		{"second week of all", Week, "0001-01-08", "0001-W02", "0001-01-08", "0001-01-15"},
		{"last day of all", Day, "9999-12-31T23:59:59Z", "9999-12-31", "9999-12-31", ""},
		{"last week of all", Week, "9999-12-31T23:59:59Z", "9999-W52", "9999-12-27", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := instant(c.at)
			if got, err := c.bucket.Text(at); got != c.text || err != nil {
				t.Errorf("text: got %q, %v, want %q", got, err, c.text)
			}
			if got := c.bucket.Start(at); got != instant(c.start) {
				t.Errorf("start: got %v, want %v", got, c.start)
			}
			if got := c.bucket.Next(at); c.next != "" && got != instant(c.next) {
				t.Errorf("next: got %v, want %v", got, c.next)
			}
			if got, ok := c.bucket.parseText(c.text, "T"); got != instant(c.start) || !ok {
				t.Errorf("parsed: got %v, %v, want %v", got, ok, c.start)
			}
		})
	}
}

func TestBucketRefusesTimes(t *testing.T) {
	for _, c := range []struct {
		name   string
		bucket Bucket
		at     time.Time
		says   string
	}{
		{"zero time", Day, time.Time{}, "the time is zero, want a time that has a bucket for its day"},
		{"in the first hour of all", Hour, time.Time{}.Add(time.Minute), "no hour for 0001-01-01T00:01:00Z, because it would start at the zero time"},
		{"in the first year of all", Year, instant("0001-06-01"), "no year for 0001-06-01"},
		{"five digits", Day, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "no day for 10000-01-01"},
		{"before Christ", Month, time.Date(-43, 3, 15, 0, 0, 0, 0, time.UTC), "no month for -0043-03-15"},
		{"week of the year 0", Week, time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC), "no week for 0000-12-31"},
		{"five digits in UTC only", Day, time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3*3600)), "no day for 10000-01-01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.bucket.Text(c.at)
			if !errors.Is(err, ErrTime) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want ErrTime that says %q", err, c.says)
			}
		})
	}
}

func TestBucketTextIsStrict(t *testing.T) {
	for bucket, texts := range map[Bucket][]string{
		NoBucket: {"", "2024"},
		Hour:     {"2024-12-02T24", "2024-12-02t15", "2024-12-02-15", "2024-12-02T5", "0001-01-01T00", "2024-12-02T+5", "2024-13-02T15"},
		Day:      {"2024-02-30", "2023-02-29", "2024-1-02", "2024-00-10", "2024-01-00", "2024/01/02", "0000-01-01", "0001-01-01", "20a4-01-01", "2024-01-01T"},
		Week:     {"2024-W00", "2024-W53", "2024-W54", "2024-w01", "2024-49", "0000-W01", "0001-W01", "2024-W1"},
		Month:    {"2024-00", "2024-13", "2024_12", "2024-1", "0001-01"},
		Year:     {"0000", "0001", "-024", "24", "20240", "²024"},
	} {
		for _, text := range texts {
			if start, ok := bucket.parseText(text, "T"); ok {
				t.Errorf("%s %q: got %v, want nothing", bucket, text, start)
			}
		}
	}
}

func TestBucketProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(allBuckets[1:]).Draw(t, "bucket")
		at := drawInstant(t, "at")
		start, next := b.Start(at), b.Next(at)
		if start.After(at) || !next.After(at) {
			t.Fatalf("%v is not within %v and %v", at, start, next)
		}
		if b.Start(start) != start || b.Start(next) != next || b.Start(next.Add(-1)) != start || b.Next(start) != next {
			t.Fatalf("%v and %v are not neighbouring borders", start, next)
		}
		mark := rapid.SampledFrom([]string{"T", "-", "", "~at~"}).Draw(t, "mark")
		text, err := b.appendText(nil, at, mark)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := b.parseText(string(text), mark); got != start || !ok {
			t.Fatalf("%q: got %v, %v, want %v", text, got, ok, start)
		}
		if len(text) != b.textLen(mark) {
			t.Fatalf("%q: got length %d, want %d", text, len(text), b.textLen(mark))
		}
		if later, err := b.appendText(nil, next, mark); err == nil && string(later) <= string(text) {
			t.Fatalf("%q is not sorted after %q", later, text)
		}
	})
}

func TestBucketStartsAndCount(t *testing.T) {
	for _, c := range []struct {
		name     string
		bucket   Bucket
		from, to string
		want     []string
	}{
		{"hours within an hour", Hour, "2024-12-02T15:10:00Z", "2024-12-02T15:20:00Z", []string{"2024-12-02T15"}},
		{"hours over midnight", Hour, "2024-12-02T23:59:59Z", "2024-12-03T00:00:01Z", []string{"2024-12-02T23", "2024-12-03T00"}},
		{"end on a border is excluded, X22", Day, "2024-01-01", "2024-01-03", []string{"2024-01-01", "2024-01-02"}},
		{"end a moment after a border", Day, "2024-01-01", "2024-01-03T00:00:00.000000001Z", []string{"2024-01-01", "2024-01-02", "2024-01-03"}},
		{"weeks over a year's end", Week, "2020-12-27", "2021-01-05", []string{"2020-W52", "2020-W53", "2021-W01"}},
		{"three months of a quarter", Month, "2026-04-15", "2026-07-01", []string{"2026-04", "2026-05", "2026-06"}},
		{"years", Year, "2023-12-31T23:59:59Z", "2025-01-01", []string{"2023", "2024"}},
		{"empty", Day, "2024-01-01", "2024-01-01", nil},
		{"backwards", Day, "2024-01-02", "2024-01-01", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for start := range c.bucket.Starts(instant(c.from), instant(c.to)) {
				text, err := c.bucket.Text(start)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n := c.bucket.Count(instant(c.from), instant(c.to)); n != len(c.want) {
				t.Errorf("count: got %d, want %d", n, len(c.want))
			}
		})
	}
}

// 004-11, X22: a range excludes its end, and Next includes it.
func TestBucketRangeIsHalfOpen(t *testing.T) {
	from, to := instant("2024-01-01"), instant("2024-01-10")
	if got := Day.Count(from, to); got != 9 {
		t.Errorf("exclusive: got %d days, want 9", got)
	}
	if got := Day.Count(from, Day.Next(to)); got != 10 {
		t.Errorf("inclusive: got %d days, want 10", got)
	}
}

// 001-08: a constant key becomes one a day.
func TestBucketsOfAYear(t *testing.T) {
	for year, days := range map[int]int{2023: 365, 2024: 366, 2000: 366, 1900: 365} {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if got := Day.Count(from, Year.Next(from)); got != days {
			t.Errorf("%d: got %d days, want %d", year, got, days)
		}
		if got := len(slices.Collect(Day.Starts(from, Year.Next(from)))); got != days {
			t.Errorf("%d: got %d starts, want %d", year, got, days)
		}
	}
}

func TestBucketCountIsArithmetic(t *testing.T) {
	from, to := instant("1000-01-01"), instant("2000-01-01")
	for bucket, want := range map[Bucket]int{NoBucket: 1, Hour: 24 * 365_242, Day: 365_242, Month: 12_000, Year: 1_000} {
		if got := bucket.Count(from, to); got != want {
			t.Errorf("a thousand years of %s: got %d, want %d", bucket, got, want)
		}
	}
	farthest := time.Unix(1<<60, 0)
	if got, want := Hour.Count(time.Unix(-1<<60, 0), farthest), 1<<61/3600; got < want || got > want+2 {
		t.Errorf("almost all hours: got %d, want about %d", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SampledFrom(allBuckets).Draw(t, "bucket")
		from := drawInstant(t, "from")
		to := from.Add(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(1500*time.Hour)).Draw(t, "length")))
		if rapid.Bool().Draw(t, "to a border") {
			to = b.Start(to)
		}
		starts := slices.Collect(b.Starts(from, to))
		if got := b.Count(from, to); got != len(starts) {
			t.Fatalf("%s from %v to %v: got %d, want %d", b, from, to, got, len(starts))
		}
		if len(starts) > 0 && b != NoBucket && (starts[0] != b.Start(from) || !b.Next(starts[len(starts)-1]).After(to.Add(-1))) {
			t.Fatalf("%s: %v does not cover %v to %v", b, starts, from, to)
		}
	})
}

func TestNoBucketHasNoTimes(t *testing.T) {
	now := instant("2024-12-02")
	if got := slices.Collect(NoBucket.Starts(now, now)); len(got) != 1 || !got[0].IsZero() {
		t.Errorf("starts: got %v, want the zero time once", got)
	}
	if got, err := NoBucket.Text(now); got != "" || err != nil {
		t.Errorf("text: got %q, %v, want nothing", got, err)
	}
	if !NoBucket.Start(now).IsZero() || !NoBucket.Next(now).IsZero() {
		t.Error("start or next is not the zero time")
	}
	for range Day.Starts(now, now.AddDate(0, 0, 9)) {
		break // must not go on after the loop is left
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(allBuckets, Bucket(9), XXHash, FNV, CRC32, MD5, Product, Hash(9), Random, Calculated, Strategy(9))
	want := "[none hour day week month year] Bucket(9) xxhash fnv crc32 md5 product Hash(9) random calculated Strategy(9)"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
