package main

import (
	"context"
	"fmt"
	"strings"
)

// example is an example of a document, as the corpus's test writes it.
type example struct {
	Name        string
	Want, Got   []string // findings: severity, kind and key
	Differences []string
}

// examples shows the findings of the documents' examples.
func examples(ctx context.Context, p *proof) error {
	var result []example
	if _, err := p.corpus.Run(ctx, &result, "TestExamples"); err != nil {
		return err
	}
	for _, e := range result {
		want := strings.Join(e.Want, "; ")
		if want == "" {
			want = "none"
		}
		got := strings.Join(e.Got, "; ")
		if got == "" {
			got = "none"
		}
		p.Must(e.Name, got, want, len(e.Differences) == 0)
	}
	p.Must("examples", fmt.Sprint(len(result)), "at least 5", len(result) >= 5)
	return nil
}
