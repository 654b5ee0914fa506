package engine

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// Heat returns the partitions of a table and its global indexes with their load
// over the last seconds and minutes. Without physics there are none.
func (e *Engine) Heat(ctx context.Context, tableName string, last time.Duration) ([]partitions.Heat, error) {
	t, err := e.openTable(ctx, tableName)
	if err != nil {
		return nil, err
	}
	defer t.release()
	if t.partitions == nil {
		return nil, nil
	}
	now := time.Now()
	limit := e.account.Options().Partition
	list := []partitions.Heat{newHeat(t.partitions, limit, now, last)}
	for _, x := range t.indexes {
		if x.partitions != nil {
			h := newHeat(x.partitions, limit, now, last)
			x.addProgress(h.Minutes)
			list = append(list, h)
		}
	}
	return list, nil
}

// addProgress adds how much of the table the index's backfill has come to, in
// percent, to the present minute. Partition keys lie in the order of their hashes,
// which are spread evenly.
func (x *index) addProgress(minutes []partitions.Minute) {
	if n := len(minutes); x.filling && n > 0 {
		minutes[n-1].Metrics["OnlineIndexPercentageProgress"] = 100 * float64(x.passed.Load()) / (1 << 64)
	}
}

func newHeat(s *partition.Set, limit partition.Rate, now time.Time, last time.Duration) partitions.Heat {
	snapshot, of := s.Snapshot(now, last), resourceOf(s)
	h := partitions.Heat{
		Table: of.table, Index: of.index, PartitionReads: limit.Read, PartitionWrites: limit.Write,
		ReadTokens: snapshot.TableTokens.Read, WriteTokens: snapshot.TableTokens.Write,
		Splits: []partitions.Split{}, // in JSON, none is an empty list
	}
	for i := range snapshot.Partitions {
		h.Partitions = append(h.Partitions, newPartitionHeat(&snapshot.Partitions[i]))
	}
	for _, split := range snapshot.Splits {
		h.Splits = append(h.Splits, partitions.Split{
			At: split.At, Cause: split.Cause.String(), Parent: split.Parent, Children: split.Children,
			Point: hex.EncodeToString(split.Point),
		})
	}
	for _, m := range s.Minutes(now, now.Add(-last)) {
		h.Minutes = append(h.Minutes, partitions.Minute{Start: m.Start, Metrics: maps.Collect(m.Metrics())})
	}
	return h
}

func newPartitionHeat(p *partition.Partition) partitions.Partition {
	h := partitions.Partition{
		ID:    p.ID,
		Lower: hex.EncodeToString(p.Lower), Upper: hex.EncodeToString(p.Upper),
		Bytes:      p.Bytes,
		ReadTokens: p.Tokens.Read, WriteTokens: p.Tokens.Write,
		Heat:    p.Heat,
		Seconds: []partitions.Second{},
	}
	if p.Obstacle != partition.Unobstructed {
		h.Obstacle = p.Obstacle.String()
	}
	for _, s := range p.Seconds {
		h.Seconds = append(h.Seconds, partitions.Second(s))
	}
	return h
}

// TableNames returns the names of all tables, sorted.
func (e *Engine) TableNames() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Sorted(maps.Keys(e.tables))
}
