package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

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

// readReport reads what heatsink audit --json or top --json wrote.
func readReport(name string, stdin io.Reader) (heat.Report, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return heat.Report{}, err
		}
		defer file.Close()
		from = file
	}
	var document struct {
		heat.Report
		Audit *heat.Report `json:"report"`
	}
	decoder := json.NewDecoder(io.LimitReader(from, 1<<30))
	for read := 0; ; read++ { // of the rounds of top, the last is the one that has seen most
		next := document
		next.Report, next.Audit = heat.Report{}, nil
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) && read > 0 {
			break
		} else if err != nil {
			return heat.Report{}, fmt.Errorf("%s: %w", name, err)
		}
		document = next
	}
	if document.Audit != nil {
		document.Report = *document.Audit
	}
	if document.Source == "" {
		return heat.Report{}, fmt.Errorf("%s: not a report of heatsink audit or top", name)
	}
	return document.Report, nil
}

// observed makes plans for the hottest keys of a report.
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
	report, err := readReport(f.report.file, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	var plans []plan.Plan
	for i := range report.Resources {
		r := &report.Resources[i]
		rates := hottest(r, f.report.keys)
		if len(rates) == 0 {
			continue
		}
		some, err := plan.ForKeys(placed(base, r), rates)
		if err != nil {
			return nil, f.explain(err)
		}
		plans = append(plans, some...)
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("--report: a report from %s has no rates of keys; those of a stream, of live calls and of Contributor Insights do", report.Source)
	}
	return plans, nil
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

// hottest returns the keys that want most, reads and writes of a key together.
func hottest(r *heat.ResourceReport, most int) []plan.KeyRate {
	var rates []plan.KeyRate
	find := func(key string) *plan.KeyRate {
		i := slices.IndexFunc(rates, func(k plan.KeyRate) bool { return k.Key == key })
		if i < 0 {
			i = len(rates)
			rates = append(rates, plan.KeyRate{Key: key})
		}
		return &rates[i]
	}
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		for _, k := range r.Flow(d).Keys {
			rate := max(k.RateLow, k.Second)
			if rate == 0 {
				continue
			}
			to := find(k.Key)
			to.Throttles += int(k.Throttled)
			if d == heat.Write {
				to.WriteUnits = rate
			} else {
				to.ReadUnits = rate
			}
		}
	}
	slices.SortStableFunc(rates, func(a, b plan.KeyRate) int {
		return cmp.Compare(b.WriteUnits/heat.PartitionWriteUnits+b.ReadUnits/heat.PartitionReadUnits,
			a.WriteUnits/heat.PartitionWriteUnits+a.ReadUnits/heat.PartitionReadUnits)
	})
	return rates[:min(most, len(rates))]
}
