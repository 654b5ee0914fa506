package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Format is how a shard key is written: the key, then the bucket if the layout has one, then the shard.
//
//	Format{}                     PAGE_VIEWS#2024-12-02#SHARD_7
//	Format{Width: 3}             PAGE_VIEWS#2024-12-02#SHARD_007
//	Format{BareZero: true}       PAGE_VIEWS#2024-12-02#SHARD_7, and PAGE_VIEWS#2024-12-02 for shard 0
//	SharpNumber()                PAGE_VIEWS#2024-12-02#SHARD#7
//	PlainNumber()                PAGE_VIEWS#2024-12-02#7
//	DotFromOne()                 PAGE_VIEWS#2024-12-02.8
//
// A key must not end like a shard key of its format, so choose a format that keys do not end in. PlainNumber, for
// example, refuses the key USER#123. Formats can be compared. An empty prefix means its default, but does not compare
// equal to the default written out.
type Format struct {
	// BucketPrefix precedes the bucket. Default: "#".
	BucketPrefix string

	// HourMark separates date and hour of an hourly bucket. Default: "T". With "-" the bucket is 2024-12-02-15.
	HourMark string

	// ShardPrefix precedes the number of the shard. Default: "#SHARD_".
	ShardPrefix string

	// First is the number of shard 0 in shard keys: 0 or 1. Default: 0.
	First int

	// Width is the minimum number of digits of the shard's number, padded with zeros. It is at most 9. Default: 0, no
	// padding.
	Width int

	// BareZero omits the prefix and the number of shard 0. Its key is then the key of an unsharded table, so reads find
	// the items that are already there.
	//
	// With a Calculated layout, Get, Update and Delete look in the item's own shard, and then under the bare key. Put
	// writes to the item's own shard only, so an item that is put again may exist twice. Conditional Puts and parts of
	// transactions are refused with ErrScattered. None of this concerns items whose own shard is 0.
	BareZero bool
}

const (
	defaultBucketPrefix = "#"
	defaultHourMark     = "T"
	defaultShardPrefix  = "#SHARD_"
	sharpPrefix         = "#SHARD#"

	maxPrefixBytes = 64
	maxWidth       = 9
)

// SharpNumber returns a common format that writes #SHARD#0, #SHARD#1 and so on, as in STATUS#ACTIVE#SHARD#7.
func SharpNumber() Format { return Format{ShardPrefix: sharpPrefix} }

// PlainNumber returns a common format that writes #0, #1 and so on, as in user-12345#7.
func PlainNumber() Format { return Format{ShardPrefix: "#"} }

// DotFromOne returns a common format that writes .1, .2 and so on, as in 2014-07-09.200. The last number is the number of
// shards.
func DotFromOne() Format { return Format{ShardPrefix: ".", First: 1} }

// ParseFormat parses a template, for example from a configuration file:
//
//	{key}#SHARD_{shard}             the default
//	{key}#{bucket}#SHARD#{shard}    with the bucket's prefix
//	{key}#{bucket:-}#{shard}        with the hour as 2024-12-02-15
//	{key}.{shard1:03}               counted from one, with at least three digits
//	{key}[#SHARD_{shard}]           with the bare key for shard 0
//
// The placeholders have this order. {bucket} and {shard} may be missing, and then have their defaults. Whether shard keys
// have a bucket depends on the layout. The error wraps ErrInvalid.
func ParseFormat(template string) (Format, error) {
	f, err := parseTemplate(template)
	if err == nil {
		err = f.validate()
	}
	if err != nil {
		return Format{}, fmt.Errorf("%w: template %s: %w", ErrInvalid, quote.Text(template), err)
	}
	return f, nil
}

// String returns the template that ParseFormat parses, with every placeholder.
func (f Format) String() string { return f.template(true, true) }

// MarshalText returns the template, as String does. The error wraps ErrInvalid: a format that is not valid has no template
// that could be read back.
func (f Format) MarshalText() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return []byte(f.String()), nil
}

// UnmarshalText reads a template, as ParseFormat does. If there is an error the format stays as it was.
func (f *Format) UnmarshalText(text []byte) error {
	parsed, err := ParseFormat(string(text))
	if err != nil {
		return err
	}
	*f = parsed
	return nil
}

// template returns the template of the requested parts.
func (f Format) template(bucket, shard bool) string {
	var b strings.Builder
	b.WriteString("{key}")
	if bucket {
		b.WriteString(f.bucketPrefix() + "{bucket")
		if mark := f.hourMark(); mark != defaultHourMark {
			b.WriteString(":" + mark)
		}
		b.WriteString("}")
	}
	if !shard {
		return b.String()
	}
	if f.BareZero {
		b.WriteString("[")
	}
	b.WriteString(f.shardPrefix() + "{shard")
	if f.First != 0 {
		fmt.Fprintf(&b, "%d", f.First)
	}
	if f.Width != 0 {
		fmt.Fprintf(&b, ":0%d", f.Width)
	}
	b.WriteString("}")
	if f.BareZero {
		b.WriteString("]")
	}
	return b.String()
}

// parseTemplate parses a template. Its result must still be validated.
func parseTemplate(template string) (Format, error) {
	var f Format
	rest, ok := strings.CutPrefix(template, "{key}")
	if !ok {
		return f, errors.New("it does not begin with {key}, want a template such as {key}#SHARD_{shard}")
	}
	if prefix, after, ok := strings.Cut(rest, "{bucket"); ok {
		option, after, ok := strings.Cut(after, "}")
		if !ok {
			return f, errors.New("{bucket is not closed with }")
		}
		if prefix == "" {
			return f, errors.New("there is no prefix between {key} and {bucket}")
		}
		if option != "" {
			if f.HourMark, ok = strings.CutPrefix(option, ":"); !ok || f.HourMark == "" {
				return f, fmt.Errorf("the placeholder is {bucket%s}, want {bucket}, or {bucket:-} to put - before the hour", option)
			}
		}
		f.BucketPrefix, rest = prefix, after
	}
	if rest == "" {
		return f.shortened(), nil
	}

	if inner, ok := strings.CutPrefix(rest, "["); ok {
		if rest, ok = strings.CutSuffix(inner, "]"); !ok {
			return f, errors.New("[ is not closed with ] at the end")
		}
		f.BareZero = true
	}
	prefix, after, ok := strings.Cut(rest, "{shard")
	if !ok {
		return f, fmt.Errorf("%s has no {shard}, want a prefix and {shard}, or nothing", quote.Text(rest))
	}
	if prefix == "" {
		return f, errors.New("there is no prefix before {shard}")
	}
	option, after, ok := strings.Cut(after, "}")
	if !ok {
		return f, errors.New("{shard is not closed with }")
	}
	if after != "" {
		return f, fmt.Errorf("%s follows {shard}, want nothing after it", quote.Text(after))
	}
	f.ShardPrefix = prefix
	if number, ok := strings.CutPrefix(option, "1"); ok {
		f.First, option = 1, number
	}
	if option != "" {
		width, ok := strings.CutPrefix(option, ":0")
		if !ok || len(width) != 1 || width < "1" || width > "9" {
			return f, fmt.Errorf("{shard} has the option %s, want 1 to count from one, or :01 to :09 to pad with zeros", quote.Text(option))
		}
		f.Width = int(width[0] - '0')
	}
	return f.shortened(), nil
}

// WithDefaults returns the format with its default prefixes written out.
func (f Format) WithDefaults() Format {
	f.BucketPrefix, f.HourMark, f.ShardPrefix = f.bucketPrefix(), f.hourMark(), f.shardPrefix()
	return f
}

// shortened removes prefixes that are the default, so that equivalent formats are equal.
func (f Format) shortened() Format {
	if f.BucketPrefix == defaultBucketPrefix {
		f.BucketPrefix = ""
	}
	if f.HourMark == defaultHourMark {
		f.HourMark = ""
	}
	if f.ShardPrefix == defaultShardPrefix {
		f.ShardPrefix = ""
	}
	return f
}

func (f *Format) bucketPrefix() string { return cmp.Or(f.BucketPrefix, defaultBucketPrefix) }
func (f *Format) hourMark() string     { return cmp.Or(f.HourMark, defaultHourMark) }
func (f *Format) shardPrefix() string  { return cmp.Or(f.ShardPrefix, defaultShardPrefix) }

// validate reports everything about the format that would make shard keys ambiguous.
func (f *Format) validate() error {
	// Every shard key is made through here, so a valid format must cost little.
	var faults []error
	if err := checkPrefix("BucketPrefix", f.BucketPrefix); err != nil {
		faults = append(faults, err)
	}
	if err := checkPrefix("HourMark", f.HourMark); err != nil {
		faults = append(faults, err)
	}
	if err := checkPrefix("ShardPrefix", f.ShardPrefix); err != nil {
		faults = append(faults, err)
	}
	if f.First != 0 && f.First != 1 {
		faults = append(faults, fmt.Errorf("Format.First is %d, want 0 or 1", f.First))
	}
	if f.Width < 0 || f.Width > maxWidth {
		faults = append(faults, fmt.Errorf("Format.Width is %d, want 0 to %d", f.Width, maxWidth))
	}
	if faults == nil {
		return nil
	}
	return errors.Join(faults...)
}

func checkPrefix(name, text string) error {
	if text == "" {
		return nil
	}
	if len(text) > maxPrefixBytes {
		return fmt.Errorf("%s has %d bytes, want at most %d", name, len(text), maxPrefixBytes)
	}
	if isDigit(text[len(text)-1]) {
		return fmt.Errorf("%s is %s, which ends in a digit, but a number follows it: end it with another character", name, quote.Text(text))
	}
	for i := range len(text) {
		if c := text[i]; c == '{' || c == '}' || c == '[' || c == ']' {
			return fmt.Errorf("%s is %s, which contains one of {}[], but templates use these: leave them out", name, quote.Text(text))
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s is %s, which is not valid UTF-8", name, quote.Text(text))
	}
	return nil
}
