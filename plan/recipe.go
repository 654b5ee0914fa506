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
	maxCopies        = 1000
)

// counterOptions returns the options of package counter for a key that is one number.
func (w *Workload) counterOptions(p *Plan) string {
	n := &w.Names
	first, last := w.keys(p)
	comments := []string{
		fmt.Sprintf("counters, err := counter.Open(client, options): counters.Add(ctx, %[1]q, 1), counters.Total(ctx, %[1]q).", w.Key),
		fmt.Sprintf("It is stored under %q to %q. See docs/recipes/counter.md.", first, last),
	}
	if p.Warm != nil {
		comments = append(comments, "One process writes about 20 times a second, however much it adds: then nothing need be warmed.")
	}
	if w.Existing {
		comments = append(comments, "The number that is there: name its attribute in Origin, then import it with heatsink move --counter.")
	}
	fields := append(n.fields(false), field{"Shards", strconv.Itoa(min(p.Shards, maxCounterShards))})
	if n.Format != (layout.Format{}) {
		fields = append(fields, field{"Format", literalFormat(n.Format)})
	}
	return declare(append(comments, w.blanks(p)...), "counter.Options", fields)
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
