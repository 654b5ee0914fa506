package heat

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// Layout is how readers of a table spell the shards of a key: a layout.Layout with its Format, as plain data. With it,
// every source can tell shards from other keys.
//
//	Layout{Shards: 4}                                PAGE_VIEWS#SHARD_0 to PAGE_VIEWS#SHARD_3
//	Layout{Shards: 200, Prefix: ".", First: 1}       2014-07-09.1 to 2014-07-09.200
//	Layout{Shards: 10, Prefix: "#", Bucket: "day"}   user-12345#2024-01-15#0 to user-12345#2024-01-15#9
type Layout struct {
	// Resource is the table or the index of the layout. Without a table, the layout is of every table and index.
	Resource

	// Shards is the number of shards that readers ask for, 1 to 65,536.
	Shards int `json:"shards"`

	// Widths says that keys have any number of shards up to Shards, as with layout.Widths.
	Widths bool `json:"widths,omitempty"`

	// Prefix is the text before the shard's number. Default: "#SHARD_".
	Prefix string `json:"prefix,omitempty"`

	// First is the number of the first shard, 0 or 1.
	First int `json:"first,omitempty"`

	// Width pads numbers with zeros to so many digits, at most 9. Default: no padding.
	Width int `json:"width,omitempty"`

	// BareZero says that the first shard has neither prefix nor number.
	BareZero bool `json:"bareZero,omitempty"`

	// Unsharded says that readers also ask for the bare key, as readers with layout.Layout{} in Options.Older do.
	// Default: the bare key is a stray if numbered shards of it exist.
	Unsharded bool `json:"unsharded,omitempty"`

	// Bucket is the time bucket before the shard: "hour", "day", "week", "month" or "year", or "any" of these. It is
	// needed if the end of a bucket looks like a shard, as years do with the Prefix "#". Default: none; a bucket is then
	// a part of the key.
	Bucket string `json:"bucket,omitempty"`

	// BucketPrefix is the text before the bucket, HourMark the text between date and hour. Defaults: "#" and "T".
	BucketPrefix string `json:"bucketPrefix,omitempty"`
	HourMark     string `json:"hourMark,omitempty"`
}

const (
	defaultPrefix       = "#SHARD_"
	shardHashPrefix     = "#SHARD#"
	defaultBucketPrefix = "#"
	defaultHourMark     = "T"

	mostShards    = 1 << 16 // of a layout, as in the root package: a larger number is no shard
	mostDigits    = 9
	longestPrefix = 64
)

// Validate returns an error with all faults of the layout.
func (l Layout) Validate() error {
	var faults []error
	if l.Shards < 1 || l.Shards > mostShards {
		faults = append(faults, notBetween("Shards", l.Shards, 1, mostShards))
	}
	if l.First != 0 && l.First != 1 {
		faults = append(faults, notBetween("First", l.First, 0, 1))
	}
	if l.Width < 0 || l.Width > mostDigits {
		faults = append(faults, notBetween("Width", l.Width, 0, mostDigits))
	}
	if _, known := bucketForms[l.Bucket]; !known {
		faults = append(faults, fmt.Errorf("unknown Bucket %q: it must be hour, day, week, month, year or any", l.Bucket))
	}
	if l.Table == "" && l.Index != "" {
		faults = append(faults, fmt.Errorf("index %q has no Table: name the table of the index", l.Index))
	}
	for _, text := range []struct{ name, value string }{
		{"Prefix", l.Prefix}, {"BucketPrefix", l.BucketPrefix}, {"HourMark", l.HourMark},
	} {
		switch n := len(text.value); {
		case n > longestPrefix:
			faults = append(faults, fmt.Errorf("%s has %d bytes: at most %d are allowed", text.name, n, longestPrefix))
		case n > 0 && isDigit(text.value[n-1]):
			faults = append(faults, fmt.Errorf("%s %q ends in a digit: end it with another character, so that the number after it can be recognised", text.name, text.value))
		case !utf8.ValidString(text.value):
			faults = append(faults, fmt.Errorf("%s %q is not valid UTF-8", text.name, text.value))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("layout %s: %w", l, err)
	}
	return nil
}

// validateLayouts returns all faults of layouts, each by itself and together.
func validateLayouts(layouts []Layout) error {
	var faults []error
	type spelling struct {
		Resource
		prefix string
		bucket string
	}
	known := make(map[spelling]Layout)
	for _, l := range layouts {
		if err := l.Validate(); err != nil {
			faults = append(faults, err)
			continue
		}
		s := spelling{l.Resource, l.prefix(), l.Bucket}
		if other, twice := known[s]; twice && other != l {
			faults = append(faults, fmt.Errorf("two layouts spell shards alike: %s of %d shards and %s of %d; give only the one that readers use",
				other, other.Shards, l, l.Shards))
		}
		known[s] = l
	}
	return errors.Join(faults...)
}

// String returns the template that layout.ParseFormat reads: {key}#SHARD_{shard}.
func (l Layout) String() string {
	var b strings.Builder
	b.WriteString("{key}")
	if l.Bucket != "" {
		b.WriteString(l.bucketPrefix() + "{bucket")
		if mark := l.hourMark(); mark != defaultHourMark {
			b.WriteString(":" + mark)
		}
		b.WriteString("}")
	}
	if l.BareZero {
		b.WriteString("[")
	}
	b.WriteString(l.prefix() + "{shard")
	if l.First != 0 {
		fmt.Fprintf(&b, "%d", l.First)
	}
	if l.Width != 0 {
		fmt.Fprintf(&b, ":0%d", l.Width)
	}
	b.WriteString("}")
	if l.BareZero {
		b.WriteString("]")
	}
	return b.String()
}

func (l *Layout) prefix() string       { return cmp.Or(l.Prefix, defaultPrefix) }
func (l *Layout) bucketPrefix() string { return cmp.Or(l.BucketPrefix, defaultBucketPrefix) }
func (l *Layout) hourMark() string     { return cmp.Or(l.HourMark, defaultHourMark) }

// of reports whether the layout is told of a table or index.
func (l *Layout) of(r Resource) bool {
	return l.Table == "" || l.Index == r.Index && tableName(l.Table) == tableName(r.Table)
}

// tableName returns the name of a table that may be given by its ARN: some sources report it by its name all the same.
func tableName(table string) string {
	if strings.HasPrefix(table, "arn:") {
		if _, name, ok := strings.Cut(table, ":table/"); ok {
			return name
		}
	}
	return table
}

// cutNumber splits a key that ends like a shard of the layout into what is before the suffix, the key and its bucket, and
// the number. Numbers that no layout writes, as those of ids and times, are none.
func (l *Layout) cutNumber(key []byte) (whole, number []byte, ok bool) {
	i := len(key)
	for i > 0 && isDigit(key[i-1]) {
		i--
	}
	prefix := l.prefix()
	start := i - len(prefix)
	if i == len(key) || start < 1 || string(key[start:i]) != prefix {
		return nil, nil, false
	}
	whole, number = key[:start], key[i:]
	if len(number) > mostDigits || atoi(number) >= mostShards+l.First || l.Bucket != "" && !l.endsInBucket(whole) {
		return nil, nil, false
	}
	return whole, number, true
}

// bare reports whether a key that has no number is the first shard of itself.
func (l *Layout) bare(key []byte) bool {
	return l.BareZero && len(key) > 0 && (l.Bucket == "" || l.endsInBucket(key))
}

// shardOf returns which shard a number stands for, counted from 0, and whether readers of the layout ask for it.
func (l *Layout) shardOf(number []byte) (shard int, asked bool) {
	n := atoi(number)
	shard = n - l.First
	return shard, shard >= 0 && shard < l.Shards && !(l.BareZero && shard == 0) && len(number) == max(l.Width, decimals(n))
}

// beyond reports whether the number of a shard is one that readers would ask for if they had more shards.
func (l *Layout) beyond(number string) bool { return atoi([]byte(number))-l.First >= l.Shards }

// fault says why readers of the layout do not ask for the shard with a number.
func (l *Layout) fault(number string) string {
	n := atoi([]byte(number))
	switch shard := n - l.First; {
	case shard >= l.Shards:
		return fmt.Sprintf("beyond the %s, %d to %d, that readers of %s ask for", countShards(l.Shards), l.First, l.First+l.Shards-1, l)
	case shard < 0:
		return fmt.Sprintf("below the first: readers of %s count from %d", l, l.First)
	case l.BareZero && shard == 0:
		return fmt.Sprintf("but readers of %s write the first shard without a number", l)
	}
	return fmt.Sprintf("with other padding than readers of %s use", l)
}

func countShards(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return figure.Thousands(n) + " shards"
}

// bucketForms are what buckets look like, a digit being 0. The hour of a day comes behind a mark.
var bucketForms = map[string][]string{
	"": nil, "hour": nil, "day": {dayForm}, "week": {"0000-W00"}, "month": {"0000-00"}, "year": {"0000"},
	"any": {dayForm, "0000-W00", "0000-00", "0000"},
}

const dayForm = "0000-00-00"

// endsInBucket reports whether a text ends in a bucket of the layout, with a key before it.
func (l *Layout) endsInBucket(text []byte) bool {
	_, ok := l.cutBucket(text)
	return ok
}

// cutBucket returns the key before the bucket of the layout that a text ends in.
func (l *Layout) cutBucket(text []byte) (key []byte, ok bool) {
	for _, form := range bucketForms[l.Bucket] {
		if key, ok := l.cutForm(text, form); ok {
			return key, true
		}
	}
	n := len(text) - len("00")
	if l.Bucket != "hour" && l.Bucket != "any" || n < 0 || !matches(text[n:], "00") {
		return nil, false
	}
	day, ok := bytes.CutSuffix(text[:n], []byte(l.hourMark()))
	if !ok {
		return nil, false
	}
	return l.cutForm(day, dayForm)
}

func (l *Layout) cutForm(text []byte, form string) (key []byte, ok bool) {
	n := len(text) - len(form)
	if n < 0 || !matches(text[n:], form) {
		return nil, false
	}
	key, ok = bytes.CutSuffix(text[:n], []byte(l.bucketPrefix()))
	return key, ok && len(key) > 0
}

// matches reports whether a text has a form, in which 0 stands for a digit.
func matches(text []byte, form string) bool {
	for i := range len(form) {
		if form[i] == '0' && !isDigit(text[i]) || form[i] != '0' && form[i] != text[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// atoi returns the number that some digits are, nine at most.
func atoi(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	return n
}

// decimals returns how many digits a number has.
func decimals(n int) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits
}
