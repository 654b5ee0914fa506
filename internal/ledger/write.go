package ledger

import "fmt"

// Writing is what a Write does.
type Writing struct {
	// Choose returns one of width shards, counted from 0: drawn at random, or computed from the item's id. It is asked
	// again only if every attempt before was certainly without effect.
	Choose func(width int) int

	// Once says that the write must not happen twice, not even to the same shard. It ends with ErrUnknownOutcome when an
	// answer is lost.
	Once bool
}

// Write is the machine that decides which shard a write goes to. The item may be anywhere that it was sent to without a
// certain refusal, so from the first lost answer on it goes to that shard only.
type Write struct {
	view    *View
	writing Writing

	sent   SendItem
	chosen bool // sent has the shard of the next attempt
	pinned bool // an attempt may have happened
	flying bool
	over   bool
	err    error
	last   error // of the last attempt
}

// WriteResult says where a write has gone.
type WriteResult struct {
	Shard      int
	Generation int64 // a Causal read with AtLeast this or more returns the item
}

// NewWrite returns the machine. If the view knows that the ledger is of a newer version, the machine ends with ErrNewer when
// it is asked for the next attempt.
func NewWrite(v *View, w Writing) *Write { return &Write{view: v, writing: w} }

// Next returns the next attempt. It is empty while an answer is awaited. The caller waits between attempts, and gives up
// by not asking any more.
func (m *Write) Next() []Effect {
	if m.over || m.flying {
		return nil
	}
	if newer := m.view.newer; newer != nil && !m.view.options.Breaks.WriteNewer {
		m.last = newer
		m.end(m.giveUp())
		return nil
	}
	if !m.chosen {
		breaks, width := m.view.options.Breaks, m.view.record.Write
		if breaks.BeyondOwnWidth {
			width = m.view.record.Read + 1
		}
		shard := m.writing.Choose(width)
		if shard < 0 || shard >= width {
			m.end(fmt.Errorf("write to %q: shard %d was chosen of %d", m.view.options.Key, shard, width))
			return nil
		}
		m.sent = SendItem{Shard: shard, Stamp: m.view.record.Generation}
		m.chosen = true
	}
	m.flying = true
	return []Effect{m.sent}
}

// Over reports whether the machine has ended.
func (m *Write) Over() bool { return m.over }

// Result returns where the item is. Before the machine has ended, it says what is known if the caller gives up: the error
// wraps ErrUnknownOutcome if an attempt may have happened or may happen yet.
func (m *Write) Result() (WriteResult, error) {
	err := m.err
	if !m.over {
		err = m.giveUp()
	}
	if err != nil {
		return WriteResult{}, err
	}
	generation := m.sent.Stamp
	if m.view.options.Breaks.StampZero {
		generation = 0
	}
	return WriteResult{Shard: m.sent.Shard, Generation: generation}, nil
}

func (m *Write) giveUp() error {
	cause := m.last
	if cause == nil {
		cause = fmt.Errorf("it was given up before an answer came")
	}
	if m.pinned || m.flying {
		cause = fmt.Errorf("%w: shard %d may have the item: %w", ErrUnknownOutcome, m.sent.Shard, cause)
	}
	return fmt.Errorf("write to %q: %w", m.view.options.Key, cause)
}

// Handle takes an answer.
func (m *Write) Handle(e Event) {
	sent, ok := e.(ItemSent)
	if !ok || m.over || !m.flying {
		return
	}
	m.flying = false
	m.last = sent.Err
	breaks := m.view.options.Breaks
	switch sent.Outcome {
	case Done:
		m.over = true
	case Unknown:
		m.pinned = true
		switch {
		case breaks.AckUnknown:
			m.over = true
		case breaks.Repick:
			m.chosen = false
		case m.writing.Once:
			m.end(m.giveUp())
		}
	case Throttled:
		m.chosen = m.pinned && !breaks.ForgetPin
	default:
		m.over = true
		m.err = m.giveUp()
	}
}

func (m *Write) end(err error) {
	m.over = true
	m.err = err
}
