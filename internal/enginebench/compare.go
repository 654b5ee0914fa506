package main

import (
	"context"
	"errors"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

const (
	comparedItems = 5_000 // 100 collections
	startCount    = 5
)

// compare runs the engines side by side. An engine that does not start is reported and left out.
func compare(ctx context.Context, engines []peer.Engine, o options, r *report, progress logger) (err error) {
	var all field
	defer func() { err = errors.Join(err, all.stop()) }()

	progress("starting each engine %d times", startCount)
	for _, e := range engines {
		c := newContestant(e, comparedItems)
		if err := c.start(ctx); err == nil {
			all = append(all, c)
		} else if ctx.Err() == nil {
			r.skip(e.Name, err)
		} else {
			return err
		}
	}
	for range startCount - 1 {
		for _, c := range all {
			if err := c.restart(ctx); err != nil {
				return err
			}
		}
	}
	if err := all.noteIdle(ctx, time.Second); err != nil {
		return err
	}
	for _, c := range all {
		if err := c.load(ctx, o.conns, time.Second, progress); err != nil {
			return err
		}
	}
	if err := all.race(ctx, o, progress); err != nil {
		return err
	}
	r.add(all, o.workloads)
	r.Goals = comparisonGoals(all, o.workloads)
	if o.before != nil {
		r.Goals = append(r.Goals, r.goalsSince(o.before)...)
	}
	return nil
}
