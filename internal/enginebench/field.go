package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A field is the contestants of a race, all running. Whoever fills it must stop it.
type field []*contestant

func (f field) stop() error {
	var errs []error
	for _, c := range f {
		errs = append(errs, c.stop())
	}
	return errors.Join(errs...)
}

// named finds a contestant, or nil.
func (f field) named(name string) *contestant {
	for _, c := range f {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// noteIdle notes the memory of each contestant after all of them have rested.
func (f field) noteIdle(ctx context.Context, rest time.Duration) error {
	if err := sleep(ctx, rest); err != nil {
		return err
	}
	for _, c := range f {
		if err := c.noteMemory(&c.idle); err != nil {
			return err
		}
	}
	return nil
}

// race measures every workload on every contestant, in rounds: contestants take turns within seconds, so that
// other work on the machine hits them alike, and each goes first equally often. All but the one under load are
// frozen. A round before the counted ones warms up caches and just-in-time compilers.
func (f field) race(ctx context.Context, o options, progress logger) error {
	for _, c := range f {
		if err := pause(c.server.Process); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	for round := range o.rounds + 1 {
		if round == 0 {
			progress("warm-up round")
		} else {
			progress("round %d of %d", round, o.rounds)
		}
		for _, w := range o.workloads {
			for i := range f {
				c := f[(i+round)%len(f)]
				s, err := c.measure(ctx, w, o)
				if errors.Is(err, errStalled) {
					// A virtual machine may stand still for seconds; the engine deserves another turn.
					progress("%s: %s: stalled, trying again", c.Name, w.name)
					s, err = c.measure(ctx, w, o)
				}
				if err != nil {
					return fmt.Errorf("%s: %s: %w", c.Name, w.name, err)
				}
				if round > 0 {
					c.samples[w.name] = append(c.samples[w.name], s)
				}
			}
		}
	}
	return nil
}

// sleep waits, but not longer than the context lives.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
