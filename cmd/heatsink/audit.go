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

// audit looks at a table and says what is wrong with its keys.
type audit struct {
	account
	table string

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
		Short: "Find hot keys and keys that will be: a table's metrics, items, stream or export, or all of them",
		Long: `Look at a table and say which keys are hot, or will be, why, and what to do. It reads
only, and says beforehand where it will look and what that costs.

Where it looks, in this order; any of them together, and the scan if nothing is asked for:

  --cloudwatch    the metrics of the last hour, or of --last: throttles by reason, no keys
  --insights      the keys that Contributor Insights lists, where it is turned on
  --export FILE…  files of an export in DynamoDB JSON, gzip or not; alone it needs no account.
                  An export does not tell its keys: --key pk, --key byStatus=status
  --scan          a sample of the items, by a parallel scan, no faster than --max-rcu: skew and
                  cardinality of the keys of the table and its global indexes, by shape of key
  --stream        the table's stream, for --follow (default one minute) or, with --from-start,
                  all it still has: writes by key

With --shards it knows how many shards readers ask for, and with --layout how they are spelt:
it then finds shards beyond these, which readers miss, and keys that are spread badly. Items
without a shard beside numbered shards are missed as well, unless --unsharded says that readers
ask for them.

What they show together is said once: the throttles that metrics tell of are put to the key
that the stream or Insights show, with the evidence of each. If one cannot be looked at, the
others are, and the command fails in the end.

A finding has a severity: info, worth knowing; warning, will hurt when traffic grows;
critical, hurts now. With --fail-on the exit code is 1 if there is one that severe;
it is 2 if something could not be looked at.

With --json, stdout is one JSON document: "reports", one of each source, which heatsink plan
--report reads, and "findings".`,
		Example: `  heatsink audit orders
  heatsink audit orders --endpoint http://127.0.0.1:8000 --fail-on warning
  heatsink audit orders --cloudwatch --insights --scan --stream
  heatsink audit orders --stream --follow 5m
  heatsink audit orders --cloudwatch --last 3h --json | jq '.findings[].message'
  heatsink audit orders --export data/*.json.gz --key customer
  heatsink audit orders --shards 16
  heatsink audit orders --layout '{key}.{shard1}' --shards 200 --fail-on warning`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(a.exports) > 0 && len(args) > 1 {
				return nil // a shell has made several files of --export *.gz
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
	f.BoolVar(&a.cloudwatch, "cloudwatch", false, "look at CloudWatch's metrics")
	f.BoolVar(&a.insights, "insights", false, "look at Contributor Insights")
	f.StringArrayVar(&a.exports, "export", nil, "look at a file of an export; may be repeated, or a pattern")
	f.StringArrayVar(&a.keys, "key", nil, "with --export: the partition key, as NAME, or INDEX=NAME of an index; may be repeated")
	f.BoolVar(&a.scan, "scan", false, "look at a sample of the items (default if nothing else is asked for)")
	f.BoolVar(&a.stream, "stream", false, "look at the table's stream")
	f.BoolVar(&a.fromStart, "from-start", false, "with --stream: from the oldest record on, up to now")
	f.DurationVar(&a.last, "last", 0, "how much time of metrics and Insights (default 1h); of a stream alone, as --follow")
	f.DurationVar(&a.follow, "follow", 0, "with --stream: how long to follow it (default 1m)")
	f.IntSliceVar(&a.shards, "shards", nil, "how many shards readers ask for; of several layouts, one number each or one for all")
	f.StringArrayVar(&a.layouts, "layout", nil, "with --shards: how shard keys are spelt, as TEMPLATE, or INDEX=TEMPLATE of an index; may be repeated (default {key}#SHARD_{shard})")
	f.BoolVar(&a.widths, "widths", false, "with --shards: keys have any number of shards up to that")
	f.BoolVar(&a.unsharded, "unsharded", false, "with --shards: readers also ask for the key without a shard, as with Options.Older")
	f.Int64Var(&a.items, "items", 100_000, "items of a scan, at most; -1 for all")
	f.Float64Var(&a.maxRCU, "max-rcu", 100, "read units a second of a scan, at most")
	f.IntVar(&a.top, "top", 10, "keys to list")
	f.StringVar(&a.hide, "hash-keys", "", "show keys as hashes with this secret")
	f.StringArrayVar(&a.exclude, "exclude", nil, "leave keys of this shell pattern out of the findings; may be repeated")
	f.StringVar(&a.failOn, "fail-on", "", "exit 1 on a finding of info, warning or critical, or worse")
	f.BoolVar(&a.json, "json", false, "one JSON document")
	return cmd
}

// oneTable is for commands that are about a table, the only argument.
func oneTable(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("which table? %s TABLE", cmd.CommandPath())
	case len(args) > 1:
		return fmt.Errorf("one table at a time: %s %s, and nothing more, not %q", cmd.CommandPath(), args[0], args[1:])
	}
	return nil
}

func (a *audit) run(cmd *cobra.Command) error {
	threshold, err := a.validate()
	if err := errors.Join(err, a.idle(cmd.Flags())); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	reports, failed := a.look(cmd.Context(), newScreen(cmd.ErrOrStderr()))
	if len(reports) == 0 {
		return failed
	}
	findings := heat.ExplainAll(heat.Rules{Exclude: a.excluded}, reports...)
	if a.json {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(auditDocument{reports, append([]heat.Finding{}, findings...)})
	} else {
		writeReports(newScreen(cmd.OutOrStdout()), reports, findings, a.top)
	}
	if err != nil {
		return err
	}
	if worst, any := heat.Worst(findings); any && threshold != nil && worst >= *threshold {
		verdict := fmt.Sprintf("--fail-on %s: %s", *threshold, printable(findings[0].String()))
		if failed == nil {
			return &badNews{verdict}
		}
		failed = also(failed, errors.New(verdict)) // that not all could be looked at weighs more
	}
	return failed
}

// auditDocument is what audit prints with --json.
type auditDocument struct {
	Reports  []heat.Report  `json:"reports"`
	Findings []heat.Finding `json:"findings"`
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
		faults = append(faults, fmt.Errorf("--last %v is negative", a.last))
	}
	if a.follow < 0 {
		faults = append(faults, fmt.Errorf("--follow %v is negative", a.follow))
	}
	if a.top < 0 {
		faults = append(faults, fmt.Errorf("--top %d is negative", a.top))
	}
	if !(a.maxRCU > 0 && a.maxRCU <= maxScanRate) { // NaN is neither
		faults = append(faults, fmt.Errorf("--max-rcu %v: a rate above 0 is needed, and up to %s", a.maxRCU, figure.Thousands(maxScanRate)))
	}
	if a.items == 0 {
		faults = append(faults, errors.New("--items 0: 1 at least is needed, or -1 for all"))
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
		faults = append(faults, errors.New("--exclude cannot see keys that --hash-keys hides"))
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

// maxScanRate is more than any table has.
const maxScanRate = 1e9

// scans reports whether items are to be looked at: if that is asked for, and if nothing is.
func (a *audit) scans() bool {
	return a.scan || !a.cloudwatch && !a.insights && !a.stream && len(a.exports) == 0
}

// idle returns an error that names the flags that do nothing.
func (a *audit) idle(flags *pflag.FlagSet) error {
	var faults []error
	if a.hide == "" && flags.Changed("hash-keys") {
		faults = append(faults, errors.New("--hash-keys needs a secret that is not empty"))
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
		{"layout", "--shards N, the number of shards that readers ask for", len(a.shards) > 0},
		{"widths", "--shards N, the most shards that readers ask for", len(a.shards) > 0},
		{"unsharded", "--shards N, the number of shards that readers ask for", len(a.shards) > 0},
		{"shards", "a source that knows keys: --cloudwatch knows none", !a.cloudwatch || a.insights || a.scan || a.stream || len(a.exports) > 0},
		{"last", "--cloudwatch, --insights or --stream", a.cloudwatch || a.insights || a.stream},
	} {
		if flags.Changed(f.name) && !f.used {
			faults = append(faults, fmt.Errorf("--%s does nothing without %s", f.name, f.needs))
		}
	}
	if flags.Changed("last") && a.last == 0 {
		faults = append(faults, errors.New("--last 0s: a time above 0 is needed"))
	}
	if flags.Changed("follow") && a.follow == 0 {
		faults = append(faults, errors.New("--follow 0s: a time above 0 is needed"))
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
	o := heat.Options{Top: max(a.top, 50)}
	o.Layouts, _ = a.told() // validated
	if a.hide != "" {
		o.Redact = heat.Hashed([]byte(a.hide))
	}
	return o
}
