package heatsink

import (
	"github.com/heatsink-go/heatsink/internal/adapt"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/expiry"
	"github.com/heatsink-go/heatsink/internal/gather"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/internal/version"
)

// core is a collection without its item type: the parts that do the work, and the state that reads of many items share.
type core struct {
	options  Options         // with defaults
	ledgers  *adapt.Book     // the same book if keys have ledgers, else nil
	book     *adapt.Book     // what this process knows of ledgers and the charter; nil without both
	schema   *place.Schema   // the places of items
	versions *version.Keeper // the versions of items
	ttl      expiry.TTL      // the time to live of items

	sender       *sender
	movable      *movable // nil if items stay where they are
	finder       *finder
	writer       *writer
	transactions *transactions

	readers *dispatch.Limiter
	chooser *place.Chooser // also draws samples
	history gather.History // what earlier reads have measured
}

func newCore(client Client, options Options) (*core, error) {
	if options.Adaptive != nil {
		options.Layout.Format.BareZero = true // a key that has never grown is stored as it is
	}
	if err := options.validate(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	options.warn()
	c := &core{options: options, ttl: expiry.TTL{Attribute: options.TTL, After: options.TTLAfter}}
	c.chooser = place.NewChooser(options.Rand)
	c.readers = dispatch.NewLimiter(options.MaxConcurrency)
	retry := dispatch.Retry(options.Retry)
	var err error
	control := newControl(client, &options, c.chooser.Uint64N)
	if c.book, err = newBook(client, &options, control, c.chooser.Uint64N); err != nil {
		return nil, err
	}
	c.schema = options.schema(c.book)
	c.versions = version.New(options.Version, c.schema.KeyNames()[0], c.ttl)
	c.sender = &sender{
		client: client, table: options.Table, logger: options.Logger, tracer: options.Tracer,
		reads:  dispatch.New(retry, c.readers, c.chooser.Uint64N),
		writes: dispatch.New(retry, nil, c.chooser.Uint64N),
	}
	if c.movable, err = newMovable(client, &options, control, c.book, c.schema, c.sender, c.chooser); err != nil {
		return nil, err
	}
	placer := place.NewPlacer(c.schema, c.chooser)
	if options.Adaptive != nil {
		c.ledgers = c.book
	}
	c.finder = &finder{schema: c.schema, movable: c.movable, ledgers: c.ledgers, versions: c.versions, ttl: c.ttl, sender: c.sender}
	c.writer = &writer{schema: c.schema, movable: c.movable, watcher: &watcher{c.ledgers, c.schema}, placer: placer, versions: c.versions, ttl: c.ttl, finder: c.finder, sender: c.sender}
	c.transactions = &transactions{schema: c.schema, movable: c.movable, placer: placer, versions: c.versions, ttl: c.ttl, table: options.Table}
	return c, nil
}
