package plan

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/heatsink-go/heatsink/layout"
)

// The most that the recipes take.
const (
	maxCounterShards = 1024
	counterShards    = 4  // of package counter by default
	flushes          = 50 // writes a second of a process to a counter, at most
	maxCopies        = 1000
	maxLimiterShards = 256
)

// written returns the write units a second of a key with a strategy. Package counter combines what a process adds.
func (w *Workload) written(l Load, s Strategy) float64 {
	units := float64(l.WriteUnits)
	if s == Counter {
		units = min(units, float64(w.Processes)*flushes)
	}
	return units
}

// processes returns how many processes add to a counter, as text.
func (w *Workload) processes() string {
	if w.Processes == 1 {
		return "1 process"
	}
	return grouped(w.Processes) + " processes"
}

// counterOptions returns the options of package counter for a key that is one number.
func (w *Workload) counterOptions(p *Plan) string {
	n := &w.Names
	first, last := w.keys(p)
	comments := []string{
		fmt.Sprintf("counters, err := counter.Open(client, options): counters.Add(ctx, %[1]q, 1), counters.Total(ctx, %[1]q).", w.Key),
		fmt.Sprintf("It is stored under %q to %q. See docs/recipes/counter.md.", first, last),
	}
	comments = append(comments, fmt.Sprintf("A process writes 20 to %d times a second, however much it adds: this is for %s.",
		flushes, w.processes()))
	if w.Existing {
		comments = append(comments, "The number that is there: name its attribute in Origin, then import it with heatsink move --counter.")
	}
	fields := append(n.fields(false), field{"Shards", strconv.Itoa(min(p.Shards, maxCounterShards))})
	if n.Format != (layout.Format{}) {
		fields = append(fields, field{"Format", literalFormat(n.Format)})
	}
	return declare(append(comments, w.blanks(p)...), "counter.Options", fields)
}

// limiterOptions returns the options of package ratelimit for a key whose checks are too many.
func (w *Workload) limiterOptions(p *Plan) string {
	comments := []string{
		"Every process that checks this limit must have the same Shards; keep its other options as they are. Each shard has a part of the limit.",
		"A Lease of several permits needs fewer writes. See docs/recipes/ratelimit.md.",
	}
	fields := append(w.Names.fields(false), field{"Shards", strconv.Itoa(min(p.Shards, maxLimiterShards))})
	return declare(append(comments, w.blanks(p)...), "ratelimit.Options", fields)
}

// replicaOptions returns the options of package replica for an item that is read too often.
func (w *Workload) replicaOptions(p *Plan) string {
	comments := []string{
		fmt.Sprintf("posts, err := replica.Open[Post](client, options): posts.Get(ctx, %q) reads any copy, posts.Put writes all.", w.Key),
		"The table is one of its own: replica.Setup creates it. See docs/recipes/replica.md.",
	}
	if p.Shards > maxCopies {
		comments = append(comments, fmt.Sprintf("%s copies are the most: divide the reads among several items.", grouped(maxCopies)))
	}
	fields := []field{{"Table", strconv.Quote(cmp.Or(w.Names.Table, "items") + "-copies")}, {"Copies", strconv.Itoa(min(p.Shards, maxCopies))}}
	return declare(comments, "replica.Options", fields)
}
