package passage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

const (
	// MaxWidths is how many keys of an arrangement may have their own number of shards.
	MaxWidths = 100

	// MaxText is how many bytes an arrangement may have as it is stored. A record has two of them, and one without Widths, and
	// stays below 4 KB. So reading it costs 1 RCU.
	MaxText = 1500

	maxKey        = 2048   // bytes of a partition key
	longestSuffix = 64 + 9 // bytes of a shard's prefix and number
)

// ErrArrangement is wrapped when an arrangement cannot be used. The error says what is wrong with it and what to do.
var ErrArrangement = errors.New("invalid arrangement")

// Arrangement is where the items of a collection are: a layout, and the keys whose number of shards differs from it. It does not
// change.
type Arrangement struct {
	// Layout has no buckets.
	Layout layout.Layout
	// Widths has the number of shards of single keys. If there are any, the format has BareZero, so that a key with one shard is stored
	// as it is. It is nil if all keys have Layout.Shards.
	Widths map[string]int
	// Table is the name of the table that has the items, in the account and region of the record's. It is "" for the table of the record.
	Table string
}

// For returns the layout of a key: Layout with the key's own number of shards.
func (a Arrangement) For(key string) layout.Layout {
	if len(a.Widths) == 0 {
		return a.Layout
	}
	if n, ok := a.Widths[key]; ok {
		return a.Layout.WithShards(n)
	}
	return a.Layout.WithShards(max(a.Layout.Shards, 1))
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
			faults = append(faults, fmt.Errorf("it has %d bytes as text, and may have %d: move fewer keys with their own number of shards", n, MaxText))
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
	if a.Layout.Bucket != layout.NoBucket {
		faults = append(faults, fmt.Errorf("it has buckets by %s: the items of a movable collection are found by their ids alone, so leave the bucket out", a.Layout.Bucket))
	}
	return faults
}

func (a Arrangement) widthFaults() (faults []error) {
	if len(a.Widths) > MaxWidths {
		return []error{fmt.Errorf("%d keys have their own number of shards, and %d may: change Layout.Shards for all keys instead", len(a.Widths), MaxWidths)}
	}
	if len(a.Widths) > 0 && !a.Layout.Format.BareZero {
		faults = append(faults, fmt.Errorf("%d keys have their own number of shards, but the format is %s without BareZero: "+
			"set BareZero, so that a key with one shard is stored as it is", len(a.Widths), quote.Text(template(a.Layout.Format))))
	}
	for _, key := range slices.Sorted(maps.Keys(a.Widths)) {
		if n := a.Widths[key]; n < 1 || n > layout.MaxShards {
			faults = append(faults, fmt.Errorf("key %s has %d shards: want 1 to %d", quote.Text(key), n, layout.MaxShards))
		} else if err := a.Check(key); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// Check returns an error if a key cannot be used: it reads as a shard of the arrangement at some width, its longest shard key is
// too long for DynamoDB, or it is a key of control items. The error wraps layout.ErrKey.
func (a Arrangement) Check(key string) error {
	if layout.IsControl(key) {
		return fmt.Errorf("%w %s: it begins with %s, which is for heatsink's own items: choose another key", layout.ErrKey, quote.Text(key), quote.Text(layout.ControlPrefix))
	}
	l := a.For(key)
	if len(key)+longestSuffix <= maxKey { // most keys, and without an allocation
		return l.CheckKey(key)
	}
	_, err := l.ShardKey(key, time.Time{}, max(l.Shards, 1)-1)
	return err
}

// Equal reports whether two arrangements put all items into the same homes, by what they say.
func (a Arrangement) Equal(other Arrangement) bool {
	a, other = a.plain(), other.plain()
	return a.Layout == other.Layout && maps.Equal(a.Widths, other.Widths) && a.Table == other.Table
}

// SameLayout reports whether a process that is configured with a layout means that of the arrangement. What has no effect on where
// items are does not count.
func (a Arrangement) SameLayout(l layout.Layout) bool {
	mine, other := plainLayout(a.Layout), plainLayout(l)
	if mine.Shards == 0 && other.Shards == 0 { // keys are stored as they are
		return mine.Bucket == other.Bucket
	}
	return mine == other
}

// String returns the arrangement for people.
func (a Arrangement) String() string {
	text := a.Layout.String()
	if len(a.Widths) > 0 {
		text += fmt.Sprintf(", and %d keys with their own number of shards", len(a.Widths))
	}
	if a.Table != "" {
		text += ", in table " + a.Table
	}
	return text
}

// plain returns an arrangement without what has no effect on where items are.
func (a Arrangement) plain() Arrangement {
	p := Arrangement{Layout: plainLayout(a.Layout), Table: a.Table}
	for key, n := range a.Widths {
		if n != max(a.Layout.Shards, 1) {
			if p.Widths == nil {
				p.Widths = map[string]int{}
			}
			p.Widths[key] = n
		}
	}
	return p
}

// plainLayout returns a layout without what has no effect on where items are. It leaves a format that is not valid as it is.
func plainLayout(l layout.Layout) layout.Layout {
	if short, err := layout.ParseFormat(template(l.Format)); err == nil {
		l.Format = short
	}
	if l.Strategy == layout.Random {
		l.Hash = layout.XXHash
	}
	return l
}

// template returns how a format spells shards, without buckets.
func template(f layout.Format) string { return layout.Layout{Shards: 1, Format: f}.Template() }

// stored is an arrangement as a record has it.
type stored struct {
	Strategy layout.Strategy `json:"strategy"`
	Shards   int             `json:"shards"`
	Hash     layout.Hash     `json:"hash"`
	Format   string          `json:"format"`
	Widths   map[string]int  `json:"widths,omitempty"`
	Table    string          `json:"table,omitempty"`
}

// text returns the arrangement as it is stored: equal arrangements give equal texts. It is "" if the arrangement is not valid.
func (a Arrangement) text() string {
	a = a.plain()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	l := a.Layout
	if e.Encode(stored{l.Strategy, l.Shards, l.Hash, template(l.Format), a.Widths, a.Table}) != nil {
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
	a := Arrangement{layout.Layout{Shards: s.Shards, Strategy: s.Strategy, Hash: s.Hash, Format: format}, s.Widths, s.Table}
	if err := a.Validate(); err != nil {
		return Arrangement{}, err
	}
	if again := a.text(); again != text { // a field that is there twice, or more behind the first value
		return Arrangement{}, fmt.Errorf("%w: it is %s: want %s", ErrArrangement, quote.Text(text), quote.Text(again))
	}
	return a, nil
}
