package heat

import (
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// streamed adds the write that a record tells of, with the units it took as far as sizes tell: DynamoDB charges the larger
// of the item before and after, and an index only if what it projects has changed.
func (c *call) streamed(v *tableView, d *streamtypes.StreamRecord) {
	item, keysOnly := streamItem(d)
	if keysOnly {
		units, _ := v.own.capacity.meanUnits()
		if d.OldImage != nil {
			units = writeUnits(streamMap(d.OldImage))
		}
		c.item(v.own, item, units)
		c.parts[0].units = units
		return
	}
	var old map[string]types.AttributeValue
	if d.NewImage != nil && d.OldImage != nil {
		old = streamMap(d.OldImage)
	}
	c.written(v, item, 1)
	for i := range c.parts {
		p := &c.parts[i]
		kept := v.projection(p.counters)
		after := kept.of(item)
		p.units = writeUnits(after)
		if old == nil {
			continue
		}
		before := kept.of(old)
		p.units = max(p.units, writeUnits(before))
		if p.counters != v.own.counters && reflect.DeepEqual(before, after) {
			p.units, p.tentative = 0, true
		}
	}
}

// projection returns what the table or one of its indexes has of an item.
func (v *tableView) projection(of *counters) projection {
	for i := range v.indexes {
		if v.indexes[i].counters == of {
			return v.indexes[i].projects
		}
	}
	return projection{}
}

// streamItem returns the item of a record as the table's client has it: the new one, the old one of a deletion, or the
// keys of a stream without new images.
func streamItem(d *streamtypes.StreamRecord) (item map[string]types.AttributeValue, keysOnly bool) {
	switch {
	case d.NewImage != nil:
		return streamMap(d.NewImage), false
	case d.OldImage != nil && d.StreamViewType != streamtypes.StreamViewTypeOldImage:
		return streamMap(d.OldImage), false
	}
	return streamMap(d.Keys), true
}

// keysNote says how writes count whose items a stream does not show, "" if it shows all.
func keysNote(kind streamtypes.StreamViewType, table *Capacity) string {
	var which, write string
	switch kind {
	case streamtypes.StreamViewTypeKeysOnly:
		which, write = "keys only", "a write"
	case streamtypes.StreamViewTypeOldImage:
		which, write = "no new images", "a write of a new item"
	case streamtypes.StreamViewTypeNewImage:
		which, write = "no old images", "a deletion"
	default:
		return ""
	}
	size := "as one unit, because the size of items is unknown"
	if units, known := table.meanUnits(); known {
		size = fmt.Sprintf("as %.0f units, the cost of an average item of the table", units)
		if units == 1 {
			size = "as one unit, the cost of an average item of the table"
		}
	}
	indexes := "writes to indexes are not counted"
	if kind == streamtypes.StreamViewTypeNewImage {
		indexes = "its writes to indexes are not counted"
	}
	return fmt.Sprintf("the stream has %s: %s counts %s; %s", which, write, size, indexes)
}
