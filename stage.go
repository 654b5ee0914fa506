package heatsink

import (
	"fmt"
	"slices"
	"time"
)

// stage is a bucket's cursors.
type stage struct {
	bucket  time.Time
	cursors []*cursor
	number  int  // of the stage, from 1 on
	large   bool // some shard had more than one page
}

// buckets returns the starts of the buckets to read, in order; a zero one without buckets.
func (r *reading) buckets() []time.Time {
	b := r.core.options.Layout.Bucket
	if b == NoBucket {
		return []time.Time{{}}
	}
	starts := slices.Collect(b.Starts(r.query.From, r.query.To))
	if r.query.Reverse {
		slices.Reverse(starts)
	}
	return starts
}

// bucket returns the bucket that is being returned.
func (g *gather) bucket() time.Time { return g.opened[0].bucket }

// pending reports whether there is another bucket to return.
func (g *gather) pending() bool { return len(g.opened) > 1 || len(g.buckets) > 0 }

// advance goes on to the next bucket, or to the end.
func (g *gather) advance() error {
	if !g.pending() {
		return errEnd
	}
	if len(g.opened) > 0 {
		g.ahead = min(max(2*g.ahead, 1), maxAhead)
		if g.opened[0].large { // only buckets that held little are worth looking further
			g.ahead = 1
		}
		g.opened = g.opened[1:]
	}
	if err := g.open(); err != nil {
		return err
	}
	g.enter(g.opened[0].cursors)
	return nil
}

// maxAhead is the most buckets that are read before their time without having been asked to.
const maxAhead = 8

// open opens the buckets that are to be read now: the first, and those ahead of it that are wanted for sure, or were asked
// for.
func (g *gather) open() error {
	ahead := g.read.query.Ahead
	if g.want < 0 || len(g.opened) > 0 && g.sure() {
		ahead = max(ahead, g.ahead, 1)
	}
	for len(g.buckets) > 0 && (len(g.opened) == 0 || len(g.opened) <= ahead && !g.full) {
		s := &stage{bucket: g.buckets[0]}
		var err error
		if s.cursors, err = g.read.cursors(g.ctx, s.bucket); err != nil {
			return err
		}
		if g.from != nil && s.bucket.Equal(g.from.bucket) {
			if err := g.resume(s.cursors); err != nil {
				return err
			}
		}
		if s.bucket.IsZero() {
			g.older = without(g.older, s.cursors)
		}
		if len(g.opened) == 0 {
			g.reached = s.bucket
		}
		if n := g.firstRequests(s.cursors); g.allowed >= 0 && n > g.allowed {
			if g.full = true; len(g.opened) == 0 {
				return g.exceeded(n)
			}
			return nil // it may not be needed
		}
		g.buckets = g.buckets[1:]
		for _, cu := range s.cursors {
			cu.stage = s
		}
		g.opened = append(g.opened, s)
		g.stages++
		g.shardsRead += len(s.cursors)
		s.number = g.stages
		for _, cu := range s.cursors {
			if !g.fetch(cu) {
				break
			}
		}
	}
	return nil
}

// firstRequests returns how many requests it takes at least to return the first item of a bucket: one for each shard that
// is to be read.
func (g *gather) firstRequests(own []*cursor) int {
	n := 0
	for _, cu := range own {
		if !cu.done {
			n++
		}
	}
	for _, cu := range g.older {
		if !cu.done && !cu.begun && !cu.fetching {
			n++
		}
	}
	return n
}

// resume makes the layout's own shards go on behind the position. One that has been added since may have been an older
// layout's before, and then came in its place. If that was behind an older layout that still is one, the order has changed.
func (g *gather) resume(own []*cursor) error {
	var was map[string]ordinal
	if g.bucketless() && len(g.older) > 0 {
		was = make(map[string]ordinal, len(g.older))
		for _, cu := range g.older {
			was[cu.shardKey] = cu.source
		}
		for _, cu := range own {
			if cu.source.shard() < g.from.width {
				delete(was, cu.shardKey)
			}
		}
	}
	first := ordinal(lastOrdinal) // of the older layouts' shards that still are
	if len(was) > 0 {
		for _, cu := range without(slices.Clone(g.older), own) {
			first = min(first, cu.source)
		}
	}
	for _, cu := range own {
		source, moved := was[cu.shardKey]
		if !moved {
			source = cu.source
		} else if source > first {
			return fmt.Errorf("%w: shard %q was one of an older layout when it was issued: begin with the first page", ErrToken, cu.shardKey)
		}
		g.read.resume(cu, source, *g.from)
	}
	return nil
}

func (g *gather) bucketless() bool { return g.read.core.options.Layout.Bucket == NoBucket }

// sure reports whether the buckets that are open hold less than is wanted.
func (g *gather) sure() bool {
	have := 0
	for _, s := range g.opened {
		for _, cu := range s.cursors {
			if !cu.done {
				return false
			}
			have += cu.buffered()
		}
	}
	return have < g.want
}
