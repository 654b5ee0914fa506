package heatsink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

// query is Collection.Query.
func (c *core) query(ctx context.Context, q Query) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		r, err := c.prepare(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		g, err := r.gather(ctx, nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer g.close()
		for {
			e, _, err := g.next()
			if errors.Is(err, errEnd) {
				break
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.finish(e.item), nil) {
				return
			}
		}
		if len(g.missing) > 0 {
			yield(nil, g.failure())
		}
	}
}

// page is Collection.Page.
func (c *core) page(ctx context.Context, q Query, token string) (Page[Item], error) {
	r, err := c.prepare(ctx, q)
	if err != nil {
		return Page[Item]{}, err
	}
	if q.Limit == 0 {
		return Page[Item]{}, errNoLimit
	}
	var from *position
	if token != "" {
		p, err := parseToken(token, r.fingerprint, c.options.TokenKey)
		if err != nil {
			return Page[Item]{}, err
		}
		if err := r.checkPosition(p); err != nil {
			return Page[Item]{}, err
		}
		from = &p
	}
	g, err := r.gather(ctx, from)
	if err != nil {
		return Page[Item]{}, err
	}
	defer g.close()

	var page Page[Item]
	var older *position
	if from != nil {
		older = from.older
	}
	for len(page.Items) < q.Limit {
		e, cu, err := g.next()
		if errors.Is(err, errEnd) {
			break
		}
		if err != nil {
			return Page[Item]{}, err
		}
		last := len(page.Items) == q.Limit-1 && g.more() && len(g.missing) == 0
		along := cu.stage == nil && !g.bucket().IsZero()
		if last || along {
			p, err := r.position(g.bucket(), e, cu)
			if err != nil {
				return Page[Item]{}, err
			}
			if along {
				older = &position{source: p.source, sort: p.sort, table: p.table}
			}
			if p.older = older; last {
				page.Next = p.token(r.fingerprint, c.options.TokenKey)
			}
		}
		page.Items = append(page.Items, r.finish(e.item))
	}
	if len(g.missing) > 0 {
		page.Next = "" // one position cannot say what is owed
		return page, g.failure()
	}
	return page, nil
}

// position returns the place of an entry that the query is to go on behind.
func (r *reading) position(bucket time.Time, e entry, cu *cursor) (position, error) {
	p := position{bucket: bucket, source: cu.source, sort: e.sort}
	var err error
	if r.core.options.Index != "" {
		p.table, err = keyValues(r.core.options.TableKey, e.item)
	}
	return p, err
}

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

	heap    []*cursor // those with something to return
	lacking int       // how many have run dry and may have more
	live    int       // how many of the first stage are one or the other

	want     int // items still wanted, -1 for all
	emitted  int
	missing  []*cursor
	complete int // how many items were returned before the first shard was missing
}

// stage is a bucket's cursors.
type stage struct {
	bucket  time.Time
	cursors []*cursor
}

// result is what a request brought.
type result struct {
	cursor *cursor
	round  int
	took   time.Duration
	fetched
	err error
}

// gather starts reading, behind from if it is given. It has to be closed.
func (r *reading) gather(ctx context.Context, from *position) (*gather, error) {
	g := &gather{read: r, from: from, want: -1, ahead: r.query.Ahead, results: make(chan result)}
	if r.query.Limit > 0 {
		g.want = r.query.Limit
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
				r.resume(cu, *at)
			}
		}
	}
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
	for g.lacking > 0 || len(g.heap) == 0 || g.live == 0 && g.pending() {
		if g.lacking > 0 {
			if err := g.wait(); err != nil {
				return entry{}, nil, err
			}
			continue
		}
		if err := g.advance(); err != nil {
			return entry{}, nil, err
		}
	}
	cu := g.heap[0]
	e := cu.pop()
	cu.emitted++
	g.emitted++
	if g.want > 0 {
		g.want--
	}
	if cu.buffered() > 0 {
		g.sink(0)
	} else {
		g.remove()
		g.settle(cu)
	}
	g.prefetch(cu)
	return e, cu, nil
}

// bucket returns the bucket that is being returned.
func (g *gather) bucket() time.Time { return g.opened[0].bucket }

// pending reports whether there is another bucket to return.
func (g *gather) pending() bool { return len(g.opened) > 1 || len(g.buckets) > 0 }

// more reports whether there may be more to return.
func (g *gather) more() bool { return len(g.heap) > 0 || g.lacking > 0 || g.pending() }

// advance goes on to the next bucket, or to the end.
func (g *gather) advance() error {
	if !g.pending() {
		return errEnd
	}
	if len(g.opened) > 0 {
		g.opened = g.opened[1:]
	}
	g.ahead = min(max(2*g.ahead, 1), maxAhead) // it had too little: look further
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
	for len(g.buckets) > 0 && (len(g.opened) == 0 || len(g.opened) <= ahead) {
		s := &stage{bucket: g.buckets[0]}
		g.buckets = g.buckets[1:]
		var err error
		if s.cursors, err = g.read.cursors(g.ctx, s.bucket); err != nil {
			return err
		}
		for _, cu := range s.cursors {
			cu.stage = s
			if g.from != nil && s.bucket.Equal(g.from.bucket) {
				g.read.resume(cu, *g.from)
			}
		}
		if s.bucket.IsZero() {
			g.older = without(g.older, s.cursors)
		}
		g.opened = append(g.opened, s)
		for _, cu := range s.cursors {
			g.fetch(cu)
		}
	}
	return nil
}

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
	g.heap = append(g.heap, cu)
	g.rise(len(g.heap) - 1)
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
	for _, cu := range g.older {
		g.ensure(cu)
	}
	for _, cu := range g.opened[0].cursors {
		g.ensure(cu)
	}
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

// ensure starts a request for a cursor that has run dry.
func (g *gather) ensure(cu *cursor) {
	if !cu.done && cu.buffered() == 0 {
		g.fetch(cu)
	}
}

// deliver takes in what a request brought.
func (g *gather) deliver(r result) error {
	cu := r.cursor
	if r.round != cu.round {
		return nil // the other of two was faster
	}
	if cu.flights--; r.err != nil && cu.flights > 0 {
		return nil // the other may still do
	}
	cu.round++
	cu.fetching, cu.hedged, cu.flights = false, false, 0
	g.read.core.tail.saw(r.took)
	merged := len(cu.buffer) > cu.head // it is in the heap, or waits for its stage
	if r.err != nil {
		if err := g.fail(cu, r.err); err != nil {
			return err
		}
	} else {
		cu.start, cu.done, cu.page = r.start, r.done, len(r.entries)
		g.read.core.passing.saw(g.read.query.Filter, r.scanned, len(r.entries))
		cu.push(r.entries)
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
	cu.done, cu.err = true, shard
	if g.read.query.Partial && judge(shard.Err) != rejected {
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
		if cu.fetching && cu.buffered() == 0 {
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
	slices.SortFunc(g.missing, func(a, b *cursor) int { return int(a.source) - int(b.source) })
	failure := &GatherError{Of: len(g.older), Complete: g.complete}
	for _, cu := range g.missing {
		failure.Shards = append(failure.Shards, cu.err)
	}
	for _, s := range g.opened {
		failure.Of += len(s.cursors)
	}
	failure.Of = max(failure.Of, len(failure.Shards))
	return failure
}

// prefetch reads on where half of what was read has been returned, unless the rest will do.
func (g *gather) prefetch(cu *cursor) {
	if cu.done || cu.fetching || 2*cu.buffered() > cu.page {
		return
	}
	if g.want >= 0 && g.share(cu)*float64(g.want) <= float64(cu.buffered()) {
		return
	}
	if g.want != 0 && cu.buffered() > 0 {
		g.fetch(cu)
	}
}

// fetch starts a request for a cursor's next page, if there is one and none is under way.
func (g *gather) fetch(cu *cursor) {
	if cu.done || cu.fetching {
		return
	}
	cu.sharing = g.sharing(cu)
	cu.fetching, cu.since, cu.requested = true, time.Now(), g.size(cu)
	g.start(cu)
}

func (g *gather) start(cu *cursor) {
	start, round, limit := cu.start, cu.round, cu.requested
	cu.flights++
	g.running.Go(func() {
		began := time.Now()
		f, err := g.read.fetch(g.ctx, cu, start, limit)
		select {
		case g.results <- result{cursor: cu, round: round, took: time.Since(began), fetched: f, err: err}:
		case <-g.ctx.Done():
		}
	})
}

// share estimates which part of the next items is a shard's, from what it had of the last.
func (g *gather) share(cu *cursor) float64 {
	return float64(cu.emitted+1) / float64(g.emitted+g.shards(cu))
}

// shards returns how many shards a cursor shares its bucket with.
func (g *gather) shards(cu *cursor) int {
	n := len(g.older)
	if cu.stage != nil {
		n += len(cu.stage.cursors)
	} else if len(g.opened) > 0 {
		n += len(g.opened[0].cursors)
	}
	return max(n, 1)
}

// sharing returns how many cursors there are to share the memory, those of buckets ahead included.
func (g *gather) sharing(cu *cursor) int {
	stages := max(len(g.opened), min(g.read.query.Ahead+1, len(g.opened)+len(g.buckets)), 1)
	return len(g.older) + stages*(g.shards(cu)-len(g.older))
}

// size returns how many items to ask a shard for. All shards together, with what is under way, fit into memory, except
// that each is asked for one.
func (g *gather) size(cu *cursor) int {
	c := g.read.core
	n := g.shards(cu)
	most := g.read.fitting(cu.sharing)
	if g.want < 0 {
		return most
	}
	var items float64
	if cu.page == 0 && cu.emitted == 0 {
		items = float64(pageSize(g.want, n))
	} else { // a page of 4 KB costs no more than an item
		items = max(g.share(cu)*float64(g.want)+2, 4096/c.sizes.mean())
	}
	items = min(items, float64(g.want))
	if cu.skips {
		items++
	}
	items /= c.passing.rate(g.read.query.Filter)
	return max(int(min(items, float64(most))), 1)
}

// The heap: cursors by the order of their first entries.

func (g *gather) before(a, b *cursor) bool {
	c := a.first().sort.compare(b.first().sort)
	if c == 0 {
		c = int(a.source) - int(b.source)
	}
	return (c < 0) != g.read.query.Reverse
}

func (g *gather) rise(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !g.before(g.heap[i], g.heap[parent]) {
			return
		}
		g.heap[i], g.heap[parent] = g.heap[parent], g.heap[i]
		i = parent
	}
}

func (g *gather) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(g.heap); child++ {
			if g.before(g.heap[child], g.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		g.heap[i], g.heap[least] = g.heap[least], g.heap[i]
		i = least
	}
}

// remove takes the first cursor out.
func (g *gather) remove() {
	last := len(g.heap) - 1
	g.heap[0] = g.heap[last]
	g.heap[last] = nil
	g.heap = g.heap[:last]
	if last > 0 {
		g.sink(0)
	}
}
