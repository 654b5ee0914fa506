package ratelimit

import (
	"context"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Setup creates the table, on demand, and waits until it can be used. A table that is there already is left as it is
// and checked: an error that wraps ErrTable names everything that it lacks. Limiters of any Options but the table's and
// its attributes' names can share a table. Several processes may call it at once.
//
// If a call ends after it has created the table and before it has turned the time to live on, later calls do not finish
// that: they return ErrTable with the request that is missing. Of a table that is less than a minute old they wait up to
// 10 seconds for whoever created it.
func Setup(ctx context.Context, client heatsink.TableClient, options Options) error {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return err
	}
	return options.table().Ensure(ctx, client)
}

// table is what a limiter needs of its table.
func (o Options) table() schema.Table {
	return schema.Table{
		Name: o.Table,
		Key:  schema.Key{Partition: schema.String(o.PartitionKey), Sort: schema.String(o.SortKey)},
		TTL:  o.TTL,
	}
}
