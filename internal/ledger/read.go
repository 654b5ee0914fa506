package ledger

import (
	"fmt"
	"time"
)

// Mode is what a read promises.
type Mode uint8

// The modes. The zero value is Strong, which promises most.
const (
	// Strong returns every item that was acknowledged before the read began. It reads the ledger in parallel to its
	// shards: 1 RCU more, and one more round trip only if the key has grown.
	Strong Mode = iota

	// Causal returns every item whose write said a generation up to AtLeast and was acknowledged before the read began.
	// It reads the ledger only if the process knows an older generation.
	Causal

	// Eventual may miss items of the last ViewOptions.Keep plus DynamoDB's replica lag. It reads the ledger, for 0.5 RCU, only if the
	// process knows nothing that is as young.
	Eventual
)

// Reading is what a Read does.
type Reading struct {
	Mode    Mode
	AtLeast int64     // of a Causal read: the largest generation of the writes that it must see
	Now     time.Time // when the read begins

	// AtLeastWidth is how many shards the page before this one has read, 0 if this is the first. A process that knows fewer
	// reads the ledger with strong consistency first. A ledger that shows fewer is lost, as the read width never falls.
	AtLeastWidth int
}

// Read is the machine that finds out which shards a read has. The caller reads them.
type Read struct {
	view    *View
	reading Reading

	due     []Effect
	asked   int   // the shards below this were asked for
	shards  int   // unanswered
	ledgers int   // unanswered
	shown   int64 // the largest generation that the ledger has shown to this read
	stamp   int64 // the largest of the items
	traced  int64 // the largest for which the ledger was read again
	stale   bool
	suspect error
	err     error
}

// ReadResult says what a read has covered.
type ReadResult struct {
	Shards     int   // it has read so many
	Generation int64 // of the record that says so

	// Stale is true if an Eventual read went on with an older record than it promises, because the ledger could not be
	// read. Suspect says why; it wraps ErrLost if the ledger was lost.
	Stale   bool
	Suspect error
}

// NewRead returns the machine.
func NewRead(v *View, g Reading) *Read {
	m := &Read{view: v, reading: g, shown: v.record.Generation}
	m.extend(v.record.Read)
	if ask, strong := v.asks(g.Mode, g.AtLeast, g.AtLeastWidth, g.Now); ask {
		m.ask(strong)
	}
	return m
}

// Next returns what has to be done now. It is empty while answers are awaited.
func (m *Read) Next() []Effect {
	due := m.due
	m.due = nil
	if m.err != nil {
		return nil
	}
	return due
}

// Over reports whether the machine has ended. After an error there may be answers that nobody needs any more.
func (m *Read) Over() bool { return m.err != nil || m.shards == 0 && m.ledgers == 0 }

// Result returns what was read. The items of the shards are the caller's.
func (m *Read) Result() (ReadResult, error) {
	return ReadResult{Shards: m.asked, Generation: m.view.record.Generation, Stale: m.stale, Suspect: m.suspect}, m.err
}

// Handle takes an answer. After the end, what it says of the ledger is still learnt.
func (m *Read) Handle(e Event) {
	if m.Over() {
		m.view.overhear(e)
		return
	}
	switch e := e.(type) {
	case LedgerRead:
		m.ledgers--
		m.ledger(e)
	case ShardRead:
		if !e.More || e.Err != nil || m.view.options.Breaks.FirstPageOnly {
			m.shards--
		}
		m.shard(e)
	}
}

func (m *Read) ledger(e LedgerRead) {
	stale, err := m.view.hear(e, m.reading.Mode, m.reading.AtLeastWidth)
	if err == nil {
		err = m.view.reaches(m.reading.Mode, m.reading.AtLeast)
	}
	if err != nil {
		m.end(err)
		return
	}
	if stale != nil {
		m.stale, m.suspect = true, stale
	}
	m.shown = e.Record.Generation
	if !m.view.options.Breaks.SkipMissing {
		m.extend(m.view.record.Read)
	}
	m.compare()
}

func (m *Read) shard(e ShardRead) {
	if e.Err != nil && !m.view.options.Breaks.SkipFailed {
		m.end(fmt.Errorf("shard %d: %w", e.Shard, e.Err))
		return
	}
	m.view.Saw(e.Stamp)
	m.stamp = max(m.stamp, e.Stamp)
	m.compare()
}

// compare reads the ledger again if items are newer than it. The key has grown meanwhile, or the ledger was lost: it must
// show at least the generation of the items. What others in this process know does not count, as they may have read it
// before it was lost. An eventual read leaves this to the next one.
func (m *Read) compare() {
	if m.reading.Mode != Eventual && m.ledgers == 0 && m.stamp > max(m.shown, m.traced) && !m.view.options.Breaks.IgnoreStamps {
		m.traced = m.stamp
		m.ask(true)
	}
}

func (m *Read) ask(strong bool) {
	m.ledgers++
	m.due = append(m.due, m.view.Ask(m.reading.Now, strong))
}

// extend reads the shards up to a width that were not asked for.
func (m *Read) extend(width int) {
	if width <= m.asked {
		return
	}
	strong := m.reading.Mode != Eventual && !m.view.options.Breaks.WeakShards
	m.due = append(m.due, ReadShards{From: m.asked, To: width, Strong: strong})
	m.shards += width - m.asked
	m.asked = width
}

func (m *Read) end(err error) { m.err = fmt.Errorf("read %q: %w", m.view.options.Key, err) }
