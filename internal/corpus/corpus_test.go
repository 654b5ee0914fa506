package corpus_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/corpus"
)

var resultFile = flag.String("result", "", "a file for the result, as JSON")

// half is the score of one half of the corpus.
type half struct {
	Schemas int `json:"schemas"`
	Cases   int `json:"cases"`
	corpus.Score
	Differences []string `json:"differences"`

	last string
}

func (h *half) add(c *corpus.Case, findings []heat.Finding) {
	if h.last != c.Schema {
		h.last = c.Schema
		h.Schemas++
	}
	h.Cases++
	score, differences := c.Judge(findings)
	h.Score.Add(score)
	h.Differences = append(h.Differences, differences...)
}

// Findings are right on the half that the rules were tuned on, and on the half that was kept apart.
func TestFindings(t *testing.T) {
	var result struct{ Tuned, Apart half }
	for _, c := range corpus.Cases() {
		bubble.Test(t, func(t *testing.T) {
			report, err := c.Report()
			if err != nil {
				t.Fatal(err)
			}
			h := &result.Apart
			if c.Tuned() {
				h = &result.Tuned
			}
			h.add(&c, heat.Explain(report, heat.Rules{}))
		})
	}
	for _, h := range []*half{&result.Tuned, &result.Apart} {
		t.Logf("%d schemas, %d cases: precision %.3f, recall %.3f, %+v", h.Schemas, h.Cases, h.Precision(), h.Recall(), h.Score)
		if h.Precision() < 0.9 || h.Recall() < 0.9 || h.Schemas < 20 {
			t.Errorf("precision %.3f and recall %.3f of %d schemas, want 0.9 of at least 20", h.Precision(), h.Recall(), h.Schemas)
		}
	}
	for _, d := range result.Tuned.Differences { // those of the other half are not for tuning
		t.Log(d)
	}
	writeResult(t, result)
}

// writeResult leaves the result for the proof.
func writeResult(t *testing.T, result any) {
	t.Helper()
	if *resultFile == "" {
		return
	}
	out, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*resultFile, out, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The examples of the documents have the findings that their readers expect, and no others.
func TestExamples(t *testing.T) {
	type example struct {
		Name        string
		Want, Got   []string
		Differences []string
	}
	var result []example
	for _, c := range corpus.Examples() {
		bubble.Test(t, func(t *testing.T) {
			report, err := c.Report()
			if err != nil {
				t.Fatal(err)
			}
			findings := heat.Explain(report, heat.Rules{})
			e := example{Name: c.Schema}
			for _, f := range findings {
				e.Got = append(e.Got, f.String())
			}
			for _, w := range c.Want {
				e.Want = append(e.Want, w.String())
			}
			_, e.Differences = c.Judge(findings)
			for _, d := range e.Differences {
				t.Error(d)
			}
			result = append(result, e)
		})
	}
	writeResult(t, result)
}
