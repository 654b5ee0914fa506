package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

const (
	smallTable = 10_000
	largeTable = 1_000_000
)

// grow runs one engine twice, with a small and with a large table, and compares what requests cost on each. The
// puts of this run replace stored items, so that the tables keep the sizes they are measured at.
func grow(ctx context.Context, e peer.Engine, o options, r *report, progress logger) (err error) {
	var both field
	defer func() { err = errors.Join(err, both.stop()) }()

	for _, items := range []int{smallTable, largeTable} {
		c := newContestant(e, items)
		c.Name = fmt.Sprintf("%s@%d", e.Name, items)
		if err := c.start(ctx); err != nil {
			return err
		}
		both = append(both, c)
	}
	if err := both.noteIdle(ctx, time.Second); err != nil {
		return err
	}
	for _, c := range both {
		// A large table is followed by compaction: give it time to come to its resting size.
		if err := c.load(ctx, o.conns, 5*time.Second, progress); err != nil {
			return err
		}
	}
	if err := both.race(ctx, o, progress); err != nil {
		return err
	}
	r.add(both, o.workloads)
	r.Goals = growthGoals(both[0], both[1], o.workloads)
	return nil
}
