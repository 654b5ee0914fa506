package heatsink

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/pagetoken"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
)

// route is the stages of a read along a course. Without buckets there is one. With buckets there is one for each of them, of the longer period if
// those of old and new homes differ. The sort keys of movable items are in the order of their buckets, so all homes of an id are in
// one stage. Shards without buckets are read along all stages.
type route struct {
	read   *reading
	view   *passage.View
	course *passage.Course
	spans  []span
	opened map[int][2][]string // by stage, the keys of shards of buckets: of old and new homes
	first  int                 // of these stages
	sure   bool                // first pages are as large as those of each layout alone: see size
}

// span is the time of a stage, zero without buckets.
type span struct{ from, to time.Time }

// newRoute returns the route of a read. It leaves out stages before the last id that is decided. The error wraps ErrQuery.
func newRoute(r *reading, view *passage.View, c *passage.Course, last sortkey.Value) (*route, error) {
	way := &route{read: r, view: view, course: c, spans: []span{{}}, opened: map[int][2][]string{}}
	if !c.Timed() {
		return way, nil
	}
	q, o := &r.query, &r.core.options
	bucket := max(c.Old.Layout.Bucket, c.New.Layout.Bucket)
	if at := r.core.schema.EventTime; at.Attribute != o.SortKey || at.Unit != c.Clock {
		units := [...]string{"RFC3339", "UnixSeconds", "UnixMilliseconds"}
		return nil, fmt.Errorf("%w: the items are in a bucket for every %v of their sort key, but EventTime is not the sort key in that unit: set EventTime to {Attribute: %q, Unit: %s}",
			ErrQuery, bucket, o.SortKey, units[c.Clock])
	}
	if q.From.IsZero() {
		return nil, fmt.Errorf("%w: From and To are not set, but the items are in a bucket for every %v, or move to one: set both", ErrQuery, bucket)
	}
	if n := bucket.Count(q.From, q.To); n > layout.MaxShardKeys {
		return nil, fmt.Errorf("%w: %w: there are %d buckets from %v to %v, and at most %d: shorten From to To, or read in steps", ErrQuery, ErrTooManyRequests, n, q.From, q.To, layout.MaxShardKeys)
	}
	reached, err := c.Clock.Ordered(last.Written())
	way.spans = nil
	for start := range bucket.Starts(q.From, q.To) {
		s := span{start, bucket.Next(start)}
		passed := !reached.Before(s.to)
		if q.Reverse {
			passed = reached.Before(s.from)
		}
		if last.Kind != attr.Invalid && err == nil && passed {
			continue
		}
		if s.from.Before(q.From) {
			s.from = q.From
		}
		if q.To.Before(s.to) {
			s.to = q.To
		}
		way.spans = append(way.spans, s)
	}
	if q.Reverse {
		slices.Reverse(way.spans)
	}
	return way, nil
}

// buckets returns the start of each stage.
func (w *route) buckets() []time.Time {
	starts := make([]time.Time, len(w.spans), len(w.spans)+1)
	for i, s := range w.spans {
		starts[i] = s.from
	}
	return append(starts, time.Time{}) // behind the last stage, there is none
}

// along returns the shards that are read along all stages.
func (w *route) along() ([]*shard, error) {
	if !w.course.Timed() || len(w.spans) == 0 { // an empty range of time has no shards
		return nil, nil
	}
	return w.shards(w.course.Old.Keys, w.course.New.Keys), nil
}

// open returns the shards of a stage, each once: those of the old homes, then those that only new homes have.
func (w *route) open(stage int) ([]*shard, error) {
	c, in := w.course, w.spans[stage]
	if !c.Timed() {
		return w.shards(c.Old.Keys, c.New.Keys), nil
	}
	var keys [2][]string
	var starts [2][]time.Time
	homes := [2]*passage.Shards{&c.Old, &c.New}
	for nth, h := range homes {
		if !h.Timed() {
			continue
		}
		var err error
		if keys[nth], err = h.In(in.from, in.to); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrQuery, err)
		}
		starts[nth] = slices.Collect(h.Layout.Bucket.Starts(in.from, in.to))
	}
	w.opened[stage] = keys
	list, q := w.shards(keys[0], keys[1]), &w.read.query
	for _, s := range list {
		nth := s.ordinal.Layout()
		of := homes[nth].Layout
		s.bucket, s.period = starts[nth][s.ordinal.Shard()/max(of.Shards, 1)], of.Bucket
		s.timed = s.bucket.Before(q.From) || q.To.Before(of.Bucket.Next(s.bucket))
	}
	return list, nil
}

// shards returns shards with their keys, those of old homes first, each once.
func (w *route) shards(keys ...[]string) []*shard {
	list := make([]*shard, 0, len(keys[0])+len(keys[1]))
	seen := make(map[shelf]*shard, cap(list))
	for nth, h := range []*passage.Shards{&w.course.Old, &w.course.New} {
		for n, key := range keys[nth] {
			at := shelfOf(w.view, h, key)
			if s := seen[at]; s != nil {
				s.both = true
				continue
			}
			seen[at] = &shard{
				read: w.read, ordinal: pagetoken.NewOrdinal(nth, n), key: key, table: at.table, left: w.read.interval, timed: !w.read.query.From.IsZero(),
				partition: &types.AttributeValueMemberS{Value: key},
			}
			list = append(list, seen[at])
		}
	}
	return list
}

// total returns how many shards the route has.
func (w *route) total() (int, error) {
	c, q := w.course, &w.read.query
	if len(w.spans) == 0 {
		return 0, nil
	}
	if c.Old.Layout.Bucket == c.New.Layout.Bucket || !c.Timed() { // some shards may be those of both
		first, err := w.open(0)
		return len(first) * len(w.spans), err
	}
	n := len(c.Old.Keys) + len(c.New.Keys)
	for _, h := range []*passage.Shards{&c.Old, &c.New} {
		if h.Timed() {
			n += h.Layout.Requests(q.From, q.To)
		}
	}
	return n, nil
}

// key returns the key of a shard in the stage that is being returned.
func (w *route) key(stage int, at pagetoken.Ordinal) string {
	for ; w.first < stage; w.first++ {
		delete(w.opened, w.first)
	}
	h := []*passage.Shards{&w.course.Old, &w.course.New}[at.Layout()]
	if h.Timed() {
		return w.opened[stage][at.Layout()][at.Shard()]
	}
	return h.Keys[at.Shard()]
}

// outsider is an item that lies in a bucket although its time is in none or in another one. It has no place in the order of a read.
type outsider struct {
	shard shelf
	sort  sortkey.Value
}

// admit looks at an item in a wrong bucket, if the read has met one, as at one in a wrong shard.
func (w *route) admit(ctx context.Context, m *tracking) error {
	found := w.read.outsider.Swap(nil)
	if found == nil {
		return nil
	}
	m.met = encounter{sort: found.sort, strays: []shelf{found.shard}}
	return m.unexplained(ctx)
}

// sources returns some shards of a read as sources, behind the last id that is decided.
func (w *route) sources(m *tracking, some func() ([]*shard, error)) ([]gather.Source[found], error) {
	shards, err := some()
	if err != nil {
		return nil, err
	}
	if m.known == nil {
		m.known = make(map[shelf]bool, len(shards))
	}
	for _, s := range shards {
		if m.last.Kind != attr.Invalid {
			s.left = s.left.From(m.last, false, s.read.query.Reverse) // closed, so that it can be a BETWEEN
			s.skip, s.skips = m.last, true
			s.done = s.left.Empty()
		}
		if at := (shelf{s.table, s.key}); !m.known[at] {
			m.known[at] = true
			m.shards = append(m.shards, at)
		}
	}
	list := sources(shards)
	if w.sure {
		size(list, shards)
	}
	return list, nil
}

// size makes first pages as large as those of a layout that is alone. While items move, the old homes may still have everything, and the
// new ones may have it already. An old home has a stub for each item that has moved. So a read takes what one of each layout takes, at most.
func size(list []gather.Source[found], shards []*shard) {
	old, moved := 0, 0
	for _, s := range shards {
		if s.ordinal.Layout() == 0 {
			old++
		}
		if s.ordinal.Layout() > 0 || s.both {
			moved++
		}
	}
	for i, s := range shards {
		switch {
		case s.ordinal.Layout() > 0:
			list[i].Among = moved
		case s.both: // it has a part of either
			list[i].Among = max(old*moved/(old+moved), 1)
		default:
			list[i].Among = old
		}
	}
}

// shelf is a shard with its table.
type shelf struct{ table, key string }

// shelfOf returns a shard of a layout.
func shelfOf(v *passage.View, h *passage.Shards, key string) shelf {
	return shelf{v.Table(&passage.Arrangement{Table: h.Table}), key}
}
