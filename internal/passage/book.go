package passage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

const (
	// renewAfter is the age from which one of those who use a view reads the record again.
	renewAfter = lease.Term * 3 / 4
	// retryAfter is how long nobody tries to renew a view again after that has failed.
	retryAfter = 5 * time.Second
	// jitter is more than what the clock of signatures jumps by itself. The SDK corrects it by the time that each answer carries, which has
	// whole seconds.
	jitter = 5 * time.Second
)

// recordKey is the key of the record. Control adds the collection.
var recordKey = layout.ControlKey{Role: layout.RolePassage}

// Options are what a Book is made with.
type Options struct {
	Control *adapt.Control
	// Table is the table that the process is configured with, by its name or its ARN. Default: that of Control.
	Table string
	// Follow returns the control items of another table, for a process whose table has items of a collection that has its record there.
	// Nil: such a process is refused.
	Follow func(table string) *adapt.Control
	// Own is what the process is configured with. Its layout must be one that the record has. The first process of a collection stores
	// it as the place where items are.
	Own Arrangement
	// Moved reports whether items have moved already. Then a record that is not there was lost, and none is made. Nil: they have not.
	Moved func() bool
	// Logger takes what is not worth an error. Nil: nothing is logged.
	Logger *slog.Logger
}

// Book is what a process knows of the record of its collection. It is safe for concurrent use. Nothing runs in the background: what is
// due is sent beside an operation of the caller.
type Book struct {
	control *adapt.Control
	table   string // that the process is configured with
	follow  func(table string) *adapt.Control
	other   *adapt.Control // of the table that was followed last, under turn
	own     Arrangement
	moved   func() bool
	logger  *slog.Logger
	by      string // who this process is; no other book has the same

	view     atomic.Pointer[View] // nil: there is none that may be used
	renewing sync.Mutex           // held by the one who renews a view that still lasts

	sent   atomic.Int64  // how many reads were begun
	landed atomic.Int64  // the number of the last read that others may share
	turn   chan struct{} // has an element while somebody reads
	last   answer        // of the read with the number landed, under turn

	changing chan struct{} // has an element while somebody changes the record
	changes  atomic.Int64  // how many changes were begun

	mu   sync.Mutex
	seen *View // the newest that was read; a later one must not be older
}

// answer is what a read of the record came to.
type answer struct {
	view  *View
	stamp time.Time // of its signature
	err   error
}

// View is what a process may rely on, as long as its lease lasts. It does not change.
type View struct {
	Record Record

	table string // that has the record, as requests name it
	lease lease.Lease
	stamp time.Time // the signature of the request that has shown the record
	began time.Time // when that was sent, by this machine's clock

	retry atomic.Int64 // the age, in nanoseconds, before which nobody tries again to renew it
}

// Table returns the table of an arrangement of the record, as requests name it.
func (v *View) Table(a *Arrangement) string { return Sibling(v.table, a.Table) }

// Lease returns how long requests may be signed that are built on the view.
func (v *View) Lease() lease.Lease { return v.lease }

// Waited reports whether no request that was built on an earlier stage can arrive any more. stamp is a signature of the one who asks:
// see Book.Stamp. Advance agrees from then on.
func (v *View) Waited(stamp time.Time) bool { return v.Record.Waited(stamp.Add(-2 * jitter)) }

// age is how long ago the view was read. This clock may differ from that of signatures, and may stop while the machine sleeps: the
// lease decides.
func (v *View) age() time.Duration { return time.Since(v.began) }

// now returns the time by the clock of signatures, as far as the view knows, or a little earlier. It is what a request carries, so it must
// not be after the signature. See lease.Near.
func (v *View) now() time.Time {
	return v.stamp.Add(wall(time.Now()).Sub(wall(v.began)) - jitter).Truncate(time.Second)
}

// wall returns a time without the reading of a clock that stops while the machine sleeps.
func wall(t time.Time) time.Time { return t.Round(0) }

// books counts the books of this process. Two of them must not store equal records in the same moment, because each would take the
// other's for its own.
var books atomic.Int64

// NewBook returns a book that knows nothing. It sends nothing.
func NewBook(o Options) *Book {
	host, _ := os.Hostname() // "" is as good a name as any
	b := &Book{
		control: o.Control, table: cmp.Or(o.Table, o.Control.Table), follow: o.Follow, own: o.Own, moved: o.Moved, logger: o.Logger, by: fmt.Sprintf("%.60s/%d/%d", host, os.Getpid(), books.Add(1)),
		turn: make(chan struct{}, 1), changing: make(chan struct{}, 1),
	}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	return b
}

// View returns what the process may rely on now. That is mostly known already. Otherwise it costs a strong read of 1 RCU, which all who
// wait share. The first one of a collection stores the record.
//
// The error wraps adapt.ErrLedger if the record cannot be read, is damaged or was lost. It wraps charter.ErrIncompatible if this process
// is configured with a layout that the record does not have, or with a table that the items have left. It wraps ledger.ErrNewer if the record needs a newer version of heatsink, and
// lease.ErrUnsigned if the client does not sign.
func (b *Book) View(ctx context.Context) (*View, error) {
	v := b.view.Load()
	if v == nil {
		return b.await(ctx)
	}
	switch age := v.age(); {
	case age < renewAfter:
		return v, nil
	case age < lease.Term:
		return b.renew(ctx, v, age)
	}
	return b.await(ctx)
}

// Renew returns a newer view than the one that an operation has found to be out of date, by a mark in an item or by its lease. It
// sends a strong read, or shares one that is sent after the call, unless a later generation is known already. The view has the same
// record if that has not changed. Errors are those of View.
func (b *Book) Renew(ctx context.Context, seen *View) (*View, error) {
	if v := b.view.Load(); v != nil && seen != nil && v.Record.Generation > seen.Record.Generation && v.age() < renewAfter {
		return v, nil
	}
	a := b.read(ctx, b.sent.Load())
	return a.view, a.err
}

// Stamp returns the time of a signature that is made after the call, for Waited. It costs a strong read.
func (b *Book) Stamp(ctx context.Context) (time.Time, error) {
	a := b.read(ctx, b.sent.Load())
	return a.stamp, a.err
}

// renew reads the record again while a view still lasts. One caller does, and the others go on with what they have.
func (b *Book) renew(ctx context.Context, v *View, age time.Duration) (*View, error) {
	if int64(age) < v.retry.Load() || !b.renewing.TryLock() {
		return v, nil
	}
	defer b.renewing.Unlock()
	if newer := b.view.Load(); newer != nil && newer != v {
		return newer, nil
	}
	bounded, cancel := context.WithTimeout(ctx, lease.Term-age)
	defer cancel()
	a := b.read(bounded, b.landed.Load())
	switch {
	case a.err == nil:
		return a.view, nil
	case b.view.Load() == nil: // the record refuses this process
		return nil, a.err
	case v.age() >= lease.Term:
		return b.await(ctx)
	}
	b.logger.DebugContext(ctx, "the record of a movable collection cannot be read again yet", "table", b.control.Table, "collection", b.control.Collection, "error", a.err)
	v.retry.Store(int64(v.age() + retryAfter))
	return v, nil
}

// await returns a view that lasts. All who wait for one share what the first of them reads.
func (b *Book) await(ctx context.Context) (*View, error) {
	a := b.read(ctx, b.landed.Load())
	return a.view, a.err
}

// read reads the record, or shares the answer of a read with a number above known. One read is under way at a time.
func (b *Book) read(ctx context.Context, known int64) answer {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	}
	defer func() { <-b.turn }()
	if b.landed.Load() > known && (b.last.err != nil || b.last.view.age() < renewAfter) {
		return b.last
	}
	n := b.sent.Add(1)
	a, refused := b.fetch(ctx)
	if refused { // nobody goes on with what is known
		b.view.Store(nil)
	}
	if a.err != nil && ctx.Err() != nil {
		return a // others are not to suffer from this context
	}
	b.last = a
	b.landed.Store(n)
	return a
}

// fetch reads the record with a request of its own, and stores the first one if there is none. refused says that the record, or the
// client, is the reason of the error, and not a request.
func (b *Book) fetch(ctx context.Context) (a answer, refused bool) {
	if err := b.own.Validate(); err != nil {
		return answer{err: b.errorf("the layout of this process: %w", err)}, true
	}
	for range readTimes {
		seen, began := b.newest(), time.Now()
		var stamp lease.Stamp
		values, stored, err := b.control.Read(ctx, recordKey, stamp.Note)
		signed, unsigned := stamp.Time()
		switch {
		case errors.Is(err, lease.ErrUnsigned), err == nil && unsigned != nil:
			return answer{err: b.errorf("a movable collection needs a client that signs its requests and passes on their options, "+
				"such as one of dynamodb.NewFromConfig with credentials: %w", lease.ErrUnsigned)}, true
		case err != nil && errors.Is(err, ledger.ErrRecord): // its attributes cannot be of a record
			return answer{err: b.errorf("%w: %w", adapt.ErrLedger, err)}, true
		case err != nil:
			return answer{err: b.unusable(ctx, "read", err)}, false
		case !stored && seen != nil:
			return answer{err: b.errorf("%w: %w: the record is gone, and it had generation %d: restore it from a backup of the same time as the items",
				adapt.ErrLedger, ledger.ErrLost, seen.Record.Generation)}, true
		case !stored && b.moved != nil && b.moved():
			return answer{err: b.errorf("%w: %w: there is no record of where items are, although the charter says that they have moved: "+
				"restore it from a backup of the same time as the items", adapt.ErrLedger, ledger.ErrLost)}, true
		case stored:
			v := &View{table: b.table, stamp: signed, began: began}
			v.lease, _ = lease.New(&stamp) // it was signed
			again := false
			if again, refused, err = b.seat(ctx, v, values, seen); err == nil {
				return answer{view: b.install(v), stamp: signed}, false
			}
			if !again {
				return answer{err: err}, refused
			}
			a.err = err
			continue
		}
		if err := b.create(ctx, signed, began); err != nil {
			return answer{err: b.unusable(ctx, "written", err)}, false
		}
	}
	if a.err != nil { // it goes to and fro
		return a, true
	}
	return answer{err: b.errorf("%w: the record is gone as soon as it is stored: find out who deletes control items", adapt.ErrLedger)}, false
}

// create stores the first record. Somebody else may be faster.
func (b *Book) create(ctx context.Context, signed, began time.Time) error {
	clock := &View{stamp: signed, began: began}
	_, err := b.control.Create(ctx, recordKey, func() (adapt.Attempt, error) {
		at := clock.now()
		return adapt.Attempt{Values: First(b.own, at, b.by).Encode(), Options: []func(*dynamodb.Options){lease.Near(at)}}, nil
	})
	return err
}

// readTimes is how often the record is read again: because this process has stored the first one, or because it was handed over to
// another table meanwhile.
const readTimes = 4

// seat completes a view by the record that was read, or by the one in another table that it names. again says that the record was handed
// over meanwhile, so that both have to be read again. refused is as in fetch. The lease is that on the first of the two reads.
func (b *Book) seat(ctx context.Context, v *View, values []ledger.Value, seen *View) (again, refused bool, err error) {
	r, err := b.parse(values)
	switch {
	case err != nil:
		return false, true, err
	case r.Seat == Elsewhere && b.follow != nil:
		v.table = Sibling(b.table, r.Now.Table)
		if r, again, refused, err = b.followed(ctx, v.table); err != nil {
			return again, refused, err
		}
	case r.Seat != Here:
		return false, true, b.errorf("%w", r.away())
	}
	v.Record, err = b.judge(r, seen)
	return false, err != nil, err
}

// followed reads the record in another table, whose items are in the table of this process or move into it. again and refused are as in
// seat.
func (b *Book) followed(ctx context.Context, table string) (r Record, again, refused bool, err error) {
	if b.other == nil || b.other.Table != table { // it remembers of which type the sort key is
		b.other = b.follow(table)
	}
	values, stored, err := b.other.Read(ctx, recordKey)
	switch {
	case err != nil && errors.Is(err, ledger.ErrRecord):
		return r, false, true, b.errorf("%w: %w", adapt.ErrLedger, err)
	case err != nil:
		return r, false, false, b.unusable(ctx, "read in table "+table, err)
	case !stored:
		return r, false, true, b.errorf("%w: %w: the record is to be in table %s, and that has none: restore it from a backup of the same time as the items",
			adapt.ErrLedger, ledger.ErrLost, table)
	}
	if r, err = b.parse(values); err != nil {
		return r, false, true, err
	}
	if r.Seat == Here && !r.names(TableName(b.table)) {
		return r, false, true, b.errorf("%w: table %s says that the record of the collection is in table %s, but no item has moved from there, or all have gone back: "+
			"set Options.Table to %s; to use table %s for something else, delete the control items %q and %q there", charter.ErrIncompatible, b.table, table, table, b.table,
			layout.ControlKey{Role: layout.RolePassage, Collection: b.control.Collection}, layout.ControlKey{Role: layout.RoleCharter, Collection: b.control.Collection})
	}
	if r.Seat == Here || r.Seat == Retired && r.Now.Table == TableName(b.table) { // the new record says the same
		return r, false, false, nil
	}
	return r, true, true, b.errorf("%w", r.away())
}

func (b *Book) parse(values []ledger.Value) (Record, error) {
	r, err := Parse(values)
	switch {
	case errors.Is(err, ledger.ErrNewer):
		return Record{}, b.errorf("%w", err)
	case err != nil:
		return Record{}, b.errorf("%w: %w", adapt.ErrLedger, err)
	}
	return r, nil
}

// judge returns the record that was read, if this process may use it. seen is what it knew before it asked.
func (b *Book) judge(r Record, seen *View) (Record, error) {
	switch {
	case seen == nil:
	case r.Generation < seen.Record.Generation:
		return Record{}, b.errorf("%w: %w: the record has generation %d, and this process has seen %d: if an older table was restored, "+
			"stop all processes of the collection and start them again", adapt.ErrLedger, ledger.ErrLost, r.Generation, seen.Record.Generation)
	case r.Generation == seen.Record.Generation && !r.Equal(seen.Record):
		return Record{}, b.errorf("%w: %w: the record has generation %d as this process has seen it, and says something else: somebody has replaced it; "+
			"stop all processes of the collection and start them again", adapt.ErrLedger, ledger.ErrLost, r.Generation)
	case r.Generation == seen.Record.Generation:
		r = seen.Record // with the same arrangements in memory
	}
	return r, b.checkOwn(r)
}

// checkOwn returns an error if the record does not have the layout that this process is configured with.
func (b *Book) checkOwn(r Record) error {
	if r.Now.SameLayout(b.own.Layout) || r.Next != nil && r.Next.SameLayout(b.own.Layout) || r.Former != nil && r.Former.SameLayout(b.own.Layout) {
		return nil
	}
	recorded := r.Now.String()
	if r.Next != nil {
		recorded += fmt.Sprintf(", and since generation %d they move to %s", r.Generation, r.Next)
	}
	return b.errorf("%w: Options.Layout of this process is %q, but the items are under %s: set Options.Layout to that, or move the items with \"heatsink move\"",
		charter.ErrIncompatible, b.own.Layout.String(), recorded)
}

// Layouts returns the layouts that the record had when it was last read, each with as many shards as a key may have, for those who
// read stored keys. There are none if it was not read yet.
func (b *Book) Layouts() (all []layout.Layout) {
	v := b.newest()
	if v == nil {
		return nil
	}
	for _, a := range []*Arrangement{&v.Record.Now, v.Record.Next, v.Record.Former} { // in either table
		switch {
		case a == nil:
		case a.Layout.Shards == 0 && !a.Varies():
			all = append(all, a.Layout)
		default:
			all = append(all, a.Layout.WithShards(layout.MaxShards))
		}
	}
	return all
}

// newest returns the newest view that was read, nil if there is none.
func (b *Book) newest() *View {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

// install makes a view the one that is used, unless there is a newer one by now. It returns the one that is used.
func (b *Book) install(v *View) *View {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.seen; s != nil && (s.Record.Generation > v.Record.Generation || s.Record.Generation == v.Record.Generation && s.began.After(v.began)) {
		v = s
	}
	b.seen = v
	b.view.Store(v)
	return v
}

// unusable returns the error of a request for the record, which could not be done. The caller's own context is no fault of the record.
func (b *Book) unusable(ctx context.Context, done string, err error) error {
	if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
		return err
	}
	return b.errorf("%w: the record of where items are cannot be %s: %w", adapt.ErrLedger, done, err)
}

func (b *Book) errorf(format string, args ...any) error {
	return fmt.Errorf("collection %q of table %s: %w", b.control.Collection, b.control.Table, fmt.Errorf(format, args...))
}
