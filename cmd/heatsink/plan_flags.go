package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heatsink-go/heatsink/plan"
)

// planFlags are the flags of heatsink plan: a workload, and what to do with its plan.
type planFlags struct {
	workload plan.Workload
	index    string
	mode     string
	p50, p99 time.Duration
	prices   string
	report   reportOptions
	failOn   string
	json     bool
}

func (f *planFlags) register(cmd *cobra.Command) {
	f.load(cmd)
	f.table(cmd)
	f.reading(cmd)
	f.assumptions(cmd)
	f.naming(cmd)
	f.report.register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print the plan as JSON, and nothing else")
	flags.StringVar(&f.failOn, "fail-on", "", "exit with 1 if there is a note of this severity or worse: info, "+
		"warning, critical (default never)")
	flags.SortFlags = false
}

func (f *planFlags) load(cmd *cobra.Command) {
	w, flags := &f.workload, cmd.Flags()
	flags.StringVar(&w.Key, "key", "", "the key's name (default KEY)")
	flags.Float64Var(&w.Writes, "writes", 0, "writes a second of the hottest key, at its peak")
	flags.Float64Var(&w.Reads, "reads", 0, "reads a second of the hottest key, at its peak")
	flags.Var((*byteSize)(&w.ItemBytes), "item-size", "size of an item, as 700B or 2.5KB (default 1KB)")
	flags.Float64Var(&w.ItemsPerDay, "items-per-day", 0, "items the key gets on an ordinary day (default from "+
		"--writes and --average)")
	flags.IntVar(&w.Keys, "keys", 0, "how many keys the table has (default unknown)")
	flags.Var((*part)(&w.Share), "share", "the hottest key's part of the table's load, as 30% or 0.3 (default unknown)")
	flags.Float64Var(&w.Zipf, "zipf", 0, "instead of --share: exponent of the keys' skew, with --keys")
	flags.IntVar(&w.Shards, "shards", 0, "shards the key has, or is thought to need, to judge")
	flags.IntVar(&w.Throttles, "throttles", 0, "throttles of the key in five minutes")
	flags.BoolVar(&w.Unpredictable, "unpredictable", false, "any key may become as hot, such as that of a tenant")
	flags.BoolVar(&w.Atomic, "atomic", false, "items of the key must be consistent with each other")
	flags.BoolVar(&w.Existing, "existing", false, "there are items already, under the bare key and "+
		"in as many shards as --shards says: read them along")
}

func (f *planFlags) table(cmd *cobra.Command) {
	t, flags := &f.workload.Table, cmd.Flags()
	flags.StringVar(&f.mode, "mode", onDemand, "on-demand or provisioned")
	flags.Int64Var(&t.WriteUnits, "provisioned-writes", 0, "write units a second that are provisioned")
	flags.Int64Var(&t.ReadUnits, "provisioned-reads", 0, "read units a second that are provisioned")
	flags.Int64Var(&t.WarmWrites, "warm-writes", 0, "warm throughput in write units a second, see DescribeTable "+
		"(default 4000 on demand)")
	flags.Int64Var(&t.WarmReads, "warm-reads", 0, "warm throughput in read units a second (default 12000 on "+
		"demand)")
	flags.IntVar(&t.Partitions, "partitions", 0, "number of partitions, if it is known (default from the above)")
	flags.StringVar(&f.index, "index", "", "name of the global index whose key it is (default: it is the table's)")
}

func (f *planFlags) reading(cmd *cobra.Command) {
	w, flags := &f.workload, cmd.Flags()
	flags.StringVar((*string)(&w.Read.Pattern), "pattern", string(plan.Lists), "how it is read: points, times, "+
		"lists, counter, mostly")
	flags.IntVar(&w.Read.Items, "items", 0, "items that a list returns (default 100)")
	flags.Var((*span)(&w.Read.Window), "window", "how far back a list of times looks, as 24h or 90d (default 24h)")
	flags.BoolVar(&w.Read.Strong, "strong", false, "reads are strongly consistent")
	flags.Var((*span)(&w.Read.Stale), "stale", "how old an answer may be that comes from a cache (default 1s; "+
		"negative: not at all)")
	flags.Var((*span)(&w.MaxLatency), "max-latency", "limit for the 99th percentile of a read (default none)")
	flags.Float64Var(&w.MaxDollars, "max-cost", 0, "limit for all reads and writes of the key, in dollars a "+
		"month (default none)")
}

func (f *planFlags) assumptions(cmd *cobra.Command) {
	a, flags := &f.workload.Assume, cmd.Flags()
	flags.Float64Var(&a.Factor, "factor", plan.DefaultFactor, "safety factor of the published formula")
	flags.Var((*part)(&a.Confidence), "confidence", "part of all placements of shards on partitions that must do "+
		"(default 99%)")
	flags.Var((*part)(&a.Target), "target", "how full a partition may be at the peak (default 70%)")
	flags.Var((*part)(&a.Average), "average", "load on average as a part of the peak, for what is paid by the "+
		"request (default 100%)")
	flags.Var((*span)(&f.p50), "query-p50", "median latency of one request (default 10ms)")
	flags.Var((*span)(&f.p99), "query-p99", "99th percentile of the latency of one request (default 25ms)")
	flags.StringVar(&f.prices, "prices", "", "JSON file of prices, with the names of assumed.prices (default "+
		"us-east-1, "+plan.USEast1().Date+")")
}

func (f *planFlags) naming(cmd *cobra.Command) {
	n, flags := &f.workload.Names, cmd.Flags()
	flags.StringVar(&n.Table, "table", "", "the table's name in the snippet (default items)")
	flags.StringVar(&n.PartitionKey, "partition-key", "", "the partition key's attribute (default pk)")
	flags.StringVar(&n.SortKey, "sort-key", "", "the sort key's attribute (default sk)")
	flags.StringVar(&n.Time, "time", "", "the attribute that has an item's time (default the sort key)")
	flags.StringVar(&n.TableKey, "table-key", "", "with --index: the table's own key attribute (default id)")
	flags.StringVar((*string)(&n.Format), "format", "", "how shard keys are spelt: shard-hash (#SHARD#7), plain "+
		"(#7), dot (.8) (default #SHARD_7)")
}

// read returns the workload that the flags describe.
func (f *planFlags) read() (plan.Workload, error) {
	w := f.workload
	w.Assume.P50Millis, w.Assume.P99Millis = 1e3*f.p50.Seconds(), 1e3*f.p99.Seconds()
	switch capacity := w.Table.WriteUnits != 0 || w.Table.ReadUnits != 0; {
	case f.mode != onDemand && f.mode != provisioned:
		return w, fmt.Errorf("--mode is %q: it must be %s or %s", f.mode, onDemand, provisioned)
	case f.mode == onDemand && capacity:
		return w, errors.New("--provisioned-writes and --provisioned-reads need --mode provisioned: the table is on demand")
	}
	if f.index != "" {
		w.Table.Index, w.Names.Index = true, f.index
	}
	if f.prices != "" {
		prices, err := readPrices(f.prices)
		if err != nil {
			return w, fmt.Errorf("--prices %s: %w", f.prices, err)
		}
		w.Assume.Prices = prices
	}
	return w, nil
}

// The modes in which tables pay for capacity.
const (
	onDemand    = "on-demand"
	provisioned = "provisioned"
)

// plannable reports what a provisioned table lacks: neither flags nor a report say its capacity.
func (f *planFlags) plannable(w *plan.Workload) error {
	if f.mode == provisioned && w.Table.WriteUnits == 0 && w.Table.ReadUnits == 0 {
		return errors.New("--mode provisioned needs the capacity: give --provisioned-writes or --provisioned-reads")
	}
	return nil
}

func readPrices(name string) (p plan.Prices, err error) {
	file, err := os.Open(name)
	if err != nil {
		return p, errors.Unwrap(err) // the name is said already
	}
	defer file.Close()
	decoder := json.NewDecoder(io.LimitReader(file, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, err
	}
	if p == (plan.Prices{}) {
		return p, errors.New("no price in it")
	}
	return p, nil
}

// flagOf are the flags that fields of a workload come from, the longer names of fields first.
var flagOf = strings.NewReplacer(
	"Table.WriteUnits", "--provisioned-writes", "Table.ReadUnits", "--provisioned-reads",
	"Table.WarmWrites", "--warm-writes", "Table.WarmReads", "--warm-reads", "Table.Partitions", "--partitions",
	"Read.Pattern", "--pattern", "Read.Items", "--items", "Read.Window", "--window", "Read.Strong", "--strong",
	"MaxLatency", "--max-latency", "MaxDollars", "--max-cost",
	"Assume.Factor", "--factor", "Assume.Confidence", "--confidence", "Assume.Target", "--target", "Assume.Average",
	"--average",
	"Assume.P50Millis", "--query-p50 in ms", "Assume.P99Millis", "--query-p99 in ms", "Assume.Prices", "--prices",
	"Names.Format", "--format",
	"ItemsPerDay", "--items-per-day", "ItemBytes", "--item-size", "Writes", "--writes", "Reads", "--reads", "Keys",
	"--keys",
	"Share", "--share", "Zipf", "--zipf", "Shards", "--shards", "Throttles", "--throttles",
	"\n", "; ",
)

// explain says what is wrong with a workload in the words of the command.
func (f *planFlags) explain(err error) error {
	if !errors.Is(err, plan.ErrWorkload) {
		return err
	}
	return errors.New(flagOf.Replace(strings.TrimPrefix(err.Error(), plan.ErrWorkload.Error()+": ")))
}
