package main

import (
	"context"
	"fmt"
)

// agreement compares what heat and plan say of the same reports.
func agreement(ctx context.Context, p *proof) error {
	var result struct {
		Reports, Critical, Keys int
		Contradictions          []string
	}
	if _, err := p.command.Run(ctx, &result, "TestPlanAgreesOnTheCorpus"); err != nil {
		return err
	}
	p.Tell("reports, keys, of these critical", fmt.Sprintf("%d, %d, %d", result.Reports, result.Keys, result.Critical))
	p.None("keys of which one contradicts the other", len(result.Contradictions), result.Keys)
	return nil
}
