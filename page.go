package heatsink

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// query is Collection.Query.
func (c *core) query(ctx context.Context, q Query) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		r, err := c.prepare(ctx, q)
		if err != nil {
			yield(row{}, err)
			return
		}
		if q.Limit == 0 {
			if err := r.checkRequests(ctx); err != nil {
				yield(row{}, err)
				return
			}
		}
		g, err := r.gather(ctx, nil)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer g.close()
		for {
			e, _, err := g.next()
			if errors.Is(err, errEnd) {
				break
			}
			if err != nil {
				yield(row{}, err)
				return
			}
			if !yield(r.row(e), nil) {
				return
			}
		}
		if err := g.missed(nil); err != nil {
			yield(row{}, err)
		}
	}
}

// page is Collection.Page.
func (c *core) page(ctx context.Context, q Query, token string) (Page[row], error) {
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Page[row]{}, err
	}
	if q.Limit == 0 {
		return Page[row]{}, errNoLimit
	}
	var from *position
	if token != "" {
		p, err := parseToken(token, r.fingerprint, c.options.TokenKeys)
		if err != nil {
			return Page[row]{}, err
		}
		if err := r.checkPosition(ctx, p); err != nil {
			return Page[row]{}, err
		}
		from = &p
	}
	g, err := r.gather(ctx, from)
	if err != nil {
		return Page[row]{}, err
	}
	defer g.close()

	var page Page[row]
	var last found
	var older *position
	if from != nil {
		older = from.older
	}
	var short error // why the page has less than its limit
	for n := range q.Limit {
		e, cu, err := g.next()
		if errors.Is(err, errEnd) {
			break
		}
		if errors.Is(err, ErrTooManyRequests) && n > 0 {
			short = err
			break
		}
		if err != nil {
			return Page[row]{}, err
		}
		if n > 0 {
			page.Items = append(page.Items, r.row(last.entry))
		}
		last = found{e, g.position(e, cu)}
		if cu.stage == nil && !last.at.bucket.IsZero() {
			at, err := r.place(last)
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
	if len(g.missing) == 0 && (short != nil || len(page.Items) == q.Limit-1 && g.more()) {
		at, err := r.place(last)
		if err != nil {
			return Page[row]{}, err
		}
		page.Next = at.token(r.fingerprint, c.options.TokenKeys)
	}
	page.Items = append(page.Items, r.row(last.entry))
	return page, g.missed(short) // one position cannot say what missing shards owe: without Next
}

// found is an entry and its place, which is not complete: see place.
type found struct {
	entry
	at position
}

// missed returns the error of a partial read, with the reason why it ended early if there is one; nil if it is not partial.
func (g *gather) missed(short error) error {
	if len(g.missing) == 0 {
		return nil
	}
	if short != nil {
		return errors.Join(g.failure(), short)
	}
	return g.failure()
}

// position returns the place of the entry that was returned last, without its key in the table.
func (g *gather) position(e entry, cu *cursor) position {
	return position{bucket: g.bucket(), width: len(g.opened[0].cursors), source: cu.source, sort: e.sort}
}

// place returns the place of an entry with its key in the table, if this is an index. It is to be asked before the entry is
// made a row, which may not have that key.
func (r *reading) place(f found) (position, error) {
	o := &r.core.options
	var err error
	if o.Index != "" {
		f.at.table, err = keyValues(o.TableKey, f.item)
	}
	return f.at, err
}

// checkPosition refuses a position that cannot be one of this query's, and one of more shards than are read now.
func (r *reading) checkPosition(ctx context.Context, p position) error {
	o := &r.core.options
	bucketed := o.Layout.Bucket != NoBucket
	unfit := fmt.Errorf("%w: it does not fit the collection", ErrToken)
	if bucketed == p.bucket.IsZero() || p.width < 1 || p.older != nil && !bucketed {
		return unfit
	}
	if _, err := o.Layout.Bucket.Text(p.bucket); err != nil || !o.Layout.Bucket.Start(p.bucket).Equal(p.bucket) {
		return unfit
	}
	if err := r.checkPlace(p, p.width); err != nil {
		return err
	}
	if p.older != nil {
		if err := r.checkPlace(*p.older, 0); err != nil {
			return err
		}
	}
	// in buckets, an item of an older layout is itself the last of those
	if along := p.source.layout() > 0; along && bucketed && (p.older == nil || p.older.source != p.source || p.older.sort != p.sort) {
		return unfit
	}
	width, err := r.core.width(ctx, r.query.Key, p.bucket)
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
func (r *reading) checkPlace(p position, shards int) error {
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
