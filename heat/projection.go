package heat

import (
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// projection is which attributes of an item an index has.
type projection struct {
	some  bool     // only the following ones; else all
	names []string // those of both keys among them
}

// newProjection returns what a description says of an index of a table.
func newProjection(p *types.Projection, table, index keyNames) projection {
	if p == nil || p.ProjectionType != types.ProjectionTypeKeysOnly && p.ProjectionType != types.ProjectionTypeInclude {
		return projection{}
	}
	return projection{true, slices.Concat(table.partition, table.sort, index.partition, index.sort, p.NonKeyAttributes)}
}

// of returns the attributes of an item that the index has.
func (p projection) of(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	if !p.some {
		return item
	}
	kept := make(map[string]types.AttributeValue, len(p.names))
	for _, name := range p.names {
		if value, ok := item[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

// meanUnits returns the units that writing a mean item of a table takes, and whether its size is known. It is one if not.
func (c *Capacity) meanUnits() (units float64, known bool) {
	if c == nil || c.Items <= 0 || c.Bytes <= 0 {
		return 1, false
	}
	return max(1, math.Ceil(float64(c.Bytes)/float64(c.Items)/writeUnit)), true
}
