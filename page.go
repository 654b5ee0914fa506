package heatsink

import (
	"context"
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// readPage is Collection.Page for raw items.
func readPage(ctx context.Context, c *core, q Query, token string) (Page[row], error) {
	if c.movable != nil {
		return pageTracked(ctx, c, q, token)
	}
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Page[row]{}, err
	}
	if q.Limit == 0 {
		return Page[row]{}, errNoLimit
	}
	var from *pagetoken.Position
	if token != "" {
		if from, err = positionOf(ctx, r, token); err != nil {
			return Page[row]{}, err
		}
	}
	g, err := r.gather(ctx, from)
	if err != nil {
		return Page[row]{}, err
	}
	defer g.Close()

	var page Page[row]
	var last positioned
	var older *pagetoken.Position
	if from != nil {
		older = from.Older
	}
	var short error // why the page has fewer items than its limit
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
		last = positioned{e, g.position(e)}
		if last.at.Ordinal.Layout() > 0 && !last.at.Bucket.IsZero() {
			at, err := last.position(c)
			if err != nil {
				return Page[row]{}, err
			}
			older = &pagetoken.Position{Ordinal: at.Ordinal, Sort: at.Sort, Table: at.Table}
		}
		last.at.Older = older
	}
	if last.at.Width == 0 {
		return page, g.missed(nil)
	}
	missed := g.missed(short)
	if missed == nil && (short != nil || len(page.Items)+g.skipped == q.Limit-1 && g.More()) {
		at, err := last.position(c)
		if err != nil {
			return Page[row]{}, err
		}
		page.Next = at.Token(fingerprintsOf(r), c.options.TokenKeys)
	}
	page.Items = append(page.Items, r.row(last.entry))
	return page, missed // without Next: one position cannot record how far each missing shard was read
}

// positioned is an entry with its position, but without its key in the table.
type positioned struct {
	entry
	at pagetoken.Position
}

// position returns the position, with the item's key in the table if this is an index. Call it before the entry becomes a
// row, because a row may lack that key.
func (p positioned) position(c *core) (pagetoken.Position, error) {
	var err error
	if c.schema.Index != "" {
		p.at.Table, err = sortkey.OfAll(c.schema.TableKey, p.Value.item)
	}
	return p.at, err
}

// positionOf returns the position that a token holds. Errors about the token wrap ErrToken.
func positionOf(ctx context.Context, r *reading, token string) (*pagetoken.Position, error) {
	p, err := pagetoken.Parse(token, fingerprintsOf(r), r.core.options.TokenKeys)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if err := checkPosition(ctx, r, p); err != nil {
		return nil, err
	}
	return &p, nil
}

// fingerprintsOf returns the fingerprints that bind tokens to a query.
func fingerprintsOf(r *reading) pagetoken.Fingerprints {
	q, s := &r.query, r.core.schema
	query := pagetoken.Query{
		Table: r.core.options.Table, Index: s.Index, PartitionKey: s.PartitionKey, SortKey: s.SortKey,
		ShardAttribute: s.ShardAttribute, Layout: s.Layout, FirstSuffix: s.FirstSuffix(), Older: s.Older,
		Key: q.Key, Filter: q.Filter, Projection: q.Projection, Reverse: q.Reverse, Expired: q.IncludeExpired,
		Interval: r.interval, Names: q.Names, Values: q.Values,
	}
	if r.core.movable != nil { // a token outlives every layout
		query.Layout, query.FirstSuffix = layout.Layout{}, ""
	}
	return query.Fingerprints()
}

// checkPosition refuses a position that cannot belong to the query, and one from a time when more shards were read.
func checkPosition(ctx context.Context, r *reading, p pagetoken.Position) error {
	o := &r.core.options
	bucketed := o.Layout.Bucket != layout.NoBucket
	unfit := fmt.Errorf("%w: it does not fit the collection's keys or buckets: begin with the first page", ErrToken)
	if bucketed == p.Bucket.IsZero() || p.Width < 1 || p.Older != nil && !bucketed {
		return unfit
	}
	if _, err := o.Layout.Bucket.Text(p.Bucket); err != nil || !o.Layout.Bucket.Start(p.Bucket).Equal(p.Bucket) {
		return unfit
	}
	if err := checkItem(r, p, p.Width); err != nil {
		return err
	}
	if p.Older != nil {
		if err := checkItem(r, *p.Older, 0); err != nil {
			return err
		}
	}
	// with buckets, the position of an item of an older layout is also the last older position
	if along := p.Ordinal.Layout() > 0; along && bucketed && (p.Older == nil || p.Older.Ordinal != p.Ordinal || p.Older.Sort != p.Sort) {
		return unfit
	}
	if r.core.ledgers != nil {
		return nil // the read compares it with the ledger
	}
	width, err := r.core.schema.Width(ctx, r.query.Key, p.Bucket)
	if err != nil {
		return err
	}
	if p.Width > width.Read {
		return fmt.Errorf("%w: %w: query %s key %q: it was issued when %d shards were read, but now only %d are: "+
			"raise Layout.Shards or Width.Read again", ErrToken, ErrTooNarrow, o.Table, r.query.Key, p.Width, width.Read)
	}
	return nil
}

// checkItem refuses a position at which the query cannot have an item, given the layout's number of shards.
func checkItem(r *reading, p pagetoken.Position, shards int) error {
	s := r.core.schema
	if n := p.Ordinal.Layout(); n > len(s.Older) {
		return fmt.Errorf("%w: it belongs to an older layout that the collection does not have: begin with the first page", ErrToken)
	} else if n > 0 {
		shards = max(s.Older[n-1].Shards, 1)
	}
	if p.Ordinal.Shard() >= shards {
		return fmt.Errorf("%w: it belongs to shard %d, but there are only %d shards: begin with the first page", ErrToken, p.Ordinal.Shard(), shards)
	}
	if (p.Sort.Kind == attr.Invalid) != (s.SortKey == "") || len(p.Table) != len(s.TableKey) {
		return fmt.Errorf("%w: it does not fit the collection's keys or buckets: begin with the first page", ErrToken)
	}
	if !r.interval.Has(p.Sort) {
		return fmt.Errorf("%w: its sort key is outside the query's Sort: begin with the first page", ErrToken)
	}
	return nil
}

var errNoLimit = fmt.Errorf("%w: Limit is 0, but a page needs a Limit", ErrQuery)
