package move

import (
	"maps"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/plan"
)

const (
	writeUnit = 1 << 10
	readUnit  = 4 << 10
)

// tariff says what updates of a table's items cost.
type tariff struct{ indexes []projected }

// projected is an index, as far as it decides what an update costs.
type projected struct {
	keys  []string
	names []string // what it has of an item, the keys of table and index included
	all   bool     // it has the whole item
}

func newTariff(table *types.TableDescription) *tariff {
	t := &tariff{}
	own := keysOf(table.KeySchema)
	add := func(keys []types.KeySchemaElement, p *types.Projection) {
		x := projected{keys: keysOf(keys)}
		x.names = slices.Concat(own, x.keys)
		if p != nil {
			x.all = p.ProjectionType == types.ProjectionTypeAll
			x.names = append(x.names, p.NonKeyAttributes...)
		}
		t.indexes = append(t.indexes, x)
	}
	for _, x := range table.GlobalSecondaryIndexes {
		add(x.KeySchema, x.Projection)
	}
	for _, x := range table.LocalSecondaryIndexes {
		add(x.KeySchema, x.Projection)
	}
	return t
}

func keysOf(schema []types.KeySchemaElement) (names []string) {
	for _, k := range schema {
		names = append(names, aws.ToString(k.AttributeName))
	}
	return names
}

// update returns what it costs to set attributes of an item: the write to the table, and those to its indexes. An entry whose
// key changes is deleted and put.
func (t *tariff) update(item, set place.Item) (table, index float64) {
	after := maps.Clone(item)
	maps.Copy(after, set)
	return t.change(item, after)
}

// change returns what it costs to make one item of another. Either is nil if there is none.
func (t *tariff) change(before, after place.Item) (table, index float64) {
	table = max(writeUnits(before), writeUnits(after))
	for _, x := range t.indexes {
		was, is := x.entry(before), x.entry(after)
		switch {
		case was == nil && is == nil:
		case was == nil:
			index += writeUnits(is)
		case is == nil:
			index += writeUnits(was)
		case !attribute.Same(attribute.Pick(was, x.keys), attribute.Pick(is, x.keys)):
			index += writeUnits(was) + writeUnits(is)
		case !attribute.Same(was, is):
			index += max(writeUnits(was), writeUnits(is))
		}
	}
	return table, index
}

// entry returns what the index has of an item, nil if it does not list it.
func (x *projected) entry(item place.Item) place.Item {
	for _, name := range x.keys {
		if attribute.Empty(item[name]) {
			return nil
		}
	}
	if x.all {
		return item
	}
	return attribute.Pick(item, x.names)
}

// writeUnits returns the units of writing an item.
func writeUnits(item place.Item) float64 {
	return max(1, math.Ceil(float64(sizeOf(item))/writeUnit))
}

// sizeOf returns the size of an item in bytes, as DynamoDB counts it.
func sizeOf(item place.Item) int {
	v, err := attribute.Canonical(&types.AttributeValueMemberM{Value: item})
	if err != nil {
		return attribute.SizeOf(item).Bytes
	}
	return v.Map.Size()
}

// dollars returns what units cost on demand.
func dollars(p plan.Prices, reads, writes float64) float64 {
	return (reads*p.MillionReads + writes*p.MillionWrites) / 1e6
}
