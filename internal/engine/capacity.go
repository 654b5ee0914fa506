package engine

import (
	"cmp"
	"maps"
)

const (
	writeUnitBytes = 1 << 10
	readUnitBytes  = 4 << 10
)

// writeUnits is what writing an item of that size costs.
func writeUnits(size int) float64 {
	return float64(max(1, (size+writeUnitBytes-1)/writeUnitBytes))
}

// readUnits is what a strongly consistent read of that many bytes costs; an
// eventually consistent one costs half.
func readUnits(size int, consistent bool) float64 {
	units := float64(max(1, (size+readUnitBytes-1)/readUnitBytes))
	if !consistent {
		units /= 2
	}
	return units
}

// indexUnits is what a change of an index entry costs, given its sizes before
// and after (zero: no entry) and whether it stays under the same key.
func indexUnits(before, after int, moved bool) float64 {
	switch {
	case before == 0:
		return writeUnits(after)
	case after == 0:
		return writeUnits(before)
	case moved:
		return writeUnits(before) + writeUnits(after)
	default:
		return max(writeUnits(before), writeUnits(after))
	}
}

// bill is what a request cost, by what it was spent on.
type bill struct {
	table  float64
	local  map[string]float64
	global map[string]float64
}

// charge adds the cost of an index.
func (b *bill) charge(x *index, units float64) {
	arm := &b.global
	if x.local {
		arm = &b.local
	}
	if *arm == nil {
		*arm = map[string]float64{}
	}
	(*arm)[x.name] += units
}

func (b *bill) add(other bill) {
	b.table += other.table
	for name, units := range other.local {
		b.charge(&index{name: name, local: true}, units)
	}
	for name, units := range other.global {
		b.charge(&index{name: name}, units)
	}
}

func (b *bill) total() float64 {
	total := b.table
	for units := range maps.Values(b.local) {
		total += units
	}
	for units := range maps.Values(b.global) {
		total += units
	}
	return total
}

// direction says in which of a ConsumedCapacity's further fields a cost shows.
type direction int

const (
	undirected   direction = iota // single requests: in none
	readCapacity                  // transactions
	writeCapacity
)

func (d direction) capacity(units float64) Capacity {
	c := Capacity{Units: units}
	switch d {
	case readCapacity:
		c.Read = new(units)
	case writeCapacity:
		c.Write = new(units)
	}
	return c
}

// consumed presents the bill as ReturnConsumedCapacity asked for it: NONE, TOTAL
// or INDEXES.
func (b *bill) consumed(table, detail string, d direction) *ConsumedCapacity {
	if detail != "TOTAL" && detail != "INDEXES" {
		return nil
	}
	total := d.capacity(b.total())
	c := &ConsumedCapacity{TableName: table, Units: total.Units, Read: total.Read, Write: total.Write}
	if detail == "TOTAL" {
		return c
	}
	c.Arms, c.Table, c.Local, c.Global = true, d.capacity(b.table), d.capacities(b.local), d.capacities(b.global)
	return c
}

// capacities is capacity for the indexes of a bill, nil if there are none.
func (d direction) capacities(units map[string]float64) map[string]Capacity {
	if len(units) == 0 {
		return nil
	}
	out := make(map[string]Capacity, len(units))
	for name, u := range units {
		out[name] = d.capacity(u)
	}
	return out
}

// tableBills adds up costs for each table, in the order of the tables' first
// appearance.
type tableBills struct {
	order []string
	spent map[string]*bill
}

func (t *tableBills) add(table string, cost bill) {
	if t.spent == nil {
		t.spent = map[string]*bill{}
	}
	if t.spent[table] == nil {
		t.spent[table] = &bill{}
		t.order = append(t.order, table)
	}
	t.spent[table].add(cost)
}

func (t *tableBills) consumed(detail string, d direction) (list []*ConsumedCapacity) {
	for _, table := range t.order {
		if c := t.spent[table].consumed(table, detail, d); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// plus adds what another request on the same table cost; nil: nothing to tell.
func (c *ConsumedCapacity) plus(other *ConsumedCapacity) *ConsumedCapacity {
	if c == nil || other == nil {
		return cmp.Or(c, other)
	}
	c.Units += other.Units
	c.Table.Units += other.Table.Units
	addCapacities(&c.Local, other.Local)
	addCapacities(&c.Global, other.Global)
	return c
}

func addCapacities(to *map[string]Capacity, more map[string]Capacity) {
	for name, units := range more {
		if *to == nil {
			*to = map[string]Capacity{}
		}
		sum := (*to)[name]
		sum.Units += units.Units
		(*to)[name] = sum
	}
}
