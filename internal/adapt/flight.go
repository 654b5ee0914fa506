package adapt

import (
	"context"
	"maps"
	"slices"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// flight is a read of a ledger that several operations share. Nobody sends it for them: one of those who wait does.
type flight struct {
	number  int64
	strong  bool
	waiting int
	turn    chan struct{} // has an element when one of those who wait is to send it
	done    chan struct{} // closed when read is there
	read    ledger.LedgerRead
}

// ask reads a ledger as the machine asks. A strong read shares a request that is sent after it began. An eventual one takes any.
func (b *Book) ask(ctx context.Context, p *page, asked ledger.ReadLedger) ledger.LedgerRead {
	f := p.join(asked.Strong)
	for {
		select {
		case <-f.done:
			if f.read.Asked.Sent.Before(asked.Sent) { // what comes back is as old as the request
				asked.Sent = f.read.Asked.Sent
			}
			return ledger.LedgerRead{Asked: asked, Record: f.read.Record, Err: f.read.Err}
		case <-f.turn:
			p.mu.Lock()
			asked.Strong = f.strong
			p.mu.Unlock()
			read := b.control.readLedger(ctx, p.control, b.absent(), asked)
			if ctx.Err() != nil && read.Err != nil { // the others are not to suffer from this context
				p.leave(f, true)
				return read
			}
			p.mu.Lock()
			f.read = read
			close(f.done)
			p.land(f)
			p.mu.Unlock()
			return read
		case <-ctx.Done():
			p.leave(f, false)
			return ledger.LedgerRead{Asked: asked, Err: ctx.Err()}
		}
	}
}

// join adds an operation to a flight.
func (p *page) join(strong bool) *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !strong && len(p.flights) > 0 {
		f := p.flights[slices.Min(slices.Collect(maps.Keys(p.flights)))] // it is under way
		f.waiting++
		return f
	}
	number, start := p.share.Join()
	f := p.flights[number]
	if f == nil {
		f = &flight{number: number, turn: make(chan struct{}, 1), done: make(chan struct{})}
		if p.flights == nil {
			p.flights = map[int64]*flight{}
		}
		p.flights[number] = f
	}
	f.waiting++
	f.strong = f.strong || strong
	if start {
		f.turn <- struct{}{}
	}
	return f
}

// leave takes an operation off a flight. If it was to send it, somebody else is to. Nobody may be left.
func (p *page) leave(f *flight, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f.waiting--
	if !mine {
		select {
		case <-f.turn:
			mine = true
		default:
		}
	}
	switch {
	case !mine:
	case f.waiting > 0:
		f.turn <- struct{}{}
	default:
		p.land(f)
	}
}

// land ends a flight and starts the next for which somebody waits.
func (p *page) land(f *flight) {
	for {
		delete(p.flights, f.number)
		next, start := p.share.Landed()
		if !start {
			return
		}
		if f = p.flights[next]; f != nil && f.waiting > 0 {
			f.turn <- struct{}{}
			return
		}
		if f == nil {
			f = &flight{number: next}
		}
	}
}
