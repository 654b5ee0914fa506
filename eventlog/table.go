package eventlog

import (
	"context"
	"fmt"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Setup creates the table that options need, on demand, and waits until it can be used; or, if it is there, checks it
// and changes nothing. What the table lacks is in an error that wraps ErrTable. Several processes may call it at once.
//
// If a call ends after it has created the table and before it has turned the time to live on, later calls do not finish
// that: they return ErrTable with the request that is missing. Of a table that is less than a minute old they wait up to
// 10 seconds for whoever created it.
//
// A new table takes 4,000 write units a second. A log that needs more from the start wants one that was created with
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
