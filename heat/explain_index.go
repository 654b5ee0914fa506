package heat

import (
	"fmt"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/judge"
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
	has, of, entries := e.cardinalities(r, table)
	if has == 0 || of < 10 || has*10 > of || has > 100 || e.spoken(r) {
		return
	}
	if has > fewValues && !e.busyIndex(r) {
		return // an ordinary list by some attribute, such as the orders of a customer
	}
	where, what := "where the table has", " of the table's key"
	if table.Stored != nil && table.Stored.Fraction > 0 && table.Stored.Fraction < 1 {
		where = "where the same sample of the table has"
	}
	noun := ""
	if entries {
		where, noun, what = "for", " items", " items in the index"
		if r.Stored == nil {
			noun, what = " writes", " writes to the index"
		}
	}
	e.add(r, Finding{
		Kind: HotIndex, Severity: Warning, Direction: Write,
		Message:  fmt.Sprintf("Index %s has %s %s %d%s", r.Index, partitionKeys(has), where, of, noun),
		Evidence: []string{fmt.Sprintf("%s of %s, %d%s", figure.Count(has, "value"), strings.Join(r.Key, ", "), of, what)},
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

// fewValues is up to how many values a key is a status or the like, whatever its traffic today.
const fewValues = 20

// busyIndex reports whether an index is written so much that one of its keys may become hot.
func (e *explainer) busyIndex(r *ResourceReport) bool {
	rate, _ := served(e.report, &r.Writes)
	return max(rate, r.Writes.Peak) >= judge.Beside*e.report.Limit(Write)
}

// cardinalities returns the number of partition keys of an index, from stored items or else from writes, and what it is
// compared with: that of its table or, if they are fewer, the entries of the index. A table may have many kinds of items that
// are not in the index. It returns 0 if there are too few to compare.
func (e *explainer) cardinalities(index, table *ResourceReport) (has, of int64, entries bool) {
	most := int64(0)
	if i, t := index.Stored, table.Stored; i != nil && t != nil && i.Items >= e.rules.Items {
		has, of, most = i.Distinct.Keys, t.Distinct.Keys, i.Items
	} else if index.Writes.Requests >= e.rules.Sample && table.Writes.Requests >= e.rules.Sample {
		has, of, most = index.Writes.Distinct.Keys, table.Writes.Distinct.Keys, index.Writes.Requests
	}
	return has, min(of, most), most < of
}
