package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// eitherWay reads a stretch from the log's own keys or, if the query says so or that fails or takes too many requests,
// what is left of it from the index.
func (c *core) eitherWay(ctx context.Context, s *stretch, own, listed func(context.Context) error) error {
	if s.Index {
		return listed(ctx)
	}
	if c.index == nil || c.reachesOlder(s) && !c.options.Index.Older {
		return own(ctx)
	}
	why := c.tooMany(ctx, s)
	if why == nil {
		var err error
		if why, err = c.tryOwn(ctx, own); why == nil {
			return err
		}
	}
	c.options.Logger.WarnContext(ctx, "reading the index instead of the shards",
		"log", s.Log, "table", c.options.Table, "index", c.options.Index.Name, "reason", why)
	if err := listed(ctx); err != nil {
		return errors.Join(why, err)
	}
	return nil
}

// tryOwn reads from the log's own keys, within what is allowed. It returns why the index is to be read instead, or how
// it went.
func (c *core) tryOwn(ctx context.Context, own func(context.Context) error) (why, err error) {
	allowed, end := allow(ctx, c.options.Index.MaxRequests)
	defer end()
	err = own(allowed)
	if err == nil || ctx.Err() != nil {
		return nil, err
	}
	if cause := context.Cause(allowed); errors.Is(cause, errTooMany) {
		return cause, nil
	}
	if errors.As(err, new(*heatsink.GatherError)) || errors.As(err, new(*heatsink.ShardError)) || errors.Is(err, heatsink.ErrTooManyRequests) {
		return err, nil
	}
	return nil, err
}

// tooMany returns errTooMany if a stretch takes more requests than are allowed, for certain: all shards of all buckets,
// or of the first one if there is a limit.
func (c *core) tooMany(ctx context.Context, s *stretch) error {
	most := c.options.Index.MaxRequests
	if most == 0 {
		return nil
	}
	q, ok := c.query(s, 0)
	if !ok {
		return nil
	}
	if b := c.options.Bucket; s.Limit > 0 && b != layout.NoBucket {
		if s.Newest {
			q.From = b.Start(q.To.Add(-1))
		} else {
			q.To = b.Next(q.From)
		}
	}
	plan, err := c.own(s).Plan(ctx, q)
	if err != nil || plan.Shards <= most { // the error will come again
		return nil
	}
	return errTooMany
}

// listing is an event that the index has returned.
type listing struct {
	key  string
	item heatsink.Item
}

// list reads what is left of a stretch from the index.
//
// The index sorts by time alone, so events of the same time come in any order: they are gathered and sorted by their
// sort keys in the table before they are returned. If a limit has cut them off, the index is asked for all events of
// that time.
func (c *core) list(ctx context.Context, s *stretch, visit visitor) error {
	lo, hi, ok := c.listed(s)
	for ok {
		limit := 0
		if s.Limit > 0 {
			if limit = s.left + 1; s.passed != "" {
				limit += fewTogether
			}
		}
		last, seen, err := c.listRange(ctx, s, heatsink.Between(lo, hi), limit, visit)
		if errors.Is(err, errEnough) || err == nil && (limit == 0 || seen < limit) {
			return nil
		}
		if err == nil {
			_, _, err = c.listRange(ctx, s, heatsink.Equal(last), 0, visit)
		}
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
		if s.Newest {
			hi = before(last)
		} else {
			lo = last + "\x00"
		}
		ok = lo <= hi
	}
	return nil
}

// fewTogether is how many events of the time at which reading goes on may have been returned before, as a guess.
const fewTogether = 4

var errEnough = errors.New("enough was read")

// listed returns the first and last sort key in the index that may be left to read, and false if there is none.
func (c *core) listed(s *stretch) (lo, hi string, ok bool) {
	stamps := c.stamps
	stamps.prefix = c.options.Index.Prefix
	from, to := s.from, s.to
	if at, _, err := c.stamps.parse(s.passed); err == nil && s.Newest {
		to = minTime(to, stamps.floor(at).Add(stamps.precision))
	} else if err == nil {
		from = maxTime(from, stamps.floor(at))
	}
	lo, hi = stamps.bound(from), before(stamps.bound(to))
	return lo, hi, lo <= hi
}

// listRange reads a range of the index and takes the events of all times in it but the last, which a limit may have cut
// off: unless there is none. It returns the index's sort key of the last, and how many events there were.
func (c *core) listRange(ctx context.Context, s *stretch, sort heatsink.Range, limit int, visit visitor) (
	last string, seen int, err error,
) {
	o := &c.options
	q := heatsink.Query{Key: o.Index.Key(s.Log), Sort: sort, Reverse: s.Newest, Limit: limit, MaxRequests: -1} // of one key
	var together []listing
	for item, err := range c.index.Query(ctx, q) {
		if err != nil {
			return "", 0, fmt.Errorf("read log %q: %w", s.Log, err)
		}
		at, err1 := text(item, o.Index.SortKey)
		key, err2 := text(item, o.SortKey)
		if err := errors.Join(err1, err2); err != nil {
			return "", 0, fmt.Errorf("read log %q: %w", s.Log, err)
		}
		if at != last && !s.takeAll(together, visit) {
			return last, seen, errEnough
		}
		if at != last {
			together = together[:0]
		}
		seen++
		last, together = at, append(together, listing{key, item})
	}
	if (limit == 0 || seen < limit) && !s.takeAll(together, visit) {
		err = errEnough
	}
	return last, seen, err
}

// takeAll takes the events of one time, in order, without those that have been returned, and returns false if one was
// the last.
func (s *stretch) takeAll(together []listing, visit visitor) bool {
	slices.SortFunc(together, func(a, b listing) int {
		if s.Newest {
			a, b = b, a
		}
		return strings.Compare(a.key, b.key)
	})
	for _, e := range together {
		passed := s.passed != "" && (e.key == s.passed || (e.key < s.passed) != s.Newest)
		if !passed && !s.take(e.key, e.item, visit) {
			return false
		}
	}
	return true
}
