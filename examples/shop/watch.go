package main

import (
	"context"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/heatsink-go/heatsink/heat/heatpage"
	"github.com/heatsink-go/heatsink/heat/heatprom"
)

// watch is what one sees of the shop's traffic: the page of heat, and metrics for Prometheus.
type watch struct {
	page    *heatpage.Page
	metrics http.Handler
}

func newWatch(db *database, c config) (*watch, error) {
	source := heatpage.Of(db.recorder)
	if db.engine != nil {
		source = heatpage.OfEngine(db.recorder, db.engine) // with its partitions, which AWS does not tell
	}
	page, err := heatpage.New(heatpage.Options{Title: "shop", Source: source, Token: c.pageToken})
	if err != nil {
		return nil, err
	}
	collector, err := heatprom.New(db.recorder.Report, heatprom.Options{})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(collector); err != nil {
		return nil, err
	}
	return &watch{page, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})}, nil
}

// start lets the page follow the traffic until stop, which may be called twice.
func (w *watch) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.page.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
