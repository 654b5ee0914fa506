package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/local"
)

// demoHeat is what a page shows of a demo: the act that is played.
type demoHeat struct {
	mu       sync.Mutex
	db       *local.DB
	recorder *heat.Recorder
	act      string            // the name under which the page shows the table
	ledgers  *heatsink.Ledgers // nil if the layout does not grow
	ended    bool              // all acts were played
}

// play shows the engine of an act from now on, and returns what its clients are made with.
func (h *demoHeat) play(act string, grows bool, db *local.DB) (func(*dynamodb.Options), error) {
	recorder, err := heat.NewRecorder(heat.Options{Keys: map[string][]string{demoTable: {"pk"}}, NoDescribe: true, Top: mostTopKeys})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.act, h.db, h.recorder = act, db, recorder
	if h.ledgers = nil; grows {
		opened, err := heatsink.Open[view](db.Client(), heatsink.Options{Table: demoTable, PartitionKey: "pk", SortKey: "sk", Adaptive: &heatsink.Adaptive{}})
		if err != nil {
			return nil, err
		}
		ledgers := opened.Ledgers()
		h.ledgers = &ledgers
	}
	return recorder.Option, nil
}

// stop ends an act.
func (h *demoHeat) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.db = nil
}

// end ends the demo.
func (h *demoHeat) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
}

// decided tells the page that a key grows.
func (h *demoHeat) decided(d heatsink.Decision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recorder != nil {
		h.recorder.Decided(heat.Decision{
			Resource: heat.Resource{Table: demoTable}, Key: d.Key, Reason: d.Reason, From: d.From, To: d.To, Rate: d.Rate, Throttled: d.Throttled, Text: d.Text,
		})
	}
}

// ledger returns the ledger of a key of the act that is played.
func (h *demoHeat) ledger(ctx context.Context, of heat.Resource, key string) (heatpage.Ledger, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db == nil || h.ledgers == nil || of.Table != h.act {
		return heatpage.Ledger{}, nil
	}
	l, err := h.ledgers.Show(ctx, key, time.Now())
	return heatpage.Ledger(l), err
}

// round is what the page shows. The lock keeps the act from closing its engine meanwhile.
func (h *demoHeat) round(ctx context.Context) (heatpage.Round, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return heatpage.Round{}, fmt.Errorf("the demo has %w", heatpage.ErrEnded)
	case h.db == nil:
		return heatpage.Round{}, fmt.Errorf("the act has %w", heatpage.ErrEnded)
	}
	r := heatpage.Round{Report: h.recorder.Report()}
	var err error
	if r.Partitions, err = h.db.Partitions(ctx, demoTable, lookBack); err != nil {
		return r, err
	}
	var keys []string
	for i := range r.Resources {
		r.Resources[i].Table = h.act // each act has an engine of its own
		for _, k := range r.Resources[i].Writes.Keys {
			keys = append(keys, k.Key)
		}
	}
	for i := range r.Partitions {
		r.Partitions[i].Table = h.act
	}
	for i := range r.Decisions {
		r.Decisions[i].Table = h.act
	}
	places, err := h.db.Places(ctx, demoTable, keys...)
	r.Locate(map[string]map[string]string{h.act: places})
	return r, err
}
