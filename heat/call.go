package heat

import (
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cespare/xxhash/v2"
)

// call is one call of an operation: what it is about, and then what became of it. Calls are used again, so that looking
// at one allocates nothing.
type call struct {
	direction Direction
	parts     []part
	texts     []byte // of the parts' keys
	attempts  int64  // answers and failures that were seen
	repeated  bool   // the call repeats an earlier one, as heatsink's retries do
	answered  bool   // some answer shows that there are such tables and indexes
	unmet     bool   // a condition was not met
	doubled   bool   // a transaction, which tables charge twice for and indexes do not
	changes   changes
	receipt   *receipt               // of what was consumed; nil if the output tells it
	told      types.ConsumedCapacity // by the receipt, if it is short
	names     []string               // of tables; see sortedTables
	last      *table                 // that it was about
	made      []statement            // of PartiQL
}

// part is a key that a call is about, of the table or of one of its indexes.
type part struct {
	counters   *counters
	begin, end int // of the key's text; equal if the key is not known
	item       uint64
	weight     float64                         // its part of what the call consumes of its table or index, in units where they can be told
	whole      map[string]types.AttributeValue // the item that is written as a whole; nil if its size is not known

	tentative bool // counts only if something was consumed or refused: it is not known to be part of the call
	moved     bool // its index may have had the item under another key before
	again     bool // the same request as another part
	control   bool // of a control item, which is counted apart

	units     float64
	throttled int64
	failed    int64
	reason    string
}

// seed makes hashes those of this process.
var seed = maphash.MakeSeed()

// keyHash returns the hash that a key is known by. Its lower half is this process's alone, so that nobody who
// chooses keys can choose two with the same hash. Its upper half is the same everywhere: numbers of keys and of items are
// estimated with it, and what is reported of the same calls is the same each time.
func keyHash(text []byte) uint64 {
	const upper = math.MaxUint32 << 32
	return xxhash.Sum64(text)&upper | maphash.Bytes(seed, text)&^upper
}

// itemHash returns the hash of a sort key, which is not 0.
func itemHash(text []byte) uint64 { return keyHash(text) | 1 }

var calls = sync.Pool{New: func() any { return new(call) }}

func newCall() *call { return calls.Get().(*call) }

// free gives the call back. It must not be used any more.
func (c *call) free() {
	clear(c.parts)
	c.changes.reset()
	c.receipt, c.last, c.told, c.made = nil, nil, types.ConsumedCapacity{}, nil
	clear(c.names)
	c.direction, c.attempts, c.repeated, c.answered, c.unmet, c.doubled = 0, 0, false, false, false, false
	c.parts, c.texts = c.parts[:0], c.texts[:0]
	if cap(c.texts) <= 64<<10 && cap(c.parts) <= 1024 {
		calls.Put(c)
	}
}

// table returns a table that the call is about. Most calls are about one.
func (c *call) table(r *Recorder, name string) *table {
	if c.last == nil || c.last.name != name {
		c.last = r.table(name)
	}
	return c.last
}

func (c *call) view(r *Recorder, name string) *tableView { return c.table(r, name).view.Load() }

// item adds an item, or a key, to what the call is about.
func (c *call) item(v resourceView, item map[string]types.AttributeValue, weight float64) {
	p := part{counters: v.counters, weight: weight}
	p.control = v.Index == "" && isControl(v.names.partition, item)
	p.begin = len(c.texts)
	if c.key(v.names.partition, item) && len(v.names.sort) > 0 {
		p.end = len(c.texts)
		if c.key(v.names.sort, item) {
			p.item = itemHash(c.texts[p.end:])
		}
		c.texts = c.texts[:p.end]
	} else {
		p.end = len(c.texts)
		if v.single && p.end > p.begin {
			p.item = 1
		}
	}
	c.parts = append(c.parts, p)
}

// written adds an item that is written as a whole, to the table and to the indexes it is in. Among several items its weight is
// that of its size.
func (c *call) written(v *tableView, item map[string]types.AttributeValue, weight float64) {
	c.item(v.own, item, weight)
	own := len(c.parts) - 1
	c.parts[own].whole = item
	for _, index := range v.indexes {
		if index.names.known() && hasAll(item, index.names.partition) && hasAll(item, index.names.sort) {
			c.item(index, item, weight)
			entry := &c.parts[len(c.parts)-1]
			entry.moved = !v.own.names.has(index.names.partition)
			entry.control = c.parts[own].control
		}
	}
}

func hasAll(item map[string]types.AttributeValue, names []string) bool {
	for _, name := range names {
		if item[name] == nil {
			return false
		}
	}
	return true
}

// unkeyed adds something of a table or index whose key is not known.
func (c *call) unkeyed(v resourceView, weight float64) {
	c.parts = append(c.parts, part{counters: v.counters, weight: weight})
}

// key appends the text of a key's attributes. Without all of them it appends nothing and returns false.
func (c *call) key(names []string, item map[string]types.AttributeValue) bool {
	begin := len(c.texts)
	for i, name := range names {
		if i > 0 {
			c.texts = append(c.texts, '|')
		}
		text, ok := appendKey(c.texts, item[name])
		if !ok {
			c.texts = c.texts[:begin]
			return false
		}
		c.texts = text
	}
	return len(names) > 0
}

// consumed shares units that a table or index says were consumed among the call's parts of it. What is not a positive
// number is no answer of DynamoDB's, and would spoil all sums for good.
func (c *call) consumed(counters *counters, units float64) {
	if !(units > 0) || math.IsInf(units, 1) {
		return
	}
	total := 0.0
	for i := range c.parts {
		if c.parts[i].counters == counters {
			total += c.parts[i].weight
		}
	}
	if total == 0 {
		c.parts = append(c.parts, part{counters: counters, units: units, control: c.onlyControl(counters.Table)})
		return
	}
	for i := range c.parts {
		if p := &c.parts[i]; p.counters == counters {
			p.units += units * p.weight / total
		}
	}
}

// charged shares units that an index says were consumed. Its entry of an item costs no more than the item costs its
// table, own, unless the item was under another key of the index before: then half of it is the removal from there.
// Where that key is not known, the half counts without a key, so that no key gets more than it took.
func (c *call) charged(index, table *counters, units, own float64) {
	moved, weight, total := false, 0.0, 0.0
	for i := range c.parts {
		switch p := &c.parts[i]; p.counters {
		case index:
			moved = moved || p.moved
			weight += p.weight
		case table:
			total += p.weight
		}
	}
	if c.doubled {
		own /= 2
	}
	if moved && units > own*min(1, weight/total) {
		units /= 2
		c.parts = append(c.parts, part{counters: index, units: units, again: true, control: c.onlyControl(index.Table)})
	}
	c.consumed(index, units)
}

// capacity shares what a table says was consumed among the call's parts.
func (c *call) capacity(t *table, consumed *types.ConsumedCapacity) {
	if consumed == nil {
		return
	}
	v := t.view.Load()
	own := aws.ToFloat64(consumed.CapacityUnits)
	if consumed.Table != nil { // the arms are told apart
		own = aws.ToFloat64(consumed.Table.CapacityUnits)
		for name, global := range consumed.GlobalSecondaryIndexes {
			c.charged(t.index(name).counters, v.own.counters, aws.ToFloat64(global.CapacityUnits), own)
		}
		for _, local := range consumed.LocalSecondaryIndexes {
			own += aws.ToFloat64(local.CapacityUnits)
		}
	}
	if consumed.Table == nil && len(c.parts) == 1 && c.parts[0].counters != v.own.counters {
		c.consumed(c.parts[0].counters, own) // a query of an index, and the caller asked for the total only
		return
	}
	c.consumed(v.own.counters, own)
}

// record counts the call at a time in nanoseconds since 1970.
func (c *call) record(o *Options, nanos int64, took time.Duration) {
	timed := slices.IndexFunc(c.parts, func(p part) bool { return !p.control })
	for i := range c.parts {
		p := &c.parts[i]
		proven := p.units > 0 || p.throttled > 0
		if !proven && (p.tentative || !c.answered && !p.counters.known.Load() && !p.counters.counted()) {
			continue
		}
		t := touch{
			units: p.units, item: p.item, attempts: c.attempts, throttled: p.throttled, failed: p.failed, reason: p.reason,
			moving: p.moved && p.tentative, // what is put whole is new as a rule
		}
		if t.retries = max(0, t.attempts-1); c.repeated {
			t.retries = t.attempts
		}
		if p.again {
			t.attempts, t.retries = 0, 0
		}
		// What was not served because of its key was wanted all the same: the least it can have cost, once. A call that
		// repeats an earlier one wants nothing more.
		switch {
		case c.repeated && p.units > 0:
			t.settled = c.leastOf(p)
		case !c.repeated && p.throttled > 0 && p.units == 0 && keyRange(p.reason):
			t.wanted = c.leastOf(p)
		}
		t.unsized = c.direction == Read || c.unmet || p.whole == nil
		if p.control {
			p.counters.flow(c.direction, o).addControl(&t)
			continue
		}
		if p.end > p.begin {
			t.key = c.texts[p.begin:p.end]
			t.hash = keyHash(t.key)
		}
		f := p.counters.flow(c.direction, o)
		if i == timed {
			f.addTimed(nanos, &t, o.Redact, took)
		} else {
			f.add(nanos, &t, o.Redact)
		}
	}
}

// leastOf returns the least units that a part takes when it is served: those of the item where it is written whole, which
// DynamoDB charges even if the old one was smaller; else those of the smallest. One that failed its condition in the end
// is charged by the item that is there, whatever size it has.
func (c *call) leastOf(p *part) float64 {
	switch {
	case c.direction == Read:
		return 0.5
	case c.unmet:
		return 1
	}
	if p.whole != nil {
		return writeUnits(p.whole)
	}
	return 1
}

// Bytes of a unit.
const (
	writeUnit = 1 << 10
	readUnit  = 4 << 10
)

// Units of items whose cost is not told apart: what DynamoDB would charge for their size.
func writeUnits(item map[string]types.AttributeValue) float64 {
	return math.Ceil(float64(itemSize(item)) / writeUnit)
}

func readUnits(item map[string]types.AttributeValue) float64 {
	return max(1, math.Ceil(float64(itemSize(item))/readUnit))
}
