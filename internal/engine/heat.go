package engine

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// Heat is what can be seen of the partitions of a table or of a global index.
// Its JSON is what the server's /partitions answers.
type Heat struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"`

	// ReadTokens and WriteTokens are what could be consumed at once under the
	// table's own limit, burst included; negative: owed.
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// PartitionReads and PartitionWrites are the units that each partition serves
	// a second.
	PartitionReads  int64 `json:"partitionReads"`
	PartitionWrites int64 `json:"partitionWrites"`

	Partitions []PartitionHeat `json:"partitions"` // in the order of their ranges
	Splits     []SplitHeat     `json:"splits"`     // the last ones, the oldest first
	Minutes    []MinuteHeat    `json:"minutes"`    // the oldest first; the last is not over
}

// PartitionHeat is one partition.
type PartitionHeat struct {
	ID uint64 `json:"id"`

	// Lower is the first place of the partition and Upper the first of the next,
	// in hexadecimal: eight bytes of hash and, where a collection was split, the
	// beginning of a key. Empty at either end.
	Lower string `json:"lower"`
	Upper string `json:"upper"`

	Bytes       int64   `json:"bytes"` // estimated
	ReadTokens  float64 `json:"readTokens"`
	WriteTokens float64 `json:"writeTokens"`

	// Heat is the load's moving average, 1 being the limit. Obstacle is why a
	// partition that was hot for long enough has not been split.
	Heat     float64 `json:"heat"`
	Obstacle string  `json:"obstacle,omitempty"`

	Seconds []SecondHeat `json:"seconds"` // the oldest first; the last may not be over
}

// SecondHeat is what a partition served and refused in one second, in units.
type SecondHeat struct {
	Start          time.Time `json:"start"`
	ReadUnits      float64   `json:"readUnits"`
	WriteUnits     float64   `json:"writeUnits"`
	ReadThrottled  float64   `json:"readThrottled"`
	WriteThrottled float64   `json:"writeThrottled"`
}

// SplitHeat is a split of a partition into two.
type SplitHeat struct {
	At       time.Time `json:"at"`
	Cause    string    `json:"cause"`
	Parent   uint64    `json:"parent"`
	Children [2]uint64 `json:"children"`
	Point    string    `json:"point"` // as PartitionHeat.Lower
}

// MinuteHeat is a minute's sums under the names they have in CloudWatch.
type MinuteHeat struct {
	Start   time.Time          `json:"start"`
	Metrics map[string]float64 `json:"metrics"`
}

// Heat returns the partitions of a table and its global indexes with their load
// over the last seconds and minutes. Without physics there are none.
func (e *Engine) Heat(ctx context.Context, tableName string, last time.Duration) ([]Heat, error) {
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
	list := []Heat{newHeat(t.partitions, limit, now, last)}
	for _, x := range t.indexes {
		if x.partitions != nil {
			list = append(list, newHeat(x.partitions, limit, now, last))
		}
	}
	return list, nil
}

func newHeat(s *partition.Set, limit partition.Rate, now time.Time, last time.Duration) Heat {
	snapshot, of := s.Snapshot(now, last), resourceOf(s)
	h := Heat{
		Table: of.table, Index: of.index, PartitionReads: limit.Read, PartitionWrites: limit.Write,
		ReadTokens: snapshot.TableTokens.Read, WriteTokens: snapshot.TableTokens.Write,
		Splits: []SplitHeat{}, // in JSON, none is an empty list
	}
	for i := range snapshot.Partitions {
		h.Partitions = append(h.Partitions, newPartitionHeat(&snapshot.Partitions[i]))
	}
	for _, split := range snapshot.Splits {
		h.Splits = append(h.Splits, SplitHeat{
			At: split.At, Cause: split.Cause.String(), Parent: split.Parent, Children: split.Children,
			Point: hex.EncodeToString(split.Point),
		})
	}
	for _, m := range s.Minutes(now, now.Add(-last)) {
		h.Minutes = append(h.Minutes, MinuteHeat{Start: m.Start, Metrics: maps.Collect(m.Metrics())})
	}
	return h
}

func newPartitionHeat(p *partition.Partition) PartitionHeat {
	h := PartitionHeat{
		ID:    p.ID,
		Lower: hex.EncodeToString(p.Lower), Upper: hex.EncodeToString(p.Upper),
		Bytes:      p.Bytes,
		ReadTokens: p.Tokens.Read, WriteTokens: p.Tokens.Write,
		Heat:    p.Heat,
		Seconds: []SecondHeat{},
	}
	if p.Obstacle != partition.Unobstructed {
		h.Obstacle = p.Obstacle.String()
	}
	for _, s := range p.Seconds {
		h.Seconds = append(h.Seconds, SecondHeat(s))
	}
	return h
}

// TableNames returns the names of all tables, sorted.
func (e *Engine) TableNames() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Sorted(maps.Keys(e.tables))
}
