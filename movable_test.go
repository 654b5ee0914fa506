package heatsink

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// oneShard is the layout of keys that are stored as they are, and sixteen one with sixteen shards.
var (
	oneShard = layout.Layout{Strategy: layout.Calculated}
	sixteen  = layout.Layout{Strategy: layout.Calculated, Shards: 16}
)

// movables are the options of a movable collection.
func movables(edits ...func(*Options)) Options {
	o := Options{Table: "items", PartitionKey: "pk", SortKey: "sk", Layout: oneShard, Movable: true}
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

// mover walks a movable collection through the stages of a move, in a test.
type mover struct {
	t *testing.T
	c *Collection[Item]
}

// enter goes to a stage, after the wait that the one before needs.
func (m mover) enter(then forward.Stage, next *layout.Layout) {
	m.t.Helper()
	ctx := context.Background()
	book := m.c.core.movable.book
	v, err := book.View(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	v, err = book.Renew(ctx, v)
	if err != nil {
		m.t.Fatal(err)
	}
	var to *passage.Arrangement
	if next != nil {
		to = &passage.Arrangement{Layout: *next}
	}
	if _, err := book.Advance(ctx, v, then, to, "a test"); err != nil {
		m.t.Fatal(err)
	}
}

// move moves an item, as a mover does.
func (m mover) move(key, sort string) {
	m.t.Helper()
	ctx := context.Background()
	v, err := m.c.core.movable.book.View(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	at, _, err := m.c.core.movable.at(v, ov("pk", key, "sk", sort))
	if err != nil {
		m.t.Fatal(err)
	}
	if at.Phase == forward.Settled {
		return
	}
	if err := m.c.core.movable.carrier.Move(ctx, at); err != nil {
		m.t.Fatal(err)
	}
}

// openMovable opens a movable collection on an engine that checks signatures.
func openMovable(t *testing.T, edits ...func(*Options)) (*Collection[Item], *dynamodb.Client) {
	t.Helper()
	return openMovableOn(t, local.Options{}, edits...)
}

// openMovableOn opens one on an engine with options, and with signatures.
func openMovableOn(t *testing.T, engine local.Options, edits ...func(*Options)) (*Collection[Item], *dynamodb.Client) {
	t.Helper()
	engine.Signatures = true
	db, err := local.New(engine)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.CreateTable(context.Background(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	c, err := Open[Item](db.Client(), movables(edits...))
	if err != nil {
		t.Fatal(err)
	}
	return c, db.Client()
}

// stages are those of a move and of the way back, in the order of a test.
var stagesOfAMove = []forward.Stage{{Phase: forward.Split}, {Phase: forward.Closed}, {Phase: forward.Settling}, {Trace: forward.Deads}, {}}

// TestMovableActsOnOneItem does every operation on an id that was there before, at each stage of a move, and compares what it does
// with a plain item.
func TestMovableActsOnOneItem(t *testing.T) {
	for moved := range 3 { // none, some or all items are moved as soon as they may
		bubble.Test(t, func(t *testing.T) {
			c, _ := openMovable(t)
			ctx := context.Background()
			want := map[string]string{}
			check := func(stage forward.Stage) {
				t.Helper()
				for i := range 40 {
					id := fmt.Sprintf("%02d", i)
					for _, strong := range []bool{true, false} {
						got, err := c.Get(ctx, ov("pk", "k", "sk", id), func(in *dynamodb.GetItemInput) { in.ConsistentRead = &strong })
						value, there := want[id]
						if there != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) {
							t.Fatalf("%v: get %s: %v, want it there: %t", stage, id, err, there)
						}
						if there && got["v"].(*types.AttributeValueMemberS).Value != value {
							t.Fatalf("%v: get %s: %v, want %s", stage, id, got, value)
						}
						if there && (len(got) != 3 || got["pk"].(*types.AttributeValueMemberS).Value != "k") {
							t.Fatalf("%v: get %s: %v", stage, id, got)
						}
					}
				}
			}
			failed := func(err error) bool {
				_, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
				return ok
			}
			act := func(stage forward.Stage) {
				t.Helper()
				for i := range 40 {
					id := fmt.Sprintf("%02d", i)
					value := fmt.Sprint(stage, " ", i)
					old, there := want[id]
					switch i % 8 {
					case 0: // put, whatever there is
						if _, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", value)); err != nil {
							t.Fatal(err)
						}
						want[id] = value
					case 1: // create
						_, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", value), func(in *dynamodb.PutItemInput) {
							in.ConditionExpression = aws.String("attribute_not_exists(pk)")
						})
						if there != failed(err) || !there && err != nil {
							t.Fatalf("%v: create %s, there before: %t: %v", stage, id, there, err)
						}
						if !there {
							want[id] = value
						}
					case 2: // update one that is there
						_, err := c.Update(ctx, ov("pk", "k", "sk", id), func(in *dynamodb.UpdateItemInput) {
							in.UpdateExpression, in.ConditionExpression = aws.String("SET v = :v"), aws.String("v = :old")
							in.ExpressionAttributeValues = ov(":v", value, ":old", old)
						})
						if there == failed(err) || there && err != nil {
							t.Fatalf("%v: update %s, there before: %t: %v", stage, id, there, err)
						}
						if there {
							want[id] = value
						}
					case 3, 4: // delete, in every second stage
						done, err := c.Delete(ctx, ov("pk", "k", "sk", id), func(in *dynamodb.DeleteItemInput) { in.ReturnValues = types.ReturnValueAllOld })
						if err != nil {
							t.Fatal(err)
						}
						if there != (done.Attributes != nil) || there && done.Attributes["v"].(*types.AttributeValueMemberS).Value != old {
							t.Fatalf("%v: delete %s returns %v, want %q", stage, id, done.Attributes, old)
						}
						delete(want, id)
					case 5: // upsert
						done, err := c.Update(ctx, ov("pk", "k", "sk", id), func(in *dynamodb.UpdateItemInput) {
							in.UpdateExpression, in.ReturnValues = aws.String("SET v = :v"), types.ReturnValueAllNew
							in.ExpressionAttributeValues = ov(":v", value)
						})
						if err != nil || len(done.Attributes) != 3 {
							t.Fatalf("%v: upsert %s: %v %v", stage, id, done.Attributes, err)
						}
						want[id] = value
					}
				}
			}
			for i := range 40 {
				if i%2 == 0 {
					id := fmt.Sprintf("%02d", i)
					want[id] = "before"
					if _, err := c.Put(ctx, ov("pk", "k", "sk", id, "v", "before")); err != nil {
						t.Fatal(err)
					}
				}
			}
			m := mover{t, c}
			for _, stage := range stagesOfAMove {
				next := &sixteen
				if stage.Phase != forward.Split {
					next = nil
				}
				if stage.Phase == forward.Settling {
					for i := range 40 {
						m.move("k", fmt.Sprintf("%02d", i))
					}
				}
				m.enter(stage, next)
				check(stage)
				act(stage)
				check(stage)
				for i := range 40 {
					if stage.Phase == forward.Split && (moved == 1 && i%3 > 0 || moved == 2) {
						m.move("k", fmt.Sprintf("%02d", i))
					}
				}
				check(stage)
				act(stage)
				check(stage)
				time.Sleep(63 * time.Minute)
			}
		})
	}
}

// TestMovableRefuses shows that Open says what Movable does not go with.
func TestMovableRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"Adaptive decides":   func(o *Options) { o.Adaptive = &Adaptive{} },
		"Widths decides":     func(o *Options) { o.Widths = layout.Width{Write: 2, Read: 2} },
		"Older layouts":      func(o *Options) { o.Older = []layout.Layout{{}} },
		`Version "v" is set`: func(o *Options) { o.Version, o.TTL = "v", "ttl" },
		`TTL "ttl" is set`:   func(o *Options) { o.TTL = "ttl" },
		"no SortKey":         func(o *Options) { o.SortKey = "" },
		"ShardBy is":         func(o *Options) { o.ShardBy = []string{"other"} },
		`found by its sort key alone: name the sort key "sk" in EventTime`: func(o *Options) { o.Layout.Bucket, o.EventTime.Attribute = layout.Day, "at" },
		"only items that are found by id move in buckets": func(o *Options) {
			o.Layout, o.EventTime.Attribute = layout.Layout{Shards: 2, Bucket: layout.Day}, "sk"
		},
		"index \"i\" lists": func(o *Options) { o.Index = Index{Name: "i", PartitionKey: "ipk"} },
	} {
		db := local.Start(t)
		_, err := Open[Item](db.Client(), movables(edit))
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A query whose caller pauses longer than a view of the record lasts reads the record again, although all its requests that may be in
// flight are waiting for that.
func TestMovableQueryAfterAPause(t *testing.T) {
	for _, most := range []int{1, 4} {
		bubble.Test(t, func(t *testing.T) {
			c, _ := openMovable(t, func(o *Options) { o.Layout, o.MaxConcurrency, o.ReadMemory = sixteen, most, 1<<16 })
			const items = 400
			text := strings.Repeat("x", 1000)
			for i := range items {
				item := Item{
					"pk": &types.AttributeValueMemberS{Value: "K"}, "sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%05d", i)},
					"text": &types.AttributeValueMemberS{Value: text},
				}
				if _, err := c.Put(t.Context(), item); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			n := 0
			for _, err := range c.Query(ctx, Query{Key: "K"}) {
				if err != nil {
					t.Fatalf("MaxConcurrency %d: after %d items: %v", most, n, err)
				}
				if n++; n%50 == 0 {
					time.Sleep(70 * time.Second)
				}
			}
			if n != items {
				t.Errorf("MaxConcurrency %d: got %d items, want %d", most, n, items)
			}
		})
	}
}
