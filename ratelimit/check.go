package ratelimit

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/direct"
)

// check is a question under way: may at least need more go ahead, and want if possible?
//
// A shard that is not known to be used up is asked to count them. If it refuses, the others are looked at all at once,
// which is cheaper than to ask them one by one, and those that have room are asked. Only when none has any is the
// answer no.
//
// A shard that is throttled, or does not answer, is left for another, once. After a lost answer the update may have
// been applied, and is done again even if there is no other: what is counted twice is not let through twice.
type check struct {
	limiter    *Limiter
	key        string
	entry      *entry
	now        time.Time // when it began, which is the time it counts at
	need, want int
}

func (l *Limiter) newCheck(key string, need, want int) *check {
	return &check{limiter: l, key: key, entry: l.memory.of(key), now: time.Now(), need: need, want: want}
}

// run returns how many were counted, none unless the decision is yes.
func (c *check) run(ctx context.Context) (granted int, d Decision, err error) {
	l := c.limiter
	open := c.entry.open(l.shares, c.need, c.now)
	if len(open) > 0 {
		if err := l.outage.begin(time.Now()); err != nil {
			d, err := l.failed(ctx, err)
			return 0, d, err
		}
		granted, err = c.askAll(ctx, open)
		c.report(ctx, err)
	}
	if err != nil {
		d, err := l.failed(ctx, err)
		return 0, d, err
	}
	d = Decision{Allowed: granted > 0, Limit: l.limit(), Remaining: c.entry.remaining(l.shares, c.now)}
	if !d.Allowed {
		d.RetryAfter = c.entry.retryAfter(l.shares, c.need, c.now)
	}
	return granted, d, nil
}

// askAll asks shards until one has room. The error says that some could not answer, and no other has room.
func (c *check) askAll(ctx context.Context, open []int) (granted int, err error) {
	l := c.limiter
	l.dice.shuffle(open)
	var trouble error
	looked := false
	for len(open) > 0 {
		items := l.once
		if trouble != nil || len(open) == 1 {
			items = l.insisting
		}
		shard := open[0]
		open = open[1:]
		granted, err := c.ask(ctx, items, shard)
		switch {
		case granted > 0:
			return granted, nil
		case err == nil && len(open) > 1 && !looked:
			looked = true
			open = c.withRoom(ctx, open)
		case err == nil:
		case trouble != nil || ctx.Err() != nil || len(open) == 0 && !unanswered(err):
			return 0, err
		default:
			trouble = err
			open = append(open, shard)
		}
	}
	return 0, nil
}

// maxSteps is how often one shard's item may turn out to be another than was thought. Each time somebody else got
// something done; three times happen in practice.
const maxSteps = 10

// ask asks a shard to count. It returns 0 if it has no room.
func (c *check) ask(ctx context.Context, items *direct.Table, shard int) (granted int, err error) {
	l := c.limiter
	q := &question{
		now: c.now, n: min(c.want, l.shares[shard]), share: l.shares[shard], hint: c.entry.hint(shard),
		ttl: c.now.Add(l.keep + time.Second - 1).Unix(),
	}
	key := l.itemKey(c.key, shard, c.now)
	for range maxSteps {
		e := l.algorithm.count(q)
		counted, err := items.Update(ctx, key, e.repeatable, func(in *dynamodb.UpdateItemInput) {
			e.apply(in, l.options.TTL, q.ttl)
		})
		if err == nil {
			_, _ = c.see(shard, counted, q.hint) // of no consequence: it is counted
			return q.n, nil
		}
		item, refused := refusal(err)
		if !refused {
			return 0, err
		}
		room, err := c.see(shard, item, q.hint)
		if err != nil || room < c.need {
			return 0, err
		}
		q.known, q.seen, q.n = true, item, min(c.want, room)
	}
	return 0, errContended
}

// see remembers what an item showed, and returns the room it has.
func (c *check) see(shard int, item heatsink.Item, hint int64) (room int, err error) {
	l := c.limiter
	room, err = l.algorithm.room(item, l.shares[shard], c.now)
	if err != nil {
		return 0, err
	}
	c.entry.note(shard, room, l.algorithm.lapse(c.now), max(hint, l.algorithm.hint(item)))
	if room < l.shares[shard] {
		// What exceeds the room need not be asked for. For what is needed now, it shall be known how long not.
		c.refuse(shard, item, room+1)
	}
	if room < c.need {
		c.refuse(shard, item, c.need)
	}
	return room, nil
}

func (c *check) refuse(shard int, item heatsink.Item, n int) {
	l := c.limiter
	c.entry.refuse(shard, n, l.algorithm.free(item, l.shares[shard], n, c.now), c.now, l.options.Remember)
}

// withRoom looks at shards and returns those that have room, or could not be looked at. A look that is not quite up to
// date shows more room than there is, never less: what is gone from an item comes back only by time, which is now's.
func (c *check) withRoom(ctx context.Context, shards []int) []int {
	l := c.limiter
	var open []int
	for i, seen := range l.look(ctx, l.once, c.key, c.now, shards, false) {
		room, err := 0, seen.err
		if err == nil {
			room, err = c.see(shards[i], seen.item, c.entry.hint(shards[i]))
		}
		if err != nil || room >= c.need {
			open = append(open, shards[i])
		}
	}
	return open
}

// report tells the outage whether DynamoDB answers. What a caller broke off itself says nothing.
func (c *check) report(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	timedOut := errors.Is(cause, errTimeout)
	switch {
	case err != nil && cause != nil && !timedOut:
	case err != nil && (timedOut || unanswered(err)):
		c.limiter.outage.unanswered(time.Now(), err)
	default:
		c.limiter.outage.answered()
	}
}
