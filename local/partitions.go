package local

import (
	"context"
	"time"

	"github.com/heatsink-go/heatsink/local/partitions"
)

// Partitions returns what the partitions of a table and its global indexes have
// been doing lately, the table first. Without Physics there are none.
func (db *DB) Partitions(ctx context.Context, table string, lately time.Duration) ([]partitions.Heat, error) {
	return db.engine.Heat(ctx, table, lately)
}
