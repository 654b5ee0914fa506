package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// growth is what an adaptive layout has decided about the act's key. The zero growth is of a key with one shard.
type growth struct {
	mu    sync.Mutex
	width int                 // 0: it has not grown
	told  []heatsink.Decision // that were not shown yet
}

// decided takes a decision.
func (g *growth) decided(_ context.Context, d heatsink.Decision) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.width = max(g.width, d.To)
	g.told = append(g.told, d)
}

// shards returns how many shards the key has.
func (g *growth) shards() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(1, g.width)
}

// show shows the decisions since it was last called, and returns how many shards the key has.
func (g *growth) show(to *screen) int {
	g.mu.Lock()
	told := g.told
	g.told = nil
	g.mu.Unlock()
	for _, d := range told {
		text := fmt.Sprintf("heatsink: %s", d.Reason)
		if d.To > d.From {
			text = fmt.Sprintf("heatsink grows the key from %s to %d", shardCount(d.From), d.To)
		}
		to.say("  %s: %s WCU/s, of which %.0f %% are throttled", to.bold(text), figure.Thousands(d.Rate), 100*d.Throttled)
	}
	return g.shards()
}

func shardCount(n int) string {
	if n == 1 {
		return "1 shard"
	}
	return fmt.Sprintf("%d shards", n)
}

// grownSpread finds out where the shards of a key are that has grown. It asks an engine of its own, because the act's has
// served other reads meanwhile. Both place a key by its hash alone.
func (s *stage) grownSpread(ctx context.Context) (spread, error) {
	a := s.act
	a.layout = layout.Layout{Shards: s.growth.shards(), Format: layout.Format{BareZero: true}}
	scratch, err := a.open(ctx, s.key, 1)
	if err != nil {
		return nil, err
	}
	return scratch.spread, scratch.db.Close()
}

// grownText says how wide a key became, and how long it took from when it was hot.
func grownText(seconds []rates, cold time.Duration) string {
	last := seconds[len(seconds)-1]
	if last.Width == 1 {
		return "The key has not grown: this machine was too busy to make it hot."
	}
	after := 0
	for i, r := range seconds {
		if r.Width == last.Width {
			after = i + 1 - int(cold.Seconds())
			break
		}
	}
	return fmt.Sprintf("Within %d s of being hot the key had %d shards. No process was restarted.", max(after, 1), last.Width)
}
