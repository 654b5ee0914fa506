package heatsink

import (
	"sync/atomic"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/gather"
)

// core is a collection without its type: it does the work.
type core struct {
	client        Client
	options       Options              // with defaults
	reads, writes *dispatch.Dispatcher // two, as reads must not spend the retries that writes need
	readers       *dispatch.Limiter
	beside        []string // attributes that tell items of the same key apart
	chooser       *chooser
	history       gather.History // what reads have seen
	lastVersion   atomic.Uint64  // the time in the last version that was made
}

func newCore(client Client, options Options) (*core, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	options = options.withDefaults()
	options.warn()
	chooser := newChooser(options.Rand)
	readers := dispatch.NewLimiter(options.MaxConcurrency)
	retry := dispatch.Retry(options.Retry)
	c := &core{
		client:  client,
		options: options,
		reads:   dispatch.New(retry, readers, chooser.uint64N),
		writes:  dispatch.New(retry, nil, chooser.uint64N),
		readers: readers,
		chooser: chooser,
	}
	c.beside = c.findBeside()
	return c, nil
}
