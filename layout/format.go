package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/quote"
)

// Format says how a shard key is spelt: the key, then the bucket if the layout has one, then the shard.
//
//	Format{}                     PAGE_VIEWS#2024-12-02#SHARD_7
//	Format{Width: 3}             PAGE_VIEWS#2024-12-02#SHARD_007
//	Format{BareZero: true}       PAGE_VIEWS#2024-12-02#SHARD_7, and PAGE_VIEWS#2024-12-02 for shard 0
//	SharpNumber()                PAGE_VIEWS#2024-12-02#SHARD#7
//	PlainNumber()                PAGE_VIEWS#2024-12-02#7
//	DotFromOne()                 PAGE_VIEWS#2024-12-02.8
//
// A key must not end like a shard key of its format, so pick one that keys do not end in: with PlainNumber, USER#123 is
// refused as a key. Formats can be compared; an empty prefix is the same as its default spelt out, but not equal to it.
type Format struct {
	// BucketPrefix goes before the bucket. The default is "#".
	BucketPrefix string

	// HourMark goes between date and hour of an hourly bucket. The default is "T"; "-" gives 2024-12-02-15.
	HourMark string

	// ShardPrefix goes before the number of the shard. The default is "#SHARD_".
	ShardPrefix string

	// First is the number that is written for shard 0: 0, the default, or 1.
	First int

	// Width is the least number of digits that the number is written with, with zeros in front; 9 at most. The default,
	// 0, pads nothing.
	Width int

	// BareZero leaves prefix and number of shard 0 out: it has the key that an unsharded table has, so that all reads find
	// the items that are there. With a Calculated layout Get, Update and Delete look in the item's own shard and then
	// under the bare key; Put knows its own shard only, so an item that is put again may be there twice, and a
	// conditional Put is ErrScattered, as are parts of transactions. Items whose own shard is 0 are as ever.
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

// SharpNumber is a format in use elsewhere that writes #SHARD#0, #SHARD#1 and so on: STATUS#ACTIVE#SHARD#7.
func SharpNumber() Format { return Format{ShardPrefix: sharpPrefix} }

// PlainNumber is a format in use elsewhere that writes #0, #1 and so on: user-12345#7.
func PlainNumber() Format { return Format{ShardPrefix: "#"} }

// DotFromOne is a format in use elsewhere that writes .1, .2 and so on, the last shard being the number of shards:
// 2014-07-09.200.
func DotFromOne() Format { return Format{ShardPrefix: ".", First: 1} }

// ParseFormat reads a format from a template, as it may stand in a configuration file:
//
//	{key}#SHARD_{shard}             the default
//	{key}#{bucket}#SHARD#{shard}    the bucket's prefix as well, where it matters
//	{key}#{bucket:-}#{shard}        the hour as 2024-12-02-15
//	{key}.{shard1:03}               counted from one, three digits at least
//	{key}[#SHARD_{shard}]           shard 0 is the bare key
//
// The placeholders stand in this order; {bucket} and {shard} may be missing, and what they would have said has its
// default then. Whether there is a bucket is the layout's to say. The error wraps ErrInvalid.
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

// String returns the template that ParseFormat reads, with every placeholder.
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

// template spells out the parts of the format that are asked for.
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

// parseTemplate takes a template apart. What it returns still has to be validated.
func parseTemplate(template string) (Format, error) {
	var f Format
	rest, ok := strings.CutPrefix(template, "{key}")
	if !ok {
		return f, errors.New("it does not begin with {key}")
	}
	if prefix, after, ok := strings.Cut(rest, "{bucket"); ok {
		option, after, ok := strings.Cut(after, "}")
		if !ok {
			return f, errors.New("{bucket has no }")
		}
		if prefix == "" {
			return f, errors.New("there is nothing between {key} and {bucket}")
		}
		if option != "" {
			if f.HourMark, ok = strings.CutPrefix(option, ":"); !ok || f.HourMark == "" {
				return f, fmt.Errorf("{bucket%s} is neither {bucket} nor, with a mark before the hour, {bucket:-}", option)
			}
		}
		f.BucketPrefix, rest = prefix, after
	}
	if rest == "" {
		return f.shortened(), nil
	}

	if inner, ok := strings.CutPrefix(rest, "["); ok {
		if rest, ok = strings.CutSuffix(inner, "]"); !ok {
			return f, errors.New("[ has no ] at the end")
		}
		f.BareZero = true
	}
	prefix, after, ok := strings.Cut(rest, "{shard")
	if !ok {
		return f, fmt.Errorf("after the bucket comes {shard} or nothing, not %s", quote.Text(rest))
	}
	if prefix == "" {
		return f, errors.New("there is nothing before {shard}")
	}
	option, after, ok := strings.Cut(after, "}")
	if !ok {
		return f, errors.New("{shard has no }")
	}
	if after != "" {
		return f, fmt.Errorf("nothing may follow {shard}, but %s does", quote.Text(after))
	}
	f.ShardPrefix = prefix
	if number, ok := strings.CutPrefix(option, "1"); ok {
		f.First, option = 1, number
	}
	if option != "" {
		width, ok := strings.CutPrefix(option, ":0")
		if !ok || len(width) != 1 || width < "1" || width > "9" {
			return f, fmt.Errorf("{shard} takes 1 to count from one and :01 to :09 to pad with zeros, not %s", quote.Text(option))
		}
		f.Width = int(width[0] - '0')
	}
	return f.shortened(), nil
}

// WithDefaults returns the format with its prefixes spelt out.
func (f Format) WithDefaults() Format {
	f.BucketPrefix, f.HourMark, f.ShardPrefix = f.bucketPrefix(), f.hourMark(), f.shardPrefix()
	return f
}

// shortened leaves out what is the default anyway, so that formats that mean the same are equal.
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

// validate reports everything about the format that would keep shard keys from being read back.
func (f *Format) validate() error {
	// On the way to every shard key: nothing here may cost much as long as all is well.
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
		faults = append(faults, fmt.Errorf("shards are counted from 0 or 1, but First is %d", f.First))
	}
	if f.Width < 0 || f.Width > maxWidth {
		faults = append(faults, fmt.Errorf("numbers are padded to %d digits at most, but Width is %d", maxWidth, f.Width))
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
		return fmt.Errorf("%s has %d bytes: %d are allowed", name, len(text), maxPrefixBytes)
	}
	if isDigit(text[len(text)-1]) {
		return fmt.Errorf("%s %s ends in a digit: the number after it could not be told from it", name, quote.Text(text))
	}
	for i := range len(text) {
		if c := text[i]; c == '{' || c == '}' || c == '[' || c == ']' {
			return fmt.Errorf("%s %s has one of {}[] in it, which templates are written with", name, quote.Text(text))
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s %s is not valid UTF-8", name, quote.Text(text))
	}
	return nil
}
