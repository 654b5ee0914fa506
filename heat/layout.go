package heat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// Layout tells a source how readers of a table shard its keys: the layout.Layout that they use, and of which table or index
// it is. With it, every source can tell shards from other keys.
//
//	Layout{Layout: layout.Layout{Shards: 4}}                                  PAGE_VIEWS#SHARD_0 to PAGE_VIEWS#SHARD_3
//	Layout{Layout: layout.Layout{Shards: 200, Format: layout.DotFromOne()}}   2014-07-09.1 to 2014-07-09.200
//
// As JSON it is one flat object: table, index, shards, widths, prefix, first and so on; bucket is the name of the bucket, or
// "any".
type Layout struct {
	// Resource is the table or the index of the layout. Without a table, the layout is of every table and index.
	Resource

	// Layout is the one that readers use, with 1 shard at least. Its Strategy and Hash change nothing here. Its Bucket is
	// needed if the end of a bucket looks like a shard, as years do with layout.PlainNumber; without one, a bucket is a
	// part of the key.
	Layout layout.Layout

	// AnyBucket says that keys have a bucket, of any length, before the shard. Leave Layout.Bucket out then.
	AnyBucket bool

	// Widths says that keys have any number of shards up to Layout.Shards, as with layout.Widths.
	Widths bool

	// Unsharded says that readers also ask for the bare key, as readers with layout.Layout{} in Options.Older do.
	// Default: the bare key is a stray if numbered shards of it exist.
	Unsharded bool
}

// Validate returns an error with all faults of the layout. It wraps layout.ErrInvalid if Layout itself is not valid.
func (l Layout) Validate() error {
	var faults []error
	inner := l.Layout
	if inner.Shards < 1 || inner.Shards > layout.MaxShards {
		faults = append(faults, notBetween("Shards", inner.Shards, 1, layout.MaxShards))
		inner.Shards = 1 // said once
	}
	if err := inner.Validate(); err != nil {
		faults = append(faults, err)
	}
	if l.AnyBucket && inner.Bucket != layout.NoBucket {
		faults = append(faults, fmt.Errorf("AnyBucket is set, but Bucket is %s: leave one of them out", inner.Bucket))
	}
	if l.Table == "" && l.Index != "" {
		faults = append(faults, fmt.Errorf("index %q has no Table: name the table of the index", l.Index))
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
		prefix    string
		bucket    layout.Bucket
		anyBucket bool
	}
	known := make(map[spelling]Layout)
	for _, l := range layouts {
		if err := l.Validate(); err != nil {
			faults = append(faults, err)
			continue
		}
		s := spelling{l.Resource, l.prefix(), l.Layout.Bucket, l.AnyBucket}
		if other, twice := known[s]; twice && other.asked() != l.asked() {
			faults = append(faults, fmt.Errorf("two layouts spell shards alike: %s of %d shards and %s of %d; give only the one that readers use",
				other, other.Layout.Shards, l, l.Layout.Shards))
		}
		known[s] = l
	}
	return errors.Join(faults...)
}

// asked returns the layout in one form, so that layouts whose readers ask for the same keys are equal.
func (l Layout) asked() Layout {
	l.Layout.Strategy, l.Layout.Hash, l.Layout.Format = 0, 0, l.Layout.Format.WithDefaults()
	return l
}

// String returns the template that layout.ParseFormat reads: {key}#SHARD_{shard}.
func (l Layout) String() string {
	if l.AnyBucket {
		l.Layout.Bucket = layout.Day // they are all spelt {bucket}
	}
	if l.Layout.Shards == 0 {
		l.Layout.Shards = 1 // not valid, but about shards
	}
	return l.Layout.Template()
}

func (l *Layout) prefix() string { return l.Layout.Format.WithDefaults().ShardPrefix }

// layoutJSON is a Layout as JSON.
type layoutJSON struct {
	Resource
	Shards       int             `json:"shards"`
	Widths       bool            `json:"widths,omitempty"`
	Prefix       string          `json:"prefix,omitempty"`
	First        int             `json:"first,omitempty"`
	Width        int             `json:"width,omitempty"`
	BareZero     bool            `json:"bareZero,omitempty"`
	Unsharded    bool            `json:"unsharded,omitempty"`
	Bucket       string          `json:"bucket,omitempty"`
	BucketPrefix string          `json:"bucketPrefix,omitempty"`
	HourMark     string          `json:"hourMark,omitempty"`
	Strategy     layout.Strategy `json:"strategy,omitempty"`
	Hash         layout.Hash     `json:"hash,omitempty"`
}

// anyBucket is the bucket of a layout with AnyBucket, as JSON.
const anyBucket = "any"

// MarshalJSON writes the layout as one flat object. What has its default is left out.
func (l Layout) MarshalJSON() ([]byte, error) {
	f := l.Layout.Format
	j := layoutJSON{
		Resource: l.Resource, Shards: l.Layout.Shards, Widths: l.Widths, Unsharded: l.Unsharded,
		Prefix: f.ShardPrefix, First: f.First, Width: f.Width, BareZero: f.BareZero, BucketPrefix: f.BucketPrefix, HourMark: f.HourMark,
		Strategy: l.Layout.Strategy, Hash: l.Layout.Hash,
	}
	switch {
	case l.AnyBucket:
		j.Bucket = anyBucket
	case l.Layout.Bucket != layout.NoBucket:
		name, err := l.Layout.Bucket.MarshalText()
		if err != nil {
			return nil, err
		}
		j.Bucket = string(name)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes. It does not Validate the layout.
func (l *Layout) UnmarshalJSON(text []byte) error {
	var j layoutJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	read := Layout{
		Resource: j.Resource, Widths: j.Widths, Unsharded: j.Unsharded, AnyBucket: j.Bucket == anyBucket,
		Layout: layout.Layout{
			Shards: j.Shards, Strategy: j.Strategy, Hash: j.Hash,
			Format: layout.Format{
				BucketPrefix: j.BucketPrefix, HourMark: j.HourMark, ShardPrefix: j.Prefix,
				First: j.First, Width: j.Width, BareZero: j.BareZero,
			},
		},
	}
	if j.Bucket != "" && !read.AnyBucket {
		if err := read.Layout.Bucket.UnmarshalText([]byte(j.Bucket)); err != nil {
			return err
		}
	}
	*l = read
	return nil
}

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
	whole, number, ok = l.Layout.CutShard(key)
	switch {
	case !ok || len(whole) == 0 || atoi(number) >= layout.MaxShards+l.Layout.Format.First:
		return nil, nil, false
	case l.bucketed() && !l.endsInBucket(whole):
		return nil, nil, false
	}
	return whole, number, true
}

// bucketed reports whether a bucket stands before the shard.
func (l *Layout) bucketed() bool { return l.AnyBucket || l.Layout.Bucket != layout.NoBucket }

// bare reports whether a key that has no number is the first shard of itself.
func (l *Layout) bare(key []byte) bool {
	return l.Layout.Format.BareZero && len(key) > 0 && (!l.bucketed() || l.endsInBucket(key))
}

// shardOf returns which shard a number stands for, counted from 0, and whether readers of the layout ask for it.
func (l *Layout) shardOf(number []byte) (shard int, asked bool) {
	n := atoi(number)
	shard = n - l.Layout.Format.First
	return shard, shard >= 0 && shard < l.Layout.Shards && !(l.Layout.Format.BareZero && shard == 0) && len(number) == max(l.Layout.Format.Width, decimals(n))
}

// beyond reports whether the number of a shard is one that readers would ask for if they had more shards.
func (l *Layout) beyond(number string) bool {
	return atoi([]byte(number))-l.Layout.Format.First >= l.Layout.Shards
}

// fault says why readers of the layout do not ask for the shard with a number.
func (l *Layout) fault(number string) string {
	n := atoi([]byte(number))
	switch shard := n - l.Layout.Format.First; {
	case shard >= l.Layout.Shards:
		return fmt.Sprintf("beyond the %s, %d to %d, that readers of %s ask for", countShards(l.Layout.Shards), l.Layout.Format.First, l.Layout.Format.First+l.Layout.Shards-1, l)
	case shard < 0:
		return fmt.Sprintf("below the first: readers of %s count from %d", l, l.Layout.Format.First)
	case l.Layout.Format.BareZero && shard == 0:
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

// endsInBucket reports whether a text ends in a bucket of the layout, with a key before it.
func (l *Layout) endsInBucket(text []byte) bool {
	_, ok := l.cutBucket(text)
	return ok
}

// cutBucket returns the key before the bucket of the layout that a text ends in.
func (l *Layout) cutBucket(text []byte) (key []byte, ok bool) {
	if !l.bucketed() {
		return nil, false
	}
	if !l.AnyBucket {
		key, ok = l.Layout.CutBucket(text)
		return key, ok && len(key) > 0
	}
	some := l.Layout
	for _, some.Bucket = range [...]layout.Bucket{layout.Hour, layout.Day, layout.Week, layout.Month, layout.Year} {
		if key, ok = some.CutBucket(text); ok && len(key) > 0 {
			return key, true
		}
	}
	return nil, false
}

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
