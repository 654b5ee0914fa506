package heatsink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// trackedLayouts are layouts that items move between. Some of them share shards.
var trackedLayouts = []layout.Layout{
	{Strategy: layout.Calculated},
	{Strategy: layout.Calculated, Shards: 1},
	{Strategy: layout.Calculated, Shards: 2, Format: layout.Format{BareZero: true}},
	{Strategy: layout.Calculated, Shards: 3},
	{Strategy: layout.Calculated, Shards: 8},
	{Strategy: layout.Calculated, Shards: 3, Hash: layout.FNV},
	{Strategy: layout.Calculated, Shards: 4, Format: layout.Format{ShardPrefix: ".", First: 1}},
}

// timedLayouts are layouts that items move between whose sort keys hold their times.
var timedLayouts = []layout.Layout{
	{Strategy: layout.Calculated},
	{Strategy: layout.Calculated, Shards: 3},
	{Strategy: layout.Calculated, Shards: 2, Format: layout.Format{BareZero: true}},
	{Strategy: layout.Calculated, Bucket: layout.Hour},
	{Strategy: layout.Calculated, Bucket: layout.Hour, Shards: 2},
	{Strategy: layout.Calculated, Bucket: layout.Day, Shards: 3},
	{Strategy: layout.Calculated, Bucket: layout.Day, Shards: 2, Hash: layout.FNV, Format: layout.Format{BareZero: true}},
	{Strategy: layout.Calculated, Bucket: layout.Week, Shards: 2},
	{Strategy: layout.Calculated, Bucket: layout.Month, Shards: 2},
	{Strategy: layout.Calculated, Bucket: layout.Year},
}

// track is a movable collection whose items move, beside a table where the same items lie still.
type track struct {
	random  *rand.Rand
	c       *Collection[Item] // what is tested
	mover   *Collection[Item] // of another process
	still   *Collection[Item]
	numbers bool // sort keys are numbers
	timed   bool // sort keys hold times
	event   EventTime
	next    layout.Layout
	path    []forward.Stage // the stages that are left
	counts  *trackCounts
}

// trackCounts is what a test has come across.
type trackCounts struct {
	stages              map[forward.Stage]int
	items, pages, goOns int
	ranges, buckets     int // queries of a range of time, and of buckets
}

const trackedIDs = 14

var trackedPaths = [][]forward.Stage{
	{{Phase: forward.Split}, {Phase: forward.Closed}, {Phase: forward.Settling}, {Trace: forward.Deads}, {}},
	{{Phase: forward.Split}, {Phase: forward.Back}, {Trace: forward.Returned}, {}},
}

func newTrack(t *testing.T, seed uint64, counts *trackCounts) (*track, error) {
	x := &track{random: rand.New(rand.NewPCG(seed, 1)), counts: counts}
	db, err := local.New(local.Options{Signatures: true})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = db.Close() })
	x.numbers = x.random.IntN(3) == 0
	kind := "S"
	if x.numbers {
		kind = "N"
	}
	for _, table := range []string{"items", "still"} {
		if err := db.CreateTable(context.Background(), table, "pk", "sk:"+kind); err != nil {
			return nil, err
		}
	}
	x.timed = x.random.IntN(3) > 0
	x.event = EventTime{Attribute: "at"}
	layouts := trackedLayouts
	if x.timed {
		layouts, x.event = timedLayouts, EventTime{Attribute: "sk"}
	}
	if x.timed && x.numbers {
		x.event.Unit = UnixSeconds
	}
	now := x.random.IntN(len(layouts))
	for moves := false; !moves; { // those that are refused are not what is tested
		x.next = layouts[(now+1+x.random.IntN(len(layouts)-1))%len(layouts)]
		moves = passage.Record{
			Generation: 2, Stage: forward.Stage{Phase: forward.Split}, At: 1,
			Now: passage.Arrangement{Layout: layouts[now]}, Next: &passage.Arrangement{Layout: x.next},
		}.Validate() == nil
	}
	memory := 0
	if x.random.IntN(3) == 0 {
		memory = 1 // as little as can be
	}
	for _, c := range []**Collection[Item]{&x.c, &x.mover} {
		o := movables(func(o *Options) { o.Layout, o.ReadMemory, o.EventTime = layouts[now], memory, x.event })
		if *c, err = Open[Item](db.Client(), o); err != nil {
			return nil, err
		}
	}
	x.path = trackedPaths[x.random.IntN(len(trackedPaths))]
	x.still, err = Open[Item](db.Client(), Options{Table: "still", PartitionKey: "pk", SortKey: "sk", EventTime: x.event})
	return x, err
}

// time returns the time of an id. Together they are in two days and two months.
func (x *track) time(id int) time.Time {
	return time.Date(2026, 10, 31, 19, 0, 0, 0, time.UTC).Add(time.Duration(id) * 47 * time.Minute)
}

// key returns the key of an item.
func (x *track) key(id int) Item {
	switch at := x.time(id); {
	case x.timed && x.numbers:
		return Item{"pk": sv("k"), "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(at.Unix())}}
	case x.timed:
		return Item{"pk": sv("k"), "sk": sv(at.Format(time.RFC3339) + "#x")}
	case x.numbers:
		return Item{"pk": sv("k"), "sk": &types.AttributeValueMemberN{Value: fmt.Sprint(id*7 - 20)}}
	}
	return Item{"pk": sv("k"), "sk": sv(fmt.Sprintf("id%02d", id))}
}

// item returns a random item.
func (x *track) item(id int) Item {
	item := x.key(id)
	if x.random.IntN(4) > 0 {
		item["at"] = sv(x.time(x.random.IntN(trackedIDs)).Format(time.RFC3339))
	}
	if x.random.IntN(4) > 0 {
		item["n"] = nv(x.random.IntN(5))
	}
	if x.random.IntN(3) > 0 {
		item["m"] = &types.AttributeValueMemberM{Value: ov("x", x.random.IntN(3), "y", "why")}
	}
	if x.random.IntN(3) > 0 {
		item["l"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{nv(0), sv("one"), nv(x.random.IntN(3))}}
	}
	if x.random.IntN(5) == 0 {
		item["text"] = sv(strings.Repeat("x", 3000))
	}
	return item
}

// write changes a random item, in the moving and in the still collection.
func (x *track) write(ctx context.Context) error {
	c := x.c
	if x.random.IntN(3) == 0 {
		c = x.mover
	}
	id := x.random.IntN(trackedIDs)
	switch x.random.IntN(4) {
	case 0:
		_, err := c.Delete(ctx, x.key(id))
		_, still := x.still.Delete(ctx, x.key(id))
		return errors.Join(err, still)
	case 1:
		edit := func(in *dynamodb.UpdateItemInput) {
			in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET n = :n REMOVE #t"), ov(":n", 3)
			in.ExpressionAttributeNames = map[string]string{"#t": "text"}
		}
		_, err := c.Update(ctx, x.key(id), edit)
		_, still := x.still.Update(ctx, x.key(id), edit)
		return errors.Join(err, still)
	}
	item := x.item(id)
	_, err := c.Put(ctx, maps.Clone(item))
	_, still := x.still.Put(ctx, item)
	return errors.Join(err, still)
}

// move lets a mover send some requests for an id, or all if steps is negative. It changes no item.
func (x *track) move(ctx context.Context, id, steps int) error {
	m := x.mover.core.movable
	v, err := m.view(ctx)
	if err != nil {
		return err
	}
	at, _, err := m.at(v, x.key(id))
	if err != nil {
		return err
	}
	machine := forward.NewMove[express.Item](&forward.Breaks{})
	switch at.Phase {
	case forward.Settled:
		return nil
	case forward.Settling:
		_, err := m.carrier.Act(ctx, at, forward.Request[express.Item]{Act: forward.DropStub})
		return err
	case forward.Back:
		stamp, err := m.book.Stamp(ctx)
		if err != nil || !v.Waited(stamp) {
			return err
		}
		machine = forward.NewReturn[express.Item](&forward.Breaks{})
	case forward.Split:
		if x.random.IntN(4) == 0 { // a create that has stopped halfway
			_, err := m.carrier.Act(ctx, at, forward.Request[express.Item]{Act: forward.PutStub})
			return err
		}
	}
	machine.Generation = at.Generation
	for ; steps != 0 && !machine.Over; steps-- {
		answer, err := m.carrier.Act(ctx, at, machine.Next())
		if err != nil {
			return err
		}
		if machine = machine.Take(answer); machine.Stale {
			return fmt.Errorf("a mover has met %v", answer.Slot.State)
		}
	}
	return nil
}

// moveSome lets movers work on some ids.
func (x *track) moveSome(ctx context.Context) error {
	for range x.random.IntN(trackedIDs) {
		if err := x.move(ctx, x.random.IntN(trackedIDs), 1+x.random.IntN(6)); err != nil {
			return err
		}
	}
	return nil
}

// enter goes on to the next stage, by another process than the one that is tested.
func (x *track) enter(ctx context.Context) error {
	if len(x.path) == 0 {
		return nil
	}
	then := x.path[0]
	x.path = x.path[1:]
	if then.Phase != forward.Split && then.Phase != forward.Back {
		time.Sleep(63 * time.Minute)
	}
	book := x.mover.core.movable.book
	v, err := book.Renew(ctx, nil)
	if err != nil {
		return err
	}
	if then.Phase == forward.Settling || then.Trace != forward.Clean || then == (forward.Stage{}) {
		for id := range trackedIDs { // whatever the stage has to do
			if err := x.move(ctx, id, -1); err != nil {
				return err
			}
		}
	}
	var to *passage.Arrangement
	if then.Phase == forward.Split {
		to = &passage.Arrangement{Layout: x.next, Clock: place.TimeUnit(x.event.Unit)}
	}
	_, err = book.Advance(ctx, v, then, to, "a test")
	x.counts.stages[then]++
	return err
}

// disturb does what changes no item: movers work, and the stage changes at times.
func (x *track) disturb(ctx context.Context) error {
	err := x.moveSome(ctx)
	if x.random.IntN(6) == 0 { // the stage of this process may be long over when it goes on
		for range 1 + x.random.IntN(5) {
			err = errors.Join(err, x.enter(ctx))
		}
	}
	return err
}

// query returns a random query.
func (x *track) query() Query {
	q := Query{Key: "k", Reverse: x.random.IntN(2) == 0, Consistent: x.random.IntN(2) == 0, Hedge: x.random.IntN(4) == 0}
	if x.random.IntN(3) == 0 {
		lo := x.random.IntN(trackedIDs)
		q.Sort = Between(x.key(lo)["sk"], x.key(lo + x.random.IntN(trackedIDs-lo))["sk"])
	}
	if x.timed || x.random.IntN(3) == 0 {
		q.From, q.To = x.time(-2), x.time(trackedIDs+2)
		if x.random.IntN(2) == 0 {
			lo := x.random.IntN(trackedIDs)
			q.From, q.To = x.time(lo), x.time(lo+x.random.IntN(trackedIDs)).Add(time.Duration(x.random.IntN(2)))
		}
		x.counts.ranges++
	}
	q.Names, q.Values = map[string]string{}, Item{}
	switch x.random.IntN(6) {
	case 0:
		q.Filter, q.Values = "n > :n", ov(":n", 1)
	case 1:
		q.Filter = "attribute_not_exists(m) OR attribute_exists(#t)"
		q.Names["#t"] = "text"
	case 2:
		q.Filter, q.Values = "m.x = :x AND size(l) > :x", ov(":x", 1)
	}
	switch x.random.IntN(6) {
	case 0:
		q.Projection = "n"
	case 1:
		q.Projection = "l[2], m.y, sk, #n"
		q.Names["#n"] = "n"
	case 2:
		q.Projection = "pk, l[0]"
	}
	return q
}

// itemsOf returns what a query yields.
func itemsOf(sequence func(func(Item, error) bool), between func() error) (items []Item, err error) {
	for item, err := range sequence {
		if err != nil {
			return items, err
		}
		items = append(items, item)
		if err := between(); err != nil {
			return items, err
		}
	}
	return items, nil
}

// check compares all reads with those of the collection whose items lie still.
func (x *track) check(ctx context.Context) error {
	q := x.query()
	calm := func() error { return nil }
	want, err := itemsOf(x.still.Query(ctx, q), calm)
	if err != nil {
		return err
	}
	differs := func(what string, got []Item, err error) error {
		x.counts.items += len(got)
		if err == nil && slices.EqualFunc(got, want, attribute.Same) {
			return nil
		}
		return fmt.Errorf("%s %+v: %w\n got  %s\n want %s", what, q, err, describeAll(got), describeAll(want))
	}
	before := x.c.core.movable.generation(ctx)
	got, err := itemsOf(x.c.Query(ctx, q), func() error {
		if x.random.IntN(5) > 0 {
			return nil
		}
		return x.disturb(ctx)
	})
	if err := differs("query", got, err); err != nil {
		return err
	}
	if x.c.core.movable.generation(ctx) != before {
		x.counts.goOns++
	}
	paged := q
	paged.Limit = 1 + x.random.IntN(6)
	got = nil
	for token := ""; ; {
		page, err := x.c.Page(ctx, paged, token)
		got = append(got, page.Items...)
		x.counts.pages++
		if len(page.Items) > paged.Limit {
			return fmt.Errorf("page %+v has %d items", paged, len(page.Items))
		}
		if token = page.Next; err != nil || token == "" {
			if err := differs("pages", got, err); err != nil {
				return err
			}
			break
		}
		if err := x.disturb(ctx); err != nil {
			return err
		}
	}
	if n, err := x.c.Count(ctx, q); err != nil || n != len(want) {
		return fmt.Errorf("count %+v: %d, %w, want %d", q, n, err, len(want))
	}
	if n, err := x.c.Count(ctx, paged); err != nil || n != min(len(want), paged.Limit) {
		return fmt.Errorf("count %+v: %d, %w, want %d", paged, n, err, min(len(want), paged.Limit))
	}
	folded, err := Fold(ctx, x.c, q, func() []Item { return nil }, func(sum []Item, item Item) []Item { return append(sum, item) },
		func(a, b []Item) []Item { return append(a, b...) })
	if err := differs("fold", folded, err); err != nil {
		return err
	}
	plan, err := x.c.Plan(ctx, q)
	if err != nil {
		return err
	}
	x.counts.buckets = max(x.counts.buckets, plan.Buckets)
	spread, err := x.c.Distribution(ctx, q)
	if err != nil || spread.Total != len(want) || len(spread.Counts) != plan.Shards {
		return fmt.Errorf("distribution %+v of %d shards: %+v, %w, want %d items", q, plan.Shards, spread, err, len(want))
	}
	return nil
}

// generation returns the generation that a process knows.
func (m *movable) generation(ctx context.Context) int64 {
	v, err := m.view(ctx)
	if err != nil {
		return 0
	}
	return v.Record.Generation
}

func describeAll(items []Item) string {
	var b strings.Builder
	for _, item := range items {
		for _, name := range slices.Sorted(maps.Keys(item)) {
			fmt.Fprintf(&b, " %s: %.20s", name, attribute.Describe(item[name]))
		}
		b.WriteString(";")
	}
	return b.String()
}

// Reads of many return the items, each once, whatever stage a move is at, however far it has come for each id, and whatever changes
// while they read.
func TestTrackedReads(t *testing.T) {
	counts := &trackCounts{stages: map[forward.Stage]int{}}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		bubble.Test(t, func(t *testing.T) {
			ctx := context.Background()
			x, err := newTrack(t, seed, counts)
			if err != nil {
				rt.Error(err)
				return
			}
			for range 10 {
				for range x.random.IntN(12) {
					err = errors.Join(err, x.write(ctx))
				}
				if err == nil {
					err = x.disturb(ctx)
				}
				if err == nil {
					err = x.check(ctx)
				}
				if err != nil {
					rt.Errorf("from %v to %v: %v", x.c.core.options.Layout, x.next, err)
					return
				}
				if x.random.IntN(3) == 0 {
					if err = x.enter(ctx); err != nil {
						rt.Error(err)
						return
					}
				}
			}
		})
	})
	t.Logf("%+v", *counts)
	for _, path := range trackedPaths {
		for _, stage := range path {
			if counts.stages[stage] == 0 {
				t.Errorf("%+v was never reached", stage)
			}
		}
	}
	if counts.goOns == 0 {
		t.Error("no read has gone on in another stage")
	}
	if counts.ranges == 0 || counts.buckets < 2 {
		t.Errorf("%d queries of a range of time, and at most %d buckets", counts.ranges, counts.buckets)
	}
}
