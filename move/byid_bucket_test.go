package move_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// Items whose ids begin with a time are between these.
var (
	day0 = time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC)
	day2 = day0.Add(34 * time.Hour)
)

var (
	daily  = layout.Layout{Shards: 2, Strategy: layout.Calculated, Bucket: layout.Day}
	days   = layout.Layout{Shards: 3, Strategy: layout.Calculated, Bucket: layout.Day, Hash: layout.FNV}
	hourly = layout.Layout{Strategy: layout.Calculated, Bucket: layout.Hour}
)

// diaries returns the options of users whose sort key begins with a time.
func diaries(now layout.Layout) heatsink.Options {
	o := users(now)
	o.EventTime = heatsink.EventTime{Attribute: "sk"}
	return o
}

// id returns an id, which begins with the time of its number if ids do.
func (x *town) id(name string, n int) string {
	if !x.timed {
		return name
	}
	return day0.Add(time.Duration(n)*17*time.Minute).Format(time.RFC3339) + "#" + name
}

// Items whose sort keys begin with a time move between layouts with buckets and without, while programs use them.
func TestMoveBucketsByID(t *testing.T) {
	for name, test := range map[string]struct{ from, to layout.Layout }{
		"from none to days":       {bare, daily},
		"from shards to hours":    {four, hourly},
		"from days to hours":      {daily, hourly},
		"from hours to days":      {hourly, daily},
		"to other shards of days": {daily, days},
		"from days to none":       {days, four},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.timed = true
				c := x.program(test.from)
				x.fill(c, 120)
				end := x.start(test.from, test.from)
				deleting := x.deleteLater(c, 30*time.Minute, 90*time.Minute, 160*time.Minute)
				m := x.mover(move.Options{Collection: diaries(test.from), To: test.to, Wait: true})
				var paging sync.WaitGroup
				ctx, stop := context.WithCancel(context.Background())
				paging.Go(func() { x.page(ctx, c) })
				result, err := m.Run(t.Context())
				if err != nil || !result.Done || result.Late != 0 || result.Moved < 50 {
					t.Errorf("%+v, %v", result, err)
				}
				time.Sleep(5 * time.Minute)
				deleting.Wait()
				end()
				stop()
				paging.Wait()
				x.check(test.to)
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != int64(len(x.want)) {
					t.Errorf("verified %+v, %v", report, err)
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Error(err)
				}
				after := x.program(test.to)
				for id, value := range x.want {
					if got, err := after.Get(t.Context(), user{Key: id[0], ID: id[1]}); err != nil || got.Value != value {
						t.Errorf("%v is %+v, %v, want %d", id, got, err, value)
					}
				}
				if x.ops < 500 {
					t.Errorf("%d operations: too few to mean anything", x.ops)
				}
			})
		})
	}
}

// Sort keys may be numbers of seconds or milliseconds. Their times have the unit of the collection, before the move and after it.
func TestMoveBucketsOfNumbers(t *testing.T) {
	for name, test := range map[string]struct {
		from, to layout.Layout
		unit     heatsink.TimeUnit
		tick     time.Duration
	}{
		"seconds, to days":              {bare, daily, heatsink.UnixSeconds, time.Second},
		"milliseconds, to hours":        {four, hourly, heatsink.UnixMilliseconds, time.Millisecond},
		"seconds, from days to none":    {days, four, heatsink.UnixSeconds, time.Second},
		"milliseconds, in other shards": {daily, days, heatsink.UnixMilliseconds, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t, func(in *dynamodb.CreateTableInput) {
					in.AttributeDefinitions[1].AttributeType = types.ScalarAttributeTypeN
				})
				with := diaries(test.from)
				with.EventTime.Unit = test.unit
				c, err := heatsink.Open[heatsink.Item](x.client, with)
				if err != nil {
					t.Fatal(err)
				}
				const items = 40
				item := func(n int) heatsink.Item {
					at := day0.Add(time.Duration(n) * 47 * time.Minute)
					return heatsink.Item{"pk": text("ACTIVE"), "sk": number(fmt.Sprint(at.UnixNano() / int64(test.tick)))}
				}
				for i := range items {
					if _, err := c.Put(t.Context(), item(i)); err != nil {
						t.Fatal(err)
					}
				}
				m := x.mover(move.Options{Collection: with, To: test.to, Wait: true})
				if result, err := m.Run(t.Context()); err != nil || !result.Done || result.Moved < items/4 {
					t.Fatalf("%+v, %v", result, err)
				}
				if report, err := m.Verify(t.Context()); err != nil || report.Right != items || report.Damaged() != 0 {
					t.Errorf("verified %+v, %v", report, err)
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Error(err)
				}
				with.Layout = test.to
				after, err := heatsink.Open[heatsink.Item](x.client, with)
				if err != nil {
					t.Fatal(err)
				}
				for i := range items {
					if _, err := after.Get(t.Context(), item(i)); err != nil {
						t.Errorf("item %d: %v", i, err)
					}
				}
			})
		})
	}
}

// page reads the items that nobody changes, page by page, until ctx ends. Between two pages, the move may go on to another stage.
func (x *town) page(ctx context.Context, c *heatsink.Collection[user]) {
	for n := 0; ctx.Err() == nil; n++ {
		q := heatsink.Query{Key: x.keys[0], From: day0, To: day2, Limit: 25, Consistent: true, Reverse: n%2 == 1}
		var got []string
		for token := ""; ; {
			page, err := c.Page(context.Background(), q, token)
			if err != nil {
				x.t.Errorf("page behind %d ids: %v", len(got), err)
				return
			}
			for _, u := range page.Items {
				if len(got) > 0 && (u.ID < got[len(got)-1]) != q.Reverse {
					x.t.Errorf("%s is behind %s", u.ID, got[len(got)-1])
				}
				got = append(got, u.ID)
			}
			if token = page.Next; token == "" {
				break
			}
			time.Sleep(5 * time.Minute)
		}
		for i := 30; i < 120; i++ { // the first are deleted
			if id := x.id(fmt.Sprintf("u%04d", i), i); x.keys[i%len(x.keys)] == x.keys[0] && !slices.Contains(got, id) {
				x.t.Errorf("the pages lack %s", id)
				return
			}
		}
	}
}

// A move to buckets goes back from its middle.
func TestBackFromBuckets(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.timed = true
		x.fill(x.program(four), 150)
		end := x.start(four, four)
		o := move.Options{Collection: diaries(four), To: daily, WCU: 10, Segments: 2, Wait: true}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		result, err := x.mover(o).Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || result.Moved < 10 {
			t.Fatalf("%+v, %v, want some moves", result, err)
		}
		back, err := x.mover(o).Back(t.Context())
		if err != nil || !back.Done {
			t.Errorf("back: %+v, %v", back, err)
		}
		end()
		x.check(four)
	})
}

// A read of a time range returns the items of that range alone, before, during and after a move.
func TestTimeRangesWhileBucketsMove(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.timed = true
		c := x.program(bare)
		x.fill(c, 120)
		look := func(when string) {
			t.Helper()
			for from := range 12 {
				q := heatsink.Query{Key: "ACTIVE", From: day0.Add(time.Duration(from) * 3 * time.Hour), Consistent: true}
				q.To = q.From.Add(time.Duration(from*from) * time.Hour)
				want := 0
				for id := range x.want {
					text, _, _ := strings.Cut(id[1], "#")
					at, _ := time.Parse(time.RFC3339, text)
					if id[0] == "ACTIVE" && !at.Before(q.From) && at.Before(q.To) {
						want++
					}
				}
				n, err := c.Count(t.Context(), q)
				if err != nil || n != want {
					t.Errorf("%s: %d items from %v to %v, want %d: %v", when, n, q.From, q.To, want, err)
				}
				read := 0
				for _, err := range c.Query(t.Context(), q) {
					if err != nil {
						t.Fatal(err)
					}
					read++
				}
				if read != want {
					t.Errorf("%s: %d items are read from %v to %v, want %d", when, read, q.From, q.To, want)
				}
			}
		}
		look("before")
		o := move.Options{Collection: diaries(bare), To: hourly}
		if _, err := x.mover(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		look("split")
		if _, err := c.Count(t.Context(), heatsink.Query{Key: "ACTIVE"}); !errors.Is(err, heatsink.ErrQuery) || !strings.Contains(err.Error(), "set both") {
			t.Errorf("without From and To: %v, want ErrQuery", err)
		}
		other, err := heatsink.Open[user](x.client, users(bare))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Count(t.Context(), heatsink.Query{Key: "ACTIVE"}); !errors.Is(err, heatsink.ErrQuery) || !strings.Contains(err.Error(), `set EventTime to {Attribute: "sk", Unit: RFC3339}`) {
			t.Errorf("a program without EventTime: %v, want ErrQuery", err)
		}
		for id, value := range x.want {
			if got, err := other.Get(t.Context(), user{Key: id[0], ID: id[1]}); err != nil || got.Value != value {
				t.Errorf("a program without EventTime: %v is %+v, %v", id, got, err)
			}
			break
		}
		o.Wait = true
		if _, err := x.mover(o).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		look("settled")
		plan, err := c.Plan(t.Context(), heatsink.Query{Key: "ACTIVE", From: day0, To: day0.Add(150 * time.Minute)})
		if err != nil || plan != (heatsink.Plan{Buckets: 3, Shards: 3}) {
			t.Errorf("%+v, %v", plan, err)
		}
	})
}

// Items whose sort key has no time keep a move to buckets from beginning. The error says how many there are, and which.
func TestBucketsRefuseIDsWithoutATime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.timed = true
		c := x.program(four)
		x.fill(c, 20)
		for _, id := range []string{"profile", "2026-11-14T23:00:00-05:00#x"} { // the order of another zone is not that of time
			x.put(c, user{Key: "ACTIVE", ID: id, Value: 1})
		}
		o := move.Options{Collection: diaries(four), To: daily}
		f, err := x.mover(o).Plan(t.Context())
		if err != nil || f.Blocked != 2 {
			t.Errorf("forecast %+v, %v, want two in the way", f, err)
		}
		_, err = x.mover(o).Run(t.Context())
		if !errors.Is(err, move.ErrUnsupported) || !strings.Contains(err.Error(), "the move has not begun, because of 2 items") || !strings.Contains(err.Error(), "has no time: want one that begins with a time in UTC") {
			t.Errorf("got %v, want ErrUnsupported for 2 items", err)
		}
		x.check(four)
	})
}

// An item that a program without the record puts into a wrong bucket is an error of reads, wherever it would be in their order, and Verify
// finds it.
func TestItemInAWrongBucket(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.timed = true
		c := x.program(daily)
		x.fill(c, 60)
		astray := x.id("astray", 100) // of the second day
		home, err := daily.ShardKey("ACTIVE", day0, daily.Shard(astray))
		if err != nil {
			t.Fatal(err)
		}
		x.raw(heatsink.Item{"pk": text(home), "sk": text(astray)})
		q := heatsink.Query{Key: "ACTIVE", From: day0, To: day2, Consistent: true}
		if n, err := c.Count(t.Context(), q); !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), astray) {
			t.Errorf("counted %d, %v, want ErrOptions that names the item", n, err)
		}
		report, err := x.mover(move.Options{Collection: diaries(daily)}).Verify(t.Context())
		if err != nil || report.Damaged() != 1 || report.Right != int64(len(x.want)) {
			t.Errorf("verified %+v, %v", report, err)
		}
		x.erase(home, astray)
		if n, err := c.Count(t.Context(), q); err != nil || n != 30 {
			t.Errorf("counted %d, %v", n, err)
		}
	})
}
