package adapt

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// none is the bucket of a key without buckets.
var none time.Time

// start returns the client of an engine with the table items, whose keys pk and sk are strings.
func start(t testing.TB) *dynamodb.Client {
	t.Helper()
	db := local.Start(t)
	if err := db.CreateTable(context.Background(), "items", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	return db.Client()
}

// logs is what a book has logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// book is a Book with what it logs.
type book struct {
	*Book
	logs *logs
}

// newBook returns the book of another process.
func newBook(t testing.TB, client Client, edits ...func(*Options)) book {
	t.Helper()
	draw := rand.Uint64N
	retry := dispatch.Retry{Attempts: 3, Base: time.Microsecond, Max: time.Microsecond}
	written := &logs{}
	o := Options{
		Control: &Control{
			Client: client, Table: "items", PartitionKey: "pk", SortKey: "sk", Collection: "orders",
			Reads: dispatch.New(retry, nil, draw), Writes: dispatch.New(retry, nil, draw),
		},
		Charter:  charter.Charter{Layout: layout.Layout{Format: layout.Format{BareZero: true}}, Widths: charter.Adaptive, PartitionKey: "pk", SortKey: "sk"},
		Adaptive: true, Data: "items",
		Logger: slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, edit := range edits {
		edit(&o)
	}
	var err error
	if o.Charter, err = charter.New(o.Charter); err != nil {
		t.Fatal(err)
	}
	o.Layout = o.Charter.Layout
	b, err := NewBook(o)
	if err != nil {
		t.Fatal(err)
	}
	return book{b, written}
}

// with returns an option that changes what a process takes the layout for.
func with(edit func(*charter.Charter)) func(*Options) {
	return func(o *Options) { edit(&o.Charter) }
}

// grow makes a key wider, and fails the test if that is not possible.
func (b book) grow(t testing.TB, key string, width int) ledger.Record {
	t.Helper()
	r, _, err := b.Grow(context.Background(), key, none, ledger.Growth{To: width, Why: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read is a read of a key that waits for its ledger, and returns how many shards there are.
func (b book) read(ctx context.Context, key string, reading ledger.Reading) (int, error) {
	c, err := b.Cover(key, none, reading)
	if err != nil {
		return 0, err
	}
	return c.Await(ctx)
}

// drop deletes a control item.
func drop(t testing.TB, client *dynamodb.Client, key string) {
	t.Helper()
	_, err := client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: aws.String("items"), Key: Item{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: "-"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// overwrite sets an attribute of a control item.
func overwrite(t testing.TB, client *dynamodb.Client, key, name string, v types.AttributeValue) {
	t.Helper()
	_, err := client.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("items"), Key: Item{"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: "-"}},
		UpdateExpression: aws.String("SET #a = :v"), ExpressionAttributeNames: map[string]string{"#a": name}, ExpressionAttributeValues: Item{":v": v},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// controlItems returns the keys of the control items that are stored.
func controlItems(t testing.TB, client *dynamodb.Client, table string) (keys []string) {
	t.Helper()
	out, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range out.Items {
		if pk, ok := item["pk"].(*types.AttributeValueMemberS); ok && layout.IsControl(pk.Value) {
			keys = append(keys, pk.Value)
		}
	}
	return keys
}

// A process remembers a bounded number of keys, and prefers those that were used lately.
func TestPagesAreBounded(t *testing.T) {
	b := newBook(t, start(t))
	for i := range maxPages + 10 {
		if _, err := b.page(Key{Text: fmt.Sprint("k", i)}); err != nil {
			t.Fatal(err)
		}
		if n := len(b.pages); n > maxPages {
			t.Fatalf("%d pages after %d keys, want at most %d", n, i+1, maxPages)
		}
	}
	if n := len(b.pages); n < maxPages/2 {
		t.Errorf("%d pages are left of %d, want most of them", n, maxPages)
	}
	if last := fmt.Sprint("k", maxPages+9); b.known(Key{Text: last}) == nil {
		t.Errorf("the page of %s is gone, although it was the last to be used", last)
	}
}

// Pages that were not used since the last sweep go first.
func TestOldPagesGoFirst(t *testing.T) {
	b := newBook(t, start(t))
	for i := range maxPages {
		p, err := b.page(Key{Text: fmt.Sprint("k", i)})
		if err != nil {
			t.Fatal(err)
		}
		if i >= 100 {
			p.used.Add(-1)
		}
	}
	if _, err := b.page(Key{Text: "one more"}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if b.known(Key{Text: fmt.Sprint("k", i)}) == nil {
			t.Fatalf("the page of k%d is gone, although older ones were there", i)
		}
	}
	if n := len(b.pages); n != 101 {
		t.Errorf("%d pages are left, want the 100 that were used lately and the new one", n)
	}
}

// A page that was forgotten is like one that the process never saw: nothing is lost but a read of the ledger.
func TestForgottenPage(t *testing.T) {
	client := start(t)
	b := newBook(t, client)
	b.grow(t, "k", 8)
	b.mu.Lock()
	clear(b.pages)
	b.mu.Unlock()
	if w, g := b.Known("k", none); w != (layout.Width{Write: 1, Read: 1}) || g != 0 {
		t.Errorf("got %v at generation %d, want one shard", w, g)
	}
	for _, mode := range []ledger.Mode{ledger.Strong, ledger.Causal, ledger.Eventual} {
		if n, err := b.read(t.Context(), "k", ledger.Reading{Mode: mode, AtLeast: 1}); n != 8 || err != nil {
			t.Errorf("mode %d: got %d shards, %v, want 8", mode, n, err)
		}
		b.mu.Lock()
		clear(b.pages)
		b.mu.Unlock()
	}
}

// Many goroutines use many pages of few processes, of which some are forgotten meanwhile. A strong read never knows less than
// what was acknowledged before it.
func TestManyPagesAtOnce(t *testing.T) {
	client := start(t)
	books := []book{newBook(t, client), newBook(t, client), newBook(t, client)}
	var acked [8]struct {
		sync.Mutex
		width int
	}
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for range 60 {
				b, k := books[random.IntN(len(books))], random.IntN(len(acked))
				key, a := fmt.Sprint("k", k), &acked[k]
				switch random.IntN(4) {
				case 0:
					to := 1 << random.IntN(6)
					r, _, err := b.Grow(context.Background(), key, none, ledger.Growth{To: to})
					if err != nil && !strings.Contains(err.Error(), ledger.ErrContended.Error()) {
						t.Error(err)
					}
					if err == nil {
						a.Lock()
						a.width = max(a.width, r.Read)
						a.Unlock()
					}
				case 1:
					b.mu.Lock()
					delete(b.pages, Key{Text: key})
					b.mu.Unlock()
				default:
					a.Lock()
					least := a.width
					a.Unlock()
					if got, err := b.read(context.Background(), key, ledger.Reading{Mode: ledger.Strong}); err != nil || got < least {
						t.Errorf("%s: got %d shards, %v, want at least %d", key, got, err, least)
					}
				}
			}
		})
	}
	wg.Wait()
}

// Goroutines that meet a new key at once share one page. With two of them, what one learns the other would not know.
func TestPageOfManyAtOnce(t *testing.T) {
	b := newBook(t, start(t))
	for n := range 300 {
		key := Key{Text: fmt.Sprint("k", n)}
		begin, pages := make(chan struct{}), make([]*page, 8)
		var wg sync.WaitGroup
		for i := range pages {
			wg.Go(func() {
				<-begin
				pages[i], _ = b.page(key)
			})
		}
		close(begin)
		wg.Wait()
		for _, p := range pages {
			if p != b.known(key) {
				t.Fatalf("key %d has more than one page", n)
			}
		}
	}
}

// A Grow knows its own record by who wrote it, so two books of one process have two names.
func TestBooksHaveNamesOfTheirOwn(t *testing.T) {
	client := start(t)
	if a, b := newBook(t, client).grow(t, "a", 2), newBook(t, client).grow(t, "b", 2); a.By == b.By || a.By == "" {
		t.Errorf("two books write as %q and %q, want two names", a.By, b.By)
	}
}
