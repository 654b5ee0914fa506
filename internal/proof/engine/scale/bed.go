package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/wire"
	"github.com/heatsink-go/heatsink/local"
)

// bed is an engine with a table of numbered items of about 200 bytes, fifty in a collection.
type bed struct {
	db      *local.DB
	handler http.Handler
	items   int
}

const (
	perCollection = 50
	batchSize     = 25 // the most that a BatchWriteItem takes
	loaders       = 64 // that share a sync of the disk
)

const tableBody = `{"TableName":"items","BillingMode":"PAY_PER_REQUEST",` +
	`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],` +
	`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`

// newBed starts an engine in memory with so many items.
func newBed(ctx context.Context, items int) (*bed, error) {
	b, err := openBed("", items)
	if err != nil {
		return nil, err
	}
	if err := b.load(ctx); err != nil {
		return nil, errors.Join(err, b.db.Close())
	}
	return b, nil
}

// openBed starts an engine on a directory that has the items already.
func openBed(dir string, items int) (*bed, error) {
	db, err := local.New(local.Options{Dir: dir})
	if err != nil {
		return nil, err
	}
	return &bed{db, db.Handler(), items}, nil
}

// fill writes items to a directory. Nothing is synced, which would take most of the time. loaded is called before the engine is
// closed.
func fill(ctx context.Context, dir string, items int, loaded func() error) error {
	e, err := engine.OpenContext(ctx, engine.Options{Dir: dir, FS: unsynced{vfs.Default}})
	if err != nil {
		return err
	}
	b := &bed{nil, wire.NewHandler(e, wire.Options{Unsigned: true}), items}
	err = b.load(ctx)
	if err == nil {
		err = loaded()
	}
	return errors.Join(err, e.Close())
}

// load makes the table and writes all items.
func (b *bed) load(ctx context.Context) error {
	if err := b.call(ctx, "CreateTable", tableBody); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range loaders {
		all.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(batchSize)) - batchSize
				if from >= b.items {
					return
				}
				if err := b.call(ctx, "BatchWriteItem", batchBody(from, min(from+batchSize, b.items))); err != nil {
					stop(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

func batchBody(from, to int) string {
	var body strings.Builder
	body.WriteString(`{"RequestItems":{"items":[`)
	for n := from; n < to; n++ {
		if n > from {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"PutRequest":{"Item":%s}}`, item(n))
	}
	body.WriteString(`]}}`)
	return body.String()
}

// item is the JSON of an item.
func item(n int) string {
	return fmt.Sprintf(`{"pk":{"S":"%s"},"sk":{"S":"%s"},"name":{"S":"Ada Lovelace"},"status":{"S":"ACTIVE"},"amount":{"N":"%d.95"},"active":{"BOOL":true},"note":{"S":"%s"}}`,
		collection(n), event(n), n, note(n))
}

// collection and event are an item's key.
func collection(n int) string { return fmt.Sprintf("user-%08d", n/perCollection) }
func event(n int) string      { return fmt.Sprintf("event-%04d", n%perCollection) }

// note is a text that no two items share: what is the same in all would cost nothing where it is compressed.
func note(n int) string {
	var note strings.Builder
	for x := uint64(n + 1); note.Len() < 96; { // letters from a multiplicative generator
		x = x*6364136223846793005 + 1442695040888963407
		note.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEF"[x>>59])
	}
	return note.String()
}

// call sends a request to the engine's handler, and returns an error if it was not done.
func (b *bed) call(ctx context.Context, operation, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/", io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return err
	}
	r.ContentLength = int64(len(body))
	r.Header = http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"DynamoDB_20120810." + operation}}
	w := &response{header: http.Header{}, status: http.StatusOK}
	b.handler.ServeHTTP(w, r)
	if w.status != http.StatusOK {
		return fmt.Errorf("%s: %d %s", operation, w.status, w.body.String())
	}
	if operation == "BatchWriteItem" && !bytes.Contains(w.body.Bytes(), []byte(`"UnprocessedItems":{}`)) {
		return fmt.Errorf("%s: not all items were written: %.100s", operation, w.body.String())
	}
	return nil
}

// response is what a handler answers.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *response) Header() http.Header         { return w.header }
func (w *response) WriteHeader(status int)      { w.status = status }
func (w *response) Write(p []byte) (int, error) { return w.body.Write(p) }
