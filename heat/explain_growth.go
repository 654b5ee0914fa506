package heat

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// growth adds what the control law has decided about keys of adaptive collections.
func (e *explainer) growth() {
	for i := range e.report.Decisions {
		d := &e.report.Decisions[i]
		if e.excluded(d.Key) {
			continue
		}
		if f, ok := d.finding(); ok {
			e.findings = append(e.findings, f)
		}
	}
}

// finding returns the finding of a decision, if it is one.
func (d *Decision) finding() (Finding, bool) {
	f := Finding{Resource: d.Resource, Direction: Write, Key: d.Key, Severity: Warning}
	switch d.Reason {
	case DecidedGrow:
		f.Kind, f.Severity = KeyGrew, Info
		f.Message = fmt.Sprintf("Key '%s' has grown from %s to %s", d.Key, countShards(d.From), countShards(d.To))
		f.Cause = "its writes were more than its shards should take"
		f.Remedy = "nothing: readers and writers of the collection follow by themselves"
	case DecidedFutile:
		f.Kind = GrowthFutile
		f.Message = fmt.Sprintf("Key '%s' is throttled, and more than %s would not help", d.Key, countShards(d.From))
		f.Cause = "its shards are cold and throttled all the same: the table has too few partitions, so that shards share them"
		f.Remedy = "raise the table's warm throughput, which adds partitions; heatsink plan says how much"
	case DecidedAtMaximum:
		f.Kind = GrowthAtMaximum
		f.Message = fmt.Sprintf("Key '%s' is too hot for %s, the most that the collection allows", d.Key, countShards(d.From))
		f.Cause = "it would grow, but it has reached the maximum of the collection"
		f.Remedy = "raise the collection's maximum width, in all processes; or write less to the key"
	case DecidedFrozen:
		f.Kind, f.Severity = GrowthFrozen, Info
		f.Message = fmt.Sprintf("Key '%s' would grow beyond %s, but its width is frozen", d.Key, countShards(d.From))
		f.Cause = "somebody has frozen the key or the collection"
		f.Remedy = "unfreeze it, or grow it by hand"
	default:
		return Finding{}, false
	}
	f.Evidence = []string{fmt.Sprintf("%s write units/sec of all processes, %.1f%% throttled by key range, at %s",
		figure.Thousands(d.Rate), 100*d.Throttled, d.At.UTC().Format(time.DateTime))}
	if d.Text != "" {
		f.Cause = d.Text
	}
	return f, true
}
