package heatsink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/sortkey"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// convoy is a movable collection of two processes: c is tested through a client that counts, and mover moves.
type convoy struct {
	mover
	client *dynamodb.Client
	seen   *watched
	tested *Collection[Item]
}

// newConvoy opens the two, with n items that have a number.
func newConvoy(t *testing.T, n int, edits ...func(*Options)) convoy {
	t.Helper()
	return newConvoyOn(t, local.Options{}, n, edits...)
}

// newConvoyOn returns a convoy on an engine with options.
func newConvoyOn(t *testing.T, engine local.Options, n int, edits ...func(*Options)) convoy {
	t.Helper()
	c, client := openMovableOn(t, engine, edits...)
	f := convoy{mover: mover{t, c}, client: client, seen: &watched{Client: client}}
	f.tested = collection(t, f.seen, movables(edits...))
	for i := range n {
		if _, err := c.Put(context.Background(), ov("pk", "k", "sk", fmt.Sprintf("%02d", i), "n", i, "s", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// moveAll moves n items.
func (f convoy) moveAll(n int) {
	for i := range n {
		f.move("k", fmt.Sprintf("%02d", i))
	}
}

// act sends one request of a mover.
func (f convoy) act(key Item, act forward.Act) {
	f.t.Helper()
	m := f.c.core.movable
	v, err := m.view(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	at, _, err := m.at(v, key)
	if err != nil {
		f.t.Fatal(err)
	}
	if answer, err := m.carrier.Act(context.Background(), at, forward.Request[Item]{Act: act}); err != nil || !answer.Done {
		f.t.Fatal(answer, err)
	}
}

// settle takes the collection to a stage of the way to sixteen shards, and moves n items.
func (f convoy) settle(n int, to forward.Stage) {
	for i, stage := range stagesOfAMove {
		if i > 0 {
			time.Sleep(63 * time.Minute)
		}
		f.enter(stage, map[bool]*layout.Layout{true: &sixteen}[stage.Phase == forward.Split])
		f.moveAll(n)
		if stage == to {
			return
		}
	}
}

// A process that still takes the collection for settled meets marks, with any filter: it does not miss an item, nor count one twice.
func TestStaleProcessMeetsMarks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 20)
		ctx := context.Background()
		q := Query{Key: "k", Filter: "n >= :n", Values: ov(":n", 10)}
		if n, err := f.tested.Count(ctx, q); n != 10 || err != nil {
			t.Fatalf("before: %d, %v", n, err)
		}
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		f.moveAll(15)
		for i := range 12 { // the frozen or stripped item must not count
			if _, err := f.c.Delete(ctx, ov("pk", "k", "sk", fmt.Sprintf("%02d", i))); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.tested.core.movable.generation(ctx); got != 1 {
			t.Fatalf("the process knows generation %d already", got)
		}
		if n, err := f.tested.Count(ctx, q); n != 8 || err != nil {
			t.Errorf("with a filter: %d, %v, want 8", n, err)
		}
		if n, err := f.tested.Count(ctx, Query{Key: "k"}); n != 8 || err != nil {
			t.Errorf("without: %d, %v, want 8", n, err)
		}
	})
}

// Where nothing moves, reads cost what they cost in a collection that is not movable. What a move has left in shards that both layouts
// have costs no request of its own.
func TestTrackedCosts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		three, eight := layout.Layout{Strategy: layout.Calculated, Shards: 3}, layout.Layout{Strategy: layout.Calculated, Shards: 8}
		f := newConvoy(t, 40, func(o *Options) { o.Layout = three })
		plain := collection(t, f.client, Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: three})
		cost := func(c *Collection[Item], q Query) (Cost, int) {
			t.Helper()
			var m Meter
			got, err := c.Page(WithMeter(context.Background(), &m), q, "")
			if err != nil {
				t.Fatal(err)
			}
			return m.Cost(), len(got.Items)
		}
		for _, q := range []Query{
			{Key: "k", Limit: 100, Consistent: true},
			{Key: "k", Limit: 5, Filter: "n > :n", Values: ov(":n", 3)},
			{Key: "k", Limit: 50, Projection: "n", Reverse: true},
		} {
			for range 3 { // reads the record, and learns the sizes of pages
				cost(f.tested, q)
				cost(plain, q)
			}
			want, n := cost(plain, q)
			got, m := cost(f.tested, q)
			for range 10 { // what passes a filter is learnt shard by shard, in the order of answers, so that a read may need one more
				if got == want {
					break
				}
				want, n = cost(plain, q)
				got, m = cost(f.tested, q)
			}
			if got != want || n != m {
				t.Errorf("%+v: %d items for %+v, want %d for %+v", q, m, got, n, want)
			}
		}
		for _, stage := range stagesOfAMove[:3] {
			next := &eight
			if stage.Phase != forward.Split {
				next = nil
				time.Sleep(63 * time.Minute)
			}
			f.enter(stage, next)
			f.moveAll(40)
		}
		cost(f.tested, Query{Key: "k", Limit: 1})
		if got, n := cost(f.tested, Query{Key: "k", Limit: 100}); got.Requests > 12 || n != 40 {
			t.Errorf("settling: %d items for %+v, want 40 for 12 requests at most", n, got)
		}
	})
}

// A filter that few items pass does not take a request for each of the others, while items may have two homes.
func TestTrackedFilterTakesLargePages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 300)
		f.enter(forward.Stage{Phase: forward.Split}, &layout.Layout{Strategy: layout.Calculated, Shards: 2})
		page, err := f.tested.Page(context.Background(), Query{Key: "k", Limit: 3, Filter: "n > :n", Values: ov(":n", 296)}, "")
		if err != nil || len(page.Items) != 3 {
			t.Fatalf("%d items, %v", len(page.Items), err)
		}
		if f.seen.queries > 30 {
			t.Errorf("%d requests for 300 items", f.seen.queries)
		}
	})
}

// An item that is live where its id does not belong is not found by Get. A Query says so, and does not return it as if it were.
func TestStrayItemsAreRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 10, func(o *Options) { o.Layout = sixteen })
		home, err := f.c.core.schema.HomeIn(sixteen, ov("pk", "k", "sk", "03"))
		if err != nil {
			t.Fatal(err)
		}
		stray := "k#SHARD_" + map[bool]string{true: "1", false: "0"}[home.Shard == 0]
		put := func(more ...any) {
			t.Helper()
			item := ov(append([]any{"pk", stray, "sk", "03"}, more...)...)
			if _, err := f.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		put("_hs_f", "s")
		if got, err := all(context.Background(), f.tested, Query{Key: "k"}, "sk"); len(got) != 10 || err != nil {
			t.Errorf("with a mark in another shard: %v, %v", got, err)
		}
		put("n", 3)
		got, err := all(context.Background(), f.tested, Query{Key: "k"}, "sk")
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), fmt.Sprintf("in shard %q, but the layout has it in %q", stray, home.ShardKey)) || len(got) != 3 {
			t.Errorf("got %v, %v, want the items before, and an error that names both shards", got, err)
		}
		put("_hs_f", "unheard of")
		if _, err := f.tested.Count(context.Background(), Query{Key: "k"}); err == nil || !strings.Contains(err.Error(), "marks that heatsink has not written") {
			t.Errorf("an unknown mark: %v", err)
		}
	})
}

// A replica that lags behind the end of a move shows marks that the stage cannot have. They are no damage: the items are read again.
func TestReplicasThatLag(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoyOn(t, local.Options{Lag: &local.Lag{Min: time.Minute, Max: time.Minute}}, 12)
		ctx := context.Background()
		time.Sleep(time.Minute) // it has the items now
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		f.moveAll(8)
		q := Query{Key: "k", Filter: "n < :n", Values: ov(":n", 10), Projection: "sk"}
		if got, err := all(ctx, f.c, q, "sk"); len(got) != 10 || err != nil {
			t.Fatalf("split: %v, %v", got, err)
		}
		f.enter(forward.Stage{Phase: forward.Back}, nil)
		time.Sleep(63 * time.Minute)
		f.moveAll(12)
		f.enter(forward.Stage{Trace: forward.Returned}, nil)
		marks, err := f.client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("items"), KeyConditionExpression: aws.String("pk = :pk"), FilterExpression: aws.String("attribute_exists(#f)"),
			ExpressionAttributeNames: map[string]string{"#f": "_hs_f"}, ExpressionAttributeValues: ov(":pk", "k"),
		})
		if err != nil || marks.Count == 0 {
			t.Fatalf("the replica does not lag: it shows no marks, %v", err)
		}
		got, err := all(ctx, f.c, q, "sk")
		if len(got) != 10 || err != nil || !slices.IsSorted(got) {
			t.Errorf("returned: %v, %v, want 10 items", got, err)
		}
	})
}

// darkShard answers no GetItem of a shard.
type darkShard struct {
	Client
	shard string
}

func (d *darkShard) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if str(in.Key, "pk") == d.shard {
		return nil, errBroken
	}
	return d.Client.GetItem(ctx, in, options...)
}

// A partial read of items that move returns those that it is sure of, and says what is missing. It guesses nothing about a shard that
// it could not read.
func TestTrackedPartial(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 20)
		ctx := context.Background()
		f.enter(forward.Stage{Phase: forward.Split}, &layout.Layout{Strategy: layout.Calculated, Shards: 2})
		f.moveAll(15)
		for i := range 5 { // stubs remain, and the new home is dead
			if _, err := f.c.Delete(ctx, ov("pk", "k", "sk", fmt.Sprintf("%02d", i))); err != nil {
				t.Fatal(err)
			}
		}
		for i := 15; i < 20; i++ { // frozen in the old home, and changed in the new one
			key := ov("pk", "k", "sk", fmt.Sprintf("%02d", i))
			f.act(key, forward.Freeze)
			if _, err := f.c.Update(ctx, key, func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeValues = aws.String("SET s = :s"), ov(":s", "changed")
			}); err != nil {
				t.Fatal(err)
			}
		}
		want, err := all(ctx, f.tested, Query{Key: "k"}, "s")
		if err != nil || len(want) != 15 {
			t.Fatal(want, err)
		}
		f.seen.fail = func(shardKey string, _ int) error {
			if shardKey == "k#SHARD_1" {
				return errBroken
			}
			return nil
		}
		got, err := all(ctx, f.tested, Query{Key: "k", Partial: true}, "s")
		failed, ok := errors.AsType[*GatherError](err)
		if !ok || len(failed.Shards) != 1 || failed.Shards[0].ShardKey != "k#SHARD_1" || failed.Of != 3 {
			t.Fatalf("got %v, want one missing shard", err)
		}
		if !slices.Equal(got, want) { // all have a stub in the old home, or are there
			t.Errorf("got %v, want %v", got, want)
		}
		dark := collection(t, &darkShard{f.seen, "k#SHARD_1"}, movables())
		got, err = all(ctx, dark, Query{Key: "k", Partial: true}, "s")
		failed, ok = errors.AsType[*GatherError](err)
		if !ok || len(failed.Shards) != 1 || failed.Shards[0].ShardKey != "k#SHARD_1" || failed.Of != 3 || failed.Complete > len(got) || len(got) == 0 || len(got) >= len(want) {
			t.Errorf("a shard that answers nothing: got %v, %+v", got, err)
		}
		if _, err := f.tested.Count(ctx, Query{Key: "k"}); !errors.As(err, &failed) {
			t.Errorf("not partial: got %v, want a GatherError", err)
		}
	})
}

// What cannot be asked of a movable collection is refused, in every stage, with what to do.
func TestTrackedRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 5)
		ctx := context.Background()
		for _, stage := range stagesOfAMove[:2] {
			for want, q := range map[string]Query{
				"Sample is 2, but the collection is Movable": {Key: "k", Sample: 2},
				"marks items":                                      {Key: "k", Filter: "attribute_exists(#x)", Names: map[string]string{"#x": "_hs_f"}},
				"with which heatsink marks":                        {Key: "k", Projection: "_hs_m"},
				"unused in expressions":                            {Key: "k", Filter: "n = :n", Values: ov(":n", 1, ":m", 2)},
				"key attribute":                                    {Key: "k", Filter: "sk = :s", Values: ov(":s", "03")},
				"Projection has \"sk.x\", a part of \"sk\"":        {Key: "k", Projection: "sk.x"},
				"Invalid FilterExpression: Incorrect operand type": {Key: "k", Filter: "begins_with(n, :n)", Values: ov(":n", 1)},
			} {
				if _, err := all(ctx, f.tested, q, "sk"); !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: got %v, want %q", stage, err, want)
				}
			}
			time.Sleep(63 * time.Minute)
			f.enter(stage, map[bool]*layout.Layout{true: &sixteen}[stage.Phase == forward.Split])
		}
	})
}

// MaxRequests counts the requests of all stages that a read goes through, and the shards of both layouts.
func TestTrackedMaxRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 20)
		ctx := context.Background()
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		if plan, err := f.tested.Plan(ctx, Query{Key: "k"}); plan != (Plan{Buckets: 1, Shards: 17}) || err != nil {
			t.Errorf("plan: %+v, %v, want 17 shards", plan, err)
		}
		if _, err := f.tested.Count(ctx, Query{Key: "k", MaxRequests: 16}); !errors.Is(err, ErrTooManyRequests) || !errors.Is(err, ErrQuery) {
			t.Errorf("17 shards with 16 requests: %v", err)
		}
		if _, err := f.tested.Page(ctx, Query{Key: "k", Limit: 3, MaxRequests: 16}, ""); !errors.Is(err, ErrTooManyRequests) {
			t.Errorf("a page of 17 shards with 16 requests: %v", err)
		}
		f.moveAll(20)
		n := 0
		var err error
		f.seen.queries = 0
		for _, err = range f.tested.Query(ctx, Query{Key: "k", Limit: 19, MaxRequests: 40}) {
			if err != nil {
				break
			}
			if n++; n%5 == 0 && n < 15 { // the read begins again, with a request to each shard
				time.Sleep(63 * time.Minute)
				stage := stagesOfAMove[n/5]
				f.enter(stage, nil)
			}
		}
		if f.seen.queries > 40 || err != nil && !errors.Is(err, ErrTooManyRequests) || err == nil && n != 19 {
			t.Errorf("%d items for %d requests, %v", n, f.seen.queries, err)
		}
	})
}

// A token holds a sort key alone. It is good in every stage, after the move, and for processes with either layout. Others are refused.
func TestTrackedTokens(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 12)
		ctx := context.Background()
		q := Query{Key: "k", Limit: 4}
		page, err := f.tested.Page(ctx, q, "")
		if err != nil || page.Next == "" {
			t.Fatal(page, err)
		}
		f.settle(12, forward.Stage{})
		other := collection(t, f.client, movables(func(o *Options) { o.Layout = sixteen }))
		for name, c := range map[string]*Collection[Item]{"old layout": f.tested, "new layout": other} {
			got, err := c.Page(ctx, q, page.Next)
			if err != nil || len(got.Items) != 4 || str(got.Items[0], "sk") != "04" {
				t.Errorf("%s: %v, %v, want the items from 04 on", name, got.Items, err)
			}
		}
		plain := collection(t, f.client, Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: sixteen})
		foreign, err := plain.Page(ctx, q, "")
		if err != nil || foreign.Next == "" {
			t.Fatal(foreign, err)
		}
		// A key that had one shard was in the order of sort keys, too.
		bare := collection(t, f.client, Options{Table: "items", PartitionKey: "pk", SortKey: "sk"})
		load(t, f.client, "items", []Item{ov("pk", "j", "sk", "03"), ov("pk", "j", "sk", "04")})
		if _, err := other.Put(ctx, ov("pk", "j", "sk", "05")); err != nil {
			t.Fatal(err)
		}
		one := Query{Key: "j", Limit: 1}
		before, err := bare.Page(ctx, one, "")
		if err != nil || before.Next == "" {
			t.Fatal(before, err)
		}
		if got, err := other.Page(ctx, one, before.Next); err != nil || len(got.Items) != 1 || str(got.Items[0], "sk") != "05" {
			t.Errorf("a token from before: %v, %v, want item 05", got.Items, err)
		}
		for name, token := range map[string]string{"of a collection that does not move": foreign.Next, "damaged": page.Next + "x"} {
			if _, err := other.Page(ctx, q, token); !errors.Is(err, ErrToken) {
				t.Errorf("a token %s: got %v, want ErrToken", name, err)
			}
		}
		if _, err := other.Page(ctx, Query{Key: "k", Limit: 4, Reverse: true}, page.Next); !errors.Is(err, ErrToken) {
			t.Errorf("a token of another query: got %v, want ErrToken", err)
		}
	})
}

// The homes that a course has are those where items are put.
func TestCourseHasTheHomesOfItems(t *testing.T) {
	db := local.Start(t)
	for _, l := range trackedLayouts {
		c := collection(t, db.Client(), movables(func(o *Options) { o.Layout = l }))
		course, err := passage.NewCourse(&passage.Record{Now: passage.Arrangement{Layout: l}}, "k")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			for _, sort := range []types.AttributeValue{
				text(fmt.Sprint("id", i)), number(fmt.Sprintf("%d.50", i)), &types.AttributeValueMemberB{Value: []byte{byte(i), 255}},
			} {
				want, err := c.core.schema.HomeIn(l, Item{"pk": text("k"), "sk": sort})
				if err != nil {
					t.Fatal(err)
				}
				e := entry{}
				value, err := sortkey.Of(sort)
				if err != nil {
					t.Fatal(err)
				}
				e.Sort, e.Value.kind = value.Text, value.Kind
				if got := course.Old.Home(sortOf(e).Written()); got != want.ShardKey {
					t.Errorf("%v: %v is in %q, want %q", l, sort, got, want.ShardKey)
				}
			}
		}
	}
}

// While movers move everything to another layout and back again, stage by stage, every read returns every item once. Requests take up to
// some seconds, and reads keep little in memory, so that they go on through several requests and stages.
func TestReadsBesideMovers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const items = 30
		f := newConvoy(t, items, func(o *Options) { o.Layout, o.ReadMemory = layout.Layout{Strategy: layout.Calculated, Shards: 3}, 1 })
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		f.seen.delay = func(string, int) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(random.IntN(40_000)) * time.Millisecond
		}
		var readers sync.WaitGroup
		reads, generations := 0, map[int64]bool{}
		for i := range 6 {
			q := Query{Key: "k", Reverse: i%2 == 1, Consistent: i%3 == 0}
			if i > 3 {
				q.Filter, q.Values, q.Projection = "n >= :n", ov(":n", 0), "sk"
			}
			readers.Go(func() {
				for ctx.Err() == nil {
					got, err := all(context.Background(), f.tested, q, "sk")
					slices.Sort(got)
					if err != nil || len(got) != items || len(slices.Compact(got)) != items {
						t.Errorf("%+v: %d items, %v: %v", q, len(got), err, got)
						stop()
						return
					}
					mu.Lock()
					reads++
					generations[f.tested.core.movable.generation(ctx)] = true
					mu.Unlock()
				}
			})
		}
		enter := func(stage forward.Stage, next *layout.Layout) {
			time.Sleep(63 * time.Minute)
			f.enter(stage, next)
			for i := range items {
				time.Sleep(2 * time.Second)
				f.move("k", fmt.Sprintf("%02d", i))
			}
		}
		eight := layout.Layout{Strategy: layout.Calculated, Shards: 8}
		enter(forward.Stage{Phase: forward.Split}, &oneShard)
		for _, stage := range []forward.Stage{{Phase: forward.Back}, {Trace: forward.Returned}, {}} {
			f.enter(stage, nil)
			time.Sleep(63 * time.Minute)
			f.moveAll(items)
		}
		f.finish()
		for _, stage := range stagesOfAMove {
			if stage.Trace == forward.Deads { // what settling leaves
				for i := range items {
					f.drop(ov("pk", "k", "sk", fmt.Sprintf("%02d", i)))
				}
			}
			enter(stage, map[bool]*layout.Layout{true: &eight}[stage.Phase == forward.Split])
		}
		stop()
		readers.Wait()
		if reads < 100 || len(generations) < 8 {
			t.Errorf("%d reads in %d generations, want more", reads, len(generations))
		}
	})
}

// finish finishes a move.
func (f convoy) finish() {
	f.t.Helper()
	book := f.c.core.movable.book
	v, err := book.Renew(context.Background(), nil)
	if err == nil {
		_, err = book.Finish(context.Background(), v)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// drop drops the stub of an id that has moved.
func (f convoy) drop(key Item) {
	f.t.Helper()
	m := f.c.core.movable
	v, err := m.book.Renew(context.Background(), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	at, _, err := m.at(v, key)
	if err != nil {
		f.t.Fatal(err)
	}
	if at.Phase == forward.Settling {
		if _, err := m.carrier.Act(context.Background(), at, forward.Request[Item]{Act: forward.DropStub}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// An item that moves between the read of its new home and that of its old one is in neither as it was read. The stub says so.
func TestItemThatMovesBetweenTwoRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newConvoy(t, 10)
		f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
		f.seen.delay = func(shardKey string, _ int) time.Duration {
			return map[bool]time.Duration{true: 10 * time.Second}[shardKey == "k"]
		}
		var moves sync.WaitGroup
		moves.Go(func() {
			time.Sleep(5 * time.Second)
			f.moveAll(10)
		})
		got, err := all(context.Background(), f.tested, Query{Key: "k", Filter: "n < :n", Values: ov(":n", 9), Projection: "sk"}, "sk")
		moves.Wait()
		if len(got) != 9 || err != nil {
			t.Errorf("got %v, %v, want nine items", got, err)
		}
	})
}

// A page takes one round trip while items move, as before, however many of them have moved. The old shards then have a stub for each, and the
// new ones a part.
func TestTrackedPagesTakeOneRoundTrip(t *testing.T) {
	const items, latency = 200, 5 * time.Millisecond
	for _, moved := range []int{0, items / 2, items} {
		bubble.Test(t, func(t *testing.T) {
			c, client := openMovable(t)
			f := convoy{mover: mover{t, c}, client: client, seen: &watched{Client: client}}
			f.seen.delay = func(string, int) time.Duration { return latency }
			f.tested = collection(t, f.seen, movables())
			for i := range items {
				if _, err := c.Put(context.Background(), ov("pk", "k", "sk", fmt.Sprintf("%03d", i))); err != nil {
					t.Fatal(err)
				}
			}
			f.enter(forward.Stage{Phase: forward.Split}, &sixteen)
			for i := range moved {
				f.move("k", fmt.Sprintf("%03d", i))
			}
			slow := 0
			for i := range items - 50 {
				began := time.Now()
				page, err := f.tested.Page(context.Background(), Query{Key: "k", Limit: 50, Consistent: true, Sort: Greater(fmt.Sprintf("%03d", i))}, "")
				if err != nil || len(page.Items) != min(50, items-i-1) {
					t.Fatalf("%d items, %v", len(page.Items), err)
				}
				if time.Since(began) > latency {
					slow++
				}
			}
			if slow > 2 {
				t.Errorf("%d of %d items have moved: %d of %d pages took more than one round trip", moved, items, slow, items-50)
			}
		})
	}
}
