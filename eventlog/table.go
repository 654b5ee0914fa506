package eventlog

import (
	"context"
	"fmt"

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
//
// A new table serves 4,000 write units per second. For a log that needs more from the start, create the table with
// WarmThroughput.
func Setup(ctx context.Context, client heatsink.TableClient, options Options) error {
	o := options.withDefaults()
	if err := o.validate(); err != nil {
		return fmt.Errorf("set up event log: %w", err)
	}
	if o.Table == "" {
		return fmt.Errorf("set up event log: %w: Table is empty", ErrOptions)
	}
	if err := o.table().Ensure(ctx, client); err != nil {
		return fmt.Errorf("set up event log: %w", err)
	}
	return nil
}

// table returns the table that the options need.
func (o *Options) table() schema.Table {
	t := schema.Table{
		Name: o.Table,
		Key:  schema.Key{Partition: schema.String(o.PartitionKey), Sort: schema.String(o.SortKey)},
		TTL:  o.TTL,
	}
	if o.Index.Name != "" {
		t.Indexes = []schema.Index{{
			Name: o.Index.Name,
			Key:  schema.Key{Partition: schema.String(o.Index.PartitionKey), Sort: schema.String(o.Index.SortKey)},
		}}
	}
	return t
}
