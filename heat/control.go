package heat

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/layout"
)

// Control is the traffic of control items: the records that adaptive collections keep, whose partition keys begin with
// layout.ControlPrefix. They are nobody's data, so they are in no other figure of a Flow. What a table has consumed is
// Flow.Units and Control.Units together. Sources that do not see keys, such as CloudWatch, cannot tell them apart; nor can
// a Recorder in a Scan, whose units are for all items that it passes.
type Control struct {
	Units     float64 `json:"units"`               // capacity units consumed
	Requests  int64   `json:"requests"`            // attempts, counted as in Flow
	Throttled int64   `json:"throttled,omitempty"` // attempts that DynamoDB throttled
	Errors    int64   `json:"errors,omitempty"`    // attempts that failed otherwise
}

// StoredControl is the stored control items. They are in no other figure of a Stored.
type StoredControl struct {
	Items int64 `json:"items"`
	Bytes int64 `json:"bytes"`
}

// isControl reports whether an item, or its key, is a control item's. names is the partition key of the table, empty if it
// is not known.
func isControl(names []string, item map[string]types.AttributeValue) bool {
	if len(names) != 1 {
		return false
	}
	value, ok := item[names[0]].(*types.AttributeValueMemberS) // heatsink's keys are texts
	return ok && layout.IsControl(value.Value)
}

// mayIndexControl reports whether control items of a table with these keys can be in an index: they have no attributes but
// the keys and heatsink's own.
func (k keyNames) mayIndexControl(index keyNames) bool {
	for _, names := range [...][]string{index.partition, index.sort} {
		for _, name := range names {
			if !strings.HasPrefix(name, controlAttributes) && !slices.Contains(k.partition, name) && !slices.Contains(k.sort, name) {
				return false
			}
		}
	}
	return true
}

// controlAttributes is what the attributes that heatsink adds begin with.
const controlAttributes = "_hs_"

// onlyControl reports whether a call is about control items of a table and no others.
func (c *call) onlyControl(table string) bool {
	found := false
	for i := range c.parts {
		if p := &c.parts[i]; p.counters.Table == table {
			if !p.control {
				return false
			}
			found = true
		}
	}
	return found
}

// addControl counts a touch of a control item.
func (f *flow) addControl(t *touch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &f.counts.Control
	c.Units += t.units
	c.Requests += t.attempts
	c.Throttled += t.throttled
	c.Errors += t.failed
}

// control reports whether an observation is of a control item. table is the partition key of its table, as far as it is
// known. A control item is in an index only if that is by the table's keys. If it is the other way round, by the sort key
// first, the index's sort key tells.
func (o *Observation) control(table []string) bool {
	if o.Index == "" {
		return len(o.Key) == 1 && layout.IsControl(o.Key[0])
	}
	for i, value := range o.Key {
		if i < len(o.KeyNames) && slices.Contains(table, o.KeyNames[i]) && layout.IsControl(value) {
			return true
		}
	}
	return slices.ContainsFunc(o.Sort, layout.IsControl)
}
