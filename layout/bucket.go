package layout

import (
	"fmt"
	"iter"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Bucket is the time part of a shard key: the period of time, in UTC, whose items share a key.
//
//	Hour   2024-12-02T15
//	Day    2024-12-02
//	Week   2024-W49      ISO 8601: weeks begin on Monday, and the year is the one that has the week's Thursday
//	Month  2024-12
//	Year   2024
//
// A bucket limits how many items a key collects over time, and lets a read skip other periods. It does not raise write
// throughput, because all current writes go to the current bucket. A key above 1,000 write units a second needs shards as
// well.
//
// Years range from 0001 to 9999. The first bucket of year 1 is excluded, because it starts at the zero time, which means
// "no time".
type Bucket uint8

// The buckets. The zero value is NoBucket.
const (
	NoBucket Bucket = iota
	Hour
	Day
	Week
	Month
	Year
)

var bucketNames = [...]string{"none", "hour", "day", "week", "month", "year"}

// String returns the bucket's name in lower case, "none" for NoBucket.
func (b Bucket) String() string {
	if b.valid() {
		return bucketNames[b]
	}
	return fmt.Sprintf("Bucket(%d)", uint8(b))
}

// MarshalText returns the bucket's name, as String does. The error wraps ErrInvalid.
func (b Bucket) MarshalText() ([]byte, error) { return marshalName("bucket", b, bucketNames[:]) }

// UnmarshalText reads the name of a bucket. The error wraps ErrInvalid, and leaves the bucket as it was.
func (b *Bucket) UnmarshalText(text []byte) error {
	return unmarshalName("bucket", b, text, bucketNames[:])
}

// Start returns the start of the bucket that contains t, in UTC. It returns the zero time for NoBucket.
func (b Bucket) Start(t time.Time) time.Time {
	// Truncate counts from the zero time, which is a Monday at midnight.
	switch t = t.UTC(); b {
	case Hour, Day, Week:
		return t.Truncate(b.length())
	case Month:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case Year:
		return time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}

// Next returns the start of the bucket after the one that contains t. It returns the zero time for NoBucket. Time ranges
// are half-open, so Next also includes a last bucket: from 1 January to Day.Next of 10 January is ten days.
func (b Bucket) Next(t time.Time) time.Time {
	switch start := b.Start(t); b {
	case Hour, Day, Week:
		return start.Add(b.length())
	case Month:
		return start.AddDate(0, 1, 0)
	case Year:
		return start.AddDate(1, 0, 0)
	}
	return time.Time{}
}

// Starts returns the start of every bucket that the range from <= t < to touches, oldest first. It is empty unless from
// is before to. NoBucket yields the zero time once, whatever the range.
func (b Bucket) Starts(from, to time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if !b.timed() {
			yield(time.Time{})
			return
		}
		if !from.Before(to) {
			return
		}
		for start := b.Start(from); start.Before(to); start = b.Next(start) {
			if !yield(start) {
				return
			}
		}
	}
}

// Count returns the number of buckets that Starts yields, without iterating.
func (b Bucket) Count(from, to time.Time) int {
	if !b.timed() {
		return 1
	}
	if !from.Before(to) {
		return 0
	}
	first, last := b.Start(from), b.Start(to.Add(-1))
	switch b {
	case Month:
		return 12*(last.Year()-first.Year()) + int(last.Month()) - int(first.Month()) + 1
	case Year:
		return last.Year() - first.Year() + 1
	}
	// Not last.Sub(first), which ends at 292 years. Unsigned, the difference of any two times fits.
	return int(uint64(last.Unix()-first.Unix())/uint64(b.length()/time.Second)) + 1
}

// Text returns the text of the bucket that contains t. The error wraps ErrTime.
func (b Bucket) Text(t time.Time) (string, error) {
	var buf [16]byte
	text, err := b.appendText(buf[:0], t, defaultHourMark)
	return string(text), err
}

// ParseText returns the start of the bucket with a text, as Text writes it. The error wraps ErrTime.
func (b Bucket) ParseText(text string) (time.Time, error) {
	start, ok := b.parseText(text, defaultHourMark)
	if !ok {
		return time.Time{}, fmt.Errorf("%w: %s is no bucket of every %v", ErrTime, quote.Text(text), b)
	}
	return start, nil
}

func (b Bucket) valid() bool { return int(b) < len(bucketNames) }

// timed reports whether shard keys have a time part.
func (b Bucket) timed() bool { return b != NoBucket && b.valid() }

// length returns the length of an hour, a day or a week, which is constant in UTC.
func (b Bucket) length() time.Duration {
	switch b {
	case Hour:
		return time.Hour
	case Day:
		return 24 * time.Hour
	}
	return 7 * 24 * time.Hour
}

// appendText appends the text of the bucket that contains t, with hourMark between date and hour.
func (b Bucket) appendText(dst []byte, t time.Time, hourMark string) ([]byte, error) {
	if !b.timed() {
		return dst, nil
	}
	t = t.UTC()
	year, month, day := t.Date()
	week := 0
	if b == Week {
		year, week = t.ISOWeek()
	}
	if year < 1 || year > 9999 || year == 1 && b.Start(t).IsZero() {
		return dst, timeError(b, t)
	}

	dst = appendTwo(appendTwo(dst, year/100), year%100)
	switch b {
	case Year:
		return dst, nil
	case Week:
		return appendTwo(append(dst, "-W"...), week), nil
	}
	dst = appendTwo(append(dst, '-'), int(month))
	if b == Month {
		return dst, nil
	}
	dst = appendTwo(append(dst, '-'), day)
	if b == Day {
		return dst, nil
	}
	return appendTwo(append(dst, hourMark...), t.Hour()), nil
}

func timeError(b Bucket, t time.Time) error {
	switch {
	case t.IsZero():
		return fmt.Errorf("%w: the time is zero, want a time that has a bucket for its %s", ErrTime, b)
	case b.Start(t).IsZero():
		return fmt.Errorf("%w: there is no %s for %s, because it would start at the zero time", ErrTime, b, t.Format(time.RFC3339))
	}
	return fmt.Errorf("%w: there is no %s for %s, want a year from 0001 to 9999", ErrTime, b, t.Format(time.RFC3339))
}

// textLen returns the length of the bucket's text.
func (b Bucket) textLen(hourMark string) int {
	switch b {
	case Hour:
		return len("2024-12-02") + len(hourMark) + len("15")
	case Day:
		return len("2024-12-02")
	case Week:
		return len("2024-W49")
	case Month:
		return len("2024-12")
	case Year:
		return len("2024")
	}
	return 0
}

// parseText is the inverse of appendText: it returns the start of the bucket with this text.
func (b Bucket) parseText(text, hourMark string) (start time.Time, ok bool) {
	if !b.timed() || len(text) != b.textLen(hourMark) {
		return time.Time{}, false
	}
	year, ok := digits(text[:4])
	if !ok {
		return time.Time{}, false
	}
	month, day, hour := 1, 1, 0
	switch rest := text[4:]; b {
	case Hour:
		if rest[len("-12-02"):len(rest)-2] != hourMark {
			return time.Time{}, false
		}
		if hour, ok = digits(rest[len(rest)-2:]); !ok {
			return time.Time{}, false
		}
		fallthrough
	case Day:
		if day, ok = digits(rest[4:6]); !ok || rest[3] != '-' {
			return time.Time{}, false
		}
		fallthrough
	case Month:
		if month, ok = digits(rest[1:3]); !ok || rest[0] != '-' {
			return time.Time{}, false
		}
	case Week:
		week, ok := digits(rest[2:])
		if !ok || rest[:2] != "-W" {
			return time.Time{}, false
		}
		start = weekStart(year, week)
		gotYear, gotWeek := start.ISOWeek()
		return start, year > 0 && gotYear == year && gotWeek == week && !start.IsZero()
	}
	start = time.Date(year, time.Month(month), day, hour, 0, 0, 0, time.UTC)
	// Date carries 31 June over into July, and hour 24 into the next day; year 0 is not ours.
	same := start.Month() == time.Month(month) && start.Day() == day
	return start, year > 0 && same && !start.IsZero()
}

// weekStart returns the Monday of an ISO week. The first week of a year is the one with 4 January.
func weekStart(year, week int) time.Time {
	return Week.Start(time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)).AddDate(0, 0, 7*(week-1))
}

// appendTwo appends the two digits of n.
func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// digits reads a short run of decimal digits, with no sign and nothing else.
func digits(text string) (n int, ok bool) {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	return n, text != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
