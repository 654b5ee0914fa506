package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

// bothModes are scenarios that either mode of the lab can run.
var bothModes = []string{`
title: one hot key
duration: 60s
table: {no-splits: true}
load: [{per-second: 3000, keys: {one: hot}}]
layouts: [{kind: none}, {kind: naive}, {kind: fixed, shards: 16}]
`, `
title: zipf
duration: 30s
table: {partitions: 20}
load: [{per-second: 8000, keys: {zipf: {count: 50000, exponent: 1.1}}}]
layouts: [{kind: none}, {kind: naive, shards: 20}, {kind: fixed, shards: 8}]
`}

// aggregate runs both modes of the lab side by side, and then an hour that only one of them can run.
func aggregate(ctx context.Context, p *proof) error {
	for _, text := range bothModes {
		if err := sideBySide(ctx, p, text); err != nil {
			return err
		}
	}
	million, err := scenario.Find("million")
	if err != nil {
		return err
	}
	began := time.Now()
	result, err := simulate.Scenario(ctx, million, simulate.Options{})
	if err != nil {
		return err
	}
	took := time.Since(began)
	for _, r := range result.Runs {
		p.Tell("an hour of a million requests a second: "+r.Layout, fmt.Sprintf("%.2f %% of %.3g units served, %.2f %% of the requests throttled, %.2f %% of the operations failed",
			100*r.ServedUnits/r.OfferedUnits, r.OfferedUnits, 100*r.ThrottledShare(), 100*r.FailedShare()))
	}
	p.Must("which took", seconds(took.Seconds()), fmt.Sprintf("minutes: %s at most", seconds(mostTime.Seconds())), took <= mostTime)
	return nil
}

const (
	apart    = 0.02 // how far figures of both modes may be apart, as parts of what is offered, of all requests and of all operations
	mostTime = 10 * time.Minute
)

func sideBySide(ctx context.Context, p *proof, text string) error {
	s, err := scenario.Parse("proof.yaml", []byte(text))
	if err != nil {
		return err
	}
	s.Mode = scenario.Requests
	requests, err := simulate.Scenario(ctx, s, simulate.Options{})
	if err != nil {
		return err
	}
	s.Mode = scenario.Aggregate
	sums, err := simulate.Scenario(ctx, s, simulate.Options{})
	if err != nil {
		return err
	}
	for i := range s.Layouts {
		a, b := &requests.Runs[i], &sums.Runs[i]
		for _, f := range []struct {
			what           string
			one, aggregate float64
		}{
			{"units served of those offered", a.ServedUnits / a.OfferedUnits, b.ServedUnits / b.OfferedUnits},
			{"requests throttled", a.ThrottledShare(), b.ThrottledShare()},
			{"operations failed", a.FailedShare(), b.FailedShare()},
		} {
			p.Must(fmt.Sprintf("%s, %s: %s", s.Title, a.Layout, f.what), fmt.Sprintf("%.2f %% by requests, %.2f %% in aggregate", 100*f.one, 100*f.aggregate),
				"within 2 %", math.Abs(f.one-f.aggregate) <= apart)
		}
	}
	return nil
}
