package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/layout"
)

// growAttempts is how often a Grow meets a record that somebody else changed meanwhile, or an unknown outcome, before it
// gives up.
const growAttempts = 8

// The errors that a Grow ends with wrap these, or what the caller reported.
var (
	// ErrFrozen is wrapped when the record says that the widths stay as they are.
	ErrFrozen = errors.New("ledger frozen")
	// ErrContended is wrapped when the ledger changed at each attempt.
	ErrContended = errors.New("ledger contended")
	// ErrUnknownOutcome is wrapped when a request may have happened, or may happen yet.
	ErrUnknownOutcome = errors.New("unknown outcome")
)

// Freezing is what a Grow does about Record.Frozen.
type Freezing uint8

// What can be done about it. The zero value leaves it as it is.
const (
	LeaveFrozen Freezing = iota
	Freeze               // grow, and then never more
	Thaw                 // allow growth again, and grow
)

// Growth is what a Grow does.
type Growth struct {
	To     int       // at least how many shards are written from then on; 1 leaves the widths as they are
	Freeze Freezing  // whether they may grow from then on
	Now    time.Time // when the growth is asked for

	// Why, By and At are stored with the record; see Record. Texts that it does not take are changed by Audit. After a lost
	// answer, a Grow knows its own record by them: two that have all three in common, and run at once, may both report that
	// they have grown the key.
	Why, By string
	At      int64

	// Once ends the Grow when somebody else has changed the ledger. The law asks for it: it decided by what it knew.
	Once bool

	// Create writes the ledger only if there is none, without reading it first: 1 WCU, and one round trip. If there is one,
	// the machine ends and the process knows it. Hints ask for it.
	Create bool
}

// Grow is the machine that makes a key wider: it reads the ledger if the process knows nothing of it, and writes it on the
// condition that nobody has changed it. It never makes a key narrower.
type Grow struct {
	view   *View
	growth Growth

	due      Effect
	written  WriteLedger // the one that was sent last
	asked    ReadLedger  // what sending it amounts to, should it be refused
	attempts int
	doubt    int64 // a record with this generation may have been stored, or may yet be; 0: none
	over     bool
	grown    bool
	err      error
}

// NewGrow returns the machine. A width that cannot be ends it at once.
func NewGrow(v *View, g Growth) *Grow {
	m := &Grow{view: v, growth: g}
	if g.To < 1 || g.To > layout.MaxShards {
		m.end(fmt.Errorf("there are 1 to %d shards", layout.MaxShards))
		return m
	}
	switch {
	case v.newer != nil:
		m.due = v.Ask(g.Now, true)
	case g.Create && v.floor > 0:
		m.over = true // there is one
	case g.Create:
		m.propose()
	case !v.known || v.floor > v.record.Generation || v.suspect != nil:
		m.due = v.Ask(g.Now, true)
	default:
		m.propose()
	}
	return m
}

// Next returns what has to be done now. It is empty while an answer is awaited.
func (m *Grow) Next() []Effect {
	if m.over || m.due == nil {
		return nil
	}
	effect := m.due
	m.due = nil
	if w, ok := effect.(WriteLedger); ok {
		m.written, m.asked = w, m.view.Ask(m.growth.Now, true)
		if m.view.options.Breaks.UseBeforeAck {
			m.view.install(w.Record, m.growth.Now)
		}
	}
	return []Effect{effect}
}

// Over reports whether the machine has ended.
func (m *Grow) Over() bool { return m.over }

// Result returns the newest record that is known, and whether this machine has made it. The width is at least what was
// asked for, unless there is an error, or Once or Create and somebody else's change.
func (m *Grow) Result() (r Record, grown bool, err error) { return m.view.record, m.grown, m.err }

// Handle takes an answer.
func (m *Grow) Handle(e Event) {
	if m.over {
		return
	}
	switch e := e.(type) {
	case LedgerRead:
		m.read(e)
	case LedgerWritten:
		m.wrote(e)
	}
}

func (m *Grow) read(e LedgerRead) {
	if e.Err != nil {
		m.view.NotLearned(e.Asked, e.Err)
		m.end(e.Err)
		return
	}
	m.learn(e.Asked, e.Record)
}

// learn goes on with what is stored.
func (m *Grow) learn(asked ReadLedger, r Record) {
	if err := m.view.Learn(asked, r); err != nil {
		m.end(err)
		return
	}
	if r.Generation >= m.doubt {
		m.doubt = 0
	}
	// Others in this process may know a newer record than this answer, and propose goes on from that one.
	now := m.view.record.Generation
	switch {
	case m.written.Record.Generation > 0 && r.Equal(m.written.Record):
		m.grown, m.over = true, true // the answer was lost, and the write was not
	case m.growth.Create && now > 0 && !m.view.options.Breaks.GrowExisting:
		m.over = true
	case m.growth.Once && m.written.Record.Generation > 0 && now >= m.written.Record.Generation:
		m.over = true
	default:
		m.propose()
	}
}

func (m *Grow) wrote(e LedgerWritten) {
	breaks := m.view.options.Breaks
	switch e.Outcome {
	case Done:
		m.doubt = 0
		// Somebody in this process may have read a ledger meanwhile that does not follow on this record.
		if err := m.view.Learn(m.asked, m.written.Record); err != nil {
			m.end(err)
			return
		}
		m.grown, m.over = true, true
	case Refused:
		if breaks.InstallProposal {
			m.view.install(m.written.Record, m.asked.Sent)
			m.over = true
			return
		}
		if e.Unparsed != nil {
			m.view.NotLearned(m.asked, e.Unparsed)
			m.end(e.Unparsed)
			return
		}
		m.learn(m.asked, e.Record)
	case Unknown:
		if breaks.AssumeGrown {
			m.view.install(m.written.Record, m.asked.Sent)
			m.grown, m.over = true, true
			return
		}
		m.doubt = m.written.Record.Generation
		m.due = m.view.Ask(m.growth.Now, true)
	default: // it had no effect
		m.end(e.Err)
	}
}

// propose writes the record that follows on the one that is known, if it has to be.
func (m *Grow) propose() {
	r, breaks := m.view.record, m.view.options.Breaks
	frozen := m.growth.Freeze == Freeze || r.Frozen && m.growth.Freeze != Thaw
	read := max(r.Read, m.growth.To)
	if breaks.LowerRead {
		read = m.growth.To
	}
	switch {
	case r.Write >= m.growth.To && r.Frozen == frozen && !breaks.LowerRead && r.Read >= read:
		m.over = true
		return
	case r.Frozen && frozen && !breaks.GrowFrozen:
		m.end(fmt.Errorf("%w at generation %d by %q: %s", ErrFrozen, r.Generation, r.By, r.Why))
		return
	case m.attempts == growAttempts:
		m.end(fmt.Errorf("%w: %d attempts, and generation %d now: try again", ErrContended, m.attempts, r.Generation))
		return
	}
	m.attempts++
	write := max(r.Write, m.growth.To)
	if breaks.LowerRead {
		write = m.growth.To
	}
	if breaks.WriteFirst && r.Write < m.growth.To {
		read = r.Read
	}
	n := r.next(read, write)
	n.Frozen = frozen
	n.Why, n.By, n.At = Audit(m.growth.Why), Audit(m.growth.By), m.growth.At
	if breaks.SameGeneration && r.Generation > 0 {
		n.Generation, n.History = r.Generation, r.History
	}
	if err := n.Validate(); err != nil && !breaks.WriteFirst {
		m.end(err)
		return
	}
	w := WriteLedger{Record: n, If: r.Generation, Most: n.Read, Any: breaks.AnyGeneration || breaks.CreateBlindly && r.Generation == 0}
	if breaks.AnyReadWidth || breaks.LowerRead {
		w.Most = 0
	}
	m.due = w
}

// end ends the machine with an error.
func (m *Grow) end(err error) {
	m.over = true
	if m.doubt > 0 {
		err = fmt.Errorf("%w: generation %d may have been stored: %w", ErrUnknownOutcome, m.doubt, err)
	}
	m.err = fmt.Errorf("grow %q to %d shards: %w", m.view.options.Key, m.growth.To, err)
}
