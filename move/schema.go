package move

import (
	"context"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
)

// schemaOf returns how a collection stores its items, in the words of package place.
func schemaOf(o *heatsink.Options, ledgers place.Ledgers) *place.Schema {
	table := []string{o.PartitionKey}
	if o.SortKey != "" {
		table = append(table, o.SortKey)
	}
	return place.New(place.Schema{
		Keys: place.Keys{
			PartitionKey: o.Index.PartitionKey, SortKey: o.Index.SortKey, Index: o.Index.Name,
			TableKey: table, ShardAttribute: o.Index.ShardAttribute, Stamped: o.Adaptive != nil,
		},
		Spread:    place.Spread{Layout: o.Layout, Widths: o.Widths, Ledgers: ledgers},
		ShardBy:   o.ShardBy,
		EventTime: place.EventTime{Attribute: o.EventTime.Attribute, Unit: place.TimeUnit(o.EventTime.Unit)},
	})
}

// older returns the same with an earlier layout.
func older(of *place.Schema, l layout.Layout) *place.Schema {
	s := *of
	s.Spread = place.Spread{Layout: l}
	s.ShardAttribute, s.Stamped = "", false
	return &s
}

// ledgers are the widths that keys have at present, read from their ledgers and kept for a short time. A width that has grown
// in the meantime does no harm: items of narrower widths are read as well.
type ledgers struct {
	show func(ctx context.Context, key string, at time.Time) (heatsink.Ledger, error)

	mu   sync.Mutex
	read map[ledgerKey]knownLedger
	asOf map[string]time.Time // ledgers of these keys are read again if they were read before
}

type ledgerKey struct {
	key    string
	bucket time.Time
}

type knownLedger struct {
	heatsink.Ledger
	at time.Time // when the read began
}

const (
	keepLedger = 30 * time.Second
	maxLedgers = 1 << 15 // kept at a time
)

// Known returns the width that was read last.
func (l *ledgers) Known(key string, bucket time.Time) (layout.Width, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.read[ledgerKey{key, bucket}]
	if !ok {
		return layout.Width{Write: 1, Read: 1}, 0
	}
	return known.Width, known.Generation
}

// Write chooses the shard of an item at the present width of its key.
func (l *ledgers) Write(ctx context.Context, key string, bucket time.Time, choose func(width int) int) (place.Writing, error) {
	known, err := l.load(ctx, key, bucket)
	if err != nil {
		return nil, err
	}
	return chosen{choose(known.Width.Write), known.Width, known.Generation}, nil
}

// expire makes ledgers of a key that were read before a time be read again.
func (l *ledgers) expire(key string, before time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asOf == nil || len(l.asOf) >= maxLedgers {
		l.asOf = make(map[string]time.Time)
	}
	if before.After(l.asOf[key]) {
		l.asOf[key] = before
	}
}

func (l *ledgers) load(ctx context.Context, key string, bucket time.Time) (heatsink.Ledger, error) {
	k := ledgerKey{key, bucket}
	l.mu.Lock()
	known, ok := l.read[k]
	asOf := l.asOf[key]
	l.mu.Unlock()
	began := time.Now()
	if ok && began.Sub(known.at) < keepLedger && !known.at.Before(asOf) {
		return known.Ledger, nil
	}
	read, err := l.show(ctx, key, bucket)
	if err != nil {
		return read, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read == nil || len(l.read) >= maxLedgers {
		l.read = make(map[ledgerKey]knownLedger)
	}
	l.read[k] = knownLedger{read, began}
	return read, nil
}

// chosen is a shard that was decided at once.
type chosen struct {
	shard int
	width layout.Width
	stamp int64
}

func (c chosen) Next() (int, layout.Width, int64, error) { return c.shard, c.width, c.stamp, nil }

func (c chosen) Refused(bool) {}
