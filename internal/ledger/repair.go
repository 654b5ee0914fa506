package ledger

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// Repairing is what a Repair does.
type Repairing struct {
	// To is how many shards are probed for items: at least as many as the key may ever have had. Each costs a strong read
	// of one item. 0 means 256, the default of LawOptions.MaxWidth.
	To int

	// AtLeast and AtLeastWidth are a generation and a width that the ledger has had, such as those in an error that wraps
	// ErrLost. The repaired ledger has a later generation, and reads no fewer shards.
	AtLeast      int64
	AtLeastWidth int

	Now time.Time // when the repair begins

	// DryRun ends the machine before it writes: see Plan.
	DryRun bool

	// Why, By and At are stored with the record; see Record.
	Why, By string
	At      int64
}

// Repair is the machine that writes a ledger anew after it was deleted or restored from a backup. It probes the shards for
// items, one in each. Then it writes a record that reads all shards which have any, later than each generation that it saw. The
// write has the condition that nobody changes the ledger meanwhile.
//
// The probe shows what was written before it. A process that still knows the old ledger may go on to write to shards that
// had no item yet. So restart the writers first, or give AtLeastWidth. A process that learns of the repaired ledger, and
// knows a wider or later one, keeps reporting ErrLost.
type Repair struct {
	view      *View
	repairing Repairing

	due      []Effect
	stored   Record
	planned  Record
	probed   *ShardsProbed // nil: not yet
	heard    bool          // stored is known
	written  WriteLedger
	attempts int
	doubt    int64 // a record with this generation may have been stored, or may yet be; 0: none
	over     bool
	repaired bool
	err      error
}

// NewRepair returns the machine. Widths that cannot be end it at once.
func NewRepair(v *View, g Repairing) *Repair {
	if g.To == 0 {
		g.To = defaultMaxWidth
	}
	m := &Repair{view: v, repairing: g}
	if g.To < 1 || g.To > layout.MaxShards || g.AtLeastWidth < 0 || g.AtLeastWidth > layout.MaxShards {
		m.end(fmt.Errorf("probe of %d shards, %d at least: there are 1 to %d", g.To, g.AtLeastWidth, layout.MaxShards))
		return m
	}
	m.due = []Effect{m.ask(), ProbeShards{To: max(g.To, g.AtLeastWidth, v.record.Read)}}
	return m
}

// ask reads the ledger, whatever it was before: that it is lost is why this machine runs.
func (m *Repair) ask() ReadLedger { return ReadLedger{Strong: true, Sent: m.repairing.Now} }

// Next returns what has to be done now. It is empty while answers are awaited.
func (m *Repair) Next() []Effect {
	due := m.due
	m.due = nil
	if m.over {
		return nil
	}
	return due
}

// Over reports whether the machine has ended.
func (m *Repair) Over() bool { return m.over }

// Result returns the newest record that is known, and whether this machine has written it. It writes nothing if there is no
// ledger and nothing that speaks of one: then one shard is right.
func (m *Repair) Result() (r Record, repaired bool, err error) {
	return m.view.record, m.repaired, m.err
}

// Plan returns the record that is stored, and the one that a machine with DryRun would have written. They are equal if it would
// have written nothing. Ask when the machine has ended without an error.
func (m *Repair) Plan() (stored, planned Record) { return m.stored, m.planned }

// Handle takes an answer. After the end, what it says of the ledger is still learnt.
func (m *Repair) Handle(e Event) {
	if m.over {
		m.view.overhear(e)
		return
	}
	switch e := e.(type) {
	case LedgerRead:
		m.hear(e.Record, e.Err)
	case ShardsProbed:
		if e.Err != nil && !m.view.options.Breaks.SkipFailed {
			m.end(fmt.Errorf("a shard could not be probed, so that items may be missed: %w", e.Err))
			return
		}
		m.probed = &e
		m.view.Saw(e.Stamp)
		m.propose()
	case LedgerWritten:
		m.wrote(e)
	}
}

// hear goes on with what is stored.
func (m *Repair) hear(r Record, err error) {
	if err == nil {
		err = m.view.compatible(r)
	}
	switch {
	case errors.Is(err, ErrRecord):
		m.end(fmt.Errorf("what is stored is no ledger of this collection; delete it and repair again: %w", err))
		return
	case err != nil:
		m.view.NotLearned(m.ask(), err)
		m.end(err)
		return
	}
	if r.Generation >= m.doubt {
		m.doubt = 0
	}
	if m.written.Record.Generation > 0 && r.Equal(m.written.Record) {
		m.succeed() // the answer was lost, and the write was not
		return
	}
	m.stored, m.heard = r, true
	// The ledger may be lost again before this machine has written it.
	m.view.Saw(r.Generation)
	m.repairing.AtLeastWidth = max(m.repairing.AtLeastWidth, r.Read)
	m.propose()
}

func (m *Repair) wrote(e LedgerWritten) {
	switch e.Outcome {
	case Done:
		m.succeed()
	case Refused:
		m.hear(e.Record, e.Unparsed)
	case Unknown:
		m.doubt = m.written.Record.Generation
		m.due = append(m.due, m.ask())
	default: // it had no effect
		m.end(e.Err)
	}
}

// succeed makes the view know the repaired record. It may contradict what others in this process have learnt meanwhile.
func (m *Repair) succeed() {
	m.doubt = 0
	if err := m.view.Learn(m.ask(), m.written.Record); err != nil {
		m.end(err)
		return
	}
	m.repaired, m.over = true, true
}

// propose writes the repaired record, once the ledger was read and the shards were probed.
func (m *Repair) propose() {
	if !m.heard || m.probed == nil {
		return
	}
	r, breaks := m.stored, m.view.options.Breaks
	read := max(m.view.record.Read, m.repairing.AtLeastWidth, powerOfTwo(m.probed.Largest+1))
	floor := max(m.view.floor, m.repairing.AtLeast, m.probed.Stamp)
	if breaks.RepairUnseen {
		read = r.Read
	}
	if breaks.RepairOverStamps {
		floor = 0
	}
	if r.Generation == 0 && floor == 0 && read == 1 {
		if err := m.view.Learn(m.ask(), r); err != nil {
			m.end(err)
		}
		m.planned, m.over = r, true
		return
	}
	if m.attempts == growAttempts {
		m.end(fmt.Errorf("%w: %d attempts, and generation %d now: try again", ErrContended, m.attempts, r.Generation))
		return
	}
	m.attempts++
	write := read
	if r.Frozen {
		write = r.Write
	}
	n := r.next(read, write)
	n.Generation = max(r.Generation, floor) + 1
	n.Epoch = max(r.Epoch, m.view.record.Epoch)
	n.Why, n.By, n.At = m.repairing.Why, m.repairing.By, m.repairing.At
	if err := n.Validate(); err != nil {
		m.end(err)
		return
	}
	if m.repairing.DryRun {
		m.planned, m.over = n, true
		return
	}
	m.written = WriteLedger{Record: n, If: r.Generation, Most: n.Read, Any: breaks.RepairBlindly}
	m.due = append(m.due, m.written)
}

// end ends the machine with an error.
func (m *Repair) end(err error) {
	m.over = true
	if m.doubt > 0 {
		err = fmt.Errorf("%w: generation %d may have been stored: %w", ErrUnknownOutcome, m.doubt, err)
	}
	m.err = fmt.Errorf("repair the ledger of %q: %w", m.view.options.Key, err)
}

// powerOfTwo returns the smallest power of two that is at least n, and 1 for less than 1.
func powerOfTwo(n int) int {
	if n < 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
