package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/plan"
)

// reportOptions are the flags of a plan that is made from what was observed.
type reportOptions struct {
	file string
	keys int
}

func (o *reportOptions) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.file, "report", "", "plan for the hottest keys of a report instead: a file of heatsink audit --json, or - for stdin")
	flags.IntVar(&o.keys, "top", 3, "with --report: how many keys, at most")
}

// readReports reads what heatsink audit --json or top --json wrote, or a report as heat makes it.
func readReports(name string, stdin io.Reader) ([]heat.Report, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	type document struct {
		heat.Report
		Reports []heat.Report `json:"reports"` // of audit
	}
	var last document
	decoder := json.NewDecoder(io.LimitReader(from, 1<<30))
	for read := 0; ; read++ { // of the rounds of top, the last is the one that has seen most
		var next document
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) && read > 0 {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		last = next
	}
	reports := last.Reports
	if reports == nil {
		reports = []heat.Report{last.Report}
	}
	if len(reports) == 0 || slices.ContainsFunc(reports, func(r heat.Report) bool { return r.Source == "" }) {
		return nil, fmt.Errorf("%s: not a report of heatsink audit or top", name)
	}
	return reports, nil
}

// observed makes plans for the hottest keys of what was seen.
func (f *planFlags) observed(cmd *cobra.Command) ([]plan.Plan, error) {
	base, err := f.read()
	if err != nil {
		return nil, err
	}
	if f.report.keys < 1 {
		return nil, fmt.Errorf("--top %d: 1 at least is needed", f.report.keys)
	}
	if base.Writes != 0 || base.Reads != 0 {
		return nil, errors.New("--report tells the rates: --writes and --reads do not go with it")
	}
	reports, err := readReports(f.report.file, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	var plans []plan.Plan
	for _, o := range observations(reports) {
		some, err := plan.ForKeys(placed(base, o.resource), o.hottest(f.report.keys))
		if err != nil {
			return nil, f.explain(err)
		}
		plans = append(plans, some...)
	}
	if len(plans) == 0 {
		var sources []string
		for _, r := range reports {
			sources = append(sources, string(r.Source))
		}
		return nil, fmt.Errorf("--report: a report from %s has no rates of keys; those of a stream, of live calls and of "+
			"Contributor Insights do", strings.Join(sources, " or "))
	}
	return plans, nil
}

// observation is what was seen of a table or index: how it is set up, and the rates of its keys.
type observation struct {
	resource *heat.ResourceReport
	rates    []plan.KeyRate
	by       map[string]heat.Source // which source a key's rates are from
}

// trust orders sources, those first whose rates of a key are used when several have some: live calls are counted to the
// unit, a stream's are worked out, and Contributor Insights has means of a minute, of reads and writes together.
func trust(s heat.Source) int {
	at := slices.Index([]heat.Source{heat.Live, heat.Engine, heat.Stream, heat.Insights}, s)
	if at < 0 {
		return -1 // somebody's own
	}
	return at
}

// observations returns what reports show of each table and index. Those without rates of keys, such as a scan's, are
// passed over.
func observations(reports []heat.Report) []*observation {
	reports = slices.Clone(reports)
	slices.SortStableFunc(reports, func(a, b heat.Report) int { return trust(a.Source) - trust(b.Source) })
	var all []*observation
	for _, report := range reports {
		for i := range report.Resources {
			r := &report.Resources[i]
			at := slices.IndexFunc(all, func(o *observation) bool { return o.resource.Resource == r.Resource })
			if at >= 0 {
				all[at].add(&report, r)
				continue
			}
			o := &observation{resource: r, by: make(map[string]heat.Source)}
			if o.add(&report, r); len(o.rates) > 0 {
				all = append(all, o)
			}
		}
	}
	return all
}

// add takes the rates of the keys that no earlier source had, and the throttles of all: a stream shows none.
func (o *observation) add(report *heat.Report, r *heat.ResourceReport) {
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		for _, k := range r.Flow(d).Keys {
			rate := max(report.Sustained(&k), k.Second)
			by, known := o.by[k.Key]
			switch {
			case known && by != report.Source:
				to := o.rate(k.Key)
				to.Throttles = max(to.Throttles, int(k.Throttled))
				continue
			case rate == 0:
				continue
			}
			o.by[k.Key] = report.Source
			to := o.rate(k.Key)
			to.Throttles += int(k.Throttled)
			if d == heat.Write {
				to.WriteUnits = max(to.WriteUnits, rate)
			} else {
				to.ReadUnits = max(to.ReadUnits, rate)
			}
		}
	}
}

func (o *observation) rate(key string) *plan.KeyRate {
	i := slices.IndexFunc(o.rates, func(k plan.KeyRate) bool { return k.Key == key })
	if i < 0 {
		i = len(o.rates)
		o.rates = append(o.rates, plan.KeyRate{Key: key})
	}
	return &o.rates[i]
}

// hottest returns the keys that want most, reads and writes of a key together.
func (o *observation) hottest(most int) []plan.KeyRate {
	slices.SortStableFunc(o.rates, func(a, b plan.KeyRate) int {
		return cmp.Compare(b.WriteUnits/heat.PartitionWriteUnits+b.ReadUnits/heat.PartitionReadUnits,
			a.WriteUnits/heat.PartitionWriteUnits+a.ReadUnits/heat.PartitionReadUnits)
	})
	return o.rates[:min(most, len(o.rates))]
}

// placed fills in what a report knows of a table or index, where the flags say nothing.
func placed(w plan.Workload, r *heat.ResourceReport) plan.Workload {
	w.Names.Table = cmp.Or(w.Names.Table, r.Table)
	if r.Index != "" {
		w.Table.Index, w.Names.Index = true, cmp.Or(w.Names.Index, r.Index)
	}
	if len(r.Key) == 1 {
		w.Names.PartitionKey = cmp.Or(w.Names.PartitionKey, r.Key[0])
	}
	if c := r.Capacity; c != nil {
		w.Table.Warm.WriteUnits = cmp.Or(w.Table.Warm.WriteUnits, c.WarmWrites)
		w.Table.Warm.ReadUnits = cmp.Or(w.Table.Warm.ReadUnits, c.WarmReads)
		if !c.OnDemand && c.WriteUnits > 0 && w.Table.Provisioned == (plan.Throughput{}) {
			w.Table.Mode = plan.Provisioned
			w.Table.Provisioned = plan.Throughput{WriteUnits: c.WriteUnits, ReadUnits: c.ReadUnits}
		}
	}
	return w
}
