package ledger

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Finding is what a Get does.
type Finding struct {
	// Home returns the shard of the id if a key has so many shards, a power of two. It is layout.Hash.Shard of the
	// collection's hash, and never changes.
	Home func(width int) int

	Mode    Mode
	AtLeast int64     // of a Causal Get: the generation that the write said
	Now     time.Time // when the Get begins
}

// Get is the machine that finds an item of a Calculated collection by its id. Items are inserted once and never moved, so an
// item is at the home of the width that its writer knew: one of the homes of 1, 2, 4 … shards, up to the read width.
//
// It looks at the home of the present width and reads the ledger at the same time. A hit ends it, since every copy of such
// an item is the same. After a miss it looks at the other homes at once: log2 of the read width more requests at most.
type Get struct {
	view    *View
	finding Finding

	due     []Effect
	asked   []int // the shards that were asked for
	homes   int   // unanswered
	ledgers int   // unanswered
	found   bool
	shard   int
	stale   bool
	suspect error
	failed  error // why a home could not be read
	err     error
}

// GetResult says where an item is.
type GetResult struct {
	Found bool
	Shard int   // of the item, if it was found
	Homes int   // how many were looked at
	Stale bool  // as ReadResult.Stale, if the item was not found
	Cause error // why it is stale
}

// NewGet returns the machine.
func NewGet(v *View, f Finding) *Get {
	m := &Get{view: v, finding: f}
	ask, strong := v.asks(f.Mode, f.AtLeast, 0, f.Now)
	if ask {
		m.ledgers++
		m.due = append(m.due, v.Ask(f.Now, strong))
	}
	switch {
	case !ask || v.options.Breaks.BelievesMiss:
		m.look(v.record)
	case v.newer == nil: // else a hit may be one that newer rules do not count
		m.probe(v.record.Write)
	}
	return m
}

// Next returns what has to be done now. It is empty while answers are awaited.
func (m *Get) Next() []Effect {
	due := m.due
	m.due = nil
	if m.Over() {
		return nil
	}
	return due
}

// Over reports whether the machine has ended. There may be answers that nobody needs any more.
func (m *Get) Over() bool { return m.err != nil || m.found || m.homes == 0 && m.ledgers == 0 }

// Result returns whether the item was found. An error says that this is not known.
func (m *Get) Result() (GetResult, error) {
	r := GetResult{Found: m.found, Shard: m.shard, Homes: len(m.asked)}
	if m.found {
		return r, nil
	}
	r.Stale, r.Cause = m.stale, m.suspect
	if m.err == nil && m.failed != nil {
		return r, m.failed
	}
	return r, m.err
}

// Handle takes an answer. After the end, what it says of the ledger is still learnt.
func (m *Get) Handle(e Event) {
	if m.Over() {
		m.view.overhear(e)
		return
	}
	switch e := e.(type) {
	case LedgerRead:
		m.ledgers--
		m.ledger(e)
	case ItemRead:
		m.homes--
		m.item(e)
	}
}

func (m *Get) ledger(e LedgerRead) {
	stale, err := m.view.hear(e, m.finding.Mode, 0)
	if err == nil {
		err = m.view.reaches(m.finding.Mode, m.finding.AtLeast)
	}
	if err != nil {
		m.err = m.wrap(err)
		return
	}
	if stale != nil {
		m.stale, m.suspect = true, stale
	}
	if !m.view.options.Breaks.SkipMissing && !m.view.options.Breaks.BelievesMiss {
		m.look(m.view.record)
	}
}

func (m *Get) item(e ItemRead) {
	switch {
	case e.Err != nil:
		// Another home may have the item, so this alone does not end the Get.
		if m.failed == nil && !m.view.options.Breaks.SkipFailed {
			m.failed = m.wrap(fmt.Errorf("shard %d: %w", e.Shard, e.Err))
		}
	case e.Found:
		m.view.Saw(e.Stamp)
		m.found, m.shard = true, e.Shard
	}
}

// look asks for all homes of a record that were not asked for.
func (m *Get) look(r Record) {
	m.probe(r.Write)
	if m.view.options.Breaks.OneHome {
		return
	}
	for width := 1 << (bits.Len(uint(r.Read)) - 1); width > 0; width /= 2 {
		m.probe(width)
	}
}

// probe asks for the home of a width, once.
func (m *Get) probe(width int) {
	shard := m.finding.Home(width)
	if shard < 0 || shard >= width {
		m.err = m.wrap(fmt.Errorf("the id's home is shard %d of %d", shard, width))
		return
	}
	if slices.Contains(m.asked, shard) {
		return
	}
	m.asked = append(m.asked, shard)
	m.homes++
	m.due = append(m.due, GetItem{Shard: shard, Strong: m.finding.Mode != Eventual && !m.view.options.Breaks.WeakShards})
}

func (m *Get) wrap(err error) error { return fmt.Errorf("get from %q: %w", m.view.options.Key, err) }
