package replica

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Options describe a Store. Only Table is required. Processes should agree on Table and Names. Copies and MaxStale may
// differ: each reader keeps its own MaxStale, and copies that a writer does not know follow within it.
type Options struct {
	// Table is the table's name. The table has a string partition key and no sort key, see Setup.
	Table string

	// Copies is the number of copies that readers choose from, besides the primary. One copy serves 6,000 eventually
	// consistent reads of up to 4 KB per second, if no other copy is on its partition. Every write writes all of them.
	// Default: 10. At most 1,000.
	Copies int

	// MaxStale is the greatest age of what Get returns: what the primary had at some time in the last MaxStale. It is
	// also how often a copy that is read gets refreshed. Default: one minute. From one second to one day.
	MaxStale time.Duration

	// Names are the names of the table's attributes.
	Names Names

	// Retry configures retries. A read that is throttled is repeated with another copy.
	Retry heatsink.Retry

	// Logger gets a debug message for each retry, and for each copy that a read could not refresh. Default: none.
	Logger *slog.Logger
}

// Names are the names of the table's attributes. An empty name has its default.
type Names struct {
	ID      string // the partition key: the id of an item, or the key of a copy; default: id
	Version string // default: version
	Data    string // default: data
	Expires string // the expiry, in seconds since 1970; default: expires
	TTL     string // DynamoDB's time to live; default: ttl
	Write   string // a random text for each write of the primary; default: write
	Checked string // when a copy was known to be current, in milliseconds since 1970; default: checked
}

const (
	defaultCopies   = 10
	maxCopies       = 1000
	defaultMaxStale = time.Minute
	minMaxStale     = time.Second
	maxMaxStale     = 24 * time.Hour
)

func (o Options) withDefaults() Options {
	o.Copies = cmp.Or(o.Copies, defaultCopies)
	o.MaxStale = cmp.Or(o.MaxStale, defaultMaxStale)
	o.Names = Names{
		ID:      cmp.Or(o.Names.ID, "id"),
		Version: cmp.Or(o.Names.Version, "version"),
		Data:    cmp.Or(o.Names.Data, "data"),
		Expires: cmp.Or(o.Names.Expires, "expires"),
		TTL:     cmp.Or(o.Names.TTL, "ttl"),
		Write:   cmp.Or(o.Names.Write, "write"),
		Checked: cmp.Or(o.Names.Checked, "checked"),
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// validate returns everything that is wrong with options that have their defaults. What is wrong with Retry is found by
// internal/direct.
func (o Options) validate() error {
	var faults []error
	wrong := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if o.Table == "" {
		wrong("Table is empty")
	}
	if o.Copies < 1 || o.Copies > maxCopies {
		wrong("Copies is %d, want 1 to %d", o.Copies, maxCopies)
	}
	if o.MaxStale < minMaxStale || o.MaxStale > maxMaxStale {
		wrong("MaxStale is %v, want %v to %v", o.MaxStale, minMaxStale, maxMaxStale)
	}
	names := o.Names.all()
	if err := schema.CheckNames(names...); err != nil {
		wrong("%w", err)
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if name == other {
				wrong("two attributes are named %q", name)
			}
		}
	}
	return errors.Join(faults...)
}

func (n Names) all() []string {
	return []string{n.ID, n.Version, n.Data, n.Expires, n.TTL, n.Write, n.Checked}
}
