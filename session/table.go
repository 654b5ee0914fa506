package session

import (
	"context"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Setup creates the table, on demand, if there is none, and waits until it can be used. A table that is there already
// is checked and not changed: what it lacks is in an error that wraps ErrTable. Several processes may call it at
// once.
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

// table returns what the store needs of its table.
func (o Options) table() schema.Table {
	n := o.Names
	return schema.Table{
		Name: o.Table,
		Key:  schema.Key{Partition: schema.String(n.ID)},
		Indexes: []schema.Index{
			{Name: n.ListIndex, Key: schema.Key{Partition: schema.String(n.List), Sort: schema.Number(n.Expires)}},
			{Name: n.UserIndex, Key: schema.Key{Partition: schema.String(n.User), Sort: schema.Number(n.Expires)}},
		},
		TTL: n.TTL,
	}
}
