package heatsink

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/layout"
)

// readPage is Collection.Page for raw items.
func readPage(ctx context.Context, c *core, q Query, token string) (Page[row], error) {
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Page[row]{}, err
	}
	if q.Limit == 0 {
		return Page[row]{}, errNoLimit
	}
	var from *position
	if token != "" {
		p, err := parseToken(token, fingerprintsOf(r), c.options.TokenKeys)
		if err != nil {
			return Page[row]{}, err
		}
		if err := p.check(ctx, r); err != nil {
			return Page[row]{}, err
		}
		from = &p
	}
	g, err := r.gather(ctx, from)
	if err != nil {
		return Page[row]{}, err
	}
	defer g.Close()

	var page Page[row]
	var last placed
	var older *position
	if from != nil {
		older = from.older
	}
	var short error // why the page has less than its limit
	for n := range q.Limit {
		e, ok, err := g.Next()
		if err != nil {
			err = g.explain(err)
			if n == 0 || !errors.Is(err, ErrTooManyRequests) {
				return Page[row]{}, err
			}
			short = err
			break
		}
		if !ok {
			break
		}
		if n > 0 {
			page.Items = append(page.Items, r.row(last.entry))
		}
		last = placed{e, g.position(e)}
		if last.at.source.layout() > 0 && !last.at.bucket.IsZero() {
			at, err := last.position(c)
			if err != nil {
				return Page[row]{}, err
			}
			older = &position{source: at.source, sort: at.sort, table: at.table}
		}
		last.at.older = older
	}
	if last.at.width == 0 {
		return page, g.missed(nil)
	}
	missed := g.missed(short)
	if missed == nil && (short != nil || len(page.Items) == q.Limit-1 && g.More()) {
		at, err := last.position(c)
		if err != nil {
			return Page[row]{}, err
		}
		page.Next = at.token(fingerprintsOf(r), c.options.TokenKeys)
	}
	page.Items = append(page.Items, r.row(last.entry))
	return page, missed // one position cannot say what missing shards owe: without Next
}

// placed is an entry and its place, without its key in the table.
type placed struct {
	entry
	at position
}

// position returns the place with the key in the table, if this is an index. It is to be asked before the entry is made a
// row, which may not have that key.
func (p placed) position(c *core) (position, error) {
	var err error
	if c.options.Index != "" {
		p.at.table, err = keyValues(c.options.TableKey, p.Value.item)
	}
	return p.at, err
}

// check refuses a position that cannot be one of a query's, and one of more shards than are read now.
func (p position) check(ctx context.Context, r *reading) error {
	o := &r.core.options
	bucketed := o.Layout.Bucket != layout.NoBucket
	unfit := fmt.Errorf("%w: it does not fit the collection", ErrToken)
	if bucketed == p.bucket.IsZero() || p.width < 1 || p.older != nil && !bucketed {
		return unfit
	}
	if _, err := o.Layout.Bucket.Text(p.bucket); err != nil || !o.Layout.Bucket.Start(p.bucket).Equal(p.bucket) {
		return unfit
	}
	if err := p.checkPlace(r, p.width); err != nil {
		return err
	}
	if p.older != nil {
		if err := p.older.checkPlace(r, 0); err != nil {
			return err
		}
	}
	// in buckets, an item of an older layout is itself the last of those
	if along := p.source.layout() > 0; along && bucketed && (p.older == nil || p.older.source != p.source || p.older.sort != p.sort) {
		return unfit
	}
	width, err := r.core.schema.Width(ctx, r.query.Key, p.bucket)
	if err != nil {
		return err
	}
	if p.width > width.Read {
		return fmt.Errorf("%w: %w: query %s key %q: it was issued when %d shards were read, and now %d are: "+
			"raise Layout.Shards or Width.Read again", ErrToken, ErrTooNarrow, o.Table, r.query.Key, p.width, width.Read)
	}
	return nil
}

// checkPlace refuses a place that no item of the query can have, where the layout has so many shards.
func (p position) checkPlace(r *reading, shards int) error {
	o := &r.core.options
	if n := p.source.layout(); n > len(o.Older) {
		return fmt.Errorf("%w: it is of an older layout that there is not", ErrToken)
	} else if n > 0 {
		shards = max(o.Older[n-1].Shards, 1)
	}
	if p.source.shard() >= shards {
		return fmt.Errorf("%w: it is of shard %d, but there are %d", ErrToken, p.source.shard(), shards)
	}
	if (p.sort.kind == attr.Invalid) != (o.SortKey == "") || len(p.table) != len(o.TableKey) {
		return fmt.Errorf("%w: it does not fit the collection", ErrToken)
	}
	if !r.interval.has(p.sort) {
		return fmt.Errorf("%w: it is of a sort key that is not in the query's Sort", ErrToken)
	}
	return nil
}

var errNoLimit = fmt.Errorf("%w: a page needs a Limit", ErrQuery)
