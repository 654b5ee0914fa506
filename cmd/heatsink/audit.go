package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/figure"
)

// audit reads what several sources know about a table, and reports what is wrong with its keys.
type audit struct {
	account
	table string

	engine     bool
	cloudwatch bool
	insights   bool
	exports    []string
	keys       []string
	scan       bool
	stream     bool
	fromStart  bool
	last       time.Duration
	follow     time.Duration

	layouts   []string
	shards    []int
	widths    bool
	unsharded bool

	limits  heat.Limits // of one partition, if the endpoint is an engine that says so
	rules   heat.Rules
	items   int64
	seed    uint64
	maxRCU  float64
	top     int
	hide    string
	exclude []string
	failOn  string
	before  string
	json    bool
}

func newAudit() *cobra.Command {
	var a audit
	cmd := &cobra.Command{
		Use:   "audit TABLE",
		Short: "Find hot keys, from a table's metrics, items, stream or export",
		Long: `Find the keys of a table that are hot or will become hot, explain why, and suggest a
remedy. The command only reads. It first prints which sources it will read, and the cost.

audit reads these sources, in this order. They can be combined; without any, audit scans.

  --engine        the calls that heatsink serve --physics has counted, by key and partition; also
                  read without this flag, if the endpoint is one and no other source is given
  --cloudwatch    metrics of the last hour, or of --last: throttles by reason, no keys
  --insights      the keys that Contributor Insights lists, where it is enabled
  --export FILE…  files of an export in DynamoDB JSON, gzipped or plain; alone, no AWS account is used.
                  An export does not name its keys: add --key pk, --key byStatus=status
  --scan          a sample of the items, by a parallel scan limited to --max-rcu: skew and
                  cardinality of the keys of the table and its global indexes, by key shape
  --stream        writes by key, from the table's stream: for the time of --follow or, with
                  --from-start, all records that the stream still has

With --shards N, audit also checks sharded keys. It reports shards that readers miss because
they read only N, and keys that are spread unevenly. --layout gives the spelling of shard keys.
Items under the bare key count as missed, unless --unsharded says that readers read them too.

Findings combine all sources. For example, audit assigns the throttles in the metrics to the
key that the stream or Insights show, and lists the evidence of each. If audit cannot read one
source, it reads the others and exits with 2.

Of a table with more than --items, audit scans random segments, which --seed draws. A note says
how likely a key is in that sample. A table with fewer than --min-items is too small to tell, and
hears so.

Each finding has a severity. Info is worth knowing, a warning will hurt when traffic grows, and
a critical finding hurts now. With --fail-on, the exit code is 1 if there is a finding of that
severity or worse. The exit code is 2 if audit could not read a source.

With --before FILE, audit compares with an earlier report of --json: which findings are gone, new
or still there, and how rates changed. If capacity was raised and as many requests are throttled
as before, it says that capacity did not help. Read the same sources both times. Flags such as
--hot and --exclude then apply to the findings of both; notes say what audit did not compare.

With --json, stdout is one JSON document with "findings" and "reports", one for each source, and
with --before "change". heatsink plan --report and --before read it.`,
		Example: `  heatsink audit orders
  heatsink audit orders --endpoint http://127.0.0.1:8000 --fail-on warning
  heatsink audit orders --cloudwatch --insights --scan --stream
  heatsink audit orders --stream --follow 5m
  heatsink audit orders --cloudwatch --last 3h --json | jq '.findings[].message'
  heatsink audit orders --export data/*.json.gz --key customer
  heatsink audit orders --shards 16
  heatsink audit orders --cloudwatch --json >monday.json
  heatsink audit orders --cloudwatch --before monday.json
  heatsink audit orders --layout '{key}.{shard1}' --shards 200 --fail-on warning`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(a.exports) > 0 && len(args) > 1 {
				return nil // the shell has expanded --export *.gz to several files
			}
			return oneTable(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.table = args[0]
			a.exports = append(a.exports, args[1:]...)
			return a.run(cmd)
		},
	}
	f := cmd.Flags()
	a.flags(f)
	f.BoolVar(&a.engine, "engine", false, "read what heatsink serve --physics at the endpoint has counted (default if no other source is given, and it answers)")
	f.BoolVar(&a.cloudwatch, "cloudwatch", false, "read CloudWatch metrics")
	f.BoolVar(&a.insights, "insights", false, "read Contributor Insights")
	f.StringArrayVar(&a.exports, "export", nil, "read a file of an export; may be repeated, or a pattern")
	f.StringArrayVar(&a.keys, "key", nil, "with --export: name of the partition key, as NAME for the table or INDEX=NAME for an index; may be repeated")
	f.BoolVar(&a.scan, "scan", false, "read a sample of the items (default if no other source is given)")
	f.BoolVar(&a.stream, "stream", false, "read the table's stream")
	f.BoolVar(&a.fromStart, "from-start", false, "with --stream: read from the oldest record up to now, instead of following")
	f.DurationVar(&a.last, "last", 0, "look-back window for metrics and Insights (default 1h); with --stream alone, the same as --follow")
	f.DurationVar(&a.follow, "follow", 0, "with --stream: time to follow the stream (default 1m)")
	f.IntSliceVar(&a.shards, "shards", nil, "number of shards that readers read; with several layouts, one number for all or one for each")
	f.StringArrayVar(&a.layouts, "layout", nil, "with --shards: spelling of shard keys, as TEMPLATE for the table or INDEX=TEMPLATE for an index; may be repeated (default {key}#SHARD_{shard})")
	f.BoolVar(&a.widths, "widths", false, "with --shards: keys differ in their number of shards; --shards is the largest")
	f.BoolVar(&a.unsharded, "unsharded", false, "with --shards: readers also read the bare key, as with Options.Older")
	f.Int64Var(&a.items, "items", 100_000, "largest number of items to scan; -1 for all")
	f.Uint64Var(&a.seed, "seed", 1, "draws the segments of a table that is scanned in part; another seed draws others")
	defaults := heat.DefaultRules()
	f.Int64Var(&a.rules.Items, "min-items", defaults.Items, "smallest number of items for findings about stored items")
	f.Int64Var(&a.rules.Sample, "min-requests", defaults.Sample, "smallest number of requests for findings about shares of traffic")
	f.Float64Var(&a.rules.Warm, "warm", defaults.Warm, "part of a partition's limit from which on a key is a warning, 0 to 1")
	f.Float64Var(&a.rules.Hot, "hot", defaults.Hot, "part of a partition's limit from which on a key that stays there is critical, 0 to 1")
	f.Float64Var(&a.rules.Excess, "excess", defaults.Excess, "part of the traffic or items beyond its fair share that a key may have, 0 to 1")
	f.Float64Var(&a.maxRCU, "max-rcu", 100, "largest rate of a scan, in read units per second")
	f.IntVar(&a.top, "top", 10, "number of keys to list")
	f.StringVar(&a.hide, "hash-keys", "", "secret with which keys are hashed before they are shown (default: keys are shown)")
	f.StringArrayVar(&a.exclude, "exclude", nil, "shell pattern of keys to leave out of the findings; may be repeated")
	f.StringVar(&a.failOn, "fail-on", "", "exit with 1 on a finding of this severity or worse: info, warning, critical (default: never)")
	f.StringVar(&a.before, "before", "", "compare with an earlier report of the table: a file from heatsink audit --json")
	f.BoolVar(&a.json, "json", false, "print one JSON document")
	return cmd
}

// oneTable is for commands that are about a table, the only argument.
func oneTable(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("no table given: use %s TABLE", cmd.CommandPath())
	case len(args) > 1:
		return fmt.Errorf("one table at a time: use %s %s without %q", cmd.CommandPath(), args[0], args[1:])
	}
	return nil
}

func (a *audit) run(cmd *cobra.Command) error {
	threshold, err := a.validate()
	if err := errors.Join(err, a.idle(cmd.Flags())); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	before, err := a.readBefore(cmd.Context())
	if err != nil {
		return err
	}
	reports, failed := a.look(cmd.Context(), newScreen(cmd.ErrOrStderr()))
	if len(reports) == 0 {
		return failed
	}
	a.rules.Exclude = a.excluded
	for i := range reports {
		reports[i].Notes = append(reports[i].Notes, tooLittle(&reports[i], a.rules)...)
	}
	findings, change := before.compare(reports, heat.ExplainAll(a.rules, reports...))
	if a.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(auditDocument{reports, append([]heat.Finding{}, findings...), change})
	} else {
		screen := newScreen(cmd.OutOrStdout())
		writeReports(screen, reports, findings, a.top)
		change.write(screen)
	}
	if err != nil {
		return err
	}
	if worst, any := heat.Worst(findings); any && threshold != nil && worst >= *threshold {
		verdict := fmt.Sprintf("--fail-on %s: %s", *threshold, printable(findings[0].String()))
		if failed == nil {
			return &badNews{verdict}
		}
		failed = also(failed, errors.New(verdict)) // a source that could not be read weighs more
	}
	return failed
}

// tooLittle says which tables and indexes have too little in a report for findings about shares.
func tooLittle(report *heat.Report, rules heat.Rules) []string {
	var notes []string
	for i := range report.Resources {
		r := &report.Resources[i]
		if s := r.Stored; s != nil && s.Items < rules.Items {
			notes = append(notes, fmt.Sprintf("%s is too small to tell: findings about stored items need %s, and it has %s; --min-items changes that",
				r.Resource, figure.Count(rules.Items, "item"), figure.Thousands(s.Items)))
		}
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			if f := r.Flow(d); f.Requests > 0 && f.Requests < rules.Sample {
				notes = append(notes, fmt.Sprintf("%s has too little traffic to tell: findings about shares need %s, and it has %s; --min-requests changes that",
					r.Resource, figure.Count(rules.Sample, d.String()+" request"), figure.Thousands(f.Requests)))
			}
		}
	}
	return notes
}

// auditDocument is what audit prints with --json.
type auditDocument struct {
	Reports  []heat.Report  `json:"reports"`
	Findings []heat.Finding `json:"findings"`
	Change   *auditChange   `json:"change,omitempty"` // with --before
}

// also adds an error to others, in one line.
func also(errs, err error) error {
	if errs == nil {
		return err
	}
	return fmt.Errorf("%w; %w", errs, err)
}

// validate checks what flags cannot, and returns the severity to fail on, if any.
func (a *audit) validate() (*heat.Severity, error) {
	var faults []error
	if a.last < 0 {
		faults = append(faults, fmt.Errorf("--last %v: want more than 0", a.last))
	}
	if a.follow < 0 {
		faults = append(faults, fmt.Errorf("--follow %v: want more than 0", a.follow))
	}
	if a.top < 0 {
		faults = append(faults, fmt.Errorf("--top %d: want 0 or more", a.top))
	}
	if !(a.maxRCU > 0 && a.maxRCU <= maxScanRate) { // NaN is neither
		faults = append(faults, fmt.Errorf("--max-rcu %v: want more than 0 and at most %s", a.maxRCU, figure.Thousands(maxScanRate)))
	}
	faults = append(faults, a.validateRules())
	if a.items == 0 {
		faults = append(faults, errors.New("--items 0: want at least 1, or -1 for all"))
	}
	if len(a.exports) > 0 {
		if _, err := a.exportKeys(); err != nil {
			faults = append(faults, err)
		}
	}
	if _, err := a.told(); err != nil {
		faults = append(faults, err)
	}
	if len(a.exclude) > 0 && a.hide != "" {
		faults = append(faults, errors.New("--exclude cannot match keys that --hash-keys hides: leave one of them out"))
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

// validateRules checks the thresholds. Where heat takes 0 for the default, a flag must say what it means.
func (a *audit) validateRules() error {
	var faults []error
	for _, f := range []struct {
		name  string
		value float64
	}{{"warm", a.rules.Warm}, {"hot", a.rules.Hot}, {"excess", a.rules.Excess}} {
		if !(f.value > 0 && f.value <= 1) { // NaN is neither
			faults = append(faults, fmt.Errorf("--%s %v: want more than 0 and at most 1", f.name, f.value))
		}
	}
	if a.rules.Warm > a.rules.Hot {
		faults = append(faults, fmt.Errorf("--warm %v is above --hot %v: want it to be lower", a.rules.Warm, a.rules.Hot))
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{"min-items", a.rules.Items}, {"min-requests", a.rules.Sample}} {
		if f.value < 1 {
			faults = append(faults, fmt.Errorf("--%s %d: want at least 1", f.name, f.value))
		}
	}
	return errors.Join(faults...)
}

// maxScanRate is more than any table has.
const maxScanRate = 1e9

// unasked reports whether no flag asks for a source other than the engine and a scan.
func (a *audit) unasked() bool {
	return !a.scan && !a.cloudwatch && !a.insights && !a.stream && len(a.exports) == 0
}

// scans reports whether items are scanned: if --scan is given, or no other source.
func (a *audit) scans() bool {
	return a.scan || !a.engine && a.unasked()
}

// idle returns an error that names the flags that do nothing.
func (a *audit) idle(flags *pflag.FlagSet) error {
	var faults []error
	if a.hide == "" && flags.Changed("hash-keys") {
		faults = append(faults, errors.New("--hash-keys: want a secret that is not empty"))
	}
	for _, f := range []struct {
		name, needs string
		used        bool
	}{
		{"follow", "--stream", a.stream},
		{"from-start", "--stream", a.stream},
		{"key", "--export", len(a.exports) > 0},
		{"items", "--scan", a.scans()},
		{"max-rcu", "--scan", a.scans()},
		{"seed", "--scan", a.scans()},
		{"min-items", "--scan or --export", a.scans() || len(a.exports) > 0},
		{"min-requests", "--engine, --insights or --stream", a.engine || a.insights || a.stream},
		{"layout", "--shards N, the number of shards that readers read", len(a.shards) > 0},
		{"widths", "--shards N, the largest number of shards that readers read", len(a.shards) > 0},
		{"unsharded", "--shards N, the number of shards that readers read", len(a.shards) > 0},
		{"shards", "a source that lists keys, which --cloudwatch does not", !a.cloudwatch || a.insights || a.scan || a.stream || len(a.exports) > 0},
		{"last", "--cloudwatch, --insights or --stream", a.cloudwatch || a.insights || a.stream},
	} {
		if flags.Changed(f.name) && !f.used {
			faults = append(faults, fmt.Errorf("--%s does nothing without %s", f.name, f.needs))
		}
	}
	if flags.Changed("last") && a.last == 0 {
		faults = append(faults, errors.New("--last 0s: want more than 0"))
	}
	if flags.Changed("follow") && a.follow == 0 {
		faults = append(faults, errors.New("--follow 0s: want more than 0"))
	}
	return errors.Join(faults...)
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
	o := heat.Options{Top: max(a.top, 50), Limits: a.limits}
	o.Layouts, _ = a.told() // validated
	if a.hide != "" {
		o.Redact = heat.Hashed([]byte(a.hide))
	}
	return o
}
