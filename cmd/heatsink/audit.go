package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
)

// audit looks at a table and says what is wrong with its keys.
type audit struct {
	account
	table string

	stream     bool
	fromStart  bool
	last       time.Duration
	cloudwatch bool
	insights   bool
	exports    []string
	keys       []string

	items   int64
	maxRCU  float64
	top     int
	hide    string
	exclude []string
	failOn  string
	json    bool
}

func newAudit() *cobra.Command {
	var a audit
	cmd := &cobra.Command{
		Use:   "audit TABLE",
		Short: "Find hot keys and keys that will be: a table's items, stream, metrics or export",
		Long: `Look at a table and say which keys are hot, or will be, why, and what to do. It reads
only, no faster than --max-rcu, and says beforehand what it will cost.

Where it looks:

  (default)       a sample of the items, by a parallel scan: skew and cardinality of the
                  keys of the table and its global indexes, by shape of key
  --stream        the table's stream, for --last (default one minute) or, with --from-start,
                  all it still has: writes by key
  --cloudwatch    the metrics of the --last hour: throttles by reason, no keys
  --insights      the keys that Contributor Insights lists, where it is turned on
  --export FILE…  files of an export in DynamoDB JSON, gzip or not; no account is needed.
                  An export does not tell its keys: --key pk, --key byStatus=status

A finding has a severity: info, worth knowing; warning, will hurt when traffic grows;
critical, hurts now. With --fail-on the exit code is 1 if there is one that severe.

With --json, stdout is one JSON document: "report", which heatsink plan --report reads,
and "findings".`,
		Example: `  heatsink audit orders
  heatsink audit orders --endpoint http://127.0.0.1:8000 --fail-on warning
  heatsink audit orders --stream --last 5m
  heatsink audit orders --cloudwatch --last 3h --json | jq '.findings[].message'
  heatsink audit orders --export data/*.json.gz --key customer`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(a.exports) > 0 { // a shell has made several files of --export *.gz
				return cobra.MinimumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.table = args[0]
			a.exports = append(a.exports, args[1:]...)
			return a.run(cmd)
		},
	}
	f := cmd.Flags()
	a.flags(f)
	f.BoolVar(&a.stream, "stream", false, "look at the table's stream")
	f.BoolVar(&a.fromStart, "from-start", false, "with --stream: from the oldest record on, up to now")
	f.DurationVar(&a.last, "last", 0, "how much time: to follow a stream for (default 1m), or of metrics (default 1h)")
	f.BoolVar(&a.cloudwatch, "cloudwatch", false, "look at CloudWatch's metrics")
	f.BoolVar(&a.insights, "insights", false, "look at Contributor Insights")
	f.StringArrayVar(&a.exports, "export", nil, "look at a file of an export; may be repeated, or a pattern")
	f.StringArrayVar(&a.keys, "key", nil, "with --export: the partition key, as NAME, or INDEX=NAME of an index; may be repeated")
	f.Int64Var(&a.items, "items", 100_000, "items of a scan, at most; -1 for all")
	f.Float64Var(&a.maxRCU, "max-rcu", 100, "read units a second of a scan, at most")
	f.IntVar(&a.top, "top", 10, "keys to list")
	f.StringVar(&a.hide, "hash-keys", "", "show keys as hashes with this secret")
	f.StringArrayVar(&a.exclude, "exclude", nil, "leave keys of this shell pattern out of the findings; may be repeated")
	f.StringVar(&a.failOn, "fail-on", "", "exit 1 on a finding of info, warning or critical, or worse")
	f.BoolVar(&a.json, "json", false, "one JSON document")
	return cmd
}

func (a *audit) run(cmd *cobra.Command) error {
	threshold, err := a.validate()
	if err != nil {
		return err
	}
	report, err := a.look(cmd)
	if err != nil {
		return err
	}
	findings := heat.Explain(report, heat.Rules{Exclude: a.excluded})
	if a.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			Report   heat.Report    `json:"report"`
			Findings []heat.Finding `json:"findings"`
		}{report, append([]heat.Finding{}, findings...)})
	} else {
		writeReport(newScreen(cmd.OutOrStdout()), report, findings, a.top)
	}
	if err != nil {
		return err
	}
	if worst, any := heat.Worst(findings); any && threshold != nil && worst >= *threshold {
		return fmt.Errorf("--fail-on %s: %s", *threshold, findings[0])
	}
	return nil
}

// validate checks what flags cannot, and returns the severity to fail on, if any.
func (a *audit) validate() (*heat.Severity, error) {
	var faults []error
	sources := 0
	for _, asked := range []bool{a.stream, a.cloudwatch, a.insights, len(a.exports) > 0} {
		if asked {
			sources++
		}
	}
	if sources > 1 {
		faults = append(faults, errors.New("--stream, --cloudwatch, --insights and --export exclude each other"))
	}
	if a.last < 0 {
		faults = append(faults, fmt.Errorf("--last %v is negative", a.last))
	}
	if a.top < 0 {
		faults = append(faults, fmt.Errorf("--top %d is negative", a.top))
	}
	if a.maxRCU <= 0 {
		faults = append(faults, fmt.Errorf("--max-rcu %v: a rate above 0 is needed", a.maxRCU))
	}
	for _, pattern := range a.exclude {
		if _, err := filepath.Match(pattern, ""); err != nil {
			faults = append(faults, fmt.Errorf("--exclude %s: %w", pattern, err))
		}
	}
	if a.failOn == "" {
		return nil, errors.Join(faults...)
	}
	var threshold heat.Severity
	if err := threshold.UnmarshalText([]byte(a.failOn)); err != nil {
		faults = append(faults, fmt.Errorf("--fail-on: %w", err))
	}
	return &threshold, errors.Join(faults...)
}

func (a *audit) excluded(key string) bool {
	for _, pattern := range a.exclude {
		if match, _ := filepath.Match(pattern, key); match {
			return true
		}
	}
	return false
}

func (a *audit) options() heat.Options {
	o := heat.Options{Top: max(a.top, 50)}
	if a.hide != "" {
		o.Redact = heat.Hashed([]byte(a.hide))
	}
	return o
}

// look makes the report, from where it was asked for.
func (a *audit) look(cmd *cobra.Command) (heat.Report, error) {
	ctx := cmd.Context()
	if len(a.exports) > 0 {
		return a.readExport(newScreen(cmd.ErrOrStderr()))
	}
	c, err := a.clients(ctx)
	if err != nil {
		return heat.Report{}, err
	}
	screen := newScreen(cmd.ErrOrStderr())
	switch {
	case a.stream:
		return a.readStream(ctx, c, screen)
	case a.cloudwatch:
		return heatcloudwatch.Metrics(ctx, c.metrics, c.tables, a.table, heatcloudwatch.Options{Last: a.last})
	case a.insights:
		report, err := heatcloudwatch.Insights(ctx, c.metrics, c.tables, a.table, heatcloudwatch.Options{Last: a.last})
		a.hideKeys(report)
		return report, err
	}
	return a.scan(ctx, c, screen)
}

// hideKeys hashes the keys of a report that was made elsewhere, if so asked.
func (a *audit) hideKeys(report heat.Report) {
	if redact := a.options().Redact; redact != nil {
		for i := range report.Resources {
			for j := range report.Resources[i].Writes.Keys {
				k := &report.Resources[i].Writes.Keys[j]
				k.Key = string(redact(nil, []byte(k.Key)))
			}
		}
	}
}

// scan says what it will cost, then looks at a sample of the items.
func (a *audit) scan(ctx context.Context, c clients, screen *screen) (heat.Report, error) {
	o := a.options()
	options := heat.ScanOptions{Items: a.items, MaxRCU: a.maxRCU, Top: o.Top, Redact: o.Redact}
	options.Progress = func(p heat.ScanProgress) {
		screen.live(fmt.Sprintf("scan: %d of about %d items, %.0f read units", p.Items, p.Of, p.Units))
	}
	cost, err := heat.EstimateScan(ctx, c.tables, a.table, options)
	if err != nil {
		return heat.Report{}, err
	}
	screen.say("scan of %s: %s at %.0f units a second", a.table, cost, a.maxRCU)
	report, err := heat.ScanTable(ctx, c.tables, a.table, options)
	screen.clear()
	return report, err
}

func (a *audit) readStream(ctx context.Context, c clients, screen *screen) (heat.Report, error) {
	reader, err := heat.OpenStream(ctx, c.tables, c.streams, a.table, heat.StreamOptions{
		FromStart: a.fromStart, UntilNow: a.fromStart, Recorder: a.options(),
	})
	if err != nil {
		return heat.Report{}, err
	}
	if !a.fromStart {
		last := a.last
		if last == 0 {
			last = time.Minute
		}
		screen.say("following the stream of %s for %v; reading a stream costs no capacity of the table", a.table, last)
		limited, cancel := context.WithTimeout(ctx, last)
		defer cancel()
		err = reader.Run(limited)
	} else {
		err = reader.Run(ctx)
	}
	if err == nil {
		err = ctx.Err() // interrupted
	}
	return reader.Report(), err
}

func (a *audit) readExport(screen *screen) (heat.Report, error) {
	o := a.options()
	o.Keys = make(map[string][]string)
	for _, text := range a.keys {
		resource, name, err := parseKeyFlag(a.table, text)
		if err != nil {
			return heat.Report{}, err
		}
		o.Keys[resource] = append(o.Keys[resource], name)
	}
	if len(o.Keys[a.table]) == 0 {
		return heat.Report{}, errors.New("--export needs --key NAME: an export does not tell the table's partition key")
	}
	reader, err := heat.NewExportReader(a.table, o)
	if err != nil {
		return heat.Report{}, err
	}
	for _, pattern := range a.exports {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return heat.Report{}, fmt.Errorf("--export %s: %w", pattern, err)
		}
		if len(files) == 0 {
			return heat.Report{}, fmt.Errorf("--export %s: no such file", pattern)
		}
		for _, name := range files {
			screen.live("export: " + name)
			if err := readExportFile(reader, name); err != nil {
				screen.clear()
				return heat.Report{}, err
			}
		}
	}
	screen.clear()
	return reader.Report(), nil
}

func readExportFile(reader *heat.ExportReader, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(reader.Read(name, file), file.Close())
}
