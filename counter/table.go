package counter

import (
	"context"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// table is what counters are kept in.
func (o Options) table() schema.Table {
	return schema.Table{
		Name: o.Table,
		Key:  schema.Key{Partition: schema.String(o.PartitionKey), Sort: schema.String(o.SortKey)},
	}
}

// Setup creates the table that options name, on demand, or checks that the one that exists will do. The error wraps
// ErrTable if it will not. A table may hold counters beside other items.
func Setup(ctx context.Context, client heatsink.TableClient, options Options) error {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return err
	}
	return options.table().Ensure(ctx, client)
}
