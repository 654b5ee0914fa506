package charter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// Version is the newest schema of a charter that this package understands, and the one that it writes.
const Version = 1

// NeedLedger is the need of collections whose keys have ledgers: a process that ignores them misses shards.
const NeedLedger = "ledger"

// NeedMove is the need of movable collections: their items are where another record says, and carry marks while they move. A process
// that ignores it loses writes.
const NeedMove = "move"

// NeedMoved is the need of movable collections whose items have moved once, or are about to. A process that does not find the record of
// where they are must not make one: it was lost.
const NeedMoved = "moved"

// known are the needs that this version of heatsink fulfils.
var known = []string{NeedLedger, NeedMove, NeedMoved}

// The errors that wrap these say what was given, what is wrong with it and what to do.
var (
	// ErrCharter is wrapped when a charter contradicts itself, or is not one.
	ErrCharter = errors.New("invalid charter")
	// ErrNewer is wrapped when a charter needs a newer version of heatsink.
	ErrNewer = ledger.ErrNewer
	// ErrIncompatible is wrapped when a process has another layout than the charter.
	ErrIncompatible = errors.New("layout differs from the charter")
)

// Widths is who decides how many shards a key has.
type Widths uint8

// Who decides. The zero value is Fixed.
const (
	Fixed     Widths = iota // all keys have Layout.Shards
	Adaptive                // each key has a ledger
	ByProgram               // Options.Widths
)

var widthsNames = [...]string{"fixed", "adaptive", "by the program"}

// String returns the name, as in a charter.
func (w Widths) String() string {
	if int(w) < len(widthsNames) {
		return widthsNames[w]
	}
	return fmt.Sprintf("Widths(%d)", uint8(w))
}

// The units of an event time.
const (
	RFC3339          = "rfc3339"
	UnixSeconds      = "unix seconds"
	UnixMilliseconds = "unix milliseconds"
)

var units = []string{RFC3339, UnixSeconds, UnixMilliseconds}

// Charter is what all processes of a collection must agree on. Its fields are those of heatsink.Options with the same
// names. Create one with New or Parse.
type Charter struct {
	// Needs are the features that a process must know, sorted. New sets them.
	Needs []string

	// Widths is who decides how many shards a key has. Layout.Shards is 0 unless it is Fixed.
	Widths Widths

	// Layout maps keys to shard keys. In a movable collection it is one that processes may be configured with: package passage has the one
	// that items are under.
	Layout layout.Layout

	// Movable says that the items may move to another layout while they are used. It is stored as a need.
	Movable bool

	// Moved says that a movable collection has a record of where its items are, which must be found. It is stored as a need, and no part
	// of the layout: Compare does not look at it.
	Moved bool

	// Older are the layouts that are read as well.
	Older []layout.Layout

	// ShardBy names the attributes that a Calculated layout hashes, in order. Empty in New: the sort key, or the table's
	// key if there is an index.
	ShardBy []string

	// EventTime is what determines an item's bucket. It is zero without buckets.
	EventTime EventTime

	// Table is the name or the ARN of the table that has the items, if the charter is in a table of its own. A charter
	// beside its items leaves it empty, so that a backup can be restored under another name.
	Table string

	// PartitionKey and SortKey name the table's key attributes. SortKey is empty if there is none.
	PartitionKey, SortKey string

	// Index is the index that lists the items, zero if there is none.
	Index Index

	// VersionAttribute is Options.Version: the attribute with an item's version, empty if there is none.
	VersionAttribute string

	// By and At tell people who wrote the charter, and when by that process's clock, in milliseconds since 1970. No
	// decision depends on them.
	By string
	At int64

	// Frozen keeps all keys of the collection from growing, in all processes. It is no part of the layout: Compare does not
	// look at it.
	Frozen Freeze
}

// EventTime names the attribute with an item's time. Unit is RFC3339, UnixSeconds or UnixMilliseconds.
type EventTime struct{ Attribute, Unit string }

// Index is the index that lists a collection's items. ShardAttribute is empty unless the index has one for the shard.
type Index struct{ Name, PartitionKey, SortKey, ShardAttribute string }

// New returns the charter with its defaults, and without what has no effect. Equal layouts thereby become equal charters.
// The error wraps ErrCharter and tells everything that is wrong.
func New(c Charter) (Charter, error) {
	c.Needs = nil
	if c.Widths == Adaptive {
		c.Needs = append(c.Needs, NeedLedger)
	}
	if c.Movable {
		c.Needs = append(c.Needs, NeedMove)
	}
	if c.Moved {
		c.Needs = append(c.Needs, NeedMoved)
	}
	if c.Widths != Fixed {
		c.Layout.Shards = 0
	}
	c.Layout.Format = shortened(c.Layout.Format)
	older := c.Older
	c.Older = nil
	for _, l := range older {
		c.Older = append(c.Older, plain(l))
	}
	c.ShardBy = c.shardBy()
	if c.Layout.Bucket == layout.NoBucket {
		c.EventTime = EventTime{}
	}
	c.Table = tableName(c.Table)
	c.By = ledger.Audit(c.By)
	c.Frozen = c.Frozen.plain()
	return c, c.Validate()
}

// shardBy returns the attributes that determine the shard, by the rule of package place. There are none without a sort key.
func (c *Charter) shardBy() []string {
	switch {
	case len(c.ShardBy) > 0:
		return slices.Clone(c.ShardBy)
	case c.SortKey != "" && c.Index.Name != "":
		return []string{c.PartitionKey, c.SortKey}
	case c.Index.Name != "":
		return []string{c.PartitionKey}
	case c.SortKey != "":
		return []string{c.SortKey}
	}
	return nil
}

// Validate reports everything that is wrong with a charter. The error wraps ErrCharter.
func (c Charter) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	c.checkNeeds(fault)
	c.checkLayouts(fault)
	c.checkNames(fault)
	for _, a := range []struct{ name, text string }{{"By", c.By}, {"Frozen.By", c.Frozen.By}, {"Frozen.Why", c.Frozen.Why}} {
		if len(a.text) > ledger.MaxAudit || !utf8.ValidString(a.text) {
			fault("%s is %s: want valid UTF-8 of at most %d bytes", a.name, quote.Text(a.text), ledger.MaxAudit)
		}
	}
	if !c.Frozen.On && c.Frozen != (Freeze{}) {
		fault("Frozen is off, but it says why, by whom or when: want all or none")
	}
	if faults != nil {
		return fmt.Errorf("%w: %w", ErrCharter, errors.Join(faults...))
	}
	return nil
}

func (c *Charter) checkNeeds(fault func(format string, args ...any)) {
	for i, need := range c.Needs {
		if !slices.Contains(known, need) {
			fault("unknown need %s", quote.Text(need))
		}
		if i > 0 && c.Needs[i-1] >= need {
			fault("the needs are %q: want each once, sorted", c.Needs)
		}
	}
	if c.Widths == Adaptive && !slices.Contains(c.Needs, NeedLedger) {
		fault("the widths are adaptive, but the needs are %q: want %q among them", c.Needs, NeedLedger)
	}
	if c.Movable != slices.Contains(c.Needs, NeedMove) {
		fault("whether the collection is movable is %v, but the needs are %q: want %q among them if it is", c.Movable, c.Needs, NeedMove)
	}
	if c.Moved != slices.Contains(c.Needs, NeedMoved) || c.Moved && !c.Movable {
		fault("whether items have moved is %v, but the needs are %q: want %q and %q among them if they have", c.Moved, c.Needs, NeedMove, NeedMoved)
	}
	if c.Movable && (c.Widths != Fixed || c.Older != nil) {
		fault("the collection is movable, but its widths are %s and it has %d older layouts: want fixed widths and none", c.Widths, len(c.Older))
	}
	if c.Movable && c.Layout.Bucket != layout.NoBucket && c.EventTime.Attribute != c.SortKey {
		fault("the collection is movable and has buckets by %s, but its event time is %s: want the sort key, %s, because items are found by that alone",
			c.Layout.Bucket, quote.Text(c.EventTime.Attribute), quote.Text(c.SortKey))
	}
}

func (c *Charter) checkLayouts(fault func(format string, args ...any)) {
	if err := c.Layout.Validate(); err != nil {
		fault("%w", err)
	}
	switch {
	case int(c.Widths) >= len(widthsNames):
		fault("the widths are %s: want fixed, adaptive or by the program", c.Widths)
	case c.Widths != Fixed && c.Layout.Shards != 0:
		fault("the widths are %s, but there are %d fixed shards: want one of the two", c.Widths, c.Layout.Shards)
	}
	for i, l := range c.Older {
		if err := l.Validate(); err != nil {
			fault("Older[%d]: %w", i, err)
		} else if l.Bucket != layout.NoBucket {
			fault("Older[%d] has buckets by %s: an older layout cannot have them", i, l.Bucket)
		}
	}
	timed := c.Layout.Bucket != layout.NoBucket
	switch {
	case timed && (c.EventTime.Attribute == "" || !slices.Contains(units, c.EventTime.Unit)):
		fault("buckets by %s need an event time, but it is the attribute %s in %s: want a name, and one of %q",
			c.Layout.Bucket, quote.Text(c.EventTime.Attribute), quote.Text(c.EventTime.Unit), units)
	case !timed && c.EventTime != (EventTime{}):
		fault("there is an event time, %s, but no bucket: want both or none", quote.Text(c.EventTime.Attribute))
	}
}

func (c *Charter) checkNames(fault func(format string, args ...any)) {
	switch c.PartitionKey {
	case "":
		fault("PartitionKey is empty: name the partition key of the table")
	case c.SortKey:
		fault("PartitionKey and SortKey are both %s: name the two key attributes of the table", quote.Text(c.SortKey))
	}
	switch {
	case c.Index.Name == "" && c.Index != (Index{}):
		fault("the index has attributes, but no name: want both or none")
	case c.Index.Name != "" && c.Index.PartitionKey == "":
		fault("Index.PartitionKey is empty: name the partition key of index %s", quote.Text(c.Index.Name))
	}
	for i, name := range c.ShardBy {
		if name == "" || slices.Contains(c.ShardBy[:i], name) {
			fault("ShardBy is %q: want names that are not empty and differ from each other", c.ShardBy)
		}
	}
	for _, name := range slices.Concat(c.ShardBy, []string{
		c.EventTime.Attribute, c.Table, c.PartitionKey, c.SortKey, c.VersionAttribute,
		c.Index.Name, c.Index.PartitionKey, c.Index.SortKey, c.Index.ShardAttribute,
	}) {
		if !utf8.ValidString(name) { // DynamoDB would store another text
			fault("the name %s is not valid UTF-8", quote.Text(name))
		}
	}
}

// widths returns who decides how many shards a key has, as a charter stores it: "fixed 16", for example.
func (c *Charter) widths() string {
	if c.Widths == Fixed {
		return fmt.Sprintf("fixed %d", c.Layout.Shards)
	}
	return c.Widths.String()
}

// plain returns an older layout without what has no effect on where items are. Older layouts have no buckets, so those are
// left for Validate to find.
func plain(l layout.Layout) layout.Layout {
	switch {
	case l.Shards == 0 && l.Bucket == layout.NoBucket:
		return layout.Layout{}
	case l.Strategy == layout.Random:
		l.Hash = layout.XXHash
	}
	l.Format = shortened(l.Format)
	l.Format.BucketPrefix, l.Format.HourMark = "", ""
	return l
}

// shortened returns a format without prefixes that are the default. It leaves one that is not valid as it is.
func shortened(f layout.Format) layout.Format {
	if short, err := layout.ParseFormat(f.String()); err == nil {
		return short
	}
	return f
}

// tableName returns the name of a table that is given by its name or its ARN, because processes may use either.
func tableName(table string) string {
	if !strings.HasPrefix(table, "arn:") {
		return table
	}
	if _, name, ok := strings.Cut(table, ":table/"); ok {
		return name
	}
	return table
}
