package heatsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/carry"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
	"github.com/heatsink-go/heatsink/internal/passage"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// moveList moves the items of a list that are in shards which only the old layout has: every nth of them, and strips them if it is
// told to.
func moveList(t *testing.T, c *Collection[Item], client *dynamodb.Client, key string, nth int, strip bool) (moved int) {
	t.Helper()
	ctx, m := context.Background(), c.core.movable
	v, err := m.book.View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	course, err := passage.NewCourse(&v.Record, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, shardKey := range course.Old.Keys {
		if course.Role(forward.Old, shardKey, "") != passage.OldHome {
			continue
		}
		out, err := client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("items"), KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: ov(":pk", shardKey), ConsistentRead: aws.Bool(true),
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range out.Items {
			if i%nth > 0 {
				continue
			}
			home, err := m.schema.HomeIn(v.Record.Next.For(key), Item{"pk": &types.AttributeValueMemberS{Value: key}, "sk": item["sk"]})
			if err != nil {
				t.Fatal(err)
			}
			old := m.schema.KeyAt(Item{"sk": item["sk"]}, place.Home{ShardKey: shardKey})
			at := carry.Place{Phase: v.Record.Stage.Phase, Generation: uint64(v.Record.Generation), Lease: v.Lease()}
			at.Homes = express.Homes{Table: m.table, Old: old, New: m.schema.KeyAt(old, home)}
			if strip {
				err = m.carrier.Move(ctx, at)
			} else {
				_, err = m.carrier.Act(ctx, at, forward.Request[Item]{Home: forward.Old, Act: forward.Freeze})
			}
			if err != nil {
				t.Fatal(err)
			}
			moved++
		}
	}
	return moved
}

// listMoves are layouts that lists move from and to.
func listMoves(t *testing.T) map[string][2]layout.Layout {
	t.Helper()
	piped, err := layout.ParseFormat("{key}|{shard}")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][2]layout.Layout{
		"grow":   {{}, {Shards: 8}},
		"more":   {{Shards: 4}, {Shards: 16}},
		"shrink": {{Shards: 16}, {Shards: 4}},
		"format": {{Shards: 4}, {Shards: 4, Format: piped}},
	}
}

// TestMovableList appends to a list and reads it at each stage of a move to more shards, to fewer, and to another format.
func TestMovableList(t *testing.T) {
	for name, layouts := range listMoves(t) {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, client := openMovable(t, func(o *Options) { o.Layout = layouts[0] })
				ctx := context.Background()
				var want []string
				add := func(n int) {
					t.Helper()
					var batch []Item
					for range n {
						id := fmt.Sprintf("%05d", len(want))
						want = append(want, id)
						batch = append(batch, ov("pk", "k", "sk", id, "odd", len(want)%2))
					}
					if _, err := c.Put(ctx, batch[0]); err != nil {
						t.Fatal(err)
					}
					if err := c.BatchPut(ctx, batch[1:]); err != nil {
						t.Fatal(err)
					}
				}
				check := func(stage forward.Stage) {
					t.Helper()
					for _, strong := range []bool{false, true} {
						got, err := sortsOf(c, Query{Key: "k", Consistent: strong})
						if err != nil || !slices.Equal(got, want) {
							t.Fatalf("%v: %d items, want %d: %v", stage, len(got), len(want), err)
						}
					}
					n, err := c.Count(ctx, Query{Key: "k", Filter: "odd = :one", Values: ov(":one", 1)})
					if err != nil || n != (len(want)+1)/2 {
						t.Fatalf("%v: %d odd items of %d: %v", stage, n, len(want), err)
					}
					var paged []string
					for token := ""; ; {
						page, err := c.Page(ctx, Query{Key: "k", Limit: 7, Reverse: true}, token)
						if err != nil {
							t.Fatal(err)
						}
						for _, item := range page.Items {
							paged = append(paged, item["sk"].(*types.AttributeValueMemberS).Value)
						}
						if token = page.Next; token == "" {
							break
						}
					}
					if slices.Reverse(paged); !slices.Equal(paged, want) {
						t.Fatalf("%v: %d items in pages, want %d", stage, len(paged), len(want))
					}
				}
				add(60)
				check(forward.Stage{})
				m := mover{t, c}
				for _, stage := range stagesOfAMove {
					if stage.Phase == forward.Settling {
						moveList(t, c, client, "k", 1, true)
					}
					var next *layout.Layout
					if stage.Phase == forward.Split {
						next = &layouts[1]
					}
					m.enter(stage, next)
					check(stage)
					add(10)
					check(stage)
					if stage.Phase == forward.Split {
						if moveList(t, c, client, "k", 3, true)+moveList(t, c, client, "k", 5, false) == 0 && name != "more" {
							t.Fatal("nothing was moved")
						}
					}
					check(stage)
					time.Sleep(63 * time.Minute)
				}
				for shard, n := range shardsOfItems(t, client) {
					place, err := layouts[1].Parse(shard)
					if err != nil || place.Key != "k" {
						t.Errorf("%d items in %q, which the new layout does not have: %v", n, shard, err)
					}
				}
			})
		})
	}
}

// shardsOfItems returns how many live items there are under each partition key.
func shardsOfItems(t *testing.T, client *dynamodb.Client) map[string]int {
	t.Helper()
	out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("items"), FilterExpression: aws.String("attribute_not_exists(#f)"), ExpressionAttributeNames: map[string]string{"#f": express.Marks()[0]}})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]int{}
	for _, item := range out.Items {
		if key := item["pk"].(*types.AttributeValueMemberS).Value; !layout.IsControl(key) {
			in[key]++
		}
	}
	return in
}

// TestMovableListRefuses shows what a list does not have, and that two items with one sort key are noticed.
func TestMovableListRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t, func(o *Options) { o.Layout = layout.Layout{Shards: 4} })
		ctx := context.Background()
		like := ov("pk", "k", "sk", "a")
		for name, do := range map[string]func() error{
			"Get":    func() error { _, err := c.Get(ctx, like); return err },
			"Update": func() error { _, err := c.Update(ctx, like); return err },
			"Delete": func() error { _, err := c.Delete(ctx, like); return err },
			"batch":  func() error { _, err := c.BatchGet(ctx, []Item{like}); return err },
			"part":   func() error { _, err := c.TransactPut(ctx, like); return err },
			"Locate": func() error { _, err := c.Locate(ctx, like); return err },
		} {
			if err := do(); !errors.Is(err, ErrOptions) {
				t.Errorf("%s: got %v, want ErrOptions", name, err)
			}
		}
		for i, shard := range []string{"k#SHARD_1", "k#SHARD_2"} {
			if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("items"), Item: ov("pk", shard, "sk", "same", "v", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := sortsOf(c, Query{Key: "k"}); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), `"k#SHARD_1" and "k#SHARD_2"`) {
			t.Errorf("two items with one sort key: %v", err)
		}
	})
}

// TestMovableListKnowsNoDelay appends with a process that knows the newest stage, and reads with one that learned of the stage before a
// moment ago. A strong read lists what was acknowledged before it.
func TestMovableListKnowsNoDelay(t *testing.T) {
	for name, layouts := range listMoves(t) {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, client := openMovable(t, func(o *Options) { o.Layout = layouts[0] })
				ctx, m, appended := context.Background(), mover{t, c}, 0
				for _, stage := range stagesOfAMove {
					late, err := Open[Item](client, movables(func(o *Options) { o.Layout = layouts[0] }))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := sortsOf(late, Query{Key: "k"}); err != nil {
						t.Fatal(err)
					}
					if stage.Phase == forward.Settling {
						moveList(t, c, client, "k", 1, true)
					}
					var next *layout.Layout
					if stage.Phase == forward.Split {
						next = &layouts[1]
					}
					m.enter(stage, next)
					for range 20 {
						if _, err := c.Put(ctx, ov("pk", "k", "sk", fmt.Sprintf("%05d", appended))); err != nil {
							t.Fatal(err)
						}
						appended++
						if _, err := late.Put(ctx, ov("pk", "k", "sk", fmt.Sprintf("%05d", appended))); err != nil {
							t.Fatal(err)
						}
						appended++
					}
					for name, reader := range map[string]*Collection[Item]{"the process of the stage before": late, "the process of this stage": c} {
						if got, err := sortsOf(reader, Query{Key: "k", Consistent: true}); err != nil || len(got) != appended {
							t.Fatalf("%v: %s lists %d items, want %d: %v", stage, name, len(got), appended, err)
						}
					}
					time.Sleep(63 * time.Minute)
				}
			})
		})
	}
}

// TestMovableListTwins reads two items with one sort key, one of which is where the other would move to. They are not taken for one. What
// is stored twice because it is on its way is.
func TestMovableListTwins(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t, func(o *Options) { o.Layout = layout.Layout{Shards: 16} })
		if _, err := sortsOf(c, Query{Key: "k"}); err != nil {
			t.Fatal(err)
		}
		to := layout.Layout{Shards: 4}
		mover{t, c}.enter(forward.Stage{Phase: forward.Split}, &to)
		store := func(shard int, more ...any) {
			t.Helper()
			item := ov(append([]any{"pk", fmt.Sprint("k#SHARD_", shard), "sk", "twin"}, more...)...)
			if _, err := client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
				t.Fatal(err)
			}
		}
		home := to.Shard("twin")
		store(home, "v", 1)
		store(8, "_hs_f", "s")
		store(9, "_hs_f", "s")
		for _, mark := range []string{"z", ""} {
			if got, err := sortsOf(c, Query{Key: "k", Consistent: true}); err != nil || len(got) != 1 {
				t.Errorf("two stubs and their item: %v, %v", got, err)
			}
			for value, says := range map[int]string{1: "", 2: fmt.Sprintf(`"k#SHARD_8" and "k#SHARD_%d"`, home)} {
				if mark == "" {
					store(8, "v", value)
				} else {
					store(8, "v", value, "_hs_f", mark)
				}
				if _, err := client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: ov("pk", "k#SHARD_9", "sk", "twin")}); err != nil {
					t.Fatal(err)
				}
				got, err := sortsOf(c, Query{Key: "k", Consistent: true})
				if says == "" && (err != nil || len(got) != 1) || says != "" && (!errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), says)) {
					t.Errorf("mark %q, value %d: got %v, %v, want %q", mark, value, got, err, says)
				}
			}
			store(8, "_hs_f", "s")
		}
	})
}

// TestMovableListPutsAgain shows that a put of a list may be repeated, and that one which is never sent in time is an error.
func TestMovableListPutsAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, client := openMovable(t, func(o *Options) { o.Layout = layout.Layout{Shards: 8} })
		ctx := context.Background()
		for range 5 {
			if _, err := c.Put(ctx, ov("pk", "k", "sk", "a")); err != nil {
				t.Fatal(err)
			}
			if err := c.BatchPut(ctx, []Item{ov("pk", "k", "sk", "b"), ov("pk", "k", "sk", "c")}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := sortsOf(c, Query{Key: "k"}); err != nil || !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("got %q, %v", got, err)
		}
		_, err := c.Put(ctx, ov("pk", "k", "sk", "a"), func(in *dynamodb.PutItemInput) { in.ConditionExpression = aws.String("attribute_not_exists(pk)") })
		if !errors.Is(err, ErrScattered) {
			t.Errorf("a condition: got %v, want ErrScattered", err)
		}

		late, err := Open[Item](slowWrites{client}, movables(func(o *Options) { o.Layout = layout.Layout{Shards: 8} }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := late.Put(ctx, ov("pk", "k", "sk", "late")); !errors.Is(err, lease.ErrOver) {
			t.Errorf("a put that is always signed too late: got %v", err)
		}
		if err := late.BatchPut(ctx, []Item{ov("pk", "k", "sk", "late")}); !errors.Is(err, lease.ErrOver) {
			t.Errorf("a batch that is always signed too late: got %v", err)
		}
	})
}

// slowWrites is a client that takes two minutes before it signs a write.
type slowWrites struct{ *dynamodb.Client }

func (c slowWrites) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	time.Sleep(2 * time.Minute)
	return c.Client.PutItem(ctx, in, o...)
}

func (c slowWrites) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	time.Sleep(2 * time.Minute)
	return c.Client.BatchWriteItem(ctx, in, o...)
}
