package move_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

type user struct {
	Key   string `dynamodbav:"pk"`
	ID    string `dynamodbav:"sk"`
	Value int    `dynamodbav:"value"`
	Text  string `dynamodbav:"text,omitempty"`
	Group string `dynamodbav:"group,omitempty"`
}

var (
	bare     = layout.Layout{Strategy: layout.Calculated}
	four     = layout.Layout{Shards: 4, Strategy: layout.Calculated}
	eight    = layout.Layout{Shards: 8, Strategy: layout.Calculated}
	otherway = layout.Layout{Shards: 8, Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.SharpNumber()}
)

// users returns the options of the users, whose own key is spread.
func users(now layout.Layout) heatsink.Options {
	return heatsink.Options{Table: "users", PartitionKey: "pk", SortKey: "sk", Movable: true, Layout: now}
}

// town is a table of users and the programs that use it, in virtual time.
type town struct {
	t      testing.TB
	db     *local.DB
	client *dynamodb.Client
	keys   []string
	table  string        // that programs are configured with, and that check looks at
	pace   time.Duration // the longest time between two operations of a program

	timed bool // ids begin with a time

	mu   sync.Mutex
	want map[[2]string]int // the values that programs have put, by key and id
	ops  int
}

// found returns a new town. It belongs to a synctest bubble.
func found(t testing.TB, edit ...func(*dynamodb.CreateTableInput)) *town {
	t.Helper()
	db, err := local.New(local.Options{Signatures: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	x := &town{t: t, db: db, client: db.Client(), keys: []string{"ACTIVE", "IDLE"}, table: "users", pace: 40 * time.Second, want: map[[2]string]int{}}
	x.create(edit...)
	return x
}

func (x *town) create(edit ...func(*dynamodb.CreateTableInput)) {
	x.t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName: aws.String("users"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}, {AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
	}
	for _, edit := range edit {
		edit(in)
	}
	if _, err := x.client.CreateTable(context.Background(), in); err != nil {
		x.t.Fatal(err)
	}
}

// program opens the collection as a program does.
func (x *town) program(with layout.Layout) *heatsink.Collection[user] {
	x.t.Helper()
	o := users(with)
	if x.timed {
		o = diaries(with)
	}
	o.Table = x.table
	c, err := heatsink.Open[user](x.client, o)
	if err != nil {
		x.t.Fatal(err)
	}
	return c
}

// fill puts users under all keys.
func (x *town) fill(c *heatsink.Collection[user], n int) {
	x.t.Helper()
	for i := range n {
		x.put(c, user{Key: x.keys[i%len(x.keys)], ID: x.id(fmt.Sprintf("u%04d", i), i), Value: 1, Text: "text"})
	}
}

func (x *town) put(c *heatsink.Collection[user], u user) {
	x.t.Helper()
	if _, err := c.Put(context.Background(), u); err != nil {
		x.t.Fatal(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.want[[2]string{u.Key, u.ID}] = u.Value
}

// live is a program that changes and reads its own users until ctx ends. Each answer must be as if there were one item for each id.
func (x *town) live(ctx context.Context, c *heatsink.Collection[user], number int) {
	random := rand.New(rand.NewPCG(uint64(number), 7))
	for n := 0; ctx.Err() == nil; n++ {
		time.Sleep(time.Millisecond + time.Duration(random.Int64N(int64(x.pace))))
		one := random.IntN(12)
		at := [2]string{x.keys[random.IntN(len(x.keys))], x.id(fmt.Sprintf("p%d-%02d", number, one), 7*one)}
		like := user{Key: at[0], ID: at[1]}
		x.mu.Lock()
		want, there := x.want[at]
		x.mu.Unlock()
		var err error
		var next int
		got, failed := c.Get(context.Background(), like)
		if errors.Is(failed, heatsink.ErrNotFound) != !there || there && got.Value != want {
			x.t.Errorf("program %d after %d operations: %v is %+v, %v, want %d, %t", number, n, at, got, failed, want, there)
			return
		}
		seldom := 8
		if x.timed { // all buckets are listed
			seldom = 40
		}
		if n%seldom == 0 && !x.lists(c, at[0], number) {
			return
		}
		switch random.IntN(4) {
		case 0:
			next = number*1_000_000 + n
			_, err = c.Put(context.Background(), user{Key: at[0], ID: at[1], Value: next})
		case 1:
			next = want + 1
			_, err = c.Update(context.Background(), like, func(in *dynamodb.UpdateItemInput) {
				in.UpdateExpression, in.ExpressionAttributeNames = aws.String("ADD #v :one"), map[string]string{"#v": "value"}
				in.ExpressionAttributeValues = heatsink.Item{":one": &types.AttributeValueMemberN{Value: "1"}}
			})
		case 2:
			_, err = c.Delete(context.Background(), like)
		case 3:
			next = number*1_000_000 + n
			_, err = c.Put(context.Background(), user{Key: at[0], ID: at[1], Value: next}, func(in *dynamodb.PutItemInput) {
				in.ConditionExpression = aws.String("attribute_not_exists(pk)")
			})
			if there {
				next = want
				if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); !refused {
					x.t.Errorf("program %d: a create of %v, which is there, got %v", number, at, err)
					return
				}
				err = nil
			}
		}
		if err != nil {
			x.t.Errorf("program %d: %v: %v", number, at, err)
			return
		}
		x.mu.Lock()
		x.ops++
		if delete(x.want, at); next != 0 {
			x.want[at] = next
		}
		x.mu.Unlock()
	}
}

// lists reports whether a listing of a key has the program's own users, each once, in order.
func (x *town) lists(c *heatsink.Collection[user], key string, number int) bool {
	own := fmt.Sprintf("p%d-", number)
	q := heatsink.Query{Key: key, Sort: heatsink.BeginsWith(own), Consistent: true}
	if x.timed {
		q.Sort, q.From, q.To, q.Reverse = heatsink.Range{}, day0, day2, number%2 == 0
	}
	x.mu.Lock()
	want := map[string]int{}
	for id, value := range x.want {
		if id[0] == key && strings.Contains(id[1], own) {
			want[id[1]] = value
		}
	}
	x.mu.Unlock()
	last := ""
	for u, err := range c.Query(context.Background(), q) {
		if err != nil {
			x.t.Errorf("program %d lists %s: %v", number, key, err)
			return false
		}
		if x.timed && last != "" && (u.ID < last) != q.Reverse {
			x.t.Errorf("program %d lists %s behind %s", number, u.ID, last)
			return false
		}
		if x.timed && !strings.Contains(u.ID, own) {
			last = u.ID
			continue
		}
		if value, there := want[u.ID]; !there || value != u.Value || u.ID <= last && !q.Reverse {
			x.t.Errorf("program %d lists %+v behind %s, want %d, %t", number, u, last, value, there)
			return false
		}
		last = u.ID
		delete(want, u.ID)
	}
	if len(want) > 0 {
		x.t.Errorf("program %d lists %s without %v", number, key, want)
		return false
	}
	return true
}

// deleteLater deletes ten of the users that nobody else touches, some time from now, and ten more later.
func (x *town) deleteLater(c *heatsink.Collection[user], when ...time.Duration) *sync.WaitGroup {
	var all sync.WaitGroup
	for n, after := range when {
		all.Go(func() {
			time.Sleep(after)
			for i := 10 * n; i < 10*n+10; i++ {
				u := user{Key: x.keys[i%len(x.keys)], ID: x.id(fmt.Sprintf("u%04d", i), i)}
				if _, err := c.Delete(context.Background(), u); err != nil {
					x.t.Error(err)
				}
				x.mu.Lock()
				delete(x.want, [2]string{u.Key, u.ID})
				x.mu.Unlock()
			}
		})
	}
	return &all
}

// start lets programs live, with the given layouts, and returns what ends them.
func (x *town) start(with ...layout.Layout) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, l := range with {
		c := x.program(l)
		all.Go(func() { x.live(ctx, c, i+1) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// check compares the whole table with what programs have put: each id once, in its home, and without marks.
func (x *town) check(now layout.Layout) {
	x.t.Helper()
	got := map[[2]string]int{}
	for _, item := range x.stored() {
		pk, sk := item["pk"].(*types.AttributeValueMemberS).Value, item["sk"].(*types.AttributeValueMemberS).Value
		if layout.IsControl(pk) {
			continue
		}
		at, err := now.Parse(pk)
		if err != nil {
			x.t.Errorf("stored %s, %s: %v", pk, sk, err)
			continue
		}
		if want := now.WithShards(max(now.Shards, 1)).Shard(sk); at.Shard != want {
			x.t.Errorf("stored %s, %s, want shard %d", pk, sk, want)
		}
		if when, _, _ := strings.Cut(sk, "#"); now.Bucket != layout.NoBucket {
			if time, err := time.Parse(time.RFC3339, when); err != nil || !now.Bucket.Start(time).Equal(at.Bucket) {
				x.t.Errorf("stored %s, %s: %v", pk, sk, err)
			}
		}
		if item["_hs_f"] != nil || item["_hs_d"] != nil {
			x.t.Errorf("stored %s, %s with marks: %v", pk, sk, item)
		}
		id := [2]string{at.Key, sk}
		if _, twice := got[id]; twice {
			x.t.Errorf("%v is there twice", id)
		}
		var value int
		if n, ok := item["value"].(*types.AttributeValueMemberN); ok {
			_, _ = fmt.Sscan(n.Value, &value)
		}
		got[id] = value
	}
	for id, value := range x.want {
		if got[id] != value {
			x.t.Errorf("%v is %d in the table, want %d", id, got[id], value)
		}
	}
	if len(got) != len(x.want) {
		x.t.Errorf("%d items in the table, want %d", len(got), len(x.want))
	}
}

// stored returns all items of the table.
func (x *town) stored() (all []heatsink.Item) {
	x.t.Helper()
	pages := dynamodb.NewScanPaginator(x.client, &dynamodb.ScanInput{TableName: &x.table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(context.Background())
		if err != nil {
			x.t.Fatal(err)
		}
		all = append(all, out.Items...)
	}
	return all
}

func (x *town) mover(o move.Options) *move.Mover {
	x.t.Helper()
	m, err := move.New(x.client, o)
	if err != nil {
		x.t.Fatal(err)
	}
	return m
}

// Items found by id move to any other layout, while programs read and write them by id. Nothing is lost, doubled or left behind.
func TestMoveByID(t *testing.T) {
	for name, test := range map[string]struct{ from, to layout.Layout }{
		"to shards":                 {bare, eight},
		"to more shards":            {four, eight},
		"to fewer shards":           {eight, four},
		"to another hash and other": {eight, otherway},
		"to none":                   {otherway, bare},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				x.fill(x.program(test.from), 200)
				end := x.start(test.from, test.from, test.from)
				deleting := x.deleteLater(x.program(test.from), 30*time.Minute, 90*time.Minute, 160*time.Minute)
				m := x.mover(move.Options{Collection: users(test.from), To: test.to, Wait: true})
				began := time.Now()
				result, err := m.Run(t.Context())
				if err != nil || !result.Done || result.Stage.Name != "settled" || result.Late != 0 || result.Moved < 80 {
					t.Errorf("%+v, %v", result, err)
				}
				if took := time.Since(began); took < 3*62*time.Minute || took > 3*62*time.Minute+10*time.Minute {
					t.Errorf("it took %v, want three waits of 62 minutes and little more", took)
				}
				time.Sleep(5 * time.Minute)
				deleting.Wait()
				end()
				x.check(test.to)
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != int64(len(x.want)) {
					t.Errorf("verified %+v, %v", report, err)
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Error(err)
				}
				if x.ops < 1000 {
					t.Errorf("%d operations: too few to mean anything", x.ops)
				}
				t.Logf("%d operations, %d moves, %d marks dropped, %.0f write and %.0f read units", x.ops, result.Moved, result.Dropped, result.WriteUnits, result.ReadUnits)
			})
		})
	}
}

// A table whose items are under few keys is sampled twice: at random, and then its first items. What the first sample saw must not count.
// It did, and forecast twice the read units.
func TestForecastByIDOfFewKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const items = 6_000 // more than a sample has
		x := found(t)
		x.keys = []string{"ACTIVE"}
		x.put(x.program(bare), user{Key: "ACTIVE", ID: "first"}) // so that the collection has its record
		for from := 1; from < items; from += 25 {
			var batch []types.WriteRequest
			for i := from; i < min(from+25, items); i++ {
				batch = append(batch, types.WriteRequest{PutRequest: &types.PutRequest{Item: heatsink.Item{"pk": text("ACTIVE"), "sk": text(fmt.Sprint(i))}}})
			}
			if _, err := x.client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"users": batch}}); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 { // the random sample misses the key one time in six
			f, err := x.mover(move.Options{Collection: users(bare), To: eight}).Plan(t.Context())
			if err != nil || f.Moves < items*9/10 || f.Moves > items*11/10 {
				t.Fatalf("%+v, %v", f, err)
			}
			// Each item is read three times, and all of them are a few hundred units in six passes.
			if want := 3 * float64(f.Moves); f.ReadUnits < want || f.ReadUnits > 1.1*want {
				t.Errorf("forecast %.0f read units, want 3 for each of %d moves and little more", f.ReadUnits, f.Moves)
			}
		}
	})
}
