package heat

import (
	"fmt"
	"strings"
)

// index finds an index whose key has far fewer values than the table's: it will throttle the table's writes.
func (e *explainer) index(r *ResourceReport, said map[about]bool) {
	if r.Index == "" {
		return
	}
	table := e.find(Resource{Table: r.Table})
	has, of := keys(r), int64(0)
	if table != nil {
		of = keys(table)
	}
	if has == 0 || of < 10 || has*10 > of || has > 100 || e.spoken(r) {
		return
	}
	e.add(r, Finding{
		Kind: HotIndex, Severity: Warning, Direction: Write,
		Message:  fmt.Sprintf("Index %s has %d partition keys where the table has %d", r.Index, has, of),
		Evidence: []string{fmt.Sprintf("%d values of %s, %d of the table's key", has, strings.Join(r.Key, ", "), of)},
		Cause:    "every write of the table is one of the index, on far fewer keys: when one is hot, DynamoDB refuses the table's writes",
		Remedy:   "shard the index's key (heatsink Options.Index), or leave out of it what need not be listed",
	})
}

// spoken reports whether something was said of an index's keys already.
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

// keys returns how many partition keys a table or index was seen to have.
func keys(r *ResourceReport) int64 {
	n := max(r.Writes.Distinct.Keys, r.Reads.Distinct.Keys)
	if r.Stored != nil {
		n = max(n, r.Stored.Distinct.Keys)
	}
	return n
}
