package passage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

const (
	// MaxWidths is how many keys and prefixes of an arrangement may have their own number of shards.
	MaxWidths = 100

	// MaxText is how many bytes an arrangement may have as it is stored. A record has two of them, and one whose keys all have the same
	// number of shards, and stays below 4 KB. So reading it costs 1 RCU.
	MaxText = 1500

	maxKey        = 2048                  // bytes of a partition key
	longestSuffix = 64 + 9 + 64 + 12 + 64 // bytes of a shard's prefix and number, and of a bucket's prefix, digits and mark
)

// ErrArrangement is wrapped when an arrangement cannot be used. The error says what is wrong with it and what to do.
var ErrArrangement = errors.New("invalid arrangement")

// Arrangement is where the items of a collection are: a layout, and the keys whose number of shards differs from it. It does not
// change.
type Arrangement struct {
	// Layout may have buckets, by the time that sort keys hold, if it is Calculated. Then all keys have the same number of shards.
	Layout layout.Layout
	// Widths has the number of shards of single keys. If there are any, the format has BareZero, so that a key with one shard is stored
	// as it is. It is nil if all keys have Layout.Shards.
	Widths map[string]int
	// Prefixes has the number of shards of all keys that begin with a prefix, those that come later included. The longest prefix counts,
	// and Widths before it. The format has BareZero as well.
	Prefixes map[string]int
	// Clock is how sort keys hold their times. It counts with buckets alone.
	Clock place.TimeUnit
	// Table is the name of the table that has the items, in the account and region of the record's. It is "" for the table of the record.
	Table string
}

// Timed reports whether keys have buckets.
func (a Arrangement) Timed() bool { return a.Layout.Bucket != layout.NoBucket }

// Varies reports whether some keys have their own number of shards.
func (a Arrangement) Varies() bool { return len(a.Widths)+len(a.Prefixes) > 0 }

// For returns the layout of a key: Layout with the key's own number of shards.
func (a Arrangement) For(key string) layout.Layout {
	if n, ok := a.Widths[key]; ok {
		return a.Layout.WithShards(n)
	}
	return a.Under(key)
}

// Under returns the layout of keys that begin with a text, if neither Widths nor a longer prefix says something else.
func (a Arrangement) Under(text string) layout.Layout {
	if !a.Varies() {
		return a.Layout
	}
	longest, shards := 0, max(a.Layout.Shards, 1)
	for prefix, n := range a.Prefixes {
		if len(prefix) > longest && strings.HasPrefix(text, prefix) {
			longest, shards = len(prefix), n
		}
	}
	return a.Layout.WithShards(shards)
}

// Width returns the number of shards of a key, as layout.Widths has it.
func (a Arrangement) Width(_ context.Context, key string, _ time.Time) (layout.Width, error) {
	n := max(a.For(key).Shards, 1)
	return layout.Width{Write: n, Read: n}, nil
}

// Validate reports everything that is wrong with an arrangement. The error wraps ErrArrangement.
func (a Arrangement) Validate() error {
	faults := a.layoutFaults()
	if len(faults) == 0 {
		faults = a.widthFaults()
	}
	if !validTable(a.Table) {
		faults = append(faults, fmt.Errorf("its table is %s: want the name of a table, of 3 to 255 letters, digits and the characters _.-, without an ARN", quote.Text(a.Table)))
	}
	if len(faults) == 0 {
		if n := len(a.text()); n > MaxText {
			faults = append(faults, fmt.Errorf("it has %d bytes as text, and may have %d: give fewer keys and prefixes their own number of shards", n, MaxText))
		}
	}
	if faults != nil {
		return fmt.Errorf("%w: %w", ErrArrangement, errors.Join(faults...))
	}
	return nil
}

// validTable reports whether a text is the name of a table, or "".
func validTable(name string) bool {
	if name == "" {
		return true
	}
	other := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.-", r))
	}
	return 3 <= len(name) && len(name) <= 255 && !strings.ContainsFunc(name, other)
}

func (a Arrangement) layoutFaults() (faults []error) {
	if err := a.Layout.Validate(); err != nil {
		faults = append(faults, err)
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	switch {
	case !a.Timed():
	case a.Layout.Strategy != layout.Calculated:
		fault("it is a list with buckets by %s: only items that are found by id move in buckets; leave the bucket out, or use a Calculated layout", a.Layout.Bucket)
	case a.Varies():
		fault("it has buckets by %s, and %d keys and %d prefixes with their own number of shards: leave one of the two out", a.Layout.Bucket, len(a.Widths), len(a.Prefixes))
	case int(a.Clock) >= len(clocks):
		fault("its times are of the unit %d: want RFC3339, UnixSeconds or UnixMilliseconds", a.Clock)
	}
	return faults
}

func (a Arrangement) widthFaults() (faults []error) {
	own := len(a.Widths) + len(a.Prefixes)
	if own > MaxWidths {
		return []error{fmt.Errorf("%d keys and prefixes have their own number of shards, and %d may: change Layout.Shards for all keys instead", own, MaxWidths)}
	}
	if own > 0 && !a.Layout.Format.BareZero {
		faults = append(faults, fmt.Errorf("%d keys and prefixes have their own number of shards, but the format is %s without BareZero: "+
			"set BareZero, so that a key with one shard is stored as it is", own, quote.Text(template(a.Layout))))
	}
	for _, key := range slices.Sorted(maps.Keys(a.Widths)) {
		if n := a.Widths[key]; n < 1 || n > layout.MaxShards {
			faults = append(faults, fmt.Errorf("key %s has %d shards: want 1 to %d", quote.Text(key), n, layout.MaxShards))
		} else if err := a.Check(key); err != nil {
			faults = append(faults, err)
		}
	}
	return append(faults, a.prefixFaults()...)
}

func (a Arrangement) prefixFaults() (faults []error) {
	for _, prefix := range slices.Sorted(maps.Keys(a.Prefixes)) {
		n := a.Prefixes[prefix]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("prefix "+quote.Text(prefix)+" "+format, args...))
		}
		switch {
		case n < 1 || n > layout.MaxShards:
			fault("has %d shards: want 1 to %d", n, layout.MaxShards)
		case prefix == "":
			fault("is empty, so that it means all keys: change Layout.Shards instead")
		case len(prefix) > maxKey:
			fault("has %d bytes, and a key has %d at most: shorten it", len(prefix), maxKey)
		case !utf8.ValidString(prefix):
			fault("is not valid UTF-8: want the beginning of a key")
		case layout.IsControl(prefix):
			fault("begins with %s, which is for heatsink's own items: choose another one", quote.Text(layout.ControlPrefix))
		}
	}
	return faults
}

// controlName is the one key whose shards have keys of control items.
var controlName = strings.TrimSuffix(layout.ControlPrefix, "#")

// Check returns an error if a key cannot be used: it reads as a shard of the arrangement at some width, its longest shard key is
// too long for DynamoDB, or it is a key of control items. The error wraps layout.ErrKey.
func (a Arrangement) Check(key string) error {
	l := a.For(key)
	if layout.IsControl(key) || key == controlName || strings.HasPrefix(controlName, key) && layout.IsControl(key+l.Format.WithDefaults().ShardPrefix) {
		return fmt.Errorf("%w %s: it or its shards begin with %s, which is for heatsink's own items: choose another key", layout.ErrKey, quote.Text(key), quote.Text(layout.ControlPrefix))
	}
	if len(key)+longestSuffix <= maxKey { // most keys, and without an allocation
		return l.CheckKey(key)
	}
	_, err := l.ShardKey(key, time.Unix(0, 0), max(l.Shards, 1)-1) // all buckets have names of the same length
	return err
}

// Equal reports whether two arrangements put all items into the same homes, by what they say.
func (a Arrangement) Equal(other Arrangement) bool {
	a, other = a.plain(), other.plain()
	return a.Layout == other.Layout && a.Clock == other.Clock && maps.Equal(a.Widths, other.Widths) && maps.Equal(a.Prefixes, other.Prefixes) && a.Table == other.Table
}

// SameLayout reports whether a process that is configured with a layout means that of the arrangement. What has no effect on where
// items are does not count.
func (a Arrangement) SameLayout(l layout.Layout) bool {
	mine, other := plainLayout(a.Layout), plainLayout(l)
	if mine.Shards == 0 && other.Shards == 0 { // keys are stored as they are, or with their bucket
		return mine.Bucket == other.Bucket && mine.Template() == other.Template()
	}
	return mine == other
}

// String returns the arrangement for people.
func (a Arrangement) String() string {
	text := a.Layout.String()
	if a.Varies() {
		text += fmt.Sprintf(", and keys with a number of shards of their own: %d, and prefixes: %d", len(a.Widths), len(a.Prefixes))
	}
	if a.Table != "" {
		text += ", in table " + a.Table
	}
	return text
}

// plain returns an arrangement without what has no effect on where items are.
func (a Arrangement) plain() Arrangement {
	p := Arrangement{Layout: plainLayout(a.Layout), Table: a.Table}
	if a.Timed() {
		p.Clock = a.Clock
	}
	shards := func(l layout.Layout) int { return max(l.Shards, 1) }
	byLength := func(a, b string) int { return cmp.Compare(len(a), len(b)) }
	for _, prefix := range slices.SortedFunc(maps.Keys(a.Prefixes), byLength) { // what a prefix changes depends on the shorter ones alone
		if n := a.Prefixes[prefix]; n != shards(p.Under(prefix)) {
			p.Prefixes = with(p.Prefixes, prefix, n)
		}
	}
	for key, n := range a.Widths {
		if n != shards(p.Under(key)) {
			p.Widths = with(p.Widths, key, n)
		}
	}
	return p
}

// with sets the number of shards of a key or prefix, in a map that may be nil.
func with(widths map[string]int, name string, n int) map[string]int {
	if widths == nil {
		widths = map[string]int{}
	}
	widths[name] = n
	return widths
}

// plainLayout returns a layout without what has no effect on where items are. It leaves a format that is not valid as it is.
func plainLayout(l layout.Layout) layout.Layout {
	if short, err := layout.ParseFormat(template(l)); err == nil {
		l.Format = short
	}
	if l.Strategy == layout.Random {
		l.Hash = layout.XXHash
	}
	return l
}

// template returns how a layout spells shards, also if it has none, and its buckets, if it has some.
func template(l layout.Layout) string {
	return layout.Layout{Shards: 1, Bucket: l.Bucket, Format: l.Format}.Template()
}

// clocks are the names of place.TimeUnit as they are stored.
var clocks = [...]string{charter.RFC3339, charter.UnixSeconds, charter.UnixMilliseconds}

// ClockName returns the name of a unit that is valid, as charters have it.
func ClockName(unit place.TimeUnit) string { return clocks[unit] }

// stored is an arrangement as a record has it.
type stored struct {
	Strategy layout.Strategy `json:"strategy"`
	Shards   int             `json:"shards"`
	Hash     layout.Hash     `json:"hash"`
	Format   string          `json:"format"`
	Widths   map[string]int  `json:"widths,omitempty"`

	// Older versions refuse a record that has these, as they refuse any unknown field.
	Prefixes map[string]int `json:"prefixes,omitempty"`
	Bucket   layout.Bucket  `json:"bucket,omitempty"`
	Clock    string         `json:"clock,omitempty"` // with a bucket
	Table    string         `json:"table,omitempty"`
}

// text returns the arrangement as it is stored: equal arrangements give equal texts. It is "" if the arrangement is not valid.
func (a Arrangement) text() string {
	a = a.plain()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	l := a.Layout
	s := stored{l.Strategy, l.Shards, l.Hash, template(l), a.Widths, a.Prefixes, l.Bucket, "", a.Table}
	if a.Timed() && int(a.Clock) < len(clocks) {
		s.Clock = clocks[a.Clock]
	}
	if e.Encode(s) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// parseArrangement is the inverse of text, and takes nothing else: neither another spelling nor what it does not know.
func parseArrangement(text string) (Arrangement, error) {
	var s stored
	reader := json.NewDecoder(bytes.NewReader([]byte(text)))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&s); err != nil {
		return Arrangement{}, fmt.Errorf("%w: %s: %w: upgrade heatsink in this process if a newer version wrote it", ErrArrangement, quote.Text(text), err)
	}
	format, err := layout.ParseFormat(s.Format)
	if err != nil {
		return Arrangement{}, fmt.Errorf("%w: %w", ErrArrangement, err)
	}
	a := Arrangement{
		Layout: layout.Layout{Shards: s.Shards, Strategy: s.Strategy, Bucket: s.Bucket, Hash: s.Hash, Format: format},
		Widths: s.Widths, Prefixes: s.Prefixes, Table: s.Table,
	}
	if i := slices.Index(clocks[:], s.Clock); i >= 0 {
		a.Clock = place.TimeUnit(i)
	}
	if err := a.Validate(); err != nil {
		return Arrangement{}, err
	}
	if again := a.text(); again != text { // a field that is there twice, or more behind the first value
		return Arrangement{}, fmt.Errorf("%w: it is %s: want %s", ErrArrangement, quote.Text(text), quote.Text(again))
	}
	return a, nil
}
