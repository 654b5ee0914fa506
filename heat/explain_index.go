package heat

import (
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// index finds an index whose key has far fewer values than the table's key: a throttled index throttles the table's writes.
func (e *explainer) index(r *ResourceReport, said map[about]bool) {
	if r.Index == "" {
		return
	}
	table := e.find(Resource{Table: r.Table})
	if table == nil {
		return
	}
	if spreadIndex(r) {
		return
	}
	has, of := e.cardinalities(r, table)
	if has == 0 || of < 10 || has*10 > of || has > 100 || e.spoken(r) {
		return
	}
	where := "where the table has"
	if table.Stored != nil && table.Stored.Fraction > 0 && table.Stored.Fraction < 1 {
		where = "where the same sample of the table has"
	}
	e.add(r, Finding{
		Kind: HotIndex, Severity: Warning, Direction: Write,
		Message:  fmt.Sprintf("Index %s has %s %s %d", r.Index, partitionKeys(has), where, of),
		Evidence: []string{fmt.Sprintf("%s of %s, %d of the table's key", figure.Count(has, "value"), strings.Join(r.Key, ", "), of)},
		Cause:    "every write to the table also writes to the index, on far fewer keys: when one of these is hot, DynamoDB refuses the table's writes",
		Remedy:   "shard the index's key (heatsink Options.Index), or keep items that need no listing out of the index",
	})
}

// spreadIndex reports whether most of an index is shards already.
func spreadIndex(r *ResourceReport) bool {
	spread, all := 0.0, 0.0
	for i := range r.Patterns {
		p := &r.Patterns[i]
		amount := p.Writes + float64(p.Items)
		if all += amount; p.Sharded {
			spread += amount
		}
	}
	return spread > all/2
}

// spoken reports whether a finding about the index's keys exists already.
func (e *explainer) spoken(r *ResourceReport) bool {
	for _, f := range e.findings {
		if f.Resource == r.Resource && (f.Kind == LowCardinality || f.Kind == HotIndex || f.Severity == Critical) {
			return true
		}
	}
	return false
}

func (e *explainer) find(resource Resource) *ResourceReport {
	for i := range e.report.Resources {
		if e.report.Resources[i].Resource == resource {
			return &e.report.Resources[i]
		}
	}
	return nil
}

// cardinalities returns the numbers of partition keys of an index and its table, from stored items or else from writes; 0
// if there are too few to compare.
func (e *explainer) cardinalities(index, table *ResourceReport) (has, of int64) {
	if i, t := index.Stored, table.Stored; i != nil && t != nil && i.Items >= e.rules.Items {
		return i.Distinct.Keys, t.Distinct.Keys
	}
	if index.Writes.Requests >= e.rules.Sample && table.Writes.Requests >= e.rules.Sample {
		return index.Writes.Distinct.Keys, table.Writes.Distinct.Keys
	}
	return 0, 0
}
