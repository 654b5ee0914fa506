package heatsink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/meter"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// tracking is an ordered read of a movable collection, whose items may move while it reads. Each id is read as a Get reads it. The read
// knows one generation of the record at a time. When it learns of another, it goes on behind the last id that is decided. The caller
// must close it.
type tracking struct {
	core  *core
	light bool     // see reading.along
	base  *reading // without a course
	view  *passage.View

	*gathering
	route  *route
	shards []shelf // those of all courses so far, each once
	known  map[shelf]bool

	met      encounter     // the last id
	last     sortkey.Value // of the last id that is decided; its kind is 0 before the first
	filter   string        // of the present course, if its items may have two homes
	yield    float64       // the share of its ids that other reads have returned
	decided  int           // ids of the present course
	returned int
	before   int // returned before this course began
	sent     int // requests of earlier courses

	lost         []*ShardError // of earlier courses
	of, complete int           // as GatherError has them
}

// newTracking begins a read, behind a sort key if it is given.
func newTracking(ctx context.Context, base *reading, behind *sortkey.Value, light bool) (*tracking, error) {
	view, err := base.core.movable.view(ctx)
	if err != nil {
		return nil, err
	}
	m := &tracking{core: base.core, light: light, base: base, view: view}
	if behind != nil {
		m.last = *behind
	}
	return m, m.open(ctx)
}

// Close ends the requests in flight.
func (m *tracking) Close() {
	if m.gathering != nil {
		m.collectYield()
		m.gathering.Close()
	}
}

// collectYield remembers how many of the ids of the present course the read has returned, for the page sizes of others.
func (m *tracking) collectYield() {
	if m.filter != "" {
		m.read.core.history.Yielded(m.filter, m.decided, m.returned-m.before)
	}
	m.filter, m.decided = "", 0
}

// open begins to read along the course of the view.
func (m *tracking) open(ctx context.Context) error {
	course, err := passage.NewCourse(&m.view.Record, m.base.query.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrQuery, err)
	}
	r, err := m.base.along(course, m.light)
	if err != nil {
		return err
	}
	way, err := newRoute(r, m.view, course, m.last)
	if err != nil {
		return err
	}
	config := r.config(ctx)
	if config.Limit > 0 {
		config.Limit -= m.returned
	}
	if course.Phase != forward.Settled { // the read counts itself which ids there are: see collectYield
		m.filter = "moving " + config.Filter
		m.yield = config.History.Yield(m.filter)
		if !course.List() {
			m.yield = min(m.yield, mostYield)
		}
		config.Filter, config.Yield = "", m.yield
	}
	// Until a move is over, pages are as sure as while it moved items. A filter's pages follow what passes it instead.
	way.sure = course.Phase != forward.Settled || m.view.Record.Stage.Phase == forward.Settling && config.Filter == ""
	along, err := way.sources(m, way.along)
	if err != nil {
		return err
	}
	total, err := way.total()
	if err != nil {
		return err
	}
	if r.query.Limit == 0 {
		if err := r.checkShards(total); err != nil {
			return err
		}
	}
	g := &gathering{read: r, buckets: way.buckets()}
	if config.MaxRequests > 0 {
		if config.MaxRequests -= m.sent; config.MaxRequests <= 0 {
			return g.exceeded(&gather.AllowanceError{Sent: m.sent, Returned: m.returned, More: total})
		}
	}
	g.Gather, err = gather.New(ctx, config, gather.Stages[found]{
		Count: len(way.spans), Along: along, Open: func(_ context.Context, stage int) ([]gather.Source[found], error) {
			return way.sources(m, func() ([]*shard, error) { return way.open(stage) })
		},
	})
	if err != nil {
		return m.explained(g, err)
	}
	m.gathering, m.route, m.before = g, way, m.returned
	return nil
}

// mostYield is the largest share of ids that are expected to have an item, while a move goes on. Ids may be deleted in their new homes meanwhile.
const mostYield = 0.98

// goOn goes on along the course of a newer view.
func (m *tracking) goOn(ctx context.Context, view *passage.View) error {
	m.Close()
	m.sent += m.Sent()
	m.collectLost()
	m.gathering, m.view = nil, view
	return m.open(ctx)
}

// addLost remembers the shards that a course is missing, and how many items were returned before.
func (m *tracking) addLost(failed *GatherError) {
	if m.lost == nil || failed.Complete < m.complete {
		m.complete = failed.Complete
	}
	m.of = max(m.of, failed.Of)
	for _, s := range failed.Shards {
		if !slices.ContainsFunc(m.lost, func(known *ShardError) bool { return known.ShardKey == s.ShardKey && known.Table == s.Table }) {
			m.lost = append(m.lost, s)
		}
	}
}

// collectLost remembers the shards that the present course is missing.
func (m *tracking) collectLost() {
	if missing := m.Missing(); missing != nil {
		failed := gatherError(missing)
		failed.Complete += m.before
		m.addLost(failed)
	}
}

// missed returns the error of a partial read, joined with the reason for an early end if there is one. It returns nil if no shard is
// missing. Call it at the end.
func (m *tracking) missed(short error) error {
	m.collectLost()
	if m.lost == nil {
		return nil
	}
	failed := &GatherError{Shards: m.lost, Of: m.of, Complete: m.complete}
	if short != nil {
		return errors.Join(failed, short)
	}
	return failed
}

// explained converts an error of the read to the library's terms.
func (m *tracking) explained(g *gathering, err error) error {
	if e, ok := err.(*gather.AllowanceError); ok {
		all := *e
		all.Sent += m.sent
		all.Returned = m.returned
		err = &all
	}
	return g.explain(err)
}

// errMoved ends the requests of a read that knows an older generation of the record than this process does by now.
var errMoved = errors.New("the items of the collection have gone on to another stage of their move")

// encounter is what a read has met of one id.
type encounter struct {
	sort   sortkey.Value
	at     [2]entry // by forward.Home
	seen   [2]bool
	in     [2]shelf  // the shards of these
	only   bool      // the old home is the only one
	twice  [2]string // two shards with an item of this sort key, in a list, where no two may have one
	strays []shelf   // the shards that have a live item of the id, and should not
}

// Next returns the next item, and its shard. ok is false at the end.
func (m *tracking) Next(ctx context.Context) (w row, in shelf, ok bool, err error) {
	for {
		ok, err := m.meet()
		var e entry
		var there bool
		if err == nil && m.read.outsider.Load() != nil {
			met := m.met
			err = m.route.admit(ctx, m)
			m.met = met
		}
		if err == nil && ok {
			e, in, there, err = m.resolve(ctx)
		}
		switch {
		case errors.Is(err, errMoved):
			if err := m.goOnNow(ctx); err != nil {
				return row{}, in, false, err
			}
		case err != nil:
			return row{}, in, false, m.explained(m.gathering, err)
		case !ok:
			return row{}, in, false, nil
		case !there || e.Value.dropped:
			m.last = m.met.sort
			m.decided++
			m.Uncount()
			if m.filter != "" {
				m.Yield(min(m.yield, float64(m.returned-m.before+1)/float64(m.decided+1)))
			}
		default:
			m.last = m.met.sort
			m.decided++
			m.returned++
			return m.read.row(e), in, true, nil
		}
	}
}

// meet takes all entries of the next id from the merge. Only the last of them counts towards the limit.
func (m *tracking) meet() (ok bool, err error) {
	met := &m.met
	*met = encounter{strays: met.strays[:0]}
	for again := true; again; again = m.Equal() {
		if ok {
			m.Uncount()
		}
		var e entry
		if e, ok, err = m.Gather.Next(); err != nil || !ok {
			return ok, err
		}
		met.sort = sortOf(e)
		home, in := forward.Old, m.shelf()
		switch e.Value.role {
		case passage.OnlyHome:
			met.only = true
		case passage.NewHome:
			home = forward.New
		case passage.NoHome:
			met.strays = append(met.strays, in)
			continue
		}
		if met.seen[home] && !m.another(home, &e, in.key) {
			continue
		}
		met.at[home], met.seen[home], met.in[home] = e, true, in
	}
	if old, moved := &met.at[forward.Old], &met.at[forward.New]; met.seen[forward.Old] && met.seen[forward.New] && m.differ(old, moved) {
		met.twice = [2]string{met.in[forward.Old].key, met.in[forward.New].key}
	}
	return true, nil
}

// another takes a second entry of a home, which only a list has. It reports whether that replaces the first. What a stub is for is in
// another shard.
func (m *tracking) another(home forward.Home, e *entry, shardKey string) bool {
	met := &m.met
	switch {
	case e.Value.state == forward.Stub:
		return false
	case met.at[home].Value.state == forward.Stub:
		return true
	case m.differ(&met.at[home], e):
		met.twice = [2]string{met.in[home].key, shardKey}
	}
	return false
}

// differ reports whether two entries of a list are two items with one sort key, and not one item that is stored twice: a put was repeated,
// or the item moves.
func (m *tracking) differ(a, b *entry) bool {
	content := func(e *entry) bool { return e.Value.state == forward.Live || e.Value.state == forward.Frozen }
	return m.read.course.List() && content(a) && content(b) &&
		(a.Value.dropped != b.Value.dropped || !m.core.movable.table.SameContent(a.Value.item, b.Value.item))
}

// see returns what was seen in a home.
func (met *encounter) see(h forward.Home) forward.Seen[struct{}] {
	return forward.Seen[struct{}]{Slot: forward.Slot[struct{}]{State: met.at[h].Value.state}, Covered: met.seen[h]}
}

// shelf returns the shard of the last entry.
func (m *tracking) shelf() shelf {
	at := m.Place()
	h := []*passage.Shards{&m.read.course.Old, &m.read.course.New}[pagetoken.Ordinal(at.Ordinal).Layout()]
	return shelfOf(m.view, h, m.route.key(at.Stage, pagetoken.Ordinal(at.Ordinal)))
}

// resolve decides what the id that was met is, and returns its item with the shard that has it. there is false if there is none. The
// error is errMoved if only a newer generation of the record can tell.
func (m *tracking) resolve(ctx context.Context) (e entry, in shelf, there bool, err error) {
	met, c := &m.met, m.read.course
	if met.twice != [2]string{} {
		return e, in, false, m.doubled()
	}
	is := forward.Resolved[struct{}]{Outcome: forward.Missing}
	switch {
	case met.only:
		is = forward.Resolve(forward.Settled, met.see(forward.Old), forward.Seen[struct{}]{})
	case met.seen[forward.Old] || met.seen[forward.New]:
		old, moved := met.see(forward.Old), met.see(forward.New)
		old.Covered, moved.Covered = met.seen[forward.Old] || m.coversOld(met.sort), m.covers(&c.New, c.New.Home(met.sort.Written()))
		is = forward.Resolve(c.Phase, old, moved)
	}
	if is.Outcome == forward.Stale || len(met.strays) > 0 {
		if err := m.unexplained(ctx); err != nil {
			return e, in, false, err
		}
	}
	switch {
	case is.Outcome == forward.Missing:
		return e, in, false, nil
	case is.Outcome == forward.Found && is.Home == forward.New:
		return met.at[forward.New], met.in[forward.New], true, nil
	case is.Outcome == forward.Found:
		return met.at[forward.Old], met.in[forward.Old], true, nil
	}
	return m.follow(ctx, met.sort)
}

// doubled is the error for two items of a list with one sort key. Whoever goes on would take one of them for a copy of the other.
func (m *tracking) doubled() error {
	return fmt.Errorf("%w: query %s key %q: shards %q and %q have an item with the sort key %s each, but the items of a movable list need "+
		"sort keys of their own: put one of them again with another sort key, and delete it from its shard with the SDK", ErrOptions, m.core.options.Table, m.read.query.Key,
		m.met.twice[0], m.met.twice[1], attribute.Describe(m.met.sort.Attribute()))
}

// unexplained looks for what may explain a mark or an item that the stage cannot have. That is a newer generation of the record, or an
// eventually consistent read that has seen what was there before the last stage.
func (m *tracking) unexplained(ctx context.Context) error {
	newer, err := m.core.movable.book.Renew(ctx, m.view)
	if err != nil {
		return err
	}
	if newer.Record.Generation != m.read.course.Generation {
		return errMoved
	}
	for _, in := range m.met.strays {
		if err := m.checkStray(ctx, in, m.met.sort); err != nil {
			return err
		}
	}
	return nil
}

// covers reports whether the read includes a shard of a layout. A partial read lacks some.
func (m *tracking) covers(h *passage.Shards, key string) bool {
	if !m.read.query.Partial {
		return true
	}
	missing, in := m.Missing(), shelfOf(m.view, h, key)
	return missing == nil || !slices.ContainsFunc(missing.Shards, func(err error) bool {
		failed, ok := errors.AsType[*ShardError](err)
		return ok && failed.ShardKey == in.key && failed.Table == in.table
	})
}

// coversID reports whether the read includes all homes of an id.
func (m *tracking) coversID(sort sortkey.Value) bool {
	c := m.read.course
	return m.coversOld(sort) && (c.Phase == forward.Settled || m.covers(&c.New, c.New.Home(sort.Written())))
}

// coversOld reports whether the read includes the old home of an id. In a list that may be any.
func (m *tracking) coversOld(sort sortkey.Value) bool {
	old := &m.read.course.Old
	if !m.read.course.List() {
		return m.covers(old, old.Home(sort.Written()))
	}
	return !slices.ContainsFunc(old.Keys, func(key string) bool { return !m.covers(old, key) })
}

// follow reads an id on its own, with strong consistency.
func (m *tracking) follow(ctx context.Context, sort sortkey.Value) (e entry, in shelf, there bool, err error) {
	r, keys := m.read, &m.core.schema.Keys
	var item Item
	if r.course.List() {
		item, in, err = m.followInList(ctx, sort)
	} else {
		item, in, err = m.core.movable.find(ctx, Item{keys.PartitionKey: r.key, keys.SortKey: sort.Attribute()})
	}
	if failed, ok := errors.AsType[*ShardError](err); ok && r.query.Partial && lost(failed) {
		if m.coversID(sort) { // else it is known which shard is missing
			m.addLost(&GatherError{Shards: []*ShardError{failed}, Of: len(m.shards), Complete: m.returned})
		}
		return e, in, false, nil
	}
	if err != nil || item == nil {
		return e, in, false, err
	}
	by := r.sift
	if by == nil { // DynamoDB evaluates the filter in this course
		if by, err = r.newSift(m.light); err != nil {
			return e, in, false, err
		}
	}
	keeps, err := by.Keeps(item)
	if err != nil || !keeps {
		return e, in, false, err
	}
	one := found{item: item, kind: sort.Kind}
	if !r.query.From.IsZero() {
		if keeps, err = (&shard{read: r, key: in.key, table: in.table}).inTime(&one); err != nil || !keeps {
			return e, in, false, err
		}
	}
	one.item = by.Project(item)
	return entry{Sort: sort.Text, Value: one}, in, true, nil
}

// followInList reads an item of a list where a stub says that it has moved to.
func (m *tracking) followInList(ctx context.Context, sort sortkey.Value) (Item, shelf, error) {
	in := shelfOf(m.view, &m.read.course.New, m.read.course.New.Home(sort.Written()))
	slot, err := m.readOne(ctx, in, sort)
	if err == nil && slot.State != forward.Live {
		err = fmt.Errorf("%w: query %s key %q: the item with the sort key %s has moved to shard %q, but is not there: run heatsink move --verify",
			ErrLedger, m.core.options.Table, m.read.query.Key, attribute.Describe(sort.Attribute()), in.key)
	}
	return slot.Content, in, err
}

// checkStray refuses an item that is still in a shard where no id of it belongs.
func (m *tracking) checkStray(ctx context.Context, in shelf, sort sortkey.Value) error {
	slot, err := m.readOne(ctx, in, sort)
	if err != nil || slot.State != forward.Live {
		return err
	}
	return fmt.Errorf("%w: query %s key %q: the item with the sort key %s is in shard %q, but the layout has it in %q: "+
		"it was written with another layout or by another program, and Get does not find it: put it again, and delete it from that shard",
		ErrOptions, in.table, m.read.query.Key, attribute.Describe(sort.Attribute()), in.key, m.read.course.Old.Home(sort.Written()))
}

// readOne reads what a shard has of an id, with strong consistency.
func (m *tracking) readOne(ctx context.Context, from shelf, sort sortkey.Value) (slot forward.Slot[Item], err error) {
	keys, r := &m.core.schema.Keys, m.read
	in := &dynamodb.GetItemInput{
		TableName: &from.table, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: r.meters.Wanted(),
		Key: Item{keys.PartitionKey: &types.AttributeValueMemberS{Value: from.key}, keys.SortKey: sort.Attribute()},
	}
	var out *dynamodb.GetItemOutput
	err = r.send(ctx, &request{operation: "GetItem", Home: place.Home{ShardKey: from.key}, in: from.table}, func(ctx context.Context, options ...func(*dynamodb.Options)) (err error) {
		out, err = m.core.sender.client.GetItem(ctx, in, options...)
		return err
	})
	if err != nil {
		return slot, err
	}
	meter.Read(ctx, 0, out.ConsumedCapacity)
	return m.core.movable.table.Take(out.Item)
}

// goOnNow goes on with what the process knows by now.
func (m *tracking) goOnNow(ctx context.Context) error {
	view, err := m.core.movable.book.View(ctx)
	if err != nil {
		return err
	}
	return m.goOn(ctx, view)
}

// queryTracked is queryRows for a movable collection.
func queryTracked(ctx context.Context, c *core, q Query) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		err := eachTracked(ctx, c, q, false, func(w row, _ shelf) error {
			if !yield(w, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			yield(row{}, err)
		}
	}
}

// errLeft ends a read that its caller has left.
var errLeft = errors.New("the loop has ended")

// eachTracked reads the items that a query selects, in order. An error of visit ends it.
func eachTracked(ctx context.Context, c *core, q Query, light bool, visit func(w row, in shelf) error) error {
	base, err := c.checked(ctx, q)
	if err != nil {
		return err
	}
	m, err := newTracking(ctx, base, nil, light)
	if err != nil {
		return err
	}
	return m.each(ctx, visit)
}

// each visits the rest of the items, and closes the read.
func (m *tracking) each(ctx context.Context, visit func(w row, in shelf) error) error {
	defer m.Close()
	for {
		w, in, ok, err := m.Next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return m.missed(nil)
		}
		if err := visit(w, in); err != nil {
			return err
		}
	}
}

// pageTracked is readPage for a movable collection. A position there is a sort key alone: it holds in every layout.
func pageTracked(ctx context.Context, c *core, q Query, token string) (page Page[row], err error) {
	base, err := c.checked(ctx, q)
	if err != nil {
		return page, err
	}
	if q.Limit == 0 {
		return page, errNoLimit
	}
	var behind *sortkey.Value
	if token != "" {
		if behind, err = sortKeyOf(base, token); err != nil {
			return page, err
		}
	}
	m, err := newTracking(ctx, base, behind, false)
	if err != nil {
		return page, err
	}
	defer m.Close()
	var short error // why the page has fewer items than its limit
	for len(page.Items) < q.Limit && short == nil {
		w, _, ok, err := m.Next(ctx)
		switch {
		case err != nil && len(page.Items) > 0 && errors.Is(err, ErrTooManyRequests):
			short = err
		case err != nil:
			return Page[row]{}, err
		case !ok:
			return page, m.missed(nil)
		default:
			page.Items = append(page.Items, w)
		}
	}
	missed := m.missed(short)
	if missed == nil && (short != nil || m.More()) {
		at := pagetoken.Position{Width: 1, Sort: m.last}
		page.Next = at.Token(fingerprintsOf(base), c.options.TokenKeys)
	}
	return page, missed // without Next: one position cannot record how far each missing shard was read
}

// sortKeyOf returns the sort key that a token of a movable collection holds. Errors wrap ErrToken.
func sortKeyOf(r *reading, token string) (*sortkey.Value, error) {
	p, err := pagetoken.Parse(token, fingerprintsOf(r), r.core.options.TokenKeys)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	case p.Width != 1 || p.Ordinal != 0 || p.Older != nil || !p.Bucket.IsZero():
		return nil, fmt.Errorf("%w: it does not come from a movable collection: begin with the first page", ErrToken)
	}
	return &p.Sort, checkItem(r, p, 1)
}

// countTracked is countItems for a movable collection. It reads the items' keys and marks, for the same units as a count.
func countTracked(ctx context.Context, c *core, q Query) (n int, err error) {
	err = eachTracked(ctx, c, q.unprojected(), true, func(row, shelf) error {
		n++
		return nil
	})
	return n, err
}

// distributionTracked is countShards for a movable collection. Where items move, it has the shards that they move from and to.
func distributionTracked(ctx context.Context, c *core, q Query) (layout.Evenness, error) {
	base, err := c.checked(ctx, q.unprojected())
	if err != nil {
		return layout.Evenness{}, err
	}
	m, err := newTracking(ctx, base, nil, true)
	if err != nil {
		return layout.Evenness{}, err
	}
	in := map[shelf]int{}
	if err := m.each(ctx, func(_ row, at shelf) error {
		in[at]++
		return nil
	}); err != nil {
		return layout.Evenness{}, err
	}
	counts := make([]int, len(m.shards))
	for i, key := range m.shards {
		counts[i] = in[key]
	}
	return layout.NewEvenness(counts), nil
}

// planTracked is planRead for a movable collection.
func planTracked(ctx context.Context, c *core, q Query) (Plan, error) {
	base, err := c.checked(ctx, q)
	if err != nil {
		return Plan{}, err
	}
	view, err := c.movable.view(ctx)
	if err != nil {
		return Plan{}, err
	}
	course, err := passage.NewCourse(&view.Record, q.Key)
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrQuery, err)
	}
	way, err := newRoute(base, view, course, sortkey.Value{})
	if err != nil {
		return Plan{}, err
	}
	n, err := way.total()
	return Plan{Buckets: len(way.spans), Shards: n}, err
}

// foldTracked is Fold for a movable collection. It reads in order, in one part, so that no item is added twice when the read goes on in
// another stage of a move.
func foldTracked[T, A any](ctx context.Context, c *core, q Query, zero func() A, add func(A, T) A, merge func(A, A) A) (A, error) {
	sum := zero()
	err := eachTracked(ctx, c, q, false, func(w row, _ shelf) error {
		item, err := decodeRow[T](w)
		if err == nil {
			sum = add(sum, item)
		}
		return err
	})
	if err != nil && !q.Partial {
		return zero(), err
	}
	return merge(zero(), sum), err
}
