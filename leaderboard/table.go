package leaderboard

import (
	"context"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// Setup creates the table that options name, on demand, and waits until it can be used. If there is one already it is
// left as it is and checked: an error that wraps ErrTable names everything that it lacks. Several processes may call it
// at once.
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

// table returns the table that boards are in: entries by player, so that no key is hot, and their listing by board and
// score.
func (o Options) table() schema.Table {
	return schema.Table{
		Name: o.Table,
		Key:  schema.Key{Partition: schema.String(o.Names.Player), Sort: schema.String(o.Names.Board)},
		Indexes: []schema.Index{{
			Name: o.Index,
			Key:  schema.Key{Partition: schema.String(o.Names.Listing), Sort: schema.Number(o.Names.Place)},
		}},
		TTL: o.Names.TTL,
	}
}
