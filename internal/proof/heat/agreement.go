package main

import "context"

// agreement compares what heat and plan say of the same reports.
func agreement(ctx context.Context, p *proof) error {
	var result struct {
		Reports, Critical, Keys int
		Contradictions          []string
	}
	if _, err := p.corpus.Run(ctx, &result, "TestPlanAgrees"); err != nil {
		return err
	}
	p.None("reports in which one contradicts the other", len(result.Contradictions), result.Reports)
	p.None("critical keys that the plan leaves alone", len(result.Contradictions), result.Critical)
	return nil
}
