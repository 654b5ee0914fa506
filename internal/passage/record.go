package passage

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/quote"
	"github.com/heatsink-go/heatsink/layout"
)

// The errors that wrap these say what was given, what is wrong with it and what to do.
var (
	// ErrRecord is wrapped when a record contradicts itself, or is not one.
	ErrRecord = errors.New("invalid passage")
	// ErrStage is wrapped when a record cannot go on to a stage.
	ErrStage = errors.New("the move cannot go on to this stage")
	// ErrListBack is why a list does not go back, and what to do instead.
	ErrListBack = errors.New("a list does not go back: an item may be in any shard, so nothing tells an item of a new shard that has to go back " +
		"from one that was appended there: stop the mover, which leaves all items readable; or let the move end, finish it, and move the list to the other layout")
	// ErrEarly is wrapped when requests of an earlier stage may still arrive, so that the next one has to wait.
	ErrEarly = errors.New("too early for the next stage")
)

// Record says where the items of a collection are. It does not change.
type Record struct {
	// Generation counts the changes, from 1. Copies carry it.
	Generation int64
	Stage      forward.Stage
	// Seat says whether this is the collection's record at all: see Seat.
	Seat Seat

	// Now is where items are, or were when the move began: their old homes. Next is where they move to: their new homes. It is nil if the
	// collection is settled and nothing is left of a move back.
	Now  Arrangement
	Next *Arrangement

	// Announced is where items are to move to, if a move is about to begin: see Announce. Only keys depend on it, by Check.
	Announced *Arrangement

	// Former is another layout that processes may still be configured with, without Widths and Prefixes: the one from before the last move, or the one
	// that items were to move to if they went back. It stays until somebody finishes the move. It is nil if the layout is the same as now,
	// and the table as well.
	Former *Arrangement

	// At is when the stage began, in milliseconds since 1970. It is at most lease.Slack before the signature of the request that stored it,
	// and not after it.
	At int64

	// Why and By tell people about the last change. No decision depends on them, except that a process knows its own change by By.
	Why, By string
}

// First returns the record of a collection that has never moved.
func First(now Arrangement, at time.Time, by string) Record {
	return Record{Generation: 1, Now: now.plain(), At: at.UnixMilli(), Why: "the first process of the collection", By: ledger.Audit(by)}
}

// Equal reports whether two records are the same.
func (r Record) Equal(other Record) bool {
	return r.Generation == other.Generation && r.Stage == other.Stage && r.Seat == other.Seat && r.Now.Equal(other.Now) && equal(r.Next, other.Next) &&
		equal(r.Announced, other.Announced) && equal(r.Former, other.Former) && r.At == other.At && r.Why == other.Why && r.By == other.By
}

func equal(a, b *Arrangement) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// Clock returns how sort keys hold the times that buckets are by, which is the same before and after a move. timed is false without buckets.
func (r Record) Clock() (unit place.TimeUnit, timed bool) {
	if r.Now.Timed() {
		return r.Now.Clock, true
	}
	if r.Next != nil && r.Next.Timed() {
		return r.Next.Clock, true
	}
	return 0, false
}

// names reports whether items are, were or will be in a table.
func (r Record) names(table string) bool {
	for _, a := range []*Arrangement{&r.Now, r.Next, r.Announced, r.Former} {
		if a != nil && a.Table == table {
			return true
		}
	}
	return false
}

// Moving reports whether an id may have two homes.
func (r Record) Moving() bool { return r.Stage.Phase != forward.Settled }

// Check returns an error if a key cannot be used: see Arrangement.Check. During a move, and while one is announced, that counts for both
// arrangements. No key may be another key's shard in the other one, unless that is in another table. The error wraps layout.ErrKey.
func (r Record) Check(key string) error {
	if err := r.Now.Check(key); err != nil {
		return err
	}
	switch {
	case r.Next != nil:
		return r.suits(key, r.Next)
	case r.Announced != nil:
		if err := r.suits(key, r.Announced); err != nil {
			return fmt.Errorf("%w; the collection is about to move to %s", err, r.Announced)
		}
	}
	return nil
}

// suits returns an error if a key cannot be used in the next arrangement, or not beside it.
func (r Record) suits(key string, next *Arrangement) error {
	if err := next.Check(key); err != nil || r.Now.Table != next.Table {
		return err
	}
	return clash(key, r.Now.Layout.Format, next.Layout.Format)
}

// clash returns an error if a key has a shard that is also a shard of another key in the other format. With the prefixes "#SHARD#"
// and "#", for example, A#SHARD#7 is shard 7 of the key A, and of the key A#SHARD.
func clash(key string, a, b layout.Format) error {
	long, short := a.WithDefaults().ShardPrefix, b.WithDefaults().ShardPrefix
	if len(long) < len(short) {
		long, short = short, long
	}
	between, ok := strings.CutSuffix(long, short)
	if !ok || between == "" || !strings.HasSuffix(key, between) {
		return nil
	}
	return fmt.Errorf("%w %s: it ends in %s, and the collection moves between the shard prefixes %s and %s, so that its shards would be those of %s: "+
		"choose another key, or another prefix to move to", layout.ErrKey, quote.Text(key), quote.Text(between), quote.Text(long), quote.Text(short),
		quote.Text(strings.TrimSuffix(key, between)))
}

// maxTime is the last millisecond of the year 9999.
const maxTime = 253402300799999

// Validate reports everything that is wrong with a record. The error wraps ErrRecord.
func (r Record) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if r.Generation < 1 {
		fault("generation %d: it counts from 1", r.Generation)
	}
	if _, ok := stageName(r.Stage); !ok {
		fault("stage %s: it is none of a move", describe(r.Stage))
	}
	if r.At < 1 || r.At > maxTime {
		fault("the stage began at %d: want milliseconds since 1970, up to the year 9999", r.At)
	}
	for _, text := range []string{r.Why, r.By} {
		if len(text) > ledger.MaxAudit || !utf8.ValidString(text) {
			fault("why or by is %s: want valid UTF-8 of at most %d bytes", quote.Text(text), ledger.MaxAudit)
		}
	}
	faults = append(faults, r.seatFaults()...)
	faults = append(faults, r.arrangementFaults()...)
	if faults != nil {
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(faults...))
	}
	return nil
}

func (r Record) arrangementFaults() (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := r.Now.Validate(); err != nil {
		fault("where items are: %w", err)
	}
	switch {
	case r.Next == nil && (r.Moving() || r.Stage.Trace == forward.Returned):
		fault("stage %s without an arrangement that items move to", describe(r.Stage))
	case r.Next == nil:
	case !r.Moving() && r.Stage.Trace != forward.Returned:
		fault("stage %s with an arrangement that items move to: want none", describe(r.Stage))
	default:
		if err := checkMove(r.Now, *r.Next); err != nil {
			faults = append(faults, err)
		}
	}
	faults = append(faults, r.announcementFaults()...)
	switch {
	case r.Former == nil:
	case r.Next != nil:
		fault("stage %s with a layout of an earlier move: want none while items move", describe(r.Stage))
	case r.Former.Varies():
		fault("the layout of an earlier move has %d keys and %d prefixes with their own number of shards: want none", len(r.Former.Widths), len(r.Former.Prefixes))
	case r.Now.SameLayout(r.Former.Layout) && r.Now.Table == r.Former.Table:
		fault("the layout of an earlier move is the one of now, %s: want none", r.Former)
	default:
		if err := r.Former.Validate(); err != nil {
			fault("the layout of an earlier move: %w", err)
		}
	}
	return faults
}

// checkMove returns an error if items cannot move from one arrangement to another. It does not look at single keys.
func checkMove(now, next Arrangement) error {
	if err := next.Validate(); err != nil {
		return fmt.Errorf("where items move to: %w", err)
	}
	switch {
	case now.Equal(next):
		return fmt.Errorf("items move from %s to the same arrangement: want another one", now)
	case now.Layout.Strategy != next.Layout.Strategy:
		return fmt.Errorf("items move from %s to %s: want the same strategy, because a process finds items by it", now, next)
	case now.Table != next.Table && now.Layout.Strategy == layout.Random:
		return fmt.Errorf("items move from %s to %s: a list does not move into another table: move it within its table, or append to the other table and read both", now, next)
	}
	return checkBuckets(now, next)
}

// checkBuckets returns an error if items cannot move between two arrangements because of their buckets. What is left tells the stored keys of
// two logical keys apart, and lets a read go through the buckets of both in one order.
func checkBuckets(now, next Arrangement) error {
	if !now.Timed() && !next.Timed() {
		return nil
	}
	a, b := now.Layout.Format.WithDefaults(), next.Layout.Format.WithDefaults()
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("items move from %s to %s, with buckets: "+format, append([]any{now, next}, args...)...)
	}
	if a.ShardPrefix != b.ShardPrefix {
		return wrong("want one spelling of shards, because a bucket may look like a shard of the other one: move to the other spelling before or after")
	}
	for _, timed := range []Arrangement{now, next} {
		if end := lastMark(timed.Layout); timed.Timed() && strings.HasSuffix(a.ShardPrefix, end) {
			return wrong("the shard prefix %s ends in %s, as the part of a %s before its last number does, so that a bucket may look like a shard: choose another shard prefix",
				quote.Text(a.ShardPrefix), quote.Text(end), timed.Layout.Bucket)
		}
	}
	if !now.Timed() || !next.Timed() {
		return nil
	}
	x, y := min(now.Layout.Bucket, next.Layout.Bucket), max(now.Layout.Bucket, next.Layout.Bucket)
	switch {
	case now.Clock != next.Clock:
		return wrong("their times are in %s and in %s: want one unit", clocks[now.Clock], clocks[next.Clock])
	case a.BucketPrefix != b.BucketPrefix || a.HourMark != b.HourMark:
		return wrong("want one spelling of buckets, because those of one may look like those of another key: move to a layout without buckets in between")
	case x != y && strings.IndexByte("-TW"+a.HourMark, a.BucketPrefix[len(a.BucketPrefix)-1]) >= 0:
		return wrong("the bucket prefix %s ends like a part of a bucket: move to a layout without buckets in between", quote.Text(a.BucketPrefix))
	case x == layout.Week && y > layout.Week:
		return wrong("a week may be in two months or years, and a read would have to be in two at once: move to buckets by day, or without buckets, in between")
	}
	return nil
}

// lastMark returns what is before the last number of a bucket.
func lastMark(l layout.Layout) string {
	f := l.Format.WithDefaults()
	switch l.Bucket {
	case layout.Hour:
		return f.HourMark[len(f.HourMark)-1:]
	case layout.Week:
		return "W"
	case layout.Year:
		return f.BucketPrefix[len(f.BucketPrefix)-1:]
	}
	return "-"
}

// Wait is how long after its time a stage has surely lasted long enough for Book.Advance, for those who plan.
const Wait = lease.Wait + 3*jitter

// Waited reports whether no request that was built on an earlier stage can arrive any more. at is not after a signature of the one who
// asks.
func (r Record) Waited(at time.Time) bool { return at.Sub(time.UnixMilli(r.At)) >= lease.Wait }

// none leaves out no rule.
var none forward.Breaks

// List reports whether the collection is an append-only list: its items may be in any shard, and are never found by id.
func (r Record) List() bool { return r.Now.Layout.Strategy == layout.Random }

// Follows returns what is to be done at the stage of the record, and the stage that may follow: see forward.Stage.Next. ok is false if that
// has to wait.
//
// A list that is closed has to wait as well. An item that is appended leaves no stub elsewhere. So a process may append to a new shard
// only when everybody reads these shards, which is so from Closed on. Then the old shards may be left only when no append of Split can
// arrive there any more.
func (r Record) Follows(waited bool) (c forward.Chore, then forward.Stage, ok bool) {
	c, then, ok = r.Stage.Next(waited, &none)
	if r.List() && r.Stage.Phase == forward.Closed {
		ok = waited
	}
	return c, then, ok
}

// Enter returns the record of the stage that follows. next is where items move to from then on: it is for Split alone. at becomes
// At. The error wraps ErrStage, ErrEarly or ErrRecord.
func (r Record) Enter(then forward.Stage, next *Arrangement, at time.Time) (Record, error) {
	n := r
	_, follows, ok := r.Follows(r.Waited(at))
	switch {
	case r.Seat != Here:
		return Record{}, fmt.Errorf("%w: %w", ErrStage, r.away())
	case then.Phase == forward.Back && r.List():
		return Record{}, fmt.Errorf("%w: generation %d is %s, and %w", ErrStage, r.Generation, describe(r.Stage), ErrListBack)
	case r.Stage.Phase == forward.Split && then == forward.Stage{Phase: forward.Back}: // at any time
	case follows != then:
		return Record{}, fmt.Errorf("%w: generation %d is %s, and %s does not follow on it: want %s", ErrStage, r.Generation, describe(r.Stage), describe(then), describe(follows))
	case !ok:
		return Record{}, fmt.Errorf("%w: generation %d is %s since %s, and %s may follow from %s on", ErrEarly, r.Generation, describe(r.Stage),
			moment(r.At), describe(then), moment(r.At+lease.Wait.Milliseconds()))
	}
	if (next != nil) != (then.Phase == forward.Split) {
		return Record{}, fmt.Errorf("%w: %s begins, and where items move to is %v: want it for %s alone", ErrStage, describe(then), next, describe(forward.Stage{Phase: forward.Split}))
	}
	switch {
	case then.Phase == forward.Split:
		if err := r.Admits(*next); err != nil {
			return Record{}, err
		}
		plain := next.plain()
		n.Next, n.Announced, n.Former = &plain, nil, nil
	case then.Trace == forward.Deads:
		n.Now, n.Next, n.Former = *r.Next, nil, former(r.Now, *r.Next)
	case r.Stage.Trace == forward.Returned:
		n.Next, n.Former = nil, former(*r.Next, r.Now)
	}
	n.Stage = then
	return n.changed(at)
}

// Admits returns an error if items that are settled cannot move to an arrangement. The error wraps ErrStage.
func (r Record) Admits(next Arrangement) error {
	if r.Announced != nil && !r.Announced.Equal(next) {
		return fmt.Errorf("%w: items are to move to %s, but %w", ErrStage, next, r.announced())
	}
	if r.Former != nil && !next.SameLayout(r.Former.Layout) {
		return fmt.Errorf("%w: the last move is not finished, and processes may still be configured with its layout, %s: "+
			"configure all processes with %s and finish that move first", ErrStage, r.Former, r.Now)
	}
	if err := checkMove(r.Now, next); err != nil {
		return fmt.Errorf("%w: %w", ErrStage, err)
	}
	return nil
}

// former returns the layout of an arrangement as Record.Former has it, with items in another one now.
func former(a, now Arrangement) *Arrangement {
	if now.SameLayout(a.Layout) && now.Table == a.Table {
		return nil
	}
	return &Arrangement{Layout: a.Layout, Clock: a.Clock, Table: a.Table}
}

// Finish returns the record without Former. A record whose items are in another table is finished by Retire. The error wraps ErrStage or
// ErrRecord.
func (r Record) Finish(at time.Time) (Record, error) {
	if r.Seat != Here || r.Now.Table != "" {
		return Record{}, fmt.Errorf("%w: the items are in table %s: hand the record over to it", ErrStage, r.Now.Table)
	}
	if r.Stage != (forward.Stage{}) || r.Former == nil {
		return Record{}, fmt.Errorf("%w: generation %d is %s, with no layout of a move that has ended: there is nothing to finish, or not yet", ErrStage, r.Generation, describe(r.Stage))
	}
	if r.Announced != nil {
		return Record{}, fmt.Errorf("%w: generation %d: %w", ErrStage, r.Generation, r.announced())
	}
	n := r
	n.Former = nil
	return n.changed(at)
}

// changed returns a record as the next generation.
func (r Record) changed(at time.Time) (Record, error) {
	if r.Generation == math.MaxInt64 {
		return Record{}, fmt.Errorf("%w: generation %d is the last", ErrStage, r.Generation)
	}
	r.Generation++
	r.At = at.UnixMilli()
	return r, r.Validate()
}

// moment shows a time of a record.
func moment(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format(time.RFC3339)
}

// describe returns a stage for people.
func describe(s forward.Stage) string {
	if name, ok := stageName(s); ok {
		return name
	}
	return fmt.Sprintf("%v with the trace %d", s.Phase, s.Trace)
}
