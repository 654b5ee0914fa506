package heatsink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// query is Collection.Query.
func (c *core) query(ctx context.Context, q Query) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		r, err := c.prepare(ctx, q)
		if err != nil {
			yield(row{}, err)
			return
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
		if len(g.missing) > 0 {
			yield(row{}, g.failure())
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
		p, err := parseToken(token, r.fingerprint, c.options.TokenKey)
		if err != nil {
			return Page[row]{}, err
		}
		if err := r.checkPosition(p); err != nil {
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
	var older *position
	if from != nil {
		older = from.older
	}
	for len(page.Items) < q.Limit {
		e, cu, err := g.next()
		if errors.Is(err, errEnd) {
			break
		}
		if err != nil {
			return Page[row]{}, err
		}
		last := len(page.Items) == q.Limit-1 && g.more() && len(g.missing) == 0
		along := cu.stage == nil && !g.bucket().IsZero()
		if last || along {
			p, err := r.position(g.bucket(), e, cu)
			if err != nil {
				return Page[row]{}, err
			}
			if along {
				older = &position{source: p.source, sort: p.sort, table: p.table}
			}
			if p.older = older; last {
				page.Next = p.token(r.fingerprint, c.options.TokenKey)
			}
		}
		page.Items = append(page.Items, r.row(e))
	}
	if len(g.missing) > 0 {
		page.Next = "" // one position cannot say what is owed
		return page, g.failure()
	}
	return page, nil
}

// position returns the place of an entry that the query is to go on behind.
func (r *reading) position(bucket time.Time, e entry, cu *cursor) (position, error) {
	p := position{bucket: bucket, source: cu.source, sort: e.sort}
	var err error
	if r.core.options.Index != "" {
		p.table, err = keyValues(r.core.options.TableKey, e.item)
	}
	return p, err
}

// checkPosition refuses a position that cannot be one of this query's.
func (r *reading) checkPosition(p position) error {
	o := r.core.options
	bucketed := o.Layout.Bucket != NoBucket
	if bucketed == p.bucket.IsZero() || (p.sort.kind == 0) != (o.SortKey == "") || len(p.table) != len(o.TableKey) || p.older != nil && !bucketed {
		return fmt.Errorf("%w: it does not fit the collection", ErrToken)
	}
	if p.older != nil && ((p.older.sort.kind == 0) != (o.SortKey == "") || len(p.older.table) != len(o.TableKey)) {
		return fmt.Errorf("%w: it does not fit the collection", ErrToken)
	}
	return nil
}

var errNoLimit = fmt.Errorf("%w: a page needs a Limit", ErrQuery)
