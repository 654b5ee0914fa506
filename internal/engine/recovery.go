package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/store"
)

// recovery is the point-in-time recovery of a table: while it is on, every change
// stores what the item was before, in the same batch. So the table as it was is the
// table as it is, with the changes since then undone, the latest first.
type recovery struct {
	Since uint64 // when it was turned on, in nanoseconds since 1970
	Days  int64  // how far back it goes
}

const mostDays = 35 // that point-in-time recovery goes back

// earliest is the first time that can be restored.
func (r *recovery) earliest(now time.Time) time.Time {
	since := time.Unix(0, int64(r.Since)).UTC()
	if begin := now.Add(-time.Duration(r.Days) * 24 * time.Hour); begin.After(since) {
		return begin.UTC()
	}
	return since
}

// chronicle gives changes their place in history. Its time never goes back, whatever
// the clock does, and neither do its sequence numbers.
type chronicle struct {
	mu           sync.Mutex
	at, sequence uint64
}

// take returns the time of a change of n items, and the first of their numbers.
func (c *chronicle) take(now time.Time, n int) (at, first uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = max(c.at, uint64(now.UnixNano()))
	first = c.sequence + 1
	c.sequence += uint64(n)
	return c.at, first
}

// latest is the time of a change that would happen now.
func (c *chronicle) latest(now time.Time) time.Time {
	at, _ := c.take(now, 0)
	return time.Unix(0, int64(at)).UTC()
}

// restorable is from when to when a table can be restored. Both are rounded up to the
// milliseconds that an answer has. So the first is not before there is history, and the
// last has every change: many may share an instant, after the clock was set back.
func (e *Engine) restorable(r *recovery, now time.Time) (earliest, latest time.Time) {
	return roundUp(r.earliest(now)), roundUp(e.chronicle.latest(now))
}

// roundUp returns the first whole millisecond that is not before t.
func roundUp(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t
}

// loadHistory lets the chronicle go on where it was.
func (e *Engine) loadHistory() error {
	for _, t := range e.tables {
		if t.record.Recovery == nil {
			continue
		}
		e.chronicle.at = max(e.chronicle.at, t.record.Recovery.Since)
		it, err := e.store.Read(store.History(t.record.ID, 0, maxSequence))
		if err != nil {
			return err
		}
		if it.Last() {
			at, sequence := store.HistoryTime(it.Key())
			e.chronicle.at, e.chronicle.sequence = max(e.chronicle.at, at), max(e.chronicle.sequence, sequence)
		}
		if err := it.Close(); err != nil {
			return err
		}
	}
	return nil
}

// remember puts what items were before into the batch that changes them, for tables
// with point-in-time recovery. The caller holds the items: an item's changes are in
// history in the order in which they happen.
func (e *Engine) remember(b *store.Batch, writes []*write) {
	n := 0
	for _, w := range writes {
		if w.table.record.Recovery != nil && w.changes() {
			n++
		}
	}
	if n == 0 {
		return
	}
	at, sequence := e.chronicle.take(time.Now(), n)
	for _, w := range writes {
		if w.table.record.Recovery != nil && w.changes() {
			b.Set(store.HistoryKey(w.table.record.ID, at, sequence), pastItem(store.Place(w.key), w.before))
			sequence++
		}
	}
}

// pastItem is an entry of history: where an item was, and what.
func pastItem(place []byte, before attr.Raw) []byte {
	value := binary.AppendUvarint(make([]byte, 0, len(place)+len(before)+2), uint64(len(place)))
	return append(append(value, place...), before...)
}

// cutPastItem returns what pastItem was given; before is nil if there was no item.
func cutPastItem(value []byte) (place []byte, before attr.Raw, err error) {
	length, n := binary.Uvarint(value)
	if n <= 0 || uint64(len(value)-n) < length {
		return nil, nil, errors.New("an entry of history is damaged")
	}
	place, rest := value[n:n+int(length)], value[n+int(length):]
	if len(rest) > 0 {
		before = rest
	}
	return place, before, nil
}

// sweepHistory removes the history that is too old. It returns when to look again,
// the zero time if the table has none.
func (e *Engine) sweepHistory(ctx context.Context, t *table, now time.Time) (next time.Time, err error) {
	defer e.survive(&err)
	has, found, err := e.hasOldHistory(ctx, t, now)
	if err != nil || !has {
		return next, err
	}
	next = now.Add(trimInterval)
	if !found {
		return next, nil
	}
	if err := e.lockAdmin(ctx); err != nil { // as all who change tables do, see tableLock
		return next, err
	}
	defer e.admin.unlock()
	if err := t.lock.lock(ctx); err != nil {
		return next, fmt.Errorf("table %s: %w", t.name, err)
	}
	defer t.lock.unlock()
	if t.dropped != nil || t.record.Recovery == nil {
		return next, nil
	}
	// The record says from when on there is history: a clock that is set back does not bring it back.
	before, earliest := t.record, uint64(t.record.Recovery.earliest(now).UnixNano())
	t.record = before.copy()
	t.record.Recovery.Since = earliest
	b := e.store.NewBatch()
	b.DeleteRange(store.History(t.record.ID, 0, earliest))
	if err = t.save(b); err == nil {
		b.Upkeep() // it frees space
		err = b.Commit()
	} else {
		b.Discard()
	}
	if err != nil {
		t.record = before
	}
	return next, err
}

// hasOldHistory says whether a table has point-in-time recovery, and history that is too old.
func (e *Engine) hasOldHistory(ctx context.Context, t *table, now time.Time) (has, found bool, err error) {
	if err := t.lock.rlock(ctx); err != nil {
		return false, false, fmt.Errorf("table %s: %w", t.name, err)
	}
	defer t.release()
	r := t.record.Recovery
	if t.dropped != nil || r == nil {
		return false, false, nil
	}
	it, err := e.store.Read(store.History(t.record.ID, 0, uint64(r.earliest(now).UnixNano())))
	if err != nil {
		return true, false, err
	}
	found = it.First()
	return true, found, it.Close()
}

// ContinuousBackups is the answer of DescribeContinuousBackups and of
// UpdateContinuousBackups.
type ContinuousBackups struct {
	Enabled          bool // point-in-time recovery
	Days             int64
	Earliest, Latest time.Time
}

// UpdateContinuousBackupsInput is the request of UpdateContinuousBackups.
type UpdateContinuousBackupsInput struct {
	Request
	TableName *string
	HasSpec   bool
	Enabled   *bool
	Days      *int64
}

// DescribeContinuousBackups tells from when to when a table can be restored.
func (e *Engine) DescribeContinuousBackups(ctx context.Context, in *TableInput) (*ContinuousBackups, error) {
	if err := checkTableName(in.TableName); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	t, err := e.backedTable(ctx, nameOf(*in.TableName))
	if err != nil {
		return nil, err
	}
	defer t.release()
	return e.continuous(t), nil
}

// continuous describes a table's point-in-time recovery. The caller holds the table.
func (e *Engine) continuous(t *table) *ContinuousBackups {
	r := t.record.Recovery
	if r == nil {
		return &ContinuousBackups{}
	}
	earliest, latest := e.restorable(r, time.Now())
	return &ContinuousBackups{Enabled: true, Days: r.Days, Earliest: earliest, Latest: latest}
}

// UpdateContinuousBackups turns a table's point-in-time recovery on or off, at once.
// Turning it off removes the history.
func (e *Engine) UpdateContinuousBackups(ctx context.Context, in *UpdateContinuousBackupsInput) (out *ContinuousBackups, err error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	name := nameOf(*in.TableName)
	err = e.changeFor(ctx, name, !*in.Enabled, func(t *table, b *store.Batch) error {
		r := &t.record
		switch {
		case !*in.Enabled:
			if e.restoring(func(of *restoring) bool { return of.Table == r.ID }) != nil {
				return invalid("Point in time recovery of table %s cannot be disabled while a table is being restored from it", name)
			}
			r.Recovery = nil
			b.DeleteRange(store.History(r.ID, 0, maxSequence))
		case r.Recovery == nil:
			at, _ := e.chronicle.take(time.Now(), 0)
			r.Recovery = &recovery{Since: at, Days: mostDays}
		}
		if in.Days != nil {
			r.Recovery.Days = *in.Days
		}
		return nil
	}, func(t *table) {
		out = e.continuous(t)
		e.sweeper.wake(e)
	})
	return out, missingBacked(err, name)
}

func (in *UpdateContinuousBackupsInput) validate() error {
	if err := checkTableName(in.TableName); err != nil {
		return err
	}
	var c constraints
	if c.required("pointInTimeRecoverySpecification", in.HasSpec) {
		at := "pointInTimeRecoverySpecification."
		c.required(at+"pointInTimeRecoveryEnabled", in.Enabled != nil)
		c.atLeast(at+"recoveryPeriodInDays", in.Days, 1)
		c.atMost(at+"recoveryPeriodInDays", in.Days, mostDays)
	}
	if err := c.err(); err != nil {
		return err
	}
	if in.Days != nil && !*in.Enabled {
		return invalidRequest("Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.")
	}
	return in.check()
}
