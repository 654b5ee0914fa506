package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/plan"
)

func newPlan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Decide whether to shard a key, how, and what it costs",
		Long: `Decide what to do about a hot key, before it is hot: leave it, shard it, bucket it,
cache it; how many shards, on how many partitions; what throughput to warm the
table to; what a read then takes. It is arithmetic: nothing is read or written,
no AWS account is used.

Say how much the hottest key is written and read a second at its peak (--writes,
--reads), how large items are, and how they are read (--pattern):

  points    single items, by their id
  times     lists of a stretch of time, such as the last 24 hours (--window)
  lists     lists of all there is, or of the newest
  counter   one number that all writes add to
  mostly    the same item, far more often than it is written

Of shards and partitions, "sustained" is what they take without a refusal in
--confidence of all cases, as DynamoDB places shards on partitions by a hash. It is
computed exactly, not sampled. The published formula, which gives each shard a
partition of its own, stands beside it as an upper bound.

With --report FILE the rates are those of the hottest keys that heatsink audit or
heatsink top has seen; there is a plan for each.

With --json, stdout is one JSON document, of a report one a line:

  verdict, shard, strategy, shards, bucket     what to do; 1 shard is the key as it is
  choice        how writers choose: aware (of throttles) or uniform
  need          not needed, essential or critical
  reasons[]     why
  notes[]       severity (info, warning, critical), code, text; the most severe first
  load          units a second, and what is hot
  partitions    of the table now
  formulas      shards by each of the published rules
  ways[], recommended   shards, partitions, upperBound, sustained, median, accepted, fits,
                read, dollarsPerMonth: to compare, and the one of the plan
  peak          what they have to bear
  warm          writeUnits or readUnits a second to warm the table to
  read, unsharded   requests, units, sustained, tail, p50Millis, p99Millis, dollarsPerMonth
                of a read, with the plan and without
  trade, index, waste, ranking, costs, hints
  snippet       Go declarations for package heatsink
  assumed       factor, confidence, target, average, latency, prices and their date

The exit code is 1 if there is a note of --fail-on or worse, and 2 if a flag is wrong.`,
		Example: `  heatsink plan --writes 5000 --item-size 1KB
  heatsink plan --key OPS_LOG --writes 3 --reads 0.1 --pattern times --window 7d
  heatsink plan --key ORDERS --writes 3000 --reads 500 --pattern points --partitions 20
  heatsink plan --key 'POST#viral' --writes 1 --reads 20000 --pattern mostly
  heatsink plan --writes 10000 --shards 2 --fail-on critical
  heatsink audit orders --stream --json | heatsink plan --report - --pattern times
  heatsink plan --writes 5000 --mode provisioned --provisioned-writes 10000 --json | jq .waste`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(cmd)
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command) error {
	threshold, err := f.threshold()
	if err != nil {
		return err
	}
	plans, err := f.plans(cmd)
	if err != nil {
		return err
	}
	var failed error
	for i := range plans {
		p := &plans[i]
		if i > 0 && !f.json {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		if err := f.write(cmd, p); err != nil {
			return err
		}
		if worst, ok := p.Worst(); ok && threshold != nil && worst >= *threshold {
			failed = errors.Join(failed, &badNews{fmt.Sprintf("--fail-on %s: %s: %s", *threshold, p.Notes[0].Code, p.Notes[0].Text)})
		}
	}
	return failed
}

// plans returns the plan of the workload that the flags describe, or those of the hottest keys of a report.
func (f *planFlags) plans(cmd *cobra.Command) ([]plan.Plan, error) {
	if f.report.file != "" {
		return f.observed(cmd)
	}
	if cmd.Flags().Changed("top") {
		return nil, errors.New("--top does nothing without --report")
	}
	workload, err := f.read()
	if err != nil {
		return nil, err
	}
	if err := f.plannable(&workload); err != nil {
		return nil, err
	}
	p, err := plan.For(workload)
	if err != nil {
		return nil, f.explain(err)
	}
	return []plan.Plan{p}, nil
}

func (f *planFlags) write(cmd *cobra.Command, p *plan.Plan) error {
	out := cmd.OutOrStdout()
	if f.json {
		return json.NewEncoder(out).Encode(p)
	}
	verdict, rest, _ := strings.Cut(p.String(), "\n")
	_, err := fmt.Fprintf(out, "%s\n%s", newScreen(out).bold(verdict), rest)
	return err
}

// threshold returns the severity from which on the command fails, nil if it never does.
func (f *planFlags) threshold() (*plan.Severity, error) {
	if f.failOn == "" {
		return nil, nil
	}
	var s plan.Severity
	if err := s.UnmarshalText([]byte(f.failOn)); err != nil {
		return nil, fmt.Errorf("--fail-on: %w", err)
	}
	return &s, nil
}
