package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// DefaultKeep is how long an eventual read uses a cached record, unless ViewOptions.Keep says otherwise.
const DefaultKeep = 30 * time.Second

// refreshEvery is how often a throttled writer reads the ledger again, at most.
const refreshEvery = time.Second

// ErrLost is wrapped when the ledger is older than it was, or contradicts what it was: it was deleted, or restored from a
// backup. Shards that hold items may be missing from it.
var ErrLost = errors.New("ledger lost")

// ViewOptions are what a View is made with.
type ViewOptions struct {
	// Key is the logical key, for errors.
	Key string

	// Strategy and Hash are those of the collection. A record with others is refused.
	Strategy layout.Strategy
	Hash     layout.Hash

	// Keep is how long an eventual read uses a cached record. 0 means DefaultKeep.
	Keep time.Duration

	// Breaks are the rules to leave out; for tests.
	Breaks Breaks
}

// View is what a process knows of a key's ledger. It only ever learns newer records. The zero View is of no use: see NewView.
type View struct {
	options ViewOptions
	record  Record
	known   bool      // the ledger was read, or written
	asOf    time.Time // the record has every change that was stored by then, replica lag aside
	floor   int64     // a generation that was certainly stored: of the record, or of a stamp
	suspect error     // why the ledger is taken for lost, nil if it is not
	newer   error     // why this version does not know the ledger's rules, nil if it does
	newerAt time.Time // when the read that has shown it was sent

	refreshed time.Time // when a throttled writer last wanted to know
}

// NewView returns the view of a process that knows nothing: it writes shard 0 alone.
func NewView(o ViewOptions) *View {
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	return &View{options: o, record: Absent(o.Strategy, o.Hash)}
}

// Record returns the newest record that is known, and false if the ledger was never read.
func (v *View) Record() (Record, bool) { return v.record, v.known }

// Floor returns a generation that was certainly stored.
func (v *View) Floor() int64 { return v.floor }

// Suspect returns why the ledger is taken for lost: an error that wraps ErrLost, nil if it is not.
func (v *View) Suspect() error { return v.suspect }

// Newer returns why this version does not know the rules of what is stored: an error that wraps ErrNewer, nil if it does.
// Writes end with it. A writer that gets it calls Refresh, so that it finds out when that is over. See NotLearned.
func (v *View) Newer() error { return v.newer }

// fresh reports whether an eventual read may use the record. A clock that went back makes it old.
func (v *View) fresh(now time.Time) bool {
	if v.options.Breaks.KeepForever && v.known {
		return true
	}
	age := now.Sub(v.asOf)
	return v.known && v.floor <= v.record.Generation && age >= 0 && age <= v.options.Keep
}

// asks returns whether a read has to read the ledger, and how. width is what it has to cover at least.
func (v *View) asks(mode Mode, atLeast int64, width int, now time.Time) (ask, strong bool) {
	breaks := v.options.Breaks
	covered := v.record.Read >= width || breaks.IgnoreTokenWidth
	known := v.newer == nil || breaks.ReadNewer
	switch {
	case mode == Strong && breaks.TrustCache:
		return false, false
	case mode == Causal && known && (v.known && v.record.Generation >= atLeast && covered || breaks.IgnoreAtLeast):
		return false, false
	case mode == Eventual && known && covered && v.fresh(now):
		return false, false
	}
	// A stamp is a promise that only a strong read can be held to, and so is the width of a page.
	return true, mode != Eventual && !breaks.WeakLedger || v.floor > v.record.Generation || !covered || !known
}

// Ask returns the effect that reads the ledger. Call it before the request is sent: what comes back is as old as that.
func (v *View) Ask(now time.Time, strong bool) ReadLedger {
	return ReadLedger{Strong: strong, Sent: now, Floor: v.floor}
}

// Refresh returns the effect that reads the ledger for a writer that was throttled for its key range, and false if that
// was done less than a second ago. A writer that is never throttled never reads the ledger.
func (v *View) Refresh(now time.Time) (ReadLedger, bool) {
	if since := now.Sub(v.refreshed); !v.refreshed.IsZero() && since >= 0 && since < refreshEvery {
		return ReadLedger{}, false
	}
	v.refreshed = now
	return v.Ask(now, true), true
}

// Learn takes the answer to a ReadLedger. An older record than the one that is known
// changes nothing: the answer was late, or came from a replica that lags. But a strong read must show at least what was
// stored when it was sent. If it does not, the error wraps ErrLost. A record for another layout is an error that wraps
// ErrRecord.
func (v *View) Learn(asked ReadLedger, r Record) error {
	if err := v.compatible(r); err != nil {
		return err
	}
	breaks := v.options.Breaks
	if asked.Strong && r.Generation < asked.Floor && !breaks.AcceptLoss {
		return v.lost("generation %d is stored, after generation %d was", r.Generation, asked.Floor)
	}
	if v.known && !breaks.MergeOlder {
		if err := v.contradicts(r); err != nil && !breaks.AcceptLoss {
			return err
		}
	}
	if asked.Strong && asked.Sent.After(v.newerAt) {
		v.newer = nil
	}
	v.install(r, asked.Sent)
	return nil
}

// hear takes the answer to the ReadLedger of a read that has to cover a width. If the read may go on with what is known
// although the ledger could not be read, stale says why that is old.
func (v *View) hear(e LedgerRead, mode Mode, width int) (stale, err error) {
	breaks := v.options.Breaks
	if err = e.Err; err != nil {
		v.NotLearned(e.Asked, err)
	} else if err = v.Learn(e.Asked, e.Record); err == nil && e.Asked.Strong && e.Record.Read < width && !breaks.IgnoreTokenWidth {
		err = v.lost("generation %d reads %d shards, and the page before has read %d", e.Record.Generation, e.Record.Read, width)
	}
	if v.newer != nil && !errors.Is(err, ErrNewer) && !breaks.ReadNewer {
		err = errors.Join(v.newer, err) // this answer does not show that it is over
	}
	covered := v.record.Read >= width || breaks.IgnoreTokenWidth
	switch {
	case err == nil:
		return nil, nil
	case mode == Eventual && v.known && covered && (!errors.Is(err, ErrNewer) || breaks.ReadNewer):
		return err, nil // what is known may be old, but it is never wrong
	case breaks.SkipUnreadable:
		return nil, nil
	}
	return nil, fmt.Errorf("the ledger could not be read, so that shards may be missing: %w", err)
}

// overhear takes an answer that nobody waits for any more, such as the ledger that a Get with a hit has asked for. If it is a
// ledger of a newer version or one that was lost, those who come next must know.
func (v *View) overhear(e Event) {
	read, ok := e.(LedgerRead)
	switch {
	case !ok || v.options.Breaks.DropLate:
	case read.Err != nil:
		v.NotLearned(read.Asked, read.Err)
	default:
		_ = v.Learn(read.Asked, read.Record) // an error is kept as Suspect, and told to the next who reads the ledger
	}
}

// reaches returns an error if a causal read was told of a generation that the ledger does not have. Only that read fails: the
// number comes from a caller, who may have taken it from another key.
func (v *View) reaches(mode Mode, atLeast int64) error {
	if mode != Causal || v.record.Generation >= atLeast || v.options.Breaks.IgnoreAtLeast {
		return nil
	}
	return fmt.Errorf("ledger of %q: %w: the read is to cover generation %d, and generation %d is stored: the number is of another key, or the ledger was lost",
		v.options.Key, ErrLost, atLeast, v.record.Generation)
}

// NotLearned takes the error that a ReadLedger was answered with. If it wraps ErrNewer, this process does not know the
// rules that hold: writes and reads end with the error, until a strong read that was asked for later shows a record that
// this version understands. Other errors change nothing.
func (v *View) NotLearned(asked ReadLedger, err error) {
	if errors.Is(err, ErrNewer) && !asked.Sent.Before(v.newerAt) {
		v.newer, v.newerAt = fmt.Errorf("ledger of %q: %w", v.options.Key, err), asked.Sent
	}
}

// install merges a record.
func (v *View) install(r Record, asOf time.Time) {
	if !v.known || r.Generation > v.record.Generation || v.options.Breaks.MergeOlder {
		v.record = r
	}
	if !v.known || asOf.After(v.asOf) {
		v.asOf = asOf
	}
	v.known = true
	v.floor = max(v.floor, r.Generation)
	if v.options.Breaks.MergeOlder {
		v.floor = r.Generation
	}
	if r.Generation >= v.floor {
		v.suspect = nil
	}
}

// Saw takes the stamp of an item: its writer knew this generation, so it was stored. It reports whether this is newer than
// everything that is known here, so that the ledger has to be read again.
func (v *View) Saw(stamp int64) (newer bool) {
	if stamp <= v.floor || v.options.Breaks.IgnoreStamps {
		return false
	}
	v.floor = stamp
	return true
}

// compatible returns why a record cannot be used with the collection's layout.
func (v *View) compatible(r Record) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("ledger of %q: %w", v.options.Key, err)
	}
	if r.Strategy != v.options.Strategy || r.Strategy == layout.Calculated && r.Hash != v.options.Hash {
		return fmt.Errorf("ledger of %q: %w: it was written for shards that are %s by %s, and this process has %s by %s: use the same layout in all processes",
			v.options.Key, ErrRecord, r.Strategy, r.Hash, v.options.Strategy, v.options.Hash)
	}
	return nil
}

// contradicts returns why a record cannot belong to the same history as the one that is known: the ledger was lost and
// began anew.
func (v *View) contradicts(r Record) error {
	k := v.record
	switch {
	case r.Generation == k.Generation && !r.Equal(k):
		return v.lost("generation %d has the widths %d/%d (by %q), and had %d/%d (by %q)", r.Generation, r.Write, r.Read, r.By, k.Write, k.Read, k.By)
	case r.Generation > k.Generation && r.Epoch < k.Epoch:
		return v.lost("generation %d has epoch %d, after epoch %d", r.Generation, r.Epoch, k.Epoch)
	case r.Generation > k.Generation && r.Epoch == k.Epoch && r.Read < k.Read:
		return v.lost("generation %d reads %d shards, after generation %d read %d", r.Generation, r.Read, k.Generation, k.Read)
	case r.Generation < k.Generation && (r.Epoch > k.Epoch || r.Epoch == k.Epoch && r.Read > k.Read):
		return v.lost("generation %d reads %d shards in epoch %d, and generation %d is known to read %d in epoch %d",
			r.Generation, r.Read, r.Epoch, k.Generation, k.Read, k.Epoch)
	}
	return nil
}

func (v *View) lost(format string, args ...any) error {
	v.suspect = fmt.Errorf("ledger of %q: %w: %s: it was deleted or restored from a backup, and shards that hold items may be missing; repair it",
		v.options.Key, ErrLost, fmt.Sprintf(format, args...))
	return v.suspect
}
