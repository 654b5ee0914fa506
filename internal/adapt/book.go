package adapt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/charter"
	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/layout"
)

// ErrLedger is wrapped when a ledger or a charter cannot be read, is damaged or was lost, so that an operation that must be
// exact cannot be. What it wraps besides says which.
var ErrLedger = errors.New("the ledger is not usable")

// maxPages is how many keys a process remembers, at about 500 bytes each. One that it forgot is like one that it never saw.
const maxPages = 1 << 15

// Options are what a Book is made with.
type Options struct {
	Control *Control
	Layout  layout.Layout
	Charter charter.Charter // what this process takes the layout for

	// Adaptive says that keys have ledgers. Without it there is a charter alone.
	Adaptive bool

	Law   ledger.LawOptions
	Keep  time.Duration // how long an eventual read uses what the process knows of a ledger; 0: ledger.DefaultKeep
	Data  string        // the table with the data, for texts
	Index string        // the index whose key is spread, "" for the table's own

	WarmPrice float64 // of one write unit of warm throughput, in dollars; 0: unknown

	// Describe returns the description of a table; nil if the client has no such operation.
	Describe func(ctx context.Context, table string) (*types.TableDescription, error)

	Decided func(context.Context, ledger.Decision) // may be nil
	Logger  *slog.Logger
}

// Book is what a process knows of a collection. It is safe for concurrent use.
type Book struct {
	options Options
	control *Control
	by      string // who this process is, for people
	clock   clock
	gate    gate
	charter checked
	moved   atomic.Bool // the charter says that items have moved

	mu     sync.RWMutex
	pages  map[Key]*page
	sweeps atomic.Int64 // how often pages were forgotten

	lawMu sync.Mutex // guards law and hints
	law   *ledger.Law
	hints hints
}

// books counts the books of this process. Two of them must not store equal records in the same moment, because each would take
// the other's for its own.
var books atomic.Int64

// NewBook returns a book that knows nothing. The error is about the options of the law.
func NewBook(o Options) (*Book, error) {
	host, _ := os.Hostname() // "" is as good a name as any
	b := &Book{options: o, control: o.Control, by: fmt.Sprintf("%.60s/%d/%d", host, os.Getpid(), books.Add(1)), pages: map[Key]*page{}}
	b.charter.turn = make(chan struct{}, 1)
	b.gate.report = cmp.Or(o.Law.Report, defaultReport)
	if !o.Adaptive {
		return b, nil
	}
	var err error
	b.law, err = ledger.NewLaw(o.Law)
	b.hints.law = b.law
	return b, err
}

// page is what the process knows of one key.
type page struct {
	key     Key
	control layout.ControlKey // of the ledger
	name    string            // by which the law knows the key

	mu      sync.Mutex // guards what follows
	view    *ledger.View
	share   ledger.Share
	flights map[int64]*flight

	used    atomic.Int64  // the sweep after which it was last used
	watched atomic.Bool   // the law has heard of the key
	polled  atomic.Int64  // when the law was last asked, in milliseconds
	reason  ledger.Reason // of the last decision that was told, or would have been
	told    int           // the width of it
}

// page returns the page of a key.
func (b *Book) page(k Key) (*page, error) {
	if p := b.known(k); p != nil {
		return p, nil
	}
	control := layout.ControlKey{Role: layout.RoleLedger, Key: k.Text}
	if b.options.Layout.Bucket != layout.NoBucket {
		text, err := b.options.Layout.Bucket.Text(k.Bucket)
		if err != nil {
			return nil, err
		}
		control.Bucket = text
	}
	full := control
	full.Collection = b.control.Collection
	if err := full.Validate(); err != nil {
		return nil, err
	}
	p := &page{key: k, control: control, name: k.Text}
	if control.Bucket != "" {
		p.name = k.Text + " in " + control.Bucket
	}
	p.view = ledger.NewView(ledger.ViewOptions{
		Key: p.name, Strategy: b.options.Layout.Strategy, Hash: b.options.Layout.Hash, Keep: b.options.Keep,
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if there := b.pages[k]; there != nil {
		return there, nil
	}
	if len(b.pages) >= maxPages {
		b.forget()
	}
	p.used.Store(b.sweeps.Load())
	b.pages[k] = p
	return p, nil
}

// known returns the page of a key, nil if there is none.
func (b *Book) known(k Key) *page {
	b.mu.RLock()
	p := b.pages[k]
	b.mu.RUnlock()
	if p != nil {
		p.used.Store(b.sweeps.Load())
	}
	return p
}

// forget drops pages that were not used since it was last called, and others until a quarter is gone. A page that is in use goes
// on: its operation is like that of another process.
func (b *Book) forget() {
	now := b.sweeps.Add(1)
	for k, p := range b.pages {
		if p.used.Load() < now-1 {
			delete(b.pages, k)
		}
	}
	for k := range b.pages {
		if len(b.pages) < maxPages*3/4 {
			return
		}
		delete(b.pages, k)
	}
}

// Known returns the width of a key and its generation as far as this process knows, without a request. That is one shard if
// it knows nothing, which is right for a write.
func (b *Book) Known(key string, bucket time.Time) (layout.Width, int64) {
	p := b.known(Key{key, bucket})
	if p == nil {
		return layout.Width{Write: 1, Read: 1}, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r, _ := p.view.Record()
	return layout.Width{Write: r.Write, Read: r.Read}, r.Generation
}

func (b *Book) absent() ledger.Record {
	return ledger.Absent(b.options.Layout.Strategy, b.options.Layout.Hash)
}
