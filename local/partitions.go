package local

import (
	"context"
	"strings"
	"time"

	"github.com/heatsink-go/heatsink/local/partitions"
)

// Partitions returns what the partitions of a table and its global indexes
// served and throttled, the table first. lately is the look-back window.
// Without Physics the result is empty.
func (db *DB) Partitions(ctx context.Context, table string, lately time.Duration) ([]partitions.Heat, error) {
	return db.engine.Heat(ctx, table, lately)
}

// Throttled returns how many requests each table and global index has throttled
// since New, by name. Deleted tables and indexes count too, and those that
// throttled nothing are left out. Beyond 10,000 names the rest is one without a
// name. Without Physics the result is empty.
func (db *DB) Throttled() []partitions.Throttled { return db.engine.Throttled() }

// Places returns where the items of partition keys of a table or a global index
// begin, in the form of partitions.Partition.Lower: a key's items are in the
// partition whose bounds are around that place. table may name an index, as in
// orders/byStatus. Keys that do not fit the schema have none, and neither has an
// index that does not exist.
func (db *DB) Places(ctx context.Context, table string, keys ...string) (map[string]string, error) {
	table, index, _ := strings.Cut(table, "/")
	whole := make([][]string, len(keys))
	for i, key := range keys {
		whole[i] = []string{key}
	}
	places, err := db.engine.Places(ctx, table, index, whole)
	if err != nil {
		return nil, err
	}
	of := make(map[string]string, len(keys))
	for i, place := range places {
		if place != "" {
			of[keys[i]] = place
		}
	}
	return of, nil
}
