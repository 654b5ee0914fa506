package main

import (
	"context"
	"fmt"
)

// half is the score of one half of the corpus, as its test writes it.
type half struct {
	Schemas, Cases       int
	Right, Wrong, Missed int
	Differences          []string
}

func (h *half) precision() float64 { return float64(h.Right) / float64(max(1, h.Right+h.Wrong)) }

func (h *half) recall() float64 { return float64(h.Right) / float64(max(1, h.Right+h.Missed)) }

// corpus measures precision and recall of findings on both halves.
func corpus(ctx context.Context, p *proof) error {
	var result struct{ Tuned, Apart half }
	if _, err := p.corpus.Run(ctx, &result, "TestFindings"); err != nil {
		return err
	}
	schemas := result.Tuned.Schemas + result.Apart.Schemas
	p.Must("key schemas", fmt.Sprint(schemas), "at least 40", schemas >= 40)
	p.half("tuned half", &result.Tuned)
	p.half("half kept apart", &result.Apart)
	p.Differences = result.Apart.Differences
	return nil
}

func (p *proof) half(name string, h *half) {
	p.Tell(name+": schemas, cases", fmt.Sprintf("%d, %d", h.Schemas, h.Cases))
	p.Tell(name+": findings right, wrong, missed", fmt.Sprintf("%d, %d, %d", h.Right, h.Wrong, h.Missed))
	const least = 0.9
	p.Must(name+": precision", fmt.Sprintf("%.3f", h.precision()), fmt.Sprintf("at least %.1f", least), h.precision() >= least)
	p.Must(name+": recall", fmt.Sprintf("%.3f", h.recall()), fmt.Sprintf("at least %.1f", least), h.recall() >= least)
}
