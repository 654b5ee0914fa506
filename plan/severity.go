package plan

import (
	"fmt"
	"slices"
)

// Severity is the importance of a note.
type Severity int

// The severities, in their order.
const (
	Info     Severity = iota // good to know
	Warning                  // costs money or time
	Critical                 // DynamoDB will throttle, or the load cannot be served
)

var severities = [...]string{"info", "warning", "critical"}

// String returns the severity as a word.
func (s Severity) String() string {
	if s < Info || int(s) >= len(severities) {
		return fmt.Sprintf("Severity(%d)", int(s))
	}
	return severities[s]
}

// MarshalText writes the severity as a word, in JSON for example.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q: it must be one of %v", text, severities)
	}
	*s = Severity(i)
	return nil
}

// Note tells a risk or a fact about a plan. Its Code is stable across releases.
type Note struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	Text     string   `json:"text"`
}

// Worst returns the severity of the most severe note, and false if there is none.
func (p *Plan) Worst() (Severity, bool) {
	if len(p.Notes) == 0 {
		return Info, false
	}
	return p.Notes[0].Severity, true // they are in order
}
