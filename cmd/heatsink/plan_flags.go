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
	explain  bool // print everything
}

func (f *planFlags) register(cmd *cobra.Command) {
	f.load(cmd)
	f.table(cmd)
	f.reading(cmd)
	f.assumptions(cmd)
	f.naming(cmd)
	f.report.register(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.explain, "explain", false, "also print the numbers, notes, costs and alternatives")
	flags.BoolVar(&f.json, "json", false, "print the plan as JSON only")
	flags.StringVar(&f.failOn, "fail-on", "", "exit with 1 on a note of this severity or worse: info, "+
		"warning, critical (default: never)")
	flags.SortFlags = false
}

func (f *planFlags) load(cmd *cobra.Command) {
	w, flags := &f.workload, cmd.Flags()
	flags.StringVar(&w.Key, "key", "", "name of the key (default KEY)")
	flags.Float64Var(&w.Writes, "writes", 0, "writes per second of the hottest key, at its peak")
	flags.Float64Var(&w.Reads, "reads", 0, "reads per second of the hottest key, at its peak")
	flags.Var((*byteSize)(&w.ItemBytes), "item-size", "size of an item, such as 700B or 2.5KB (default 1KB)")
	flags.Float64Var(&w.ItemsPerDay, "items-per-day", 0, "new items of the key on an ordinary day (default: from "+
		"--writes and --average)")
	flags.IntVar(&w.Keys, "keys", 0, "number of keys of the table (default: unknown)")
	flags.Var((*part)(&w.Share), "share", "share of the hottest key in the table's load, such as 30% or 0.3 (default: unknown)")
	flags.Float64Var(&w.Zipf, "zipf", 0, "with --keys, instead of --share: exponent of a Zipf distribution of the load")
	flags.IntVar(&w.Shards, "shards", 0, "number of shards to judge: what the key has, or is thought to need")
	flags.IntVar(&w.Processes, "processes", 0, "number of processes that add to a counter (default 10)")
	flags.IntVar(&w.Throttles, "throttles", 0, "throttled requests of the key in five minutes")
	flags.BoolVar(&w.Unpredictable, "unpredictable", false, "any key may become the hot one, such as that of a tenant")
	flags.BoolVar(&w.Atomic, "atomic", false, "items of the key must be consistent with each other")
	flags.BoolVar(&w.Existing, "existing", false, "also read existing items, under the bare key and "+
		"in the number of shards that --shards gives (default with --report: true)")
}

func (f *planFlags) table(cmd *cobra.Command) {
	t, flags := &f.workload.Table, cmd.Flags()
	flags.StringVar(&f.mode, "mode", onDemand, "capacity mode: on-demand or provisioned")
	flags.Int64Var(&t.WriteUnits, "provisioned-writes", 0, "provisioned write units per second")
	flags.Int64Var(&t.ReadUnits, "provisioned-reads", 0, "provisioned read units per second")
	flags.Int64Var(&t.WarmWrites, "warm-writes", 0, "warm throughput in write units per second, as DescribeTable shows it "+
		"(default 4000 on demand)")
	flags.Int64Var(&t.WarmReads, "warm-reads", 0, "warm throughput in read units per second (default 12000 on "+
		"demand)")
	flags.IntVar(&t.Partitions, "partitions", 0, "number of partitions, if known (default: from the capacity)")
	flags.StringVar(&f.index, "index", "", "global index that the key belongs to (default: the table)")
}

func (f *planFlags) reading(cmd *cobra.Command) {
	w, flags := &f.workload, cmd.Flags()
	flags.StringVar((*string)(&w.Read.Pattern), "pattern", string(plan.Lists), "read pattern: points, times, "+
		"lists, counter, mostly")
	flags.IntVar(&w.Read.Items, "items", 0, "number of items that a list returns (default 100)")
	flags.Var((*span)(&w.Read.Window), "window", "look-back window of a list for a time range, such as 24h or 90d (default 24h)")
	flags.BoolVar(&w.Read.Strong, "strong", false, "reads are strongly consistent")
	flags.Var((*span)(&w.Read.Stale), "stale", "largest age of a cached answer; negative if reads "+
		"must not be cached (default 1s)")
	flags.Var((*span)(&w.MaxLatency), "max-latency", "limit for the latency of a read at the 99th percentile (default: none)")
	flags.Float64Var(&w.MaxDollars, "max-cost", 0, "limit for the cost of the key's reads and writes, in dollars per "+
		"month (default: none)")
}

func (f *planFlags) assumptions(cmd *cobra.Command) {
	a, flags := &f.workload.Assume, cmd.Flags()
	flags.Float64Var(&a.Factor, "factor", plan.DefaultFactor, "safety factor of the published formula")
	flags.Var((*part)(&a.Confidence), "confidence", "share of placements of shards on partitions that must serve the load "+
		"(default 99%)")
	flags.Var((*part)(&a.Target), "target", "highest utilization of a partition at the peak (default 70%)")
	flags.Var((*part)(&a.Average), "average", "average load as a share of the peak, for costs per request "+
		"(default 100%)")
	flags.Var((*span)(&f.p50), "query-p50", "median latency of one request (default 10ms)")
	flags.Var((*span)(&f.p99), "query-p99", "latency of one request at the 99th percentile (default 25ms)")
	flags.StringVar(&f.prices, "prices", "", "JSON file of prices, with the fields of assumed.prices (default: "+
		"us-east-1, "+plan.USEast1().Date+")")
}

func (f *planFlags) naming(cmd *cobra.Command) {
	n, flags := &f.workload.Names, cmd.Flags()
	flags.StringVar(&n.Table, "table", "", "name of the table in the snippet (default items)")
	flags.StringVar(&n.PartitionKey, "partition-key", "", "attribute of the partition key (default pk)")
	flags.StringVar(&n.SortKey, "sort-key", "", "attribute of the sort key, with --index of the index's (default sk)")
	flags.StringVar(&n.Time, "time", "", "attribute with the time of an item (default: the sort key)")
	flags.StringVar(&n.TableKey, "table-key", "", "with --index: attribute of the table's own partition key (default id)")
	flags.StringVar(&n.TableSortKey, "table-sort-key", "", "with --index: attribute of the table's own sort key (default: none)")
	flags.Var((*spelling)(&n.Format), "format", "spelling of shard keys: shard-hash (#SHARD#7), plain "+
		"(#7), dot (.8), or a template such as {key}/{shard:03} (default #SHARD_7)")
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
		return p, errors.Unwrap(err) // read adds the name
	}
	defer file.Close()
	decoder := json.NewDecoder(io.LimitReader(file, 1<<20))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, err
	}
	if p == (plan.Prices{}) {
		return p, errors.New("it has no price; give fields such as those of assumed.prices in heatsink plan --json")
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
	"Existing", "--existing",
	"Share", "--share", "Zipf", "--zipf", "Shards", "--shards", "Throttles", "--throttles",
	"\n", "; ",
)

// inWords says what is wrong with a workload in the words of the command.
func (f *planFlags) inWords(err error) error {
	if !errors.Is(err, plan.ErrWorkload) {
		return err
	}
	return errors.New(flagOf.Replace(strings.TrimPrefix(err.Error(), plan.ErrWorkload.Error()+": ")))
}
