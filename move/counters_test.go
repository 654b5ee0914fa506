package move_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/move"
)

// posts are counters in a table of their own, which were the attribute views of posts.
var posts = counter.Options{Table: "counters", Origin: &counter.Origin{Table: "posts", SortKey: "sk", SortValue: "META", Attribute: "views"}}

func createPosts(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("posts"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
	})
	if err != nil {
		return err
	}
	return counter.Setup(ctx, client, posts)
}

// view counts as an older program does.
func view(client *dynamodb.Client, post, sort string, views int) error {
	_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("posts"), Key: heatsink.Item{"pk": text(post), "sk": text(sort)},
		UpdateExpression: aws.String("ADD #v :n"), ExpressionAttributeNames: map[string]string{"#v": "views"},
		ExpressionAttributeValues: heatsink.Item{":n": number(fmt.Sprint(views))},
	})
	return err
}

// startPosts starts an engine with n posts that were viewed 1 to n times, and as many comments.
func startPosts(t testing.TB, n int) *dynamodb.Client {
	t.Helper()
	db, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	client := db.Client()
	if err := createPosts(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := errors.Join(view(client, fmt.Sprint("POST#", i), "META", i+1), view(client, fmt.Sprint("POST#", i), "COMMENT#1", 9)); err != nil {
			t.Fatal(err)
		}
	}
	return client
}

func newCounters(t testing.TB, client move.CounterClient, o move.CounterOptions) *move.Counters {
	t.Helper()
	if o.Counter.Table == "" {
		o.Counter = posts
	}
	m, err := move.NewCounters(client, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// totalsAre checks the totals of processes with and without an origin.
func totalsAre(t testing.TB, client counter.Client, want func(i int) int64, n int) {
	t.Helper()
	for _, origin := range []*counter.Origin{posts.Origin, nil} {
		c, err := counter.Open(client, counter.Options{Table: "counters", Origin: origin})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got, err := c.Total(t.Context(), fmt.Sprint("POST#", i)); err != nil || got != want(i) {
				t.Fatalf("post %d, origin %v: got %d, %v, want %d", i, origin != nil, got, err, want(i))
			}
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// All counters are imported for what the forecast says, and verification tells when one is not.
func TestCounters(t *testing.T) {
	const n = 100
	client := startPosts(t, n)
	m := newCounters(t, client, move.CounterOptions{})
	before, err := m.Verify(t.Context())
	if err != nil || before.Listed != n || before.Old != n || before.Others != n || before.Damaged() != n {
		t.Errorf("before: got %+v, %v", before, err)
	}
	if f := before.Findings[0]; f.Kind != "missing" || f.Stored == "" || f.Want != "" || !strings.Contains(f.Why, "not imported") {
		t.Errorf("got %+v", f)
	}
	f, err := m.Plan(t.Context())
	if err != nil || f.Moves != n || f.Listed != n || f.WriteUnits != n || !f.Exact || f.Items != 2*n {
		t.Errorf("got %+v, %v", f, err)
	}
	r, err := m.Run(t.Context())
	if err != nil || r.Moved != n || r.Right != n || r.Late != 0 || r.Passes != 2 || r.WriteUnits != n {
		t.Errorf("got %+v, %v", r, err)
	}
	// A read for each import, two for each comparison, and the two passes.
	if passes := r.ReadUnits - 3*n; passes < 3 || passes > 30 || f.ReadUnits < r.ReadUnits*0.9 || f.ReadUnits > r.ReadUnits*1.1 {
		t.Errorf("%v read units, forecast %v", r.ReadUnits, f.ReadUnits)
	}
	totalsAre(t, client, func(i int) int64 { return int64(i) + 1 }, n)
	if after, err := m.Verify(t.Context()); err != nil || after.Right != n || after.Damaged() != 0 {
		t.Errorf("after: got %+v, %v", after, err)
	}

	if err := view(client, "POST#7", "META", 5); err != nil { // an older program is still there
		t.Fatal(err)
	}
	late, err := m.Verify(t.Context())
	if err != nil || late.Right != n-1 || late.Old != 1 || late.Damaged() != 1 {
		t.Errorf("late: got %+v, %v", late, err)
	}
	want := move.Finding{Kind: "late", Key: `pk "POST#7" and sk "META"`, Stored: "13", Want: "8", Why: "an older program has counted since the import"}
	if len(late.Findings) != 1 || late.Findings[0] != want {
		t.Errorf("got %+v, want %+v", late.Findings, want)
	}
	r, err = m.Run(t.Context())
	if err != nil || r.Moved != 1 || r.Right != n || r.Late != 0 {
		t.Errorf("once more: got %+v, %v", r, err)
	}
	totalsAre(t, client, func(i int) int64 { return int64(i) + 1 + map[int]int64{7: 5}[i] }, n)
}

// A program that counts in the attributes all the time is noticed.
func TestCountersNoticeOlderPrograms(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := startPosts(t, 50)
		slow := faulty.On(t, client, nil)
		slow.Delay(faulty.Exactly(5 * time.Millisecond))
		ctx, stop := context.WithCancel(t.Context())
		var older sync.WaitGroup
		older.Go(func() {
			for ctx.Err() == nil {
				if err := view(client, fmt.Sprint("POST#", rand.N(50)), "META", 1); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Millisecond)
			}
		})
		r, err := newCounters(t, slow, move.CounterOptions{}).Run(t.Context())
		stop()
		older.Wait()
		if !errors.Is(err, move.ErrOldWriters) || !strings.Contains(err.Error(), "some program still counts in the attribute") || r.Late == 0 || r.Passes != 4 {
			t.Errorf("got %+v, %v", r, err)
		}
		if r, err := newCounters(t, slow, move.CounterOptions{}).Run(t.Context()); err != nil || r.Late != 0 || r.Right != 50 {
			t.Errorf("once more: got %+v, %v", r, err)
		}
	})
}

// Older and newer programs count, readers read, importers are stopped again and again, two at a time, and requests go wrong.
func TestCountersInUse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 100
		client := startPosts(t, n)
		bad := faulty.On(t, client, faulty.Random(rand.New(rand.NewPCG(1, 2)), 5, faulty.Throttled, faulty.LostAnswer, faulty.BrokeDown))
		bad.Delay(faulty.UpTo(rand.New(rand.NewPCG(3, 4)), 10*time.Millisecond))
		c, err := counter.Open(bad, posts)
		if err != nil {
			t.Fatal(err)
		}
		var acked, begun [n]atomic.Int64
		for i := range n {
			acked[i].Store(int64(i) + 1)
			begun[i].Store(int64(i) + 1)
		}
		ctx, stop := context.WithCancel(context.Background())
		olderCtx, stopOlder := context.WithCancel(ctx)
		var older, all sync.WaitGroup
		older.Go(func() {
			for olderCtx.Err() == nil {
				i := rand.N(n)
				begun[i].Add(3)
				if err := view(client, fmt.Sprint("POST#", i), "META", 3); err != nil {
					t.Error(err)
				}
				acked[i].Add(3)
				time.Sleep(rand.N(5 * time.Millisecond))
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				i := rand.N(n)
				begun[i].Add(1)
				if err := c.Add(context.Background(), fmt.Sprint("POST#", i), 1); err != nil {
					t.Error(err)
				}
				acked[i].Add(1)
			}
		})
		reads := 0
		all.Go(func() {
			for ctx.Err() == nil {
				i := rand.N(n)
				low := acked[i].Load()
				got, err := c.Total(context.Background(), fmt.Sprint("POST#", i))
				if high := begun[i].Load(); err != nil || got < low || got > high {
					t.Errorf("post %d: read %d, %v, want %d to %d", i, got, err, low, high)
				}
				reads++
			}
		})
		var runs atomic.Int64
		for range 2 {
			older.Go(func() {
				for olderCtx.Err() == nil { // killed, and started again
					life, kill := context.WithTimeout(olderCtx, rand.N(2*time.Second))
					if _, err := newCounters(t, bad, move.CounterOptions{WCU: 100, Segments: 2}).Run(life); err == nil && life.Err() == nil {
						t.Error("an import ended although programs count all the time")
					}
					kill()
					runs.Add(1)
				}
			})
		}
		time.Sleep(6 * time.Second)
		stopOlder()
		older.Wait()
		var importers sync.WaitGroup
		for range 2 {
			importers.Go(func() {
				r, err := newCounters(t, bad, move.CounterOptions{}).Run(context.Background())
				if err != nil || r.Right != n {
					t.Errorf("got %+v, %v", r, err)
				}
			})
		}
		importers.Wait()
		if r, err := newCounters(t, bad, move.CounterOptions{}).Verify(context.Background()); err != nil || r.Right != n || r.Damaged() != 0 {
			t.Errorf("got %+v, %v", r, err)
		}
		stop()
		all.Wait()
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		totalsAre(t, client, func(i int) int64 { return acked[i].Load() }, n)
		t.Logf("%d reads, %d runs, %d faults", reads, runs.Load(), bad.Wrong())
		if reads < 100 || runs.Load() < 4 || bad.Wrong() < 100 {
			t.Error("too little has happened")
		}
	})
}

// An import that was stopped goes on where it was.
func TestCountersResume(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const n = 1000
		client := startPosts(t, n)
		life, kill := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer kill()
		first, err := newCounters(t, client, move.CounterOptions{WCU: 100}).Run(life)
		if err == nil || first.Moved < 400 || first.Moved > 700 {
			t.Fatalf("got %+v, %v", first, err)
		}
		m := newCounters(t, client, move.CounterOptions{WCU: 100})
		if f, err := m.Plan(t.Context()); err != nil || !f.Resumes {
			t.Errorf("got %+v, %v, want it to resume", f, err)
		}
		second, err := m.Run(t.Context())
		if err != nil || !second.Resumed || first.Moved+second.Moved != n || second.Right != n {
			t.Errorf("got %+v after %d, %v", second, first.Moved, err)
		}
	})
}

// What cannot be imported is named, and everything else is imported.
func TestCountersThatCannotBe(t *testing.T) {
	client := startPosts(t, 10)
	for post, value := range map[string]types.AttributeValue{"POST#a": text("12"), "POST#b": number("1.5"), "POST#c": number("1e30")} {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("posts"), Item: heatsink.Item{"pk": text(post), "sk": text("META"), "views": value}})
		if err != nil {
			t.Fatal(err)
		}
	}
	m := newCounters(t, client, move.CounterOptions{})
	r, err := m.Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || r.Moved < 10 || r.Right != 10 || r.Refused != 3 || len(r.Findings) != 3 {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, f := range r.Findings {
		if f.Kind != "refused" || !strings.Contains(f.Why, "POST#") {
			t.Errorf("got %+v", f)
		}
	}
	totalsAre(t, client, func(i int) int64 { return int64(i) + 1 }, 10)
	if report, err := m.Verify(t.Context()); err != nil || report.Damaged() != 3 || report.Right != 10 {
		t.Errorf("got %+v, %v", report, err)
	}
}

// Keys of the program's own making need their inverse, and one that is wrong changes nothing.
func TestCountersWithNames(t *testing.T) {
	client := startPosts(t, 10)
	o := move.CounterOptions{Counter: counter.Options{Table: "counters", Origin: &counter.Origin{
		Table: "posts", SortKey: "sk", Attribute: "views",
		Key: func(key string) heatsink.Item {
			return heatsink.Item{"pk": text("POST#" + strings.TrimPrefix(key, "VIEWS/")), "sk": text("META")}
		},
	}}}
	if _, err := move.NewCounters(client, o); !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), "inverse of Key") {
		t.Errorf("without Name: got %v", err)
	}
	named := func(item heatsink.Item) (string, bool) {
		return "VIEWS/" + strings.TrimPrefix(item["pk"].(*types.AttributeValueMemberS).Value, "POST#"), true
	}
	o.Name = named
	r, err := newCounters(t, client, o).Run(t.Context())
	if !errors.Is(err, move.ErrDamage) || r.Moved != 10 || r.Unexplained != 10 || !strings.Contains(r.Findings[0].Why, "Origin.Key has another item") {
		t.Errorf("comments are none of these counters: got %+v, %v", r, err)
	}
	o.Name = func(item heatsink.Item) (string, bool) {
		key, _ := named(item)
		return key, item["sk"].(*types.AttributeValueMemberS).Value == "META"
	}
	if r, err = newCounters(t, client, o).Run(t.Context()); err != nil || r.Right != 10 || r.Others != 10 {
		t.Errorf("got %+v, %v", r, err)
	}
	c, err := counter.Open(client, counter.Options{Table: "counters"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if got, err := c.Total(t.Context(), "VIEWS/3"); err != nil || got != 4 {
		t.Errorf("got %d, %v, want 4", got, err)
	}
}

func TestCounterOptionsThatAreWrong(t *testing.T) {
	client := startPosts(t, 1)
	for name, x := range map[string]struct {
		change func(*move.CounterOptions)
		want   string
	}{
		"no origin":    {func(o *move.CounterOptions) { o.Counter.Origin = nil }, "Counter.Origin is nil"},
		"no attribute": {func(o *move.CounterOptions) { o.Counter.Origin = &counter.Origin{SortValue: "META"} }, "Origin.Attribute is empty"},
		"segments":     {func(o *move.CounterOptions) { o.Segments = 65 }, "Segments is 65"},
		"rate":         {func(o *move.CounterOptions) { o.WCU = -1 }, "WCU is -1"},
	} {
		o := move.CounterOptions{Counter: posts}
		x.change(&o)
		if _, err := move.NewCounters(client, o); !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", name, err, x.want)
		}
	}
	for name, x := range map[string]struct {
		options counter.Options
		want    string
	}{
		"another key":         {counter.Options{Table: "counters", Origin: &counter.Origin{Table: "posts", Attribute: "views"}}, `the table has the key ["pk" "sk"]`},
		"no table":            {counter.Options{Table: "counters", Origin: &counter.Origin{Table: "nowhere", Attribute: "views"}}, "nowhere"},
		"no counters":         {counter.Options{Table: "nowhere", Origin: posts.Origin}, "DescribeTable nowhere"},
		"counters' other key": {counter.Options{Table: "counters", PartitionKey: "id", Origin: posts.Origin}, `want ["id" "sk"]`},
	} {
		m := newCounters(t, client, move.CounterOptions{Counter: x.options})
		if _, err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", name, err, x.want)
		}
	}
}
