package observed

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// The largest figures that a report may have. They are far above what tables serve, and far below what numbers hold.
const (
	mostCounted = 1e18
	mostRate    = 1e12 // a second
	longest     = 366 * 24 * time.Hour
)

// Check returns what of a report no program has counted. Such a report is not worth a plan or a replay.
func Check(r *heat.Report) error {
	if r.To.Before(r.From) {
		return fmt.Errorf("the report of source %q ends at %s, before it begins at %s: record it again", r.Source, r.To.Format(time.RFC3339), r.From.Format(time.RFC3339))
	}
	for i := range r.Resources {
		x := &r.Resources[i]
		fault := func(of string, err error) error {
			return fmt.Errorf("the report of source %q has for %s of %q %w", r.Source, of, x.Resource.String(), err)
		}
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			err := CheckFlow(x.Flow(d))
			if err == nil {
				err = checkRates(x.Flow(d), r.Elapsed())
			}
			if err != nil {
				return fault("the "+d.String()+"s", err)
			}
		}
		if err := checkCapacity(x.Capacity); err != nil {
			return fault("the capacity", err)
		}
	}
	return within(mostRate, figure{"limit of a partition in write units", r.Limits.WriteUnits}, figure{"limit of a partition in read units", r.Limits.ReadUnits})
}

// figure is a number of a report with its name.
type figure struct {
	name string
	n    float64
}

// within returns an error if a figure is below 0 or too large.
func within(most float64, figures ...figure) error {
	for _, f := range figures {
		if !(f.n >= 0 && f.n <= most) {
			return fmt.Errorf("%s: %g, want 0 to %g: record it again", f.name, f.n, most)
		}
	}
	return nil
}

// CheckFlow returns what of a flow no program has counted.
func CheckFlow(f *heat.Flow) error {
	if err := within(mostCounted, figure{"units", f.Units}, figure{"requests", float64(f.Requests)}, figure{"retries", float64(f.Retries)},
		figure{"throttled", float64(f.Throttled)}, figure{"errors", float64(f.Errors)}); err != nil {
		return err
	}
	counted := func(n float64) bool { return n >= 0 && n <= mostCounted }
	for _, k := range f.Folded() {
		if !counted(k.Units) || !counted(float64(k.Requests)) || !counted(float64(k.Throttled)) {
			return fmt.Errorf("key %q with %g units, %d requests and %d throttled, want 0 to %g: record it again", k.Key, k.Units, k.Requests, k.Throttled, mostCounted)
		}
	}
	for i := range f.Trend {
		if p := &f.Trend[i]; !counted(p.Units) || !counted(float64(p.Throttled)) || p.For < 0 || p.For > longest {
			return fmt.Errorf("a point of its trend with %g units and %d throttled in %v, want 0 to %g: record it again", p.Units, p.Throttled, p.For, mostCounted)
		}
	}
	return nil
}

// checkRates returns the rate or the latency of a flow that cannot be.
func checkRates(f *heat.Flow, elapsed time.Duration) error {
	if err := within(mostRate, figure{"units a second", f.Units / max(1, elapsed.Seconds())}, figure{"peak", f.Peak}); err != nil {
		return err
	}
	for i := range f.Keys {
		k := &f.Keys[i]
		figures := []figure{
			{"rate", k.Rate},
			{"rateLow", k.RateLow},
			{"busy", k.Busy},
			{"consumed", k.Consumed},
			{"busiest", k.Busiest},
			{"second", k.Second},
			{"refused", k.Refused},
			{"lately", k.Lately},
			{"share", k.Share},
		}
		if k.Share > 0 {
			figures = append(figures, figure{"rateLow by share", k.RateLow / k.Share})
		}
		if err := within(mostRate, figures...); err != nil {
			return fmt.Errorf("key %q with %w", k.Key, err)
		}
	}
	for i := range f.Logical {
		k := &f.Logical[i]
		if err := within(mostRate, figure{"rateLow", k.RateLow}, figure{"busy", k.Busy}, figure{"second", k.Second}, figure{"refused", k.Refused}); err != nil {
			return fmt.Errorf("key %q with %w", k.Key, err)
		}
	}
	for _, took := range [...]time.Duration{f.Latency.P50, f.Latency.P99, f.Latency.P999, f.Latency.Max} {
		if took < 0 || took > longest {
			return fmt.Errorf("a latency of %v, want 0 to %v: record it again", took, longest)
		}
	}
	return nil
}

func checkCapacity(c *heat.Capacity) error {
	if c == nil {
		return nil
	}
	return within(mostRate, figure{"readUnits", float64(c.ReadUnits)}, figure{"writeUnits", float64(c.WriteUnits)}, figure{"warmReads", float64(c.WarmReads)},
		figure{"warmWrites", float64(c.WarmWrites)}, figure{"partitions", float64(c.Partitions)})
}
