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
	for _, r := range result.Runs {
		p.Tell("an hour of a million requests a second: "+r.Layout, fmt.Sprintf("%.2f %% of %.3g units served", 100*r.ServedUnits/r.OfferedUnits, r.OfferedUnits))
	}
	p.Tell("which took", seconds(time.Since(began).Seconds()))
	return nil
}

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
		served, summed := a.ServedUnits/a.OfferedUnits, b.ServedUnits/b.OfferedUnits
		p.Must(fmt.Sprintf("%s, %s: served of what is offered", s.Title, a.Layout),
			fmt.Sprintf("%.2f %% by requests, %.2f %% in aggregate", 100*served, 100*summed), "within 2 %", math.Abs(served-summed) <= 0.02*served)
	}
	return nil
}
