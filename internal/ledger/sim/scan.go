package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// scan is a read of one or several buckets, one after the other, each in one page or several. The pages may be read by
// different processes: they hand each other a token, which is a position and a width.
type scan struct {
	mode   ledger.Mode
	limit  int // items in a page; 0: any number
	bucket int // the one that is read now
	last   int // the last one
	checks []check
	rand   *rand.Rand
	calm   bool

	position position // the last item of the page before
	width    int      // the shards that the pages before have read; 0: this is the first of the bucket
	got      []position
	paged    bool
}

var modeNames = [...]string{"strong", "causal", "eventual"}

// beginScan begins a read.
func (w *world) beginScan(o *operation, a Action) {
	s := &scan{mode: a.Mode, limit: a.Limit, bucket: a.Bucket, last: min(a.Bucket+a.More, len(w.buckets)-1), rand: o.rand, calm: o.calm}
	for n := s.bucket; n <= s.last; n++ {
		s.checks = append(s.checks, w.newCheck(w.buckets[n], s.mode, o.rand))
	}
	w.page(o, s)
}

// page reads the next page.
func (w *world) page(o *operation, s *scan) {
	b := w.buckets[s.bucket]
	c := &s.checks[len(s.checks)-1-(s.last-s.bucket)]
	o.bucket = b
	o.name = fmt.Sprintf("%s read of bucket %d", modeNames[s.mode], b.number)
	o.after = s.position
	o.pageSize = 2 + o.rand.IntN(12)
	g := ledger.Reading{Mode: s.mode, Now: w.clock(o.process), AtLeastWidth: s.width}
	if s.width == 0 {
		g.AtLeast = c.atLeast // on later pages, the token stands for it
	}
	before := w.look(o)
	m := ledger.NewRead(o.memory().view, g)
	w.say("%v begins behind %v, at least generation %d and %d shards", o, s.position, g.AtLeast, g.AtLeastWidth)
	w.begin(o, m, func(o *operation) {
		result, err := m.Result()
		w.say("%v is over: %d shards, generation %d, items %v, %v", o, result.Shards, result.Generation, o.got, err)
		if w.checkErr(o, err); err != nil {
			return
		}
		if result.Shards > 1 {
			w.stats.Wide++
		}
		w.checkPage(o, before, s, result)
		c.stale = c.stale || result.Stale
		w.turn(o, s, c, result)
	})
}

// turn takes a page, and goes on to the next one or the next bucket.
func (w *world) turn(o *operation, s *scan, c *check, result ledger.ReadResult) {
	slices.SortFunc(o.got, position.compare)
	more := s.limit > 0 && len(o.got) > s.limit
	if more {
		o.got = o.got[:s.limit]
	}
	s.got = append(s.got, o.got...)
	if more {
		s.position, s.width, s.paged = o.got[s.limit-1], max(s.width, result.Shards), true
	} else {
		w.checkScan(o, s, c)
		s.position, s.width, s.got = position{}, 0, nil
		s.bucket++
	}
	if s.bucket > s.last {
		*[...]*int{&w.stats.Strong, &w.stats.Causal, &w.stats.Eventual}[s.mode]++
		if s.paged {
			w.stats.Paged++
		}
		if len(s.checks) > 1 {
			w.stats.Several++
		}
		return
	}
	next := w.processes[s.rand.IntN(len(w.processes))]
	if s.rand.IntN(2) == 0 {
		next = o.process
	}
	if more && next != o.process {
		w.stats.Resumed++
	}
	after := draw(s.rand, 50*time.Millisecond)
	switch s.rand.IntN(12) {
	case 0:
		after = draw(s.rand, time.Minute)
	case 1, 2:
		after = draw(s.rand, 3*time.Second)
	}
	w.at(w.now+after, func() {
		o := newOperation(next, s.rand, s.calm)
		w.in(o, 0, func() { w.page(o, s) })
	})
}
