package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// ttlYears is how long ago an item may have expired to be deleted still: a time
// further back is taken for something else than a time to live.
const ttlYears = 5

// DescribeTimeToLive tells which attribute, if any, ends items' lives.
func (e *Engine) DescribeTimeToLive(ctx context.Context, in *TableInput) (out *TimeToLive, err error) {
	state := ""
	err = e.view(ctx, in, func(t *table) {
		out = &TimeToLive{Status: "DISABLED"}
		if t.ttl != "" {
			out = &TimeToLive{Enabled: true, Status: "ENABLED", AttributeName: t.ttl}
		}
		if t.creating() {
			state = "CREATING"
		}
	})
	if isMissing(err) && e.buried(nameOf(*in.TableName)) != nil {
		state = "DELETING"
	}
	if state != "" {
		return nil, invalid("Cannot describe time to live while table is in %s state: Current table state is %s", state, state)
	}
	return out, err
}

// UpdateTimeToLive sets the attribute that ends items' lives, or unsets it. The
// change is done when it is answered, and may be undone at once: the service
// makes its clients wait for an hour.
func (e *Engine) UpdateTimeToLive(ctx context.Context, in *UpdateTimeToLiveInput) (*TimeToLive, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	ttl := ""
	if *in.Enabled {
		ttl = *in.AttributeName
	}
	err := e.change(ctx, nameOf(*in.TableName), func(t *table, b *store.Batch) error {
		switch {
		case t.ttl != "" && t.ttl != *in.AttributeName:
			return invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttl)
		case t.ttl != "" && *in.Enabled:
			return invalid("TimeToLive is already enabled")
		case t.ttl == "" && !*in.Enabled:
			return invalid("TimeToLive is already disabled")
		}
		t.record.TTL = ttl
		if *in.Enabled {
			return e.indexTTL(ctx, t, ttl)
		}
		b.DeleteRange(store.Index(t.record.ID, ttlIndex))
		return nil
	}, func(t *table) {
		t.ttl = ttl
		e.sweeper.wake(e)
	})
	if err != nil {
		return nil, err
	}
	return &TimeToLive{Enabled: *in.Enabled, AttributeName: *in.AttributeName}, nil
}

func (in *UpdateTimeToLiveInput) validate() error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	var c constraints
	if c.required("timeToLiveSpecification", in.HasSpec) {
		at := "timeToLiveSpecification.attributeName"
		c.required(at, in.AttributeName != nil)
		c.text(at, in.AttributeName, 1, 255, false)
		c.required("timeToLiveSpecification.enabled", in.Enabled != nil)
	}
	if err := c.err(); err != nil {
		return err
	}
	return in.check()
}

// ttlBatch is how many items are handled at once, by indexing and by sweeping.
const ttlBatch = 1000

// indexTTL fills the ttlIndex, unless ctx ends before. The caller holds the table
// for writing. What an attempt cut short left behind goes first.
func (e *Engine) indexTTL(ctx context.Context, t *table, attribute string) error {
	b := e.store.NewBatch()
	b.DeleteRange(store.Index(t.record.ID, ttlIndex))
	items, n := 0, 0
	err := each(e.store.View, store.Index(t.record.ID, store.BaseIndex), func(key, value []byte) error {
		if items++; items%ttlBatch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		it := attr.Item{{Name: attribute, Value: attr.Raw(value).Get(attribute)}}
		entry := t.ttlKey(attribute, it, key)
		if entry == nil {
			return nil
		}
		b.Set(entry, key)
		if n++; n%ttlBatch != 0 {
			return nil
		}
		err := b.Commit()
		b = e.store.NewBatch()
		return err
	})
	if err != nil {
		b.Discard()
	} else {
		err = b.Commit()
	}
	if err != nil {
		return fmt.Errorf("index the TTL of table %s: %w", t.name, err)
	}
	return nil
}

// number returns a time as a TTL attribute holds it.
func number(t time.Time) attr.Value {
	n, err := attr.ParseNumber(strconv.FormatInt(t.Unix(), 10))
	if err != nil {
		panic(err) // an integer is a number
	}
	return attr.Num(n)
}

// lifetimes returns the first and the last TTL that means an item is to be
// deleted now.
func lifetimes(now time.Time) (first, last attr.Value) {
	return number(now.AddDate(-ttlYears, 0, 0)), number(now)
}

// expired reports whether the item is to be deleted now. The caller holds the
// table.
func (t *table) expired(it attr.Item, now time.Time) bool {
	if t.ttl == "" {
		return false
	}
	first, last := lifetimes(now)
	at := it.Get(t.ttl)
	after, comparable := at.Compare(first)
	before, _ := at.Compare(last)
	return comparable && after >= 0 && before <= 0
}

// tooOld is the Unix second before which an expiry is not taken for one.
func tooOld(now time.Time) int64 { return now.AddDate(-ttlYears, 0, 0).Unix() }

// expiry returns the Unix second from which on an item with this TTL may be
// deleted: a fraction is rounded up, as the clock that it is compared with counts
// whole seconds.
func expiry(ttl attr.Value) int64 { return attr.Number(ttl.Str).Ceil() }

// sweepTable deletes a table's expired items. It returns when the first of those
// that are left expires, noExpiry if none does.
func (e *Engine) sweepTable(ctx context.Context, t *table, now time.Time) (due int64, err error) {
	var from []byte
	for {
		keys, next, err := e.expiredItems(ctx, t, from, now)
		if err != nil {
			return noExpiry, err
		}
		if err := e.expireItems(ctx, t, keys, now); err != nil {
			return noExpiry, err
		}
		if next == nil {
			return e.nextExpiry(ctx, t, now)
		}
		from = next
	}
}

// expiredItems returns the keys of some items that have expired, from an entry
// of the ttlIndex on, and the entry to go on with, nil if these were all.
func (e *Engine) expiredItems(ctx context.Context, t *table, from []byte, now time.Time) (keys [][]byte, next []byte, err error) {
	if err := t.lock.rlock(ctx); err != nil {
		return nil, nil, err
	}
	defer t.release()
	if t.ttl == "" || t.dropped != nil {
		return nil, nil, nil
	}
	r := t.expiries(now)
	r.Upper = store.After(attr.AppendKey(store.AppendIndex(nil, t.record.ID, ttlIndex), number(now)))
	if from != nil {
		r.Lower = from
	}
	it, err := e.store.Read(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		if len(keys) == ttlBatch {
			return keys, bytes.Clone(it.Key()), nil
		}
		keys = append(keys, bytes.Clone(it.Value()))
	}
	return keys, nil, nil
}

// expiries is the part of a table's ttlIndex whose items have expired or will.
func (t *table) expiries(now time.Time) store.Range {
	r := store.Index(t.record.ID, ttlIndex)
	first, _ := lifetimes(now)
	r.Lower = attr.AppendKey(r.Lower, first)
	return r
}

// nextExpiry returns when the first of a table's items expires, noExpiry if none
// does.
func (e *Engine) nextExpiry(ctx context.Context, t *table, now time.Time) (due int64, err error) {
	if err := t.lock.rlock(ctx); err != nil {
		return noExpiry, err
	}
	defer t.release()
	if t.ttl == "" || t.dropped != nil {
		return noExpiry, nil
	}
	it, err := e.store.Read(t.expiries(now))
	if err != nil {
		return noExpiry, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.First() {
		return noExpiry, nil
	}
	ttl, _, ok := attr.CutKey(store.Place(it.Key()), attr.N)
	if !ok {
		return noExpiry, fmt.Errorf("damaged TTL entry %x", it.Key())
	}
	return expiry(ttl), nil
}

func (e *Engine) expireItems(ctx context.Context, t *table, keys [][]byte, now time.Time) error {
	if len(keys) == 0 {
		return nil
	}
	if err := t.lock.rlock(ctx); err != nil {
		return err
	}
	defer t.release()
	if t.ttl == "" || t.dropped != nil {
		return nil
	}
	return e.expire(ctx, t, keys, now)
}
