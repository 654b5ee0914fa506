package passage

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/ledger"
)

// shop is the table that items move into, from the table items.
const shop = "shop"

// controlIn returns the control items of a table.
func controlIn(client adapt.Client, table string) *adapt.Control {
	retry := dispatch.Retry{Attempts: 3, Base: time.Microsecond, Max: time.Microsecond}
	return &adapt.Control{
		Client: client, Table: table, PartitionKey: "pk", SortKey: "sk", Collection: "orders",
		Reads: dispatch.New(retry, nil, nil), Writes: dispatch.New(retry, nil, nil),
	}
}

// bookIn returns the book of a process that is configured with a table.
func bookIn(client adapt.Client, table string, own Arrangement) *Book {
	return NewBook(Options{
		Control: controlIn(client, table), Own: own, Moved: func() bool { return true },
		Follow: func(table string) *adapt.Control { return controlIn(client, table) },
	})
}

// startTwo returns a client of an engine with both tables.
func startTwo(t *testing.T) *dynamodb.Client {
	t.Helper()
	client := start(t)
	like, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("items")})
	if err == nil {
		_, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String(shop), BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: like.Table.AttributeDefinitions, KeySchema: like.Table.KeySchema,
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// moveTo takes the record of a book from stage to stage, until its items are settled in the other table.
func moveTo(t *testing.T, b *Book, client adapt.Client, next Arrangement) {
	t.Helper()
	if err := b.Point(t.Context(), controlIn(client, next.Table), &Record{}, next); err != nil {
		t.Fatal(err)
	}
	for _, s := range []forward.Stage{split, closed, settling, deads, clean} {
		v, to := view(t, b), &next
		if s != split {
			to = nil
		}
		if _, err := b.Advance(t.Context(), v, s, to, "test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(63 * time.Minute)
	}
}

// At each moment of a handover a process with the new table knows where items are, and one with the old table knows it, or is told where the
// collection is. Lost answers and several who hand over at once change nothing.
func TestHandover(t *testing.T) {
	for seed := range uint64(3) {
		bubble.Test(t, func(t *testing.T) {
			client := startTwo(t)
			next := calculated(16)
			next.Table = shop
			b := newBook(client, calculated(4))
			view(t, b)
			old, fresh := bookIn(client, "items", calculated(16)), bookIn(client, shop, calculated(16))
			moveTo(t, b, client, next)
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			look := func(b *Book, mayEnd bool) {
				defer all.Done()
				last := int64(0)
				for ctx.Err() == nil {
					v, err := b.Renew(context.Background(), nil)
					switch {
					case mayEnd && errors.Is(err, charter.ErrIncompatible) && strings.Contains(err.Error(), "the collection is in table shop now"):
						return
					case err != nil:
						t.Errorf("seed %d: %v", seed, err)
						return
					case v.Table(&v.Record.Now) != shop || v.Record.Stage != clean || v.Record.Generation < last:
						t.Errorf("seed %d: behind generation %d it reads %+v, in table %s", seed, last, v.Record, v.Table(&v.Record.Now))
						return
					}
					last = v.Record.Generation
					time.Sleep(5 * time.Millisecond)
				}
				if mayEnd {
					t.Errorf("seed %d: the process with the old table was not told", seed)
				}
			}
			all.Add(2)
			go look(old, true)
			go look(fresh, false)
			shaky := faulty.On(t, client, faulty.Random(rand.New(rand.NewPCG(seed, 1)), 40, faulty.LostAnswer, faulty.LostRequest, faulty.Late).Of("PutItem"))
			shaky.Delay(faulty.UpTo(rand.New(rand.NewPCG(seed, 2)), 20*time.Millisecond))
			var movers sync.WaitGroup
			for range 2 {
				movers.Go(func() {
					for n := 0; ; n++ {
						err := newBook(shaky, calculated(4)).Handover(t.Context(), controlIn(shaky, shop))
						if err == nil {
							return
						}
						if n > 20 || !errors.Is(err, adapt.ErrLedger) {
							t.Errorf("seed %d: %v", seed, err)
							return
						}
					}
				})
			}
			movers.Wait()
			time.Sleep(50 * time.Millisecond)
			cancel()
			all.Wait()
			heir := bookIn(client, shop, calculated(16))
			v := view(t, heir)
			if r := v.Record; r.Seat != Here || r.Now.Table != "" || !r.Now.SameLayout(next.Layout) || r.Former != nil {
				t.Errorf("seed %d: the new record is %+v", seed, r)
			}
			if _, err := heir.Advance(t.Context(), v, split, new(calculated(8)), "the next move"); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if into, err := newBook(client, calculated(4)).Retired(t.Context()); into != shop || err != nil {
				t.Errorf("seed %d: retired to %q, %v", seed, into, err)
			}
		})
	}
}

// What cannot be handed over stays as it is.
func TestHandoverRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := startTwo(t)
		next := calculated(16)
		next.Table = shop
		b := newBook(client, calculated(4))
		view(t, b)
		into := controlIn(client, shop)
		if err := b.Handover(t.Context(), into); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("without a pointer: %v, want ErrLost", err)
		}
		if err := b.Point(t.Context(), into, &Record{}, next); err != nil {
			t.Fatal(err)
		}
		if err := b.Handover(t.Context(), into); !errors.Is(err, ErrStage) {
			t.Errorf("before the move: %v, want ErrStage", err)
		}
		if r := view(t, b).Record; r.Generation != 1 || r.Seat != Here {
			t.Errorf("the record is %+v", r)
		}
		moveTo(t, b, client, next)
		if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(shop), Key: adapt.Item{"pk": &types.AttributeValueMemberS{Value: "_hs#P#orders"}, "sk": &types.AttributeValueMemberN{Value: "0"}}}); err != nil {
			t.Fatal(err)
		}
		if err := b.Handover(t.Context(), into); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("with a pointer that was lost: %v, want ErrLost", err)
		}
		if view(t, newBook(client, calculated(16))).Record.Seat != Here {
			t.Error("the record is retired, and nobody has another one")
		}
		if _, err := bookIn(client, shop, calculated(16)).View(t.Context()); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("a process with the new table: %v, want ErrLost", err)
		}
	})
}

// A table with a collection of the same name is not made a pointer. One that has handed over its record to this table is.
func TestPointRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := startTwo(t)
		there, back := calculated(16), calculated(4)
		there.Table = shop
		b := newBook(client, calculated(4))
		view(t, b)
		moveTo(t, b, client, there)
		if err := b.Handover(t.Context(), controlIn(client, shop)); err != nil {
			t.Fatal(err)
		}
		if err := b.Point(t.Context(), controlIn(client, shop), &Record{}, there); !errors.Is(err, ErrStage) || !strings.Contains(err.Error(), "delete its items and the control items") {
			t.Errorf("got %v, want ErrStage", err)
		}
		back.Table = "items"
		own := bookIn(client, shop, calculated(16))
		moveTo(t, own, client, back)
		v := view(t, bookIn(client, "items", calculated(4)))
		if v.Table(&v.Record.Now) != "items" || v.Record.Now.Table != "items" {
			t.Errorf("the process with the first table reads %+v", v.Record)
		}
		if err := own.Handover(t.Context(), controlIn(client, "items")); err != nil {
			t.Fatal(err)
		}
		if r := view(t, newBook(client, calculated(4))).Record; r.Seat != Here || r.Now.Table != "" {
			t.Errorf("the record is %+v", r)
		}
	})
}

// A process that follows a pointer to a table without a record, or to one that points elsewhere, is told so.
func TestPointerToNowhere(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := startTwo(t)
		b := newBook(client, calculated(4))
		if err := b.Point(t.Context(), controlIn(client, shop), &Record{}, calculated(4)); err != nil {
			t.Fatal(err)
		}
		if _, err := bookIn(client, shop, calculated(4)).View(t.Context()); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("there is no record: %v, want ErrLost", err)
		}
		other := NewBook(Options{Control: controlIn(client, shop), Own: calculated(4)})
		if _, err := other.View(t.Context()); !errors.Is(err, charter.ErrIncompatible) || !strings.Contains(err.Error(), "items move here from table items") {
			t.Errorf("a process that does not follow: %v", err)
		}
		if err := bookIn(client, shop, calculated(4)).Point(t.Context(), controlIn(client, "items"), &Record{}, calculated(4)); err != nil {
			t.Fatal(err)
		}
		if _, err := bookIn(client, shop, calculated(4)).View(t.Context()); !errors.Is(err, charter.ErrIncompatible) {
			t.Errorf("two pointers to each other: %v, want ErrIncompatible", err)
		}
	})
}

func TestSeatsRefuse(t *testing.T) {
	away := at(clean)
	away.Now.Table = shop
	for name, err := range map[string]error{
		"retire while items move": second(at(split).Retire(t0)),
		"retire in its own table": second(at(clean).Retire(t0)),
		"inherit what is in use":  second(away.Inherit(1, t0)),
		"finish in another table": second(away.Finish(t0)),
		"move what is elsewhere":  second(Record{Generation: 1, Seat: Elsewhere, Now: away.Now, At: 1}.Enter(split, new(calculated(8)), t0)),
		"move what is retired":    second(Record{Generation: 1, Seat: Retired, Now: away.Now, At: 1}.Enter(split, new(calculated(8)), t0)),
		"a list moves to another table": second(func() (Record, error) {
			r, list := at(clean), Arrangement{Table: shop}
			r.Now = Arrangement{}
			return r.Enter(split, &list, t0)
		}()),
	} {
		if !errors.Is(err, ErrStage) {
			t.Errorf("%s: %v, want ErrStage", name, err)
		}
	}
	for name, r := range map[string]Record{
		"no such seat":             {Generation: 1, Seat: 9, Now: away.Now, At: 1},
		"elsewhere without table":  {Generation: 1, Seat: Elsewhere, Now: calculated(4), At: 1},
		"retired while items move": {Generation: 1, Seat: Retired, Stage: split, Now: away.Now, Next: new(calculated(8)), At: 1},
	} {
		if err := r.Validate(); !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v, want ErrRecord", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestSibling(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/"
	for _, c := range [][3]string{
		{"users", "", "users"},
		{"users", "people", "people"},
		{"users", "users", "users"},
		{arn + "users", "", arn + "users"},
		{arn + "users", "people", arn + "people"},
		{arn + "users", "users", arn + "users"},
	} {
		if got := Sibling(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %q is %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
