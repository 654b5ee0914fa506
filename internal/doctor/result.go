package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// Outcome is how a check ended.
type Outcome uint8

// The outcomes. Warning and Problem are in the order of how bad they are.
const (
	OK      Outcome = iota // as it should be
	Unknown                // could not be checked
	Warning                // works, and will hurt later or elsewhere
	Problem                // does not work, or items are missed
)

var outcomes = []string{"ok", "unknown", "warning", "problem"}

// String returns the outcome's name, as in JSON.
func (o Outcome) String() string {
	if int(o) < len(outcomes) {
		return outcomes[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MarshalText returns the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (o *Outcome) UnmarshalText(text []byte) error {
	i := slices.Index(outcomes, string(text))
	if i < 0 {
		return fmt.Errorf("%q is no outcome: want one of %s", text, strings.Join(outcomes, ", "))
	}
	*o = Outcome(i)
	return nil
}

// Result is what a check has found. A check may have several.
type Result struct {
	Check   string  `json:"check"` // its name, such as clock
	Outcome Outcome `json:"outcome"`
	Found   string  `json:"found"`
	Remedy  string  `json:"remedy,omitempty"`
}

// Sample is how much of a table's items was looked at.
type Sample struct {
	Items    int64   `json:"items"`    // that were looked at
	Of       int64   `json:"of"`       // that the table has, about: DynamoDB counts every six hours
	Fraction float64 `json:"fraction"` // the part of the table, 1 if all
	Units    float64 `json:"units"`    // read units that were consumed
}

// Report is what an examination has found.
type Report struct {
	Table    string   `json:"table,omitempty"`
	Region   string   `json:"region"`
	Endpoint string   `json:"endpoint,omitempty"` // "": the one of the region
	Results  []Result `json:"results"`
	Sample   *Sample  `json:"sample,omitempty"` // nil if no items were looked at
}

// Count returns how many results have an outcome.
func (r *Report) Count(o Outcome) (n int) {
	for i := range r.Results {
		if r.Results[i].Outcome == o {
			n++
		}
	}
	return n
}
