package check

import (
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/forward"
)

// value is the content of the item, interned. 0 is no item.
type value = uint8

// result is what an operation returns: a write done or refused, or a value that was read.
type result = uint8

const (
	done    result = 1
	refused result = 2
	read    result = 0x40 // and the value in the lower bits
)

// operation is one operation of a scenario.
type operation struct {
	kind     forward.Kind
	text     string // what it writes
	from     value  // a condition: the value that an item must have, if not 0
	transact bool
	check    bool // part of a transaction that changes nothing
}

// monitor knows what one item would answer. It follows all orders of the operations that explain the answers so far. An order is a
// string: the value, and for each operation the result that it has had in the order and not returned yet. A set of orders is
// the concatenation of them, sorted.
type monitor struct {
	operations []operation
	texts      []string
	values     map[string]value
	called     map[called]string // what call has returned
}

type called struct {
	orders  string
	pending uint32
}

func newMonitor(operations []operation) *monitor {
	return &monitor{operations: operations, texts: []string{""}, values: map[string]value{"": 0}, called: map[called]string{}}
}

// value returns the value of a text.
func (m *monitor) value(text string) value {
	v, ok := m.values[text]
	if !ok {
		v = value(len(m.texts))
		m.values[text], m.texts = v, append(m.texts, text)
	}
	return v
}

// size is the length of an order.
func (m *monitor) size() int { return 1 + 2*len(m.operations) }

// begin returns the set of the only order before the first operation.
func (m *monitor) begin(v value) string {
	return string(v) + strings.Repeat("\x00", m.size()-1)
}

// answer returns what an operation answers for a value, and what it makes of it.
func (m *monitor) answer(o operation, v value) (value, result) {
	if o.check {
		if v == o.from {
			return v, done
		}
		return v, refused
	}
	switch o.kind {
	case forward.Get, forward.List, forward.Scan:
		return v, read | v
	case forward.Put:
		return m.value(o.text), done
	case forward.Create, forward.Append:
		if v == 0 {
			return m.value(o.text), done
		}
	case forward.Update:
		if v != 0 {
			return m.value(o.text), done
		}
	case forward.Upsert:
		if v == 0 || o.from == 0 || v == o.from {
			return m.value(m.texts[v] + o.text), done
		}
	case forward.Swap:
		if v == o.from {
			return m.value(o.text), done
		}
	case forward.Delete, forward.Remove:
		if v != 0 && (o.from == 0 || v == o.from) {
			return 0, done
		}
	}
	return v, refused
}

// user returns an operation as the machines take it.
func (m *monitor) user(o operation) forward.User[value] {
	u := forward.User[value]{
		Kind: o.kind,
		Write: func(old value, had bool) value {
			if o.kind == forward.Upsert && had {
				return m.value(m.texts[old] + o.text)
			}
			return m.value(o.text)
		},
	}
	if o.from != 0 {
		u.Holds = func(v value) bool { return v == o.from }
	}
	return u
}

// call returns the orders after operations have begun: each of those that are pending may come next. A late duplicate of operation
// i is operation len(operations)+i.
func (m *monitor) call(orders string, pending uint32) string {
	asked := called{orders, pending}
	if known, ok := m.called[asked]; ok {
		return known
	}
	all := map[string]bool{}
	var open []string
	add := func(order string) {
		if !all[order] {
			all[order] = true
			open = append(open, order)
		}
	}
	for order := range slices.Chunk([]byte(orders), m.size()) {
		add(string(order))
	}
	for len(open) > 0 {
		order := open[len(open)-1]
		open = open[:len(open)-1]
		for i := range 2 * len(m.operations) {
			if pending&(1<<i) == 0 || order[1+i] != 0 {
				continue
			}
			next := []byte(order)
			next[0], next[1+i] = m.answer(m.operations[i%len(m.operations)], order[0])
			add(string(next))
		}
	}
	m.called[asked] = join(all)
	return m.called[asked]
}

// now returns the orders in which a pending operation has its turn at this moment, not before.
func (m *monitor) now(orders string, pending uint32, i int) string {
	all := map[string]bool{}
	for order := range slices.Chunk([]byte(orders), m.size()) {
		if order[1+i] == 0 {
			all[string(order)] = true
		}
	}
	return m.call(join(all), pending)
}

// returned returns the orders in which an operation has had a result. There is none if the answer was wrong.
func (m *monitor) returned(orders string, i int, r result) string {
	all := map[string]bool{}
	for order := range slices.Chunk([]byte(orders), m.size()) {
		if order[1+i] == r {
			next := slices.Clone(order)
			next[1+i] = 0
			all[string(next)] = true
		}
	}
	return join(all)
}

func join(all map[string]bool) string {
	orders := make([]string, 0, len(all))
	for order := range all {
		orders = append(orders, order)
	}
	slices.Sort(orders)
	return strings.Join(orders, "")
}
