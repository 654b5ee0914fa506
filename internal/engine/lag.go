package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/store"
)

// Lag makes eventually consistent reads, and with them all reads of global
// indexes, see the tables as they were a while ago. Each read is set back by a
// time of its own between Min and Max, so that a later one can see an older
// state. What is the same otherwise is set back by the same times, if it is with
// the same Seed.
type Lag struct {
	Min, Max time.Duration
	Seed     uint64
}

// maxLag is how far reads may be set back: until then everything that was
// overwritten is kept.
const maxLag = time.Hour

// check returns what is wrong with the lag.
func (l Lag) check() error {
	switch {
	case l.Min < 0 || l.Max <= 0:
		return fmt.Errorf("lag: Min is %v and Max is %v: Min must not be negative, and Max must be positive", l.Min, l.Max)
	case l.Min > l.Max:
		return fmt.Errorf("lag: Min %v is longer than Max %v", l.Min, l.Max)
	case l.Max > maxLag:
		return fmt.Errorf("lag: Max %v is longer than %v", l.Max, maxLag)
	}
	return nil
}

// past is the store as it was, as far back as reads are set back. A nil past is
// that of an engine whose reads are not.
type past struct {
	lag    Lag
	mu     sync.Mutex
	random *rand.Rand
	ago    []*moment // the oldest first
}

// moment is the store just before something was written.
type moment struct {
	at       time.Time // when that was
	snapshot *store.Snapshot
	readers  int
	over     bool // nobody reads it any more, but for the readers
}

// maxMoments is how many moments are kept at most. If more is written than that,
// several writes share one, and are seen a little earlier than they should.
const maxMoments = 256

func newPast(l *Lag) (*past, error) {
	if l == nil {
		return nil, nil
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	return &past{lag: *l, random: rand.New(rand.NewPCG(l.Seed, 0))}, nil
}

// keep keeps the store as it is, before it is written to.
func (p *past) keep(s *store.Store) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	err := p.forget(now)
	const few = maxMoments / 2
	if n := len(p.ago); n < few || now.Sub(p.ago[n-1].at) >= p.lag.Max/few {
		p.ago = append(p.ago, &moment{at: now, snapshot: s.Snapshot()})
	}
	return err
}

// forget lets go of the moments that are too long ago.
func (p *past) forget(now time.Time) (err error) {
	oldest := now.Add(-p.lag.Max)
	n := 0
	for n < len(p.ago) && !p.ago[n].at.After(oldest) {
		err = errors.Join(err, p.ago[n].end())
		n++
	}
	p.ago = slices.Delete(p.ago, 0, n)
	return err
}

// end closes the moment as soon as nobody reads it.
func (m *moment) end() error {
	if m.over = true; m.readers > 0 {
		return nil
	}
	return m.snapshot.Close()
}

// look returns what an eventually consistent read sees, which is nothing from
// before since. The moment is to be given to looked.
func (p *past) look(now store.View, since time.Time) (store.View, *moment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	then := time.Now().Add(-p.lag.Min - time.Duration(p.random.Int64N(int64(p.lag.Max-p.lag.Min)+1)))
	if then.Before(since) {
		then = since
	}
	i, _ := slices.BinarySearchFunc(p.ago, then, func(m *moment, t time.Time) int {
		if m.at.After(t) {
			return 1
		}
		return -1
	})
	if i == len(p.ago) {
		return now, nil // nothing was written since
	}
	p.ago[i].readers++
	return p.ago[i].snapshot.View, p.ago[i]
}

// looked ends a look; nil: it was at the store as it is.
func (p *past) looked(m *moment) error {
	if m == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.readers--; m.over && m.readers == 0 {
		return m.snapshot.Close()
	}
	return nil
}

// close lets go of everything. Nobody reads any more.
func (p *past) close() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, m := range p.ago {
		err = errors.Join(err, m.end())
	}
	p.ago = nil
	return err
}

// get reads an item of a table, set back if it need not be consistent.
func (e *Engine) get(t *table, key []byte, consistent bool) (value []byte, found bool, err error) {
	if e.past == nil || consistent {
		return e.store.Get(nil, key)
	}
	view, m := e.past.look(e.store.View, t.whole)
	value, found, err = view.Get(nil, key)
	return value, found, errors.Join(err, e.past.looked(m))
}
