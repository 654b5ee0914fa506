package counter

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
)

// views is the origin of these tests: the attribute views of the item META under the counter's key, in the same table.
var views = Options{Origin: &Origin{SortValue: "META", Attribute: "views"}}

// updater is what an older program needs.
type updater interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// addOlder adds to a counter as an older program does.
func addOlder(t testing.TB, client updater, key string, delta int64) {
	t.Helper()
	_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("counters"), Key: heatsink.Item{"pk": text(key), "sk": text("META")},
		UpdateExpression: aws.String("ADD #v :n"), ExpressionAttributeNames: map[string]string{"#v": "views"},
		ExpressionAttributeValues: heatsink.Item{":n": &types.AttributeValueMemberN{Value: strconv.FormatInt(delta, 10)}},
	})
	if err != nil {
		t.Error(err)
	}
}

// putViews replaces the item with the attribute.
func putViews(t testing.TB, client *faulty.Client, key string, value types.AttributeValue) {
	t.Helper()
	item := heatsink.Item{"pk": text(key), "sk": text("META"), "title": text("Hello")}
	if value != nil {
		item["views"] = value
	}
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("counters"), Item: item}); err != nil {
		t.Fatal(err)
	}
}

func mustImport(t testing.TB, c *Counter, key string, want Imported) {
	t.Helper()
	if got, err := c.Import(t.Context(), key); err != nil || got != want {
		t.Fatalf("import %s: got %+v, %v, want %+v", key, got, err, want)
	}
}

// The way from an attribute to a counter: each step as the programs see it.
func TestFromAnAttribute(t *testing.T) {
	client := aTable(t)
	addOlder(t, client, "POST#1", 100)
	c := open(t, client, views)
	isTotal(t, c, "POST#1", 100)
	isTotal(t, c, "POST#2", 0)
	mustAdd(t, c, "POST#1", 1, -3)
	addOlder(t, client, "POST#1", 10)
	isTotal(t, c, "POST#1", 108)

	mustImport(t, c, "POST#1", Imported{Value: 110, Done: true, Changed: true})
	mustImport(t, c, "POST#1", Imported{Value: 110, Done: true})
	mustImport(t, c, "POST#2", Imported{})
	isTotal(t, c, "POST#1", 108)
	without := open(t, client, Options{})
	isTotal(t, without, "POST#1", 108)

	// An older program is still there: who has the origin counts it, and Verify tells.
	addOlder(t, client, "POST#1", -5)
	isTotal(t, c, "POST#1", 103)
	isTotal(t, without, "POST#1", 108)
	got, err := c.VerifyImport(t.Context(), "POST#1")
	if want := (Comparison{Attribute: 105, Present: true, Imported: Imported{Value: 110, Done: true}}); err != nil || got != want || got.Equal() {
		t.Errorf("got %+v, %v, want %+v, which is not equal", got, err, want)
	}
	mustImport(t, c, "POST#1", Imported{Value: 105, Done: true, Changed: true})
	isTotal(t, without, "POST#1", 103)
	if got, err := c.VerifyImport(t.Context(), "POST#1"); err != nil || !got.Equal() {
		t.Errorf("got %+v, %v, want it to be equal", got, err)
	}
	for name, x := range map[string]*Counter{"with": c, "without": without} {
		v, err := x.Inspect(t.Context(), "POST#1")
		if err != nil || v.Total != 103 || v.Before != 105 || v.Base != 0 {
			t.Errorf("%s an origin: got %+v, %v", name, v, err)
		}
		if r, err := x.Read(t.Context(), "POST#1"); err != nil || r != (Reading{103, 103, true}) {
			t.Errorf("%s an origin: got %+v, %v", name, r, err)
		}
	}

	// The slot is folded, the attribute removed: the import stays.
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	isTotal(t, without, "POST#1", 103)
	putViews(t, client, "POST#1", nil)
	isTotal(t, without, "POST#1", 103)
	late := open(t, client, views)
	isTotal(t, late, "POST#1", 103)
	if got, err := late.VerifyImport(t.Context(), "POST#1"); err != nil || !got.Equal() || got.Present {
		t.Errorf("got %+v, %v, want it to be equal", got, err)
	}
	out, err := late.Import(t.Context(), "POST#1")
	if !errors.Is(err, ErrOrigin) || !strings.Contains(err.Error(), `attribute "views" of the item with pk "POST#1" and sk "META" in table counters is gone; the 105`) || out.Value != 105 {
		t.Errorf("got %+v, %v", out, err)
	}
	isTotal(t, without, "POST#1", 103)
}

// Reset takes what is in the attribute off, too, and what is imported later does not bring it back.
func TestResetWithAnOrigin(t *testing.T) {
	client := aTable(t)
	addOlder(t, client, "POST#1", 100)
	c, without := open(t, client, views), open(t, client, Options{})
	mustAdd(t, c, "POST#1", 7)
	if n, err := c.Reset(t.Context(), "POST#1"); err != nil || n != 107 {
		t.Errorf("got %d, %v, want 107", n, err)
	}
	isTotal(t, c, "POST#1", 0)
	addOlder(t, client, "POST#1", 2)
	mustImport(t, c, "POST#1", Imported{Value: 102, Done: true, Changed: true})
	isTotal(t, c, "POST#1", 2)
	isTotal(t, without, "POST#1", 2)
	if n, err := without.Reset(t.Context(), "POST#1"); err != nil || n != 2 {
		t.Errorf("got %d, %v, want 2", n, err)
	}
	isTotal(t, c, "POST#1", 0)
}

func TestAttributesThatCannotBeCounted(t *testing.T) {
	for name, x := range map[string]struct {
		value types.AttributeValue
		want  string
		kind  error
	}{
		"a string":   {text("12"), `attribute "views" of the item with pk "POST#1" and sk "META" in table counters has the type S, want a whole number (N)`, ErrOrigin},
		"a list":     {&types.AttributeValueMemberL{Value: []types.AttributeValue{text("1")}}, "has the type L", ErrOrigin},
		"a fraction": {&types.AttributeValueMemberN{Value: "1.5"}, "is 1.5, want a whole number", ErrOrigin},
		"too large":  {&types.AttributeValueMemberN{Value: "9223372036854775808"}, "9223372036854775808", ErrOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			client := aTable(t)
			c := open(t, client, views)
			putViews(t, client, "POST#1", x.value)
			for what, do := range map[string]func() error{
				"Total":   func() error { return second(c.Total(t.Context(), "POST#1")) },
				"Read":    func() error { return second(c.Read(t.Context(), "POST#1")) },
				"Import":  func() error { return second(c.Import(t.Context(), "POST#1")) },
				"Verify":  func() error { return second(c.VerifyImport(t.Context(), "POST#1")) },
				"Inspect": func() error { return second(c.Inspect(t.Context(), "POST#1")) },
			} {
				if err := do(); !errors.Is(err, x.kind) || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), `counter "POST#1"`) {
					t.Errorf("%s: got %v, want %v with %q", what, err, x.kind, x.want)
				}
			}
			if err := c.Add(t.Context(), "POST#1", 1); err != nil {
				t.Errorf("counting does not depend on it: got %v", err)
			}
			if _, err := c.Fold(t.Context(), "POST#1"); err != nil {
				t.Errorf("folding does not depend on it: got %v", err)
			}
		})
	}
}

// The items may have other keys, in another table, and be found by a function.
func TestOriginElsewhere(t *testing.T) {
	client := aTable(t)
	_, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("posts"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "N"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("posts"), Item: heatsink.Item{
		"id": &types.AttributeValueMemberN{Value: "7"}, "likes": &types.AttributeValueMemberN{Value: "40"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, client, Options{Origin: &Origin{Table: "posts", PartitionKey: "id", Attribute: "likes", Key: func(key string) heatsink.Item {
		return heatsink.Item{"id": &types.AttributeValueMemberN{Value: strings.TrimPrefix(key, "LIKES#")}}
	}}})
	mustAdd(t, c, "LIKES#7", 2)
	isTotal(t, c, "LIKES#7", 42)
	if r, err := c.Read(t.Context(), "LIKES#7"); err != nil || r != (Reading{42, 42, true}) {
		t.Errorf("got %+v, %v", r, err)
	}
	mustImport(t, c, "LIKES#7", Imported{Value: 40, Done: true, Changed: true})
	isTotal(t, open(t, client, Options{}), "LIKES#7", 42)
	if _, err := c.Total(t.Context(), "LIKES#x"); err == nil || !strings.Contains(err.Error(), "numeric") {
		t.Errorf("a key that is none: got %v", err)
	}
}

func TestOriginsThatAreWrong(t *testing.T) {
	for name, x := range map[string]struct {
		origin Origin
		want   string
	}{
		"no attribute":     {Origin{SortValue: "META"}, "Origin.Attribute is empty"},
		"no sort value":    {Origin{Attribute: "views"}, `Origin.SortValue is empty, and the items have the sort key "sk"`},
		"no sort key":      {Origin{Table: "posts", Attribute: "views", SortValue: "META"}, `Origin.SortValue is "META", but Origin.SortKey is empty`},
		"the base":         {Origin{Attribute: "views", SortValue: "base"}, "the counters' own items"},
		"a key":            {Origin{Attribute: "sk", SortValue: "META"}, "must differ"},
		"both":             {Origin{Attribute: "views", SortValue: "META", Key: func(string) heatsink.Item { return nil }}, "leave SortValue out"},
		"a name that long": {Origin{Attribute: strings.Repeat("x", 256), SortValue: "META", PartitionKey: strings.Repeat("y", 256)}, "attribute name"},
	} {
		_, err := Open(&dynamodb.Client{}, Options{Table: "counters", Origin: &x.origin})
		if !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", name, err, x.want)
		}
	}
	c := open(t, aTable(t), Options{})
	for what, err := range map[string]error{"Import": second(c.Import(t.Context(), "POST#1")), "Verify": second(c.VerifyImport(t.Context(), "POST#1"))} {
		if !errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), "Options.Origin is nil") {
			t.Errorf("%s without an origin: got %v", what, err)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second(c.Import(t.Context(), "POST#1")); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want %v", err, ErrClosed)
	}
}

// What an origin costs. docs/recipes/counter.md has these numbers.
func TestCostsOfAnOrigin(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		addOlder(t, client, "POST#1", 100)
		c := open(t, client, Options{Origin: views.Origin, FoldEvery: -1})
		doImport := func(ctx context.Context) error { return second(c.Import(ctx, "POST#1")) }
		for i, x := range []struct {
			name     string
			do       func(ctx context.Context) error
			requests int
			read     float64
			write    float64
		}{
			{"the first Total", total(c, "POST#1"), 7, 7, 0},
			{"Total", total(c, "POST#1"), 6, 6, 0},
			{"the first Import", doImport, 2, 1, 1},
			{"Import with nothing new", doImport, 3, 2, 0}, // a write is refused, which DynamoDB charges without a report
			{"another Add of an older program", func(context.Context) error { addOlder(t, client, "POST#1", 1); return nil }, 0, 0, 0},
			{"Import with something new", doImport, 4, 2, 1},
			{"VerifyImport", func(ctx context.Context) error { return second(c.VerifyImport(ctx, "POST#1")) }, 2, 2, 0},
			{"Import of nothing", func(ctx context.Context) error { return second(c.Import(ctx, "POST#2")) }, 3, 3, 0},
			{"Fold", foldOnce(c, "POST#1"), 5, 5, 0},
			{"Read of a counter that holds still", read(c, "POST#1"), 12, 12, 0},
			{"Reset", reset(c, "POST#1"), 7, 6, 1},
		} {
			var meter heatsink.Meter
			if err := x.do(heatsink.WithMeter(t.Context(), &meter)); err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
			if got := meter.Cost(); got.Requests != x.requests || got.ReadUnits != x.read || got.WriteUnits != x.write {
				t.Errorf("%d: %s: got %d requests, %v read and %v write units, want %d, %v and %v", i, x.name,
					got.Requests, got.ReadUnits, got.WriteUnits, x.requests, x.read, x.write)
			}
		}
	})
}

// An import whose answer is lost, or that is throttled, happens once.
func TestImportThroughFaults(t *testing.T) {
	for _, fault := range []faulty.Fault{faulty.LostAnswer, faulty.Throttled, faulty.BrokeDown, faulty.Late} {
		t.Run(fault.String(), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := aTable(t)
				addOlder(t, client, "POST#1", 100)
				c := open(t, client, views)
				client.Decide(faulty.Script(fault, fault).Of("UpdateItem"))
				got, err := c.Import(t.Context(), "POST#1")
				if err != nil || got.Value != 100 || !got.Done {
					t.Fatalf("got %+v, %v", got, err)
				}
				addOlder(t, client, "POST#1", 1)
				mustImport(t, c, "POST#1", Imported{Value: 101, Done: true, Changed: true})
				client.Wait() // what is late arrives now, and changes nothing
				isTotal(t, open(t, client, Options{}), "POST#1", 101)
			})
		})
	}
}

// Older and newer programs count all the time, over a bad network. Processes are killed, and two importers run. Every reader with the
// origin sees at least what was acknowledged, and at most what was begun.
func TestAdoptionInUse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := aTable(t)
		plain := client.Direct // of older programs: how they repeat is not of interest
		random := rand.New(rand.NewPCG(1, 2))
		client.Decide(faulty.Random(random, 10, faulty.Throttled, faulty.LostAnswer, faulty.BrokeDown))
		client.Delay(faulty.UpTo(rand.New(rand.NewPCG(3, 4)), 20*time.Millisecond))
		const key = "POST#1"
		var acked, begun atomic.Int64
		var all, olders sync.WaitGroup
		stop, stopOlder := make(chan struct{}), make(chan struct{})
		ended := func(c chan struct{}) bool {
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
		for range 3 {
			olders.Go(func() {
				for !ended(stopOlder) {
					begun.Add(2)
					addOlder(t, plain, key, 2)
					acked.Add(2)
					time.Sleep(rand.N(30 * time.Millisecond))
				}
			})
		}
		options := Options{Origin: views.Origin, Dead: 500 * time.Millisecond, Idle: time.Second, FoldEvery: 300 * time.Millisecond}
		for range 3 {
			all.Go(func() {
				for !ended(stop) {
					c := open(t, client, options)
					for range 20 {
						begun.Add(1)
						if err := c.Add(t.Context(), key, 1); err != nil {
							t.Errorf("add: %v", err)
							return
						}
						acked.Add(1)
					}
					crash(c)
				}
			})
		}
		c := open(t, client, options)
		var reads, imports atomic.Int64
		look := func(c *Counter) {
			low := acked.Load()
			n, err := c.Total(t.Context(), key)
			if high := begun.Load(); err != nil || n < low || n > high {
				t.Errorf("read %d, %v, want %d to %d", n, err, low, high)
			}
			reads.Add(1)
		}
		all.Go(func() {
			for !ended(stop) {
				look(c)
				time.Sleep(rand.N(10 * time.Millisecond))
			}
		})
		for range 2 {
			all.Go(func() {
				for !ended(stop) {
					if _, err := c.Import(t.Context(), key); err != nil && !errors.Is(err, ErrBusy) {
						t.Errorf("import: %v", err)
					}
					imports.Add(1)
					time.Sleep(rand.N(50 * time.Millisecond))
				}
			})
		}
		time.Sleep(5 * time.Second)
		close(stopOlder) // no older program is left
		olders.Wait()
		if _, err := c.Import(t.Context(), key); err != nil {
			t.Errorf("import: %v", err)
		}
		if v, err := c.VerifyImport(t.Context(), key); err != nil || !v.Equal() || v.Value == 0 {
			t.Errorf("verify: got %+v, %v", v, err)
		}
		without := open(t, client, Options{FoldEvery: -1}) // finished: from now on without the origin
		for range 50 {
			look(without)
			look(c)
			time.Sleep(20 * time.Millisecond)
		}
		close(stop)
		all.Wait()
		client.Decide(nil)
		isTotal(t, without, key, acked.Load())
		isTotal(t, c, key, acked.Load())
		t.Logf("%d counted, %d read, %d imports, %d faults", acked.Load(), reads.Load(), imports.Load(), client.Wrong())
		if reads.Load() < 200 || imports.Load() < 50 || client.Wrong() < 100 {
			t.Error("too little has happened")
		}
	})
}
