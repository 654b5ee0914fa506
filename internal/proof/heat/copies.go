package main

import (
	"context"
	"fmt"
	"time"
)

// sustained is what became of a load, as internal/lab reports it.
type sustained struct {
	Accepted, Failed int
	Measured         time.Duration
	P999             time.Duration
}

func (s *sustained) perSecond() float64 { return float64(s.Accepted) / s.Measured.Seconds() }

// copies reads one item 15,000 times a second, from one key and from the copies of package replica.
func copies(ctx context.Context, p *proof) error {
	var result struct{ OneKey, Copies sustained }
	if _, err := p.replica.Run(ctx, &result, "TestSustained", "-measured", "3s"); err != nil {
		return err
	}
	one, all := &result.OneKey, &result.Copies
	p.Tell("one key: reads a second of 15,000", fmt.Sprintf("%.0f, %d failed", one.perSecond(), one.Failed))
	p.Must("10 copies: reads a second of 15,000", fmt.Sprintf("%.0f", all.perSecond()), "at least 14,900", all.perSecond() >= 14_900)
	p.Must("10 copies: failed", fmt.Sprint(all.Failed), "0", all.Failed == 0)
	p.Must("10 copies: p99.9", fmt.Sprint(all.P999), "at most 100ms", all.P999 <= 100*time.Millisecond)
	return nil
}
