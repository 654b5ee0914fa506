package heat

import (
	"errors"
	"fmt"
	"math"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// Limits are the units a second that one partition serves. A field at zero has DynamoDB's figure, PartitionReadUnits or
// PartitionWriteUnits. An engine for tests may have smaller or larger partitions.
type Limits struct {
	ReadUnits  float64 `json:"readUnits,omitempty"`
	WriteUnits float64 `json:"writeUnits,omitempty"`
}

// Of returns the units a second that one partition serves in a direction.
func (l Limits) Of(d Direction) float64 {
	units := l.WriteUnits
	if d == Read {
		units = l.ReadUnits
	}
	if !(units > 0) || math.IsInf(units, 1) { // as in a report that somebody else wrote
		return d.Limit()
	}
	return units
}

func (l Limits) validate() error {
	var faults []error
	for _, field := range []struct {
		name  string
		units float64
	}{{"Limits.ReadUnits", l.ReadUnits}, {"Limits.WriteUnits", l.WriteUnits}} {
		if !(field.units >= 0) || math.IsInf(field.units, 1) {
			faults = append(faults, fmt.Errorf("%s is %v: it must be a number of units a second, or 0 for DynamoDB's", field.name, field.units))
		}
	}
	return errors.Join(faults...)
}

// Limit returns the units a second that one partition of the report's tables serves.
func (r *Report) Limit(d Direction) float64 { return r.Limits.Of(d) }

// writes returns the write units a second that one partition serves, as text.
func (e *explainer) writes() string { return figure.Thousands(e.report.Limit(Write)) }

// rates returns what one partition serves, as text.
func (e *explainer) rates() string {
	return fmt.Sprintf("%s writes and %s reads a second", e.writes(), figure.Thousands(e.report.Limit(Read)))
}
