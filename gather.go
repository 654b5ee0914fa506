package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// errEnd ends a gather: every item was returned.
var errEnd = errors.New("end")

// gather merges shards. Every shard of a bucket is read ahead by its cursor, and the least of their first items is the
// next to return: so a cursor that has run dry has to be waited for. Buckets come one after another, older layouts'
// shards go along with all of them.
//
// Only the goroutine that calls next touches a gather; requests run in their own and come back through results.
type gather struct {
	read    *reading
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	results chan result

	from    *position   // where to go on, until its bucket has been opened
	buckets []time.Time // not opened yet
	opened  []*stage    // the first is being returned
	older   []*cursor
	ahead   int // how many buckets to open before their time

	merge   merge // of those with something to return
	lacking int   // how many have run dry and may have more
	live    int   // how many of the first stage are one or the other

	room    room
	awaited int // how many cursors have a request under way
	hollow  int // how many cursors are
	ceiling int // the most to hold for reading ahead: less after there was no room for it

	sent    int       // requests
	allowed int       // how many more may be sent, -1 for any number
	full    bool      // the next bucket takes more than that
	reached time.Time // the bucket that was last to be returned, or was to be

	stages     int // how many have been opened
	shardsRead int // how many they had

	want     int // items still wanted, -1 for all
	emitted  int
	missing  []*cursor
	complete int // how many items were returned before the first shard was missing
}

// result is what a request brought.
type result struct {
	cursor *cursor
	round  int
	asked  demand
	took   time.Duration
	fetched
	err error
}

// gather starts reading, behind from if it is given. It has to be closed.
func (r *reading) gather(ctx context.Context, from *position) (*gather, error) {
	g := &gather{
		read: r, from: from, merge: merge{reverse: r.query.Reverse}, want: -1, ahead: r.query.Ahead,
		results: make(chan result), room: room{most: r.core.options.ReadMemory},
	}
	g.allowed = -1
	if r.query.Limit > 0 {
		g.want, g.allowed = r.query.Limit, r.maxRequests()
	}
	var err error
	if g.older, err = r.olderCursors(); err != nil {
		return nil, err
	}
	g.buckets = r.buckets()
	if from != nil {
		g.buckets = slices.DeleteFunc(g.buckets, func(b time.Time) bool {
			return b.Before(from.bucket) != r.query.Reverse && !b.Equal(from.bucket)
		})
		at := from
		if r.core.options.Layout.Bucket != NoBucket {
			at = from.older
		}
		for _, cu := range g.older {
			if at != nil {
				r.resume(cu, cu.source, *at)
			}
		}
	}
	g.ceiling = g.room.crowded()
	g.ctx, g.cancel = context.WithCancel(ctx)
	if err := g.open(); err != nil {
		g.close()
		return nil, err
	}
	if len(g.opened) > 0 {
		g.enter(g.older)
		g.enter(g.opened[0].cursors)
	}
	return g, nil
}

// close stops everything and waits for it.
func (g *gather) close() {
	g.cancel()
	g.running.Wait()
}

// next returns the next entry and where it came from, or errEnd.
func (g *gather) next() (entry, *cursor, error) {
	if g.want == 0 {
		return entry{}, nil, errEnd
	}
	if err := g.ready(); err != nil {
		return entry{}, nil, err
	}
	cu := g.merge.first()
	e := cu.pop()
	g.room.held -= e.size
	cu.emitted++
	g.emitted++
	if g.want > 0 {
		g.want--
	}
	if cu.buffered() > 0 {
		g.merge.fix()
	} else {
		g.merge.remove()
		g.settle(cu)
	}
	g.prefetch(cu)
	return e, cu, nil
}

// ready waits until the first of the merge is the next to return.
func (g *gather) ready() error {
	if g.ceiling < g.room.crowded() { // answers that have come may be smaller than the room that was kept for them
		if err := g.drain(); err != nil {
			return err
		}
	}
	for {
		switch {
		case g.lacking > 0:
			if err := g.wait(); err != nil {
				return err
			}
		case g.merge.empty() || g.live == 0 && g.pending():
			if err := g.advance(); err != nil {
				return err
			}
		case g.merge.first().hollow:
			g.revive()
		default:
			return nil
		}
	}
}

// more reports whether there may be more to return.
func (g *gather) more() bool { return !g.merge.empty() || g.lacking > 0 || g.pending() }

// enter makes cursors part of the merge.
func (g *gather) enter(cursors []*cursor) {
	for _, cu := range cursors {
		if cu.stage != nil {
			g.live++
		}
		g.join(cu)
	}
}

// join puts a cursor where it belongs: among those that have something to return, or not.
func (g *gather) join(cu *cursor) {
	if cu.buffered() == 0 {
		g.settle(cu)
		return
	}
	g.merge.add(cu)
}

// settle decides what to do about a cursor that has nothing to return.
func (g *gather) settle(cu *cursor) {
	if !cu.done {
		g.lacking++
		return
	}
	if cu.stage != nil {
		g.live--
	}
	if cu.err != nil {
		if len(g.missing) == 0 {
			g.complete = g.emitted
		}
		g.missing = append(g.missing, cu)
	}
}

// wait gets every dry cursor going and waits for one of them.
func (g *gather) wait() error {
	if g.allowed == 0 && g.awaited == 0 {
		return g.exceeded(g.lacking)
	}
	g.ask()
	select {
	case r := <-g.results: // before it is taken to be late
		return g.deliver(r)
	default:
	}
	hedge, stop := g.hedge()
	defer stop()
	select {
	case r := <-g.results:
		return g.deliver(r)
	case <-hedge:
		g.again()
		return nil
	case <-g.ctx.Done():
		return g.over()
	}
}

// drain takes in what has come already.
func (g *gather) drain() error {
	for {
		select {
		case r := <-g.results:
			if err := g.deliver(r); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// deliver takes in what a request brought.
func (g *gather) deliver(r result) error {
	cu := r.cursor
	g.room.arrived(r.asked.parcel)
	g.ceiling = g.room.crowded()
	if r.round != cu.round {
		return nil // the other of two was faster
	}
	if cu.flights--; r.err != nil && cu.flights > 0 {
		return nil // the other may still do
	}
	cu.round++
	g.awaited--
	cu.fetching, cu.hedged, cu.flights = false, false, 0
	g.read.core.tail.saw(r.took)
	merged := cu.buffered() > 0 // it is in the merge, or waits for its stage
	if r.err != nil {
		if err := g.fail(cu, r.err); err != nil {
			return err
		}
	} else {
		cu.start, cu.done, cu.begun, cu.empty = r.start, r.done, true, len(r.entries) == 0
		if cu.stage != nil && !cu.done {
			cu.stage.large = true
		}
		g.read.core.passing.saw(g.read.query.Filter, r.scanned, len(r.entries))
		if !cu.empty {
			cu.page = len(r.entries)
			cu.push(r.entries)
			g.room.held += r.size
		}
	}
	if !merged && g.current(cu) && (cu.done || cu.buffered() > 0) {
		g.lacking--
		g.join(cu)
	}
	return g.open()
}

// current reports whether a cursor is part of the merge, not of a bucket to come.
func (g *gather) current(cu *cursor) bool { return cu.stage == nil || cu.stage == g.opened[0] }

// fail gives a shard up, or everything.
func (g *gather) fail(cu *cursor, err error) error {
	if g.ctx.Err() != nil {
		return g.over()
	}
	shard, ok := errors.AsType[*ShardError](err)
	if !ok {
		return err
	}
	if dispatch.Judge(shard.Err) == dispatch.Rejected { // as it would be of any shard
		return shard
	}
	cu.done, cu.err = true, shard
	if g.read.query.Partial {
		return nil
	}
	g.missing = append(g.missing, cu)
	return g.failure()
}

// over returns the error of a read whose context has ended: it says what was being waited for.
func (g *gather) over() error {
	err := g.ctx.Err()
	if cause := context.Cause(g.ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	var waiting []string
	all := 0
	for cu := range g.merging() {
		all++
		if !cu.done && cu.buffered() == 0 {
			waiting = append(waiting, cu.shardKey)
		}
	}
	if len(waiting) == 0 {
		return err
	}
	return fmt.Errorf("query %s: %d of %d shards not answered, the first %q: %w", g.read.core.options.Table, len(waiting), all, waiting[0], err)
}

// failure returns what is missing.
func (g *gather) failure() *GatherError {
	stage := func(cu *cursor) int {
		if cu.stage == nil {
			return 0
		}
		return cu.stage.number
	}
	slices.SortFunc(g.missing, func(a, b *cursor) int {
		return cmp.Or(cmp.Compare(stage(a), stage(b)), cmp.Compare(a.source, b.source))
	})
	failure := &GatherError{Of: g.shardsRead + len(g.older), Complete: g.complete}
	for _, cu := range g.missing {
		failure.Shards = append(failure.Shards, cu.err)
	}
	return failure
}
