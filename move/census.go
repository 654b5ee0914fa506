package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
)

// The kinds of findings of movable collections.
const (
	kindRefused  = "refused"  // the new layout takes no such key, or DynamoDB no such change
	kindOccupied = "occupied" // an item lies where another one is to move to
	kindMarks    = "marks"    // marks that the record does not explain
	kindStranded = "stranded" // in a home that nobody reads
	kindDoubled  = "doubled"  // in both homes, or one of two items of a list with one sort key
	kindLost     = "lost"     // the content is only where nobody reads it
	kindLeftover = "leftover" // a mark of a move that has ended
)

// census looks at all items before a move begins, with strong consistency. It refuses the move if an item could not be moved, or would
// be taken for another one.
type census struct {
	*trip
	now, both *atlas
	all       bool             // all keys move, so that other collections must not have any
	counts    map[string]int64 // under work.mu
}

// census returns an error if the move must not begin.
func (t *trip) census(ctx context.Context, v *passage.View, to *passage.Arrangement) error {
	o := &t.options.Collection
	c := t.newCensus(v.Record.Now, to)
	if c.all {
		if err := t.rivals(ctx, v.Record.Now.Table, to.Table); err != nil {
			return err
		}
	}
	if err := t.admitTimes(to); err != nil {
		return err
	}
	source, err := t.newSource(v.Record.Now, to, false)
	if err != nil {
		return err
	}
	p := &pass{work: t.work, segments: source.segments(), mode: scanStrong, keys: []string{o.PartitionKey, o.SortKey}, fetch: source.page, handle: c.take}
	if err := p.run(ctx); err != nil {
		return err
	}
	return c.verdict()
}

func (t *trip) newCensus(now passage.Arrangement, to *passage.Arrangement) *census {
	o := &t.options.Collection
	return &census{
		trip: t, all: newScope(o.PartitionKey, now, *to) == nil, counts: map[string]int64{},
		now: newAtlas(o.PartitionKey, o.SortKey, now, nil), both: newAtlas(o.PartitionKey, o.SortKey, now, to),
	}
}

func (c *census) take(ctx context.Context, in string, items []place.Item) error {
	if err := c.rivalsAmong(ctx, in, items); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, item := range items {
		c.report.Scanned++
		kind, at, why := c.judge(in, item)
		switch {
		case at.spot == atControl:
			continue
		case kind == "" && at.spot == atUnknown:
			c.report.Unexplained++
			continue
		}
		c.report.Listed++
		if kind == "" {
			c.report.Right++
			continue
		}
		c.counts[kind]++
		c.report.find(c.finding(kind, at, item, why))
		c.report.tell(kind)
	}
	return nil
}

// rivalsAmong refuses a move of all keys if there is the charter of another collection among some items.
func (c *census) rivalsAmong(ctx context.Context, in string, items []place.Item) error {
	if !c.all {
		return nil
	}
	for _, item := range items {
		if err := c.rivalIn(ctx, in, item); err != nil {
			return err
		}
	}
	return nil
}

// judge returns what stands in the way of a move, "" if the item does not.
func (c *census) judge(in string, item place.Item) (kind string, at located, why string) {
	slot, odd := c.byID.table.Slot(item)
	now, both := c.now.locate(in, item), c.both.locate(in, item)
	switch {
	case now.spot == atControl:
		return "", now, ""
	case odd != nil:
		return kindMarks, now, odd.Error()
	case now.spot == atBoth && slot.State != forward.Live:
		return kindMarks, now, fmt.Sprintf("it is %v, although nothing moves: delete it, or see what Verify says", slot.State)
	case now.spot == atBoth && both.key != now.key:
		return kindRefused, now, fmt.Sprintf("%v; choose another Format for To", c.both.takes(now.key))
	case now.spot == atBoth && both.spot == atUnknown:
		return kindRefused, now, both.why + ": " + timeless
	case now.spot == astray:
		return misplaced.String(), now, now.why + ": " + now.remedy
	case now.spot == atUnknown && (both.spot == atNew || both.spot == astray) && in != c.now.now.Table:
		return kindOccupied, both, fmt.Sprintf("it lies in table %s, where an item of key %s may move to, but is not one of the collection: delete it, or choose another table or another Format",
			c.name(in), quote.Text(both.key))
	case now.spot == atUnknown && (both.spot == atNew || both.spot == astray):
		return kindOccupied, both, fmt.Sprintf("it lies in a shard of key %s in the new layout, but is not one of the collection: choose another Format for To, or delete it", quote.Text(both.key))
	}
	return "", now, ""
}

// timeless is what to do about an item whose sort key has no time, where there are buckets.
const timeless = "the new layout has no bucket for it; put it again with a sort key that begins with its time, and delete this one with the SDK, or move without buckets"

// finding describes an item.
func (m *byID) finding(kind string, at located, item place.Item, why string) Finding {
	o := &m.mover.options.Collection
	f := Finding{Kind: kind, Key: o.SortKey + " " + attribute.DescribeKey(item, o.SortKey), Why: why, Want: at.new}
	if v, ok := item[o.PartitionKey].(*types.AttributeValueMemberS); ok {
		f.Stored = v.Value
	}
	if at.in != "" {
		f.Table = m.name(at.in)
	}
	return f
}

// verdict returns an error with examples if something stands in the way.
func (c *census) verdict() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for _, kind := range []string{kindRefused, kindOccupied, misplaced.String(), kindMarks} {
		n := c.counts[kind]
		if n == 0 {
			continue
		}
		text := figure.Count(n, "item")
		if i := slices.IndexFunc(c.report.Findings, func(f Finding) bool { return f.Kind == kind }); i >= 0 {
			f := c.report.Findings[i]
			text += fmt.Sprintf(", such as the one with %s, stored as %s: %s", f.Key, quote.Text(f.Stored), f.Why)
		}
		parts = append(parts, text)
	}
	switch {
	case len(parts) == 0:
		return nil
	case c.counts[kindRefused]+c.counts[kindOccupied] > 0:
		return fmt.Errorf("%w: the move has not begun, because of %s", ErrUnsupported, strings.Join(parts, "; and "))
	}
	return fmt.Errorf("%w: the move has not begun, because of %s", ErrDamage, strings.Join(parts, "; and "))
}
