package heatsink

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
)

// lookup is an item of a BatchGet: a get whose homes are read together with those of others.
type lookup struct {
	*getting
	wanted []*sought // the homes that were read so far, in their order
	item   Item      // nil if there is none
	err    error     // why there is none, or ErrTooNarrow
}

// batchGet is Collection.BatchGet. Equal keys are read once.
func batchGet[T any](ctx context.Context, c *core, likes []T) ([]T, error) {
	all := make([]*lookup, len(likes))
	for i, like := range likes {
		raw, err := encode(c, like)
		all[i] = c.finder.newLookup(ctx, raw, err)
	}
	if c.movable != nil {
		c.movable.lookUp(ctx, c.finder, all)
	} else {
		c.finder.lookUp(ctx, all)
	}
	items, errs := make([]T, len(likes)), make([]error, len(likes))
	for i, l := range all {
		errs[i] = l.err
		if l.item == nil {
			continue
		}
		item, err := decodeLike[T](c, l.like, l.item, l.err)
		if _, bad := errors.AsType[*DecodeError](err); !bad {
			items[i] = item
		}
		errs[i] = err
	}
	return items, batchError("BatchGet", errs)
}

// newLookup prepares to look an item up, unless there is an error already.
func (f *finder) newLookup(ctx context.Context, like Item, err error) *lookup {
	l := &lookup{err: err}
	if l.err == nil {
		l.getting, l.err = f.newGet(ctx, like, nil)
	}
	if l.err == nil && f.movable == nil {
		l.err = l.locate(ctx)
	}
	return l
}

// lookUp reads items as get does, many at a time: first the homes where they are likely to be, and then, of those that were
// not there, the others.
func (f *finder) lookUp(ctx context.Context, all []*lookup) {
	sound := slices.DeleteFunc(slices.Clone(all), func(l *lookup) bool { return l.err != nil })
	f.lookIn(ctx, sound, func(l *lookup) []place.Home { return l.homes[:l.likely()] })
	for _, l := range sound {
		more, err := l.rest.wait()
		if err != nil && l.err == ErrNotFound {
			l.err = err
		}
		l.homes = append(l.homes, more...)
	}
	absent := slices.DeleteFunc(sound, func(l *lookup) bool {
		return l.err != ErrNotFound || len(l.wanted) == len(l.homes)
	})
	f.lookIn(ctx, absent, func(l *lookup) []place.Home { return l.homes[len(l.wanted):] })
}

// lookIn reads some homes of each item, and chooses the copy that counts of all that were read.
func (f *finder) lookIn(ctx context.Context, all []*lookup, homes func(*lookup) []place.Home) {
	named := make(map[string]*sought, len(all))
	var wanted []*sought
	for _, l := range all {
		l.err = nil
		for _, home := range homes(l) {
			key := l.keyAt(home)
			name, ok := f.schema.KeyText(key)
			if !ok {
				l.err = errBadKey
				break
			}
			s := named[name]
			if s == nil {
				s = &sought{key: key, home: home, name: name}
				named[name] = s
				wanted = append(wanted, s)
			}
			s.uses++
			l.wanted = append(l.wanted, s)
		}
	}
	if len(wanted) == 0 {
		return
	}
	in := all[0].in // all are the same, but for the key
	requests := slices.Collect(slices.Chunk(wanted, maxBatchGet))
	inParallel(len(requests), func(i int) { f.fetchAll(ctx, requests[i], in) })
	for _, l := range all {
		if l.err == nil {
			l.take(ctx)
		}
	}
}

// take chooses the item of what was read. Its error is that of the first home that was not.
func (l *lookup) take(ctx context.Context) {
	copies := make([]Item, len(l.wanted))
	for i, s := range l.wanted {
		if s.err != nil {
			l.err = s.err
			return
		}
		copies[i] = s.item
		if s.uses > 1 {
			copies[i] = maps.Clone(s.item) // which nil is of nil
		}
	}
	l.item, l.err = l.choose(ctx, copies)
}

// fetchAll reads the keys of one request. Those that it cannot read have an error then. DynamoDB rejects a request for one bad
// key and does not say which: it is found out by halves.
func (f *finder) fetchAll(ctx context.Context, wanted []*sought, in *dynamodb.GetItemInput, bind ...func(*dynamodb.Options)) {
	unread, err := f.fetch(ctx, wanted, f.schema.KeyText, in, bind...)
	failed, ok := err.(*ShardError)
	switch {
	case !ok:
	case len(unread) > 1 && dispatch.Invalid(failed.Err):
		half := len(unread) / 2
		f.fetchAll(ctx, unread[:half], in, bind...)
		f.fetchAll(ctx, unread[half:], in, bind...)
	default:
		for _, s := range unread {
			own := *failed
			own.ShardKey, own.Shard = s.home.ShardKey, s.home.Shard
			s.err = &own
		}
	}
}
