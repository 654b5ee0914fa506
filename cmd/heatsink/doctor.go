package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/doctor"
	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/layout"
)

// doctorCommand examines whether heatsink can work with an account and a table.
type doctorCommand struct {
	account
	table, name, controlTable string

	layouts   []string
	shards    []int
	unsharded bool

	items     int64
	maxRCU    float64
	seed      uint64
	tryWrites bool
	hide      string
	failOn    string
	json      bool
}

func newDoctor() *cobra.Command {
	var d doctorCommand
	cmd := &cobra.Command{
		Use:   "doctor [TABLE]",
		Short: "Check credentials, permissions, clock, records and items of a table",
		Long: `Check whether heatsink can work with a table, and say what to do about each fault. Without
TABLE, doctor checks the account: credentials, endpoint, clock, retries, and which tables
there are.

Of a table, doctor checks these things, and prints one line or more for each:

  credentials   are there any, and does the server accept them
  endpoint      does a DynamoDB answer
  clock         does this machine's clock agree with the server's
  retries       what the environment says about the SDK's retries
  permissions   which requests are allowed; the remedy is the IAM statement that is missing
  table         is it there, and active
  record        what programs have recorded: layouts, and where items of movable collections are
  schema        does the table have the keys and indexes that are recorded
  signatures    does the server check the time of signatures, as moves need
  ttl           are tombstones of deleted items removed, if programs leave any
  stream        can heatsink top and heatsink audit --stream watch the table
  recovery      could a record that is deleted be restored
  capacity      does the table take what its shards are for
  items         are there items that readers miss: in shards beyond the width, under bare keys
                beside shards, in the wrong shard, or under keys that only look like shards

doctor only reads. It looks at up to --items items, at up to --max-rcu read units a second. It
says before what that will cost, and prints how much of the table it is. With --try-writes it also sends three writes whose
condition is never true. They change nothing, and consume a write unit each.

A check ends as ok, warning, problem or unknown. A permission that is missing is a result, and
the other checks go on. With --fail-on, the exit code is 1 if a check ends like that or worse.
The exit code is 2 if a check could not be made.

doctor finds layouts in the table, if programs have set Recorded, Adaptive or Movable. For other
tables, --shards says how many shards readers read, and --layout how they are spelt.
docs/doctor.md has more about each check.`,
		Example: `  heatsink doctor
  heatsink doctor orders
  heatsink doctor orders --endpoint http://127.0.0.1:8000
  heatsink doctor orders --items 1000000 --max-rcu 1000
  heatsink doctor orders --shards 16 --fail-on warning
  heatsink doctor orders --json | jq '.results[] | select(.outcome != "ok")'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return oneTable(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				d.table = args[0]
			}
			return d.run(cmd)
		},
	}
	f := cmd.Flags()
	d.flags(f)
	f.StringVar(&d.name, "name", "", "name of the collection (default: those that are named table or as a global index)")
	f.StringVar(&d.controlTable, "control-table", "", "table of the control items, if it is not the table itself")
	f.IntSliceVar(&d.shards, "shards", nil, "number of shards that readers read, for tables without a record")
	f.StringArrayVar(&d.layouts, "layout", nil, "with --shards: spelling of shard keys, as TEMPLATE for the table or INDEX=TEMPLATE for an index; may be repeated (default {key}#SHARD_{shard})")
	f.BoolVar(&d.unsharded, "unsharded", false, "with --shards: readers also read the bare key, as with Options.Older")
	f.Int64Var(&d.items, "items", 10_000, "largest number of items to look at; 0 for none, -1 for all")
	f.Float64Var(&d.maxRCU, "max-rcu", 100, "largest rate at which items are read, in read units per second; a server on this machine has 10000 unless you give one")
	f.Uint64Var(&d.seed, "seed", 1, "draws the items of a table that is looked at in part; another seed draws others")
	f.BoolVar(&d.tryWrites, "try-writes", false, "also find out whether writes are allowed, by writes that change nothing")
	f.StringVar(&d.hide, "hash-keys", "", "secret with which keys are hashed before they are shown (default: keys are shown)")
	f.StringVar(&d.failOn, "fail-on", "", "exit with 1 if a check ends like this or worse: warning, problem (default: never)")
	f.BoolVar(&d.json, "json", false, "print one JSON document")
	return cmd
}

func (d *doctorCommand) run(cmd *cobra.Command) error {
	threshold, err := d.validate(cmd)
	if err != nil {
		return err
	}
	options, err := d.options()
	if !cmd.Flags().Changed("max-rcu") {
		options.MaxRCU = 0 // what suits the server
	}
	if err != nil {
		return err
	}
	report, interrupted := d.examine(cmd, options) // what was found before is worth reading
	if d.json {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(report); err != nil {
			return err
		}
	} else {
		writeDoctor(newScreen(cmd.OutOrStdout()), &report)
	}
	if interrupted != nil {
		return interrupted
	}
	return doctorVerdict(&report, threshold)
}

// examine makes the checks, and shows how far they are.
func (d *doctorCommand) examine(cmd *cobra.Command, options doctor.Options) (doctor.Report, error) {
	c, err := d.clients(cmd.Context())
	if err != nil {
		return doctor.Unusable(d.table, d.region, d.endpoint, err), nil
	}
	screen := newScreen(cmd.ErrOrStderr())
	defer screen.clear()
	options.Client = c.tables
	options.Announce = func(cost heat.ScanCost, maxRCU float64) {
		screen.say("items: %s, at up to %s per second", cost, figure.Count(maxRCU, "unit"))
	}
	options.Progress = func(items, of int64) {
		screen.live(fmt.Sprintf("items: %s of about %s", figure.Thousands(items), figure.Thousands(of)))
	}
	return doctor.Examine(cmd.Context(), options)
}

// doctorVerdict returns the error that makes the exit code: one of what could not be checked weighs more, as audit has it.
func doctorVerdict(report *doctor.Report, threshold doctor.Outcome) error {
	var bad *doctor.Result
	for i := range report.Results {
		r := &report.Results[i]
		if threshold != doctor.OK && r.Outcome >= threshold && (bad == nil || r.Outcome > bad.Outcome) {
			bad = r
		}
	}
	unknown := report.Count(doctor.Unknown)
	switch {
	case unknown > 0 && bad != nil:
		return fmt.Errorf("%s could not be made; --fail-on %s: %s: %s", figure.Count(unknown, "check"), threshold, bad.Check, printable(bad.Found))
	case unknown > 0:
		return fmt.Errorf("%s could not be made: see unknown above", figure.Count(unknown, "check"))
	case bad != nil:
		return &badNews{fmt.Sprintf("--fail-on %s: %s: %s", threshold, bad.Check, printable(bad.Found))}
	}
	return nil
}

// validate checks what flags cannot, and returns the outcome to fail on, OK for none.
func (d *doctorCommand) validate(cmd *cobra.Command) (threshold doctor.Outcome, err error) {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	f := cmd.Flags()
	if !(d.maxRCU > 0 && d.maxRCU <= maxScanRate) { // NaN is neither
		fault("--max-rcu %v: want more than 0 and at most %s", d.maxRCU, figure.Thousands(maxScanRate))
	}
	if err := checkEndpoint(d.endpoint); err != nil {
		fault("%v", err)
	}
	if d.hide == "" && f.Changed("hash-keys") {
		fault("--hash-keys: want a secret that is not empty")
	}
	for _, name := range []string{"layout", "unsharded"} {
		if f.Changed(name) && len(d.shards) == 0 {
			fault("--%s does nothing without --shards N, the number of shards that readers read", name)
		}
	}
	for _, name := range []string{"name", "control-table", "shards", "items", "max-rcu", "seed", "try-writes"} {
		if f.Changed(name) && d.table == "" {
			fault("--%s does nothing without a table: use heatsink doctor TABLE", name)
		}
	}
	switch d.failOn {
	case "":
	case doctor.Warning.String():
		threshold = doctor.Warning
	case doctor.Problem.String():
		threshold = doctor.Problem
	default:
		fault("--fail-on %q: want warning or problem", d.failOn)
	}
	if faults != nil {
		return threshold, errors.New(strings.Join(faults, "; "))
	}
	return threshold, nil
}

// options returns what the flags say, without a client.
func (d *doctorCommand) options() (doctor.Options, error) {
	o := doctor.Options{
		Table: d.table, Profile: d.profile, Name: d.name, ControlTable: d.controlTable, Items: d.items, NoSample: d.items == 0, MaxRCU: d.maxRCU, Seed: d.seed, TryWrites: d.tryWrites,
	}
	if d.hide != "" {
		o.Redact = heat.Hashed([]byte(d.hide))
	}
	told, err := (&audit{table: d.table, layouts: d.layouts, shards: d.shards, unsharded: d.unsharded}).told()
	if err != nil {
		return o, err
	}
	for _, l := range told {
		if l.AnyBucket || l.Layout.Bucket != layout.NoBucket {
			return o, fmt.Errorf("--layout %q has buckets, whose length it does not say: set Options.Recorded in your programs, and doctor finds the layout in the table", l.Layout.Format)
		}
		if o.Layouts == nil {
			o.Layouts = map[string]doctor.Told{}
		}
		o.Layouts[l.Index] = doctor.Told{Layout: l.Layout, Unsharded: l.Unsharded}
	}
	return o, nil
}
