package replica

import (
	"context"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Setup creates the table as an on-demand table and waits until it is active. If the table exists, Setup checks it and
// changes nothing; an error that wraps ErrTable lists everything that is missing. Several processes may call Setup at
// once.
//
// If a call ends after it has created the table, but before it has enabled the time to live, later calls do not
// complete that. They return ErrTable with the missing request. If the table is less than a minute old, they first wait
// up to 10 seconds for the process that created it.
func Setup(ctx context.Context, client heatsink.TableClient, options Options) error {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return err
	}
	return options.table().Ensure(ctx, client)
}

// table returns what the store needs of its table.
func (o Options) table() schema.Table {
	return schema.Table{Name: o.Table, Key: schema.Key{Partition: schema.String(o.Names.ID)}, TTL: o.Names.TTL}
}
