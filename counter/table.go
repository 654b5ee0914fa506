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

// Setup creates the table of options as an on-demand table, or checks the one that exists. If that table does not have
// the required key, the error wraps ErrTable. A table may hold other items beside counters.
func Setup(ctx context.Context, client heatsink.TableClient, options Options) error {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return err
	}
	return options.table().Ensure(ctx, client)
}
