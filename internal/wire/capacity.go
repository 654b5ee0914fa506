package wire

import "github.com/heatsink-go/heatsink/internal/engine"

// consumed writes what a request cost, if that is to be told.
func (a *answer) consumed(c *engine.ConsumedCapacity) {
	if c != nil {
		a.name("ConsumedCapacity")
		a.consumedCapacity(c)
	}
}

// consumedList is consumed for requests that use several tables.
func (a *answer) consumedList(list []*engine.ConsumedCapacity) {
	if len(list) == 0 {
		return
	}
	a.array("ConsumedCapacity")
	for _, c := range list {
		a.next()
		a.consumedCapacity(c)
	}
	a.end(']')
}

func (a *answer) consumedCapacity(c *engine.ConsumedCapacity) {
	a.begin('{')
	a.string("TableName", c.TableName)
	a.units("CapacityUnits", c.Units)
	a.optUnits("ReadCapacityUnits", c.Read)
	a.optUnits("WriteCapacityUnits", c.Write)
	if c.Arms {
		a.name("Table")
		a.capacity(c.Table)
		a.capacities("LocalSecondaryIndexes", c.Local)
		a.capacities("GlobalSecondaryIndexes", c.Global)
	}
	a.end('}')
}

func (a *answer) capacities(name string, indexes map[string]engine.Capacity) {
	if len(indexes) > 0 {
		a.object(name)
		sorted(a, indexes, a.capacity)
		a.end('}')
	}
}

func (a *answer) capacity(c engine.Capacity) {
	a.begin('{')
	a.units("CapacityUnits", c.Units)
	a.optUnits("ReadCapacityUnits", c.Read)
	a.optUnits("WriteCapacityUnits", c.Write)
	a.end('}')
}

// collection writes how large an item collection is.
func (a *answer) collection(m *engine.ItemCollectionMetrics) {
	a.begin('{')
	a.item("ItemCollectionKey", m.Key)
	a.array("SizeEstimateRangeGB")
	a.float(m.LowerGB)
	a.next()
	a.float(m.UpperGB)
	a.end(']')
	a.end('}')
}

// collections is collection for requests that use several tables.
func (a *answer) collections(tables map[string][]*engine.ItemCollectionMetrics) {
	if len(tables) == 0 {
		return
	}
	a.object("ItemCollectionMetrics")
	sorted(a, tables, func(list []*engine.ItemCollectionMetrics) {
		a.begin('[')
		for _, m := range list {
			a.next()
			a.collection(m)
		}
		a.end(']')
	})
	a.end('}')
}
