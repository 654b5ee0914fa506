package charter

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// remedy ends errors of Compare: the way to go on if the charter is what has to change.
const remedy = `to keep this process's layout instead, deploy it to all processes, with the old layout in Older if items are stored under it; ` +
	`then rewrite the charter with Ledgers.Rewrite or "heatsink ledger charter --from FILE --force", once no process with the old layout runs`

// Advice about differences that mostly mean two collections with one name.
const otherCollection = "use the same name in all processes; if these are two collections, give each a name of its own"

// Compare returns nil if a process with the charter mine may use the collection whose stored charter is the other. Else the
// error wraps ErrIncompatible. It lists every difference, and what to do about each.
//
// Settings that have no effect may differ: the hash of a Random layout, the event time without buckets, the format of keys
// that are stored as they are. By and At may differ as well.
//
// The layouts of two charters of a movable collection may differ: package passage has the record that decides. A process whose items may
// move agrees with others that do not know of moves, as long as the charter is theirs: a rollout begins like this. Nothing moves before
// the charter is rewritten.
//
// This process may read more Older layouts than the stored charter lists, because nobody writes to them: it misses nothing,
// and a rollout that adds one begins like this. It must not read fewer, or it would miss items. They must have the same
// order, because Get returns the copy of the first layout that has the item.
func Compare(mine, stored Charter) error {
	c := comparison{mine: mine, stored: stored}
	c.movable()
	if stored.Movable { // its items are where another record says
		c.same("ShardBy", fmt.Sprintf("%q", mine.ShardBy), fmt.Sprintf("%q", stored.ShardBy), "an item would have another shard")
	} else {
		c.widths()
		c.layouts()
	}
	c.older()
	c.attributes()
	if c.differences == nil {
		return nil
	}
	if !c.stored.Moved || c.mine.Movable { // else nobody may rewrite it
		c.differences = append(c.differences, errors.New(remedy))
	}
	return fmt.Errorf("%w that %s wrote at %s: %w", ErrIncompatible, quote.Text(cmp.Or(stored.By, "somebody")),
		time.UnixMilli(stored.At).UTC().Format(time.RFC3339), errors.Join(c.differences...))
}

// comparison collects differences.
type comparison struct {
	mine, stored Charter
	differences  []error
}

// differ says that a field is not the same, and what to do.
func (c *comparison) differ(field, mine, stored, advice string) {
	c.differences = append(c.differences, fmt.Errorf("%s is %s in this process and %s in the charter: %s", field, mine, stored, advice))
}

// same compares a field of Options, both values as errors show them. why says what a difference leads to.
func (c *comparison) same(field, mine, stored, why string) {
	if mine != stored {
		c.differ(field, mine, stored, fmt.Sprintf("%s; set it to %s in this process", why, stored))
	}
}

// named compares the name of an attribute, an index or a table.
func (c *comparison) named(field, mine, stored, advice string) {
	if mine != stored {
		c.differ(field, quote.Text(mine), quote.Text(stored), advice)
	}
}

// movable compares whether items may move.
func (c *comparison) movable() {
	if c.stored.Movable && !c.mine.Movable {
		c.differ("Movable", "off", "on", "a process without it does not know where items have moved to, and would lose writes; turn it on in this process")
	}
}

func (c *comparison) widths() {
	mine, stored := c.mine.widths(), c.stored.widths()
	if mine == stored {
		if c.mine.Movable == c.stored.Movable && !slices.Equal(c.mine.Needs, c.stored.Needs) {
			c.differ("what a process needs to know", fmt.Sprintf("%q", c.mine.Needs), fmt.Sprintf("%q", c.stored.Needs), "use the same version of heatsink in all processes")
		}
		return
	}
	c.differ("the number of shards", mine, stored, c.widthsAdvice())
}

func (c *comparison) widthsAdvice() string {
	switch mine, stored := c.mine.Widths, c.stored.Widths; {
	case mine == Fixed && stored == Fixed:
		return fmt.Sprintf("a process with fewer shards misses items, and a calculated shard is another one; set Layout.Shards to %d in this process", c.stored.Layout.Shards)
	case stored == Adaptive:
		return "a process that does not read the ledgers misses items of keys that have grown; turn on Adaptive in this process"
	case mine == Adaptive && stored == Fixed:
		return "processes without Adaptive do not read the shards that keys grow to; turn on Adaptive in all processes, and list the fixed layout in Older"
	case mine == Adaptive:
		return "processes without Adaptive do not read the shards that keys grow to; turn on Adaptive in all processes, and list every layout in Older that Widths stood for"
	case mine == Fixed:
		return "a process without Widths misses items of keys that are wider than its layout; set Widths in this process as in the others"
	}
	return fmt.Sprintf("a process without Widths misses items of keys that are wider than its layout; leave out Widths in this process, and set Layout.Shards to %d", c.stored.Layout.Shards)
}

// layouts compares how keys become shard keys. What has no effect on either side does not matter.
func (c *comparison) layouts() {
	mine, stored := c.mine.Layout, c.stored.Layout
	if several(&c.mine) || several(&c.stored) {
		c.same("Layout.Strategy", mine.Strategy.String(), stored.Strategy.String(), "items would be stored in shards in which others do not look for them")
		if mine.Strategy == layout.Calculated || stored.Strategy == layout.Calculated {
			c.same("Layout.Hash", mine.Hash.String(), stored.Hash.String(), "an item would have another shard")
			c.same("ShardBy", fmt.Sprintf("%q", c.mine.ShardBy), fmt.Sprintf("%q", c.stored.ShardBy), "an item would have another shard, also if only the order differs")
		}
	}
	c.same("Layout.Bucket", mine.Bucket.String(), stored.Bucket.String(), "an item would have another key")
	timed := mine.Bucket != layout.NoBucket || stored.Bucket != layout.NoBucket
	if timed {
		c.same("EventTime.Attribute", quote.Text(c.mine.EventTime.Attribute), quote.Text(c.stored.EventTime.Attribute), "an item would have another bucket")
		c.same("EventTime.Unit", quote.Text(c.mine.EventTime.Unit), quote.Text(c.stored.EventTime.Unit), "an item would have another bucket")
	}
	if c.mine.Index.ShardAttribute != "" && c.stored.Index.ShardAttribute != "" {
		return // keys are stored as they are
	}
	sharded := spread(&c.mine) || spread(&c.stored)
	hourly := mine.Bucket == layout.Hour || stored.Bucket == layout.Hour
	c.same("Layout.Format", quote.Text(template(mine.Format, timed, hourly, sharded)), quote.Text(template(stored.Format, timed, hourly, sharded)), "an item would have another key")
	if sharded && (c.mine.Widths == Adaptive) == (c.stored.Widths == Adaptive) { // Adaptive implies it
		c.same("Layout.Format.BareZero", fmt.Sprint(mine.Format.BareZero), fmt.Sprint(stored.Format.BareZero), "shard 0 would have another key")
	}
}

// several reports whether a key may have more than one shard.
func several(c *Charter) bool { return c.Widths != Fixed || c.Layout.Shards > 1 }

// spread reports whether shard keys have a number.
func spread(c *Charter) bool { return c.Widths != Fixed || c.Layout.Shards > 0 }

// template returns the parts of a format that matter, without BareZero.
func template(f layout.Format, timed, hourly, sharded bool) string {
	l := layout.Layout{Format: f}
	l.Format.BareZero = false
	if timed {
		l.Bucket = layout.Day
	}
	if !hourly {
		l.Format.HourMark = ""
	}
	if sharded {
		l.Shards = 1
	}
	return l.Template()
}

func (c *comparison) older() {
	const field = "Older"
	before := len(c.differences)
	for _, l := range c.stored.Older {
		if !slices.Contains(c.mine.Older, l) {
			c.differences = append(c.differences, fmt.Errorf("%s has the layout %s in the charter but not in this process: "+
				"items that are stored under it would be missed; add it in this process", field, quote.Text(layoutText(l))))
		}
	}
	if len(c.differences) > before {
		return
	}
	shared := slices.DeleteFunc(slices.Clone(c.mine.Older), func(l layout.Layout) bool { return !slices.Contains(c.stored.Older, l) })
	if mine, stored := olderTexts(shared), olderTexts(c.stored.Older); !slices.Equal(mine, stored) {
		c.same(field, listText(mine), listText(stored), "Get returns the copy of the first layout that has the item, so the order must be the same")
	}
}

// olderTexts returns the text of each layout, where it is listed first.
func olderTexts(layouts []layout.Layout) (texts []string) {
	for _, l := range layouts {
		if text := layoutText(l); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

func (c *comparison) attributes() {
	mine, stored := &c.mine, &c.stored
	c.named("Table", mine.Table, stored.Table, otherCollection)
	c.named("PartitionKey", mine.PartitionKey, stored.PartitionKey, otherCollection)
	c.named("SortKey", mine.SortKey, stored.SortKey, otherCollection)
	c.named("Index.Name", mine.Index.Name, stored.Index.Name, otherCollection)
	c.named("Index.PartitionKey", mine.Index.PartitionKey, stored.Index.PartitionKey, otherCollection)
	c.named("Index.SortKey", mine.Index.SortKey, stored.Index.SortKey, otherCollection)
	c.named("Index.ShardAttribute", mine.Index.ShardAttribute, stored.Index.ShardAttribute, "an item would have another key in the index; name the same attribute in all processes")
	c.named("Version", mine.VersionAttribute, stored.VersionAttribute,
		"a process that does not know the attribute takes the tombstone of a deleted item for an item; name the same attribute in all processes")
}
