package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/plan"
)

// reportOptions are the flags of a plan that is made from what was observed.
type reportOptions struct {
	file string
	keys int
}

func (o *reportOptions) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.file, "report", "", "plan for the hottest keys of a report: a file from heatsink audit --json, or - for stdin")
	flags.IntVar(&o.keys, "top", 3, "with --report: largest number of keys")
}

// reportDocument is what heatsink audit --json or top --json wrote, or a report as heat makes it.
type reportDocument struct {
	heat.Report
	Reports  []heat.Report  `json:"reports"`  // of audit
	Findings []heat.Finding `json:"findings"` // of audit
}

// readReports reads what was seen, and what is wrong with it: where a document does not say, it is worked out.
func readReports(ctx context.Context, name string, stdin io.Reader) ([]heat.Report, []heat.Finding, error) {
	from := stdin
	if name == "-" && stdin != nil {
		name = "stdin"
	} else {
		file, err := openInput(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		from = file
	}
	document, err := lastDocument(untilDone{ctx, from})
	if errors.Is(err, errTooLong) {
		if file, ok := from.(*os.File); ok {
			if info, fault := file.Stat(); fault == nil && info.Mode().IsRegular() {
				err = fmt.Errorf("%s bytes: %w", figure.Thousands(info.Size()), err)
			}
		}
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: not a report of heatsink audit --json or top --json: %w", name, err)
	}
	document.Reports = observed.Settled(document.Reports)
	if document.Findings == nil {
		document.Findings = heat.ExplainAll(heat.Rules{}, document.Reports...)
	}
	return document.Reports, document.Findings, nil
}

// observed makes plans for the hottest keys of what was seen.
func (f *planFlags) observed(cmd *cobra.Command) ([]plan.Plan, error) {
	base, err := f.read()
	if err != nil {
		return nil, err
	}
	if f.report.keys < 1 {
		return nil, fmt.Errorf("--top %d: want at least 1", f.report.keys)
	}
	if base.Writes != 0 || base.Reads != 0 {
		return nil, errors.New("--report gives the rates: leave --writes and --reads out")
	}
	if !cmd.Flags().Changed("pattern") {
		base.Read.Pattern = "" // then what was seen may tell
	}
	reports, findings, err := readReports(cmd.Context(), f.report.file, cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	seen := observed.Of(reports)
	seen.Judge(findings)
	hottest := seen.Hottest(f.report.keys)
	if len(hottest) == 0 {
		var sources []string
		for _, r := range reports {
			sources = append(sources, string(r.Source))
		}
		return nil, fmt.Errorf("--report: a report from %s has no rates of keys; use one from a stream, live calls or "+
			"Contributor Insights", strings.Join(sources, " or "))
	}
	plans, err := seen.Plans(base, hottest, func(w *plan.Workload) error {
		if cmd.Flags().Changed("existing") {
			w.Existing = base.Existing // the user knows better
		}
		return f.plannable(w)
	})
	return plans, f.inWords(err)
}
