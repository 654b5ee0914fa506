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
		Short: "Compute whether and how to shard a key, and the cost",
		Long: `Decide what to do about a key before it is hot: leave it, shard it, bucket it or cache
it. The plan gives the number of shards and partitions, the throughput to warm the table
to, and the cost of a read. It is arithmetic: plan reads and writes no table, and needs
no AWS account.

Describe the hottest key at its peak: writes and reads per second (--writes, --reads), the
item size, and how the key is read (--pattern):

  points    single items, by their id
  times     lists for a time range, such as the last 24 hours (--window)
  lists     lists of all items, or of the newest
  counter   one number that all writes add to
  mostly    the same item, read far more often than it is written

DynamoDB places shards on partitions by a hash, so some shards share a partition. The
"sustained" rate is the rate that shards serve without a throttle in --confidence of all
placements. It is computed exactly, not sampled. The plan also shows the published
formula, which assumes one partition per shard, as an upper bound.

The output is the decision, its reasons, and Go code that carries it out with packages of
heatsink. --explain also shows the numbers, all notes, costs and alternatives.

With --report FILE, the rates come from a report of heatsink audit or heatsink top. plan
then prints one plan for each of the hottest keys.

With --json, stdout is one JSON document; with --report, one per line:

  verdict, shard, strategy, shards, bucket     what to do; 1 shard is the bare key
  choice        how writers choose a shard: aware (of throttles) or uniform
  need          not needed, essential or critical
  reasons[]     reasons for the verdict
  notes[]       severity (info, warning, critical), code, text; the most severe first
  load          units per second, and what is hot
  partitions    current number of partitions of the table
  formulas      number of shards by each published rule
  ways[], recommended   the alternatives, and the one that the plan takes: shards, partitions,
                upperBound, sustained, median, accepted, fits, read, dollarsPerMonth
  peak          load at the peak
  warm          writeUnits or readUnits per second to warm the table to
  read, unsharded   a read with the plan, and without: requests, units, sustained, tail,
                p50Millis, p99Millis, dollarsPerMonth
  trade, index, waste, ranking, costs, hints
  snippet       Go declarations for packages of heatsink: heatsink, layout, cache, counter, replica
  assumed       factor, confidence, target, average, latency, prices and their date

The exit code is 1 if there is a note of the severity of --fail-on or worse, and 2 if a
flag is wrong.`,
		Example: `  heatsink plan --writes 5000 --item-size 1KB
  heatsink plan --writes 5000 --explain
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
	if f.explain && f.json {
		return errors.New("--explain is for people, and --json has everything: give one of them")
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
	if !f.json && !f.explain {
		fmt.Fprintln(cmd.OutOrStdout(), "--explain shows the numbers, notes, costs and alternatives.")
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
		return nil, f.inWords(err)
	}
	return []plan.Plan{p}, nil
}

func (f *planFlags) write(cmd *cobra.Command, p *plan.Plan) error {
	out := cmd.OutOrStdout()
	if f.json {
		return json.NewEncoder(out).Encode(p)
	}
	text := p.String()
	if !f.explain {
		var b strings.Builder
		_ = p.WriteBrief(&b) // a Builder takes everything
		text = b.String()
	}
	verdict, rest, _ := strings.Cut(text, "\n")
	_, err := fmt.Fprintf(out, "%s\n%s", newScreen(out).bold(verdict), rest)
	return err
}

// threshold returns the lowest severity that fails the command, nil if none does.
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
