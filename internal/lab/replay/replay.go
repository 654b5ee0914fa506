// Package replay makes a scenario of traffic that was recorded: what if these keys had shards?
package replay

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/lab/scenario"
	"github.com/heatsink-go/heatsink/internal/observed"
)

// Options say what to compare, and what a report does not tell.
type Options struct {
	Table      string // empty: the one with most units
	Shards     []int  // a run of heatsink with each of these
	Adaptive   bool   // a run of heatsink, adaptive
	Partitions int    // of the table; 0: as its capacity needs
	Seed       uint64
}

// Errors that callers tell apart.
var (
	// ErrNoTraffic is wrapped if a report has no reads and writes over time.
	ErrNoTraffic = errors.New("no traffic to replay")
)

// The bounds of a replay.
const (
	longest   = time.Hour        // a longer report is replayed at its average rate
	average   = 10 * time.Minute // for so long
	oneByOne  = 2_000_000        // operations that are simulated as requests
	maxSteps  = 1_000
	maxListed = 1_000
)

// Scenario returns a scenario with the traffic of a report. The keys are those of the report without their shards, as
// operations have them; all others have equal parts of the rest.
func Scenario(r *heat.Report, o Options) (scenario.Scenario, error) {
	var s scenario.Scenario
	if err := o.check(); err != nil {
		return s, err
	}
	resource, err := find(r, o.Table)
	if err != nil {
		return s, err
	}
	elapsed := r.Elapsed()
	switch {
	case elapsed > time.Minute:
		elapsed = elapsed.Round(time.Second)
	case elapsed > time.Second: // people read the time in the title
		elapsed = elapsed.Round(100 * time.Millisecond)
	}
	if elapsed <= 0 {
		return s, fmt.Errorf("%w: a report of source %q shows stored items, not operations over time; record traffic with heatsink top --json or heatsink audit --stream --json", ErrNoTraffic, r.Source)
	}
	s = scenario.Scenario{
		Name: "replay", Title: "Recorded traffic of " + resource.Table, Seed: o.Seed,
		RunIn: scenario.Duration(time.Second), Duration: scenario.Duration(min(max(elapsed, 2*time.Second), longest) - time.Second),
		Table: table(resource.Capacity, o.Partitions),
	}
	if elapsed > longest {
		s.Duration = scenario.Duration(average)
	}
	s.Start.Time = r.From.UTC()
	operations := 0.0
	for _, d := range []heat.Direction{heat.Write, heat.Read} {
		if err := observed.CheckFlow(resource.Flow(d)); err != nil {
			return s, fmt.Errorf("the report has for the %ss of table %q %w", d, resource.Table, err)
		}
		l, ok := load(resource.Flow(d), d, r.From, elapsed)
		if rate := l.Peak(); !(rate <= scenario.MaxPerSecond) {
			return s, fmt.Errorf("the report has for the %ss of table %q %.3g operations a second: the lab replays up to %d", d, resource.Table, rate, scenario.MaxPerSecond)
		}
		if !ok {
			continue
		}
		if len(l.Keys.Listed.Shares) == 0 {
			return s, fmt.Errorf("%w: the report of source %q names no keys for the %ss of table %q, so it does not tell which are hot; record traffic with heatsink top --json or heatsink audit --stream --json",
				ErrNoTraffic, r.Source, d, resource.Table)
		}
		s.Load = append(s.Load, l)
		operations += l.Operations(s.Total())
	}
	if len(s.Load) == 0 {
		return s, fmt.Errorf("%w: table %s has neither reads nor writes in this report", ErrNoTraffic, resource.Table)
	}
	if operations > oneByOne {
		s.Mode = scenario.Aggregate
	}
	s.Layouts = []scenario.Layout{{Name: "without shards", Kind: scenario.None}}
	for _, n := range o.Shards {
		s.Layouts = append(s.Layouts, scenario.Layout{Kind: scenario.Fixed, Shards: n})
	}
	if o.Adaptive {
		s.Layouts = append(s.Layouts, scenario.Layout{Kind: scenario.Adaptive})
	}
	s, err = scenario.Complete(s)
	if err != nil {
		return s, fmt.Errorf("the report makes no scenario for table %q: %w", resource.Table, err)
	}
	return s, nil
}

// check refuses numbers that no table and no layout has.
func (o *Options) check() error {
	for _, n := range o.Shards {
		if n < 1 || n > scenario.MaxShards {
			return fmt.Errorf("shards: %d, want 1 to %d", n, scenario.MaxShards)
		}
	}
	if o.Partitions < 0 || o.Partitions > scenario.MaxPartitions {
		return fmt.Errorf("partitions: %d, want 0 to %d", o.Partitions, scenario.MaxPartitions)
	}
	return nil
}

// Doubt says why a replay may not be what was recorded, "" if nothing speaks against it. It is given how many requests of the traffic
// as it was, without shards, were throttled again. Old figures of a report are averages, which have no peaks.
func Doubt(r *heat.Report, o Options, throttled float64) string {
	const few = 100
	resource, err := find(r, o.Table)
	if err != nil {
		return ""
	}
	recorded := resource.Reads.Throttled + resource.Writes.Throttled
	if recorded < few || throttled*10 > float64(recorded) {
		return ""
	}
	return fmt.Sprintf("%d requests of the report were throttled, and %.0f of its replay without shards: its rates are averages of minutes or longer. Record the load while it runs, for less than five minutes.", recorded, throttled)
}

// find returns a table of a report.
func find(r *heat.Report, name string) (*heat.ResourceReport, error) {
	var found *heat.ResourceReport
	units := func(x *heat.ResourceReport) float64 { return x.Reads.Units + x.Writes.Units }
	var names []string
	for i := range r.Resources {
		x := &r.Resources[i]
		if x.Index != "" {
			continue
		}
		names = append(names, x.Table)
		if x.Table == name || name == "" && (found == nil || units(x) > units(found)) {
			found = x
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: the report has no table %q; it has %q", ErrNoTraffic, name, names)
	}
	return found, nil
}

func table(c *heat.Capacity, partitions int) scenario.Table {
	t := scenario.Table{Partitions: partitions}
	if c == nil {
		return t
	}
	if c.OnDemand {
		t.WarmReadUnits, t.WarmWriteUnits = c.WarmReads, c.WarmWrites
		return t
	}
	t.Capacity = scenario.Provisioned
	t.ReadUnits, t.WriteUnits = max(c.ReadUnits, 1), max(c.WriteUnits, 1)
	t.NoQuota = max(t.ReadUnits, t.WriteUnits) > scenario.TableQuota // the account that it was recorded in has more
	return t
}

// load returns the operations of a flow: what was asked for, not what was served.
func load(f *heat.Flow, d heat.Direction, from time.Time, elapsed time.Duration) (scenario.Load, bool) {
	served := float64(f.Requests - f.Throttled)
	operations := float64(f.Requests - f.Retries)
	if served <= 0 {
		served, operations = f.Units, f.Units // units are all that is known
	}
	if operations <= 0 || f.Units <= 0 {
		return scenario.Load{}, false
	}
	each := f.Units / served
	if f.Requests > 0 {
		each = demand(f) / float64(f.Requests)
	}
	l := scenario.Load{Name: d.String(), Operation: scenario.Write, Size: size(1024, each)}
	if d == heat.Read {
		l.Operation = scenario.Read
		l.Size = size(4096, 2*each)
	}
	l.Keys.Listed = keys(f)
	rate := operations / elapsed.Seconds() * each / (l.WriteUnits() + l.ReadUnits()) // sizes are rounded, units must not be
	if l.Steps = steps(f, from, elapsed, rate); l.Steps == nil {
		l.PerSecond = rate
	}
	return l, true
}

// size returns that of an item of so many units, which is never more than DynamoDB stores.
func size(unit, units float64) scenario.Bytes {
	const largest = 400 << 10
	return scenario.Bytes(min(unit*max(math.Round(units), 1), largest))
}

// wanted returns the units that a key asked for: what was throttled would have cost as much as what was served. Items of keys differ
// in size, so that units tell which key fills a partition, and requests do not.
func wanted(k *heat.LogicalKey) float64 {
	if served := k.Requests - k.Throttled; served > 0 {
		return k.Units * float64(k.Requests) / float64(served)
	}
	return max(k.Units, float64(k.Requests)) // nothing was served: a unit each is the least
}

// demand returns the units that a flow asked for. Keys that are not listed are taken for as large as they were served.
func demand(f *heat.Flow) float64 {
	total, listed := 0.0, 0.0
	for _, k := range f.Folded() {
		total += wanted(&k)
		listed += k.Units
	}
	return total + max(0, f.Units-listed)
}

// keys returns the hottest keys of a flow with their parts of the units that it asked for.
func keys(f *heat.Flow) *scenario.Listed {
	var list scenario.Listed
	left, all := 1.0, demand(f)
	for _, k := range f.Folded() {
		share := wanted(&k) / all
		share = min(share, left)
		if k.Key == "" || share <= 0 || len(list.Shares) == maxListed {
			continue
		}
		list.Shares = append(list.Shares, scenario.Share{Key: k.Key, Share: share})
		left -= share
	}
	const rounding = 1e-9
	if left > rounding {
		list.Count = min(max(f.Distinct.Keys-int64(len(list.Shares)), 1), scenario.MaxKeys)
	}
	return &list
}

// steps returns the rate over time, nil if the report does not tell. All operations together are as many as at the rate.
func steps(f *heat.Flow, from time.Time, elapsed time.Duration, rate float64) []scenario.Step {
	if len(f.Trend) < 2 || len(f.Trend) > maxSteps || elapsed > longest {
		return nil
	}
	each := f.Units / max(float64(f.Requests-f.Throttled), 1)
	var list []scenario.Step
	end, width := time.Duration(0), time.Duration(0) // of the point before
	for i := range f.Trend {
		p := &f.Trend[i]
		at, over := max(p.From.Sub(from), 0), p.From.Add(p.For).Sub(from)
		if over <= at || len(list) > 0 && at <= time.Duration(list[len(list)-1].At) {
			continue
		}
		if p.For < width { // the minute in which seconds begin is not told: it is as the one before
			end += width
		}
		if len(list) > 0 && end < at {
			list = append(list, scenario.Step{At: scenario.Duration(end)}) // a trend leaves out what is idle
		}
		list = append(list, scenario.Step{At: scenario.Duration(at), PerSecond: (p.Units + float64(p.Throttled)*each) / p.For.Seconds()})
		end, width = over, p.For
	}
	list = append(list, scenario.Step{At: scenario.Duration(end)})
	told := scenario.Load{Steps: list}
	factor := rate * elapsed.Seconds() / told.Operations(elapsed)
	if !(told.Peak()*factor <= scenario.MaxPerSecond) { // nothing is told, or only of a moment at the end
		return nil
	}
	for i := range list {
		list[i].PerSecond *= factor
	}
	return list
}
