package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Events returns the events of q in order of time and id, or in reverse order with q.Newest. Nothing is sent before the
// loop starts, and each loop reads again. An error is the last pair. Leaving the loop cancels running requests and
// waits for them.
func (l *Log[T]) Events(ctx context.Context, q Query) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		s, err := l.core.stretch(q, time.Now())
		if err == nil {
			err = read(ctx, l.core, s, func(e Event[T]) bool { return yield(e, nil) })
		}
		if err != nil {
			var none Event[T]
			yield(none, err)
		}
	}
}

// Newest returns the n newest events of a log, the newest first. It reads little more than n events, from as many
// buckets as needed, back to Options.Begin or the start of the Retention. If the log has fewer events, or none because
// its name is misspelt, that takes one request for each shard of every bucket. After 10,000 requests the error is
// heatsink.ErrTooManyRequests, and Newest returns the events found so far.
func (l *Log[T]) Newest(ctx context.Context, log string, n int) ([]Event[T], error) {
	if n < 1 {
		return nil, fmt.Errorf("%w: log %q: n is %d, want at least 1", ErrQuery, log, n)
	}
	events, _, err := l.collect(ctx, Query{Log: log, Newest: true, Limit: n}, "")
	if err != nil && !errors.Is(err, heatsink.ErrTooManyRequests) {
		return nil, err
	}
	return events, err
}

// Page is a part of the events of a Query.
type Page[T any] struct {
	Events []Event[T]

	// Next is the token of the next page, empty after the last page. The next page may be empty.
	Next string
}

// Page returns q.Limit events after the page whose Next is token, or the first ones if token is empty. All pages
// together are what Events returns, whatever the page sizes, even if the log grows in between. From and To may change
// from page to page; Log and Newest must not. If a page would take more than q.MaxRequests, it is shorter than its
// Limit, or an error if it has no event.
func (l *Log[T]) Page(ctx context.Context, q Query, token string) (Page[T], error) {
	if q.Limit < 1 {
		return Page[T]{}, fmt.Errorf("%w: log %q: a page needs a Limit", ErrQuery, q.Log)
	}
	c, kind := l.core, pageForwards
	if q.Newest {
		kind = pageBackwards
	}
	passed := ""
	if token != "" {
		p, err := c.parsePosition(token, kind, q.Log)
		if err != nil {
			return Page[T]{}, err
		}
		passed = p.key
	}
	events, last, err := l.collect(ctx, q, passed)
	short := errors.Is(err, heatsink.ErrTooManyRequests) && len(events) > 0
	if err != nil && !short {
		return Page[T]{}, err
	}
	page := Page[T]{Events: events}
	if short || len(events) == q.Limit {
		page.Next = c.token(position{kind: kind, key: last, returned: true}, q.Log)
	}
	return page, nil
}

// collect reads the events of a query, behind the one whose sort key is passed, and returns the last one's sort key; also
// beside an error, as far as it got.
func (l *Log[T]) collect(ctx context.Context, q Query, passed string) (events []Event[T], last string, err error) {
	s, err := l.core.stretch(q, time.Now())
	if err != nil {
		return nil, "", err
	}
	s.passed = passed
	err = read(ctx, l.core, s, func(e Event[T]) bool { events = append(events, e); return true })
	return events, s.passed, err
}

// read reads a stretch and visits its events until visit returns false.
func read[T any](ctx context.Context, c *core, s *stretch, visit func(Event[T]) bool) error {
	var bad error
	err := c.read(ctx, s, func(key string, item heatsink.Item) bool {
		event, err := decode[T](c, s.Log, key, item)
		if err != nil {
			bad = err
			return false
		}
		return visit(event)
	})
	if bad != nil {
		return bad
	}
	return err
}

// visitor is shown items with their sort keys, and returns false if it has seen enough.
type visitor func(key string, item heatsink.Item) bool

// read reads a stretch of a log from its shards, or what is left of it from the index if that cannot be.
func (c *core) read(ctx context.Context, s *stretch, visit visitor) error {
	return c.eitherWay(ctx, s,
		func(ctx context.Context) error { return c.gather(ctx, s, visit) },
		func(ctx context.Context) error { return c.list(ctx, s, visit) })
}

// gather reads what is left of a stretch from the log's own keys.
//
// An event that was stored in two shards, because the log grew between two appends of it, is returned once: the two
// follow each other, as they have the same sort key. So a limit may take several rounds, and each of them must ask for
// more than can be copies of what was returned last.
func (c *core) gather(ctx context.Context, s *stretch, visit visitor) error {
	for copies := 1; ; copies *= 2 {
		limit := 0
		if s.Limit > 0 {
			if limit = s.left; s.passed != "" {
				limit += copies
			}
		}
		q, ok := c.query(s, limit)
		if !ok {
			return nil
		}
		seen := 0
		for item, err := range c.own(s).Query(ctx, q) {
			if bad, ok := errors.AsType[*heatsink.DecodeError](err); ok { // an older layout's, whose time cannot be read
				item, err = bad.Item, nil // it goes by its sort key, and decode says what is wrong with it
			}
			if err != nil {
				return fmt.Errorf("read log %q: %w", s.Log, err)
			}
			seen++
			key, err := text(item, c.options.SortKey)
			if err != nil {
				return fmt.Errorf("read log %q: %w", s.Log, err)
			}
			if key != s.passed && !s.take(key, item, visit) {
				return nil
			}
		}
		if limit == 0 || seen < limit {
			return nil
		}
	}
}

// take hands an item on, and returns false if that was the last.
func (s *stretch) take(key string, item heatsink.Item, visit visitor) bool {
	s.passed = key
	s.left--
	return visit(key, item) && (s.Limit == 0 || s.left > 0)
}

// text returns an attribute that is a string.
func text(item heatsink.Item, name string) (string, error) {
	value, ok := item[name].(*types.AttributeValueMemberS)
	if !ok {
		return "", fmt.Errorf("attribute %q is a %T, want a string", name, item[name])
	}
	return value.Value, nil
}
