package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// Report returns what a recorder or an export shows of the case. Traffic takes its time: run it in a bubble of
// testing/synctest.
func (c Case) Report() (heat.Report, error) {
	if len(c.Piles) > 0 {
		return c.stored()
	}
	recorder, err := heat.NewRecorder(heat.Options{NoDescribe: true, Layouts: c.Told})
	if err != nil {
		return heat.Report{}, err
	}
	due := make([]float64, len(c.Streams))
	sent := make([]int, len(c.Streams))
	const ticks = 10 // a second
	for range c.Seconds * ticks {
		for i := range c.Streams {
			s := &c.Streams[i]
			for due[i] += s.PerSecond / ticks; due[i] >= 1; due[i]-- {
				recorder.Observe(c.observation(s, sent[i]))
				sent[i]++
			}
		}
		time.Sleep(time.Second / ticks)
	}
	return recorder.Report(), nil
}

// observation is the n-th request of a stream.
func (c Case) observation(s *Stream, n int) heat.Observation {
	o := heat.Observation{
		Resource: heat.Resource{Table: c.Table, Index: c.Index}, Direction: heat.Write,
		KeyNames: []string{"pk"}, Key: []string{s.Key}, Sort: []string{fmt.Sprint(n % s.Items)}, Units: s.Units,
	}
	reason := "TableWriteKeyRangeThroughputExceeded"
	if s.Read {
		o.Direction, reason = heat.Read, "TableReadKeyRangeThroughputExceeded"
	}
	if s.Refused > 0 && float64(n%100) < 100*s.Refused {
		o.Throttled, o.Reason = true, reason
	}
	return o
}

// stored returns what an export of the items shows.
func (c Case) stored() (heat.Report, error) {
	reader, err := heat.NewExportReader(c.Table, heat.Options{Keys: map[string][]string{c.Table: {"pk"}}})
	if err != nil {
		return heat.Report{}, err
	}
	var lines bytes.Buffer
	for _, p := range c.Piles {
		key, err := json.Marshal(p.Key)
		if err != nil {
			return heat.Report{}, err
		}
		for i := range p.Items {
			fmt.Fprintf(&lines, `{"Item":{"pk":{"S":%s},"sk":{"S":"%d"}}}`+"\n", key, i)
		}
	}
	if err := reader.Read("items.json", &lines); err != nil {
		return heat.Report{}, err
	}
	return reader.Report(), nil
}

// Score is how the findings of cases compare with those that they should have.
type Score struct {
	Right  int `json:"right"`  // found and wanted
	Wrong  int `json:"wrong"`  // found and not wanted
	Missed int `json:"missed"` // wanted and not found
}

// Precision returns the part of the findings that were wanted.
func (s Score) Precision() float64 { return part(s.Right, s.Right+s.Wrong) }

// Recall returns the part of the wanted findings that were found.
func (s Score) Recall() float64 { return part(s.Right, s.Right+s.Missed) }

func part(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// Judge compares the findings of a report with those that the case should have, and says how they differ. Findings of
// severity info are not compared.
func (c Case) Judge(findings []heat.Finding) (s Score, differences []string) {
	found := make([]bool, len(c.Want))
	for i := range findings {
		f := &findings[i]
		if f.Severity < heat.Warning {
			continue
		}
		right := false
		for j, w := range c.Want {
			if !found[j] && w.Matches(f) {
				found[j], right = true, true
				break
			}
		}
		if right {
			s.Right++
			continue
		}
		s.Wrong++
		differences = append(differences, fmt.Sprintf("%s: not wanted: %s %s %s: %s", c.Name(), f.Severity, f.Kind, f.Key, f.Message))
	}
	for j, w := range c.Want {
		if !found[j] {
			s.Missed++
			differences = append(differences, fmt.Sprintf("%s: missed: %s", c.Name(), w))
		}
	}
	return s, differences
}

// Add adds the score of another case.
func (s *Score) Add(other Score) {
	s.Right += other.Right
	s.Wrong += other.Wrong
	s.Missed += other.Missed
}
