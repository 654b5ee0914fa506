package heat

import (
	"math"
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
}

// part is a key that a call is about, of the table or of one of its indexes.
type part struct {
	counters   *counters
	begin, end int // of the key's text; equal if the key is not known
	item       uint64
	weight     float64 // its part of what the call consumes of its table or index, in units where they can be told

	units     float64
	throttled int64
	failed    int64
	reason    string
}

var calls = sync.Pool{New: func() any { return new(call) }}

func newCall() *call { return calls.Get().(*call) }

// free gives the call back. It must not be used any more.
func (c *call) free() {
	clear(c.parts)
	*c = call{parts: c.parts[:0], texts: c.texts[:0]}
	if cap(c.texts) <= 64<<10 && cap(c.parts) <= 1024 {
		calls.Put(c)
	}
}

// item adds an item, or a key, to what the call is about.
func (c *call) item(v resourceView, item map[string]types.AttributeValue, weight float64) {
	p := part{counters: v.counters, weight: weight}
	p.begin = len(c.texts)
	if c.key(v.names.partition, item) && len(v.names.sort) > 0 {
		p.end = len(c.texts)
		if c.key(v.names.sort, item) {
			p.item = xxhash.Sum64(c.texts[p.end:]) | 1
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

// written adds an item that is written as a whole, to the table and to the indexes it is in.
func (c *call) written(v *tableView, item map[string]types.AttributeValue) {
	weight := writeUnits(item)
	c.item(v.own, item, weight)
	for _, index := range v.indexes {
		if index.names.known() && hasAll(item, index.names.partition) && hasAll(item, index.names.sort) {
			c.item(index, item, weight)
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

// consumed shares units that a table or index says were consumed among the call's parts of it.
func (c *call) consumed(counters *counters, units float64) {
	if units == 0 {
		return
	}
	total := 0.0
	for i := range c.parts {
		if c.parts[i].counters == counters {
			total += c.parts[i].weight
		}
	}
	if total == 0 {
		c.parts = append(c.parts, part{counters: counters, units: units})
		return
	}
	for i := range c.parts {
		if p := &c.parts[i]; p.counters == counters {
			p.units += units * p.weight / total
		}
	}
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
		for _, local := range consumed.LocalSecondaryIndexes {
			own += aws.ToFloat64(local.CapacityUnits)
		}
	}
	for name, global := range consumed.GlobalSecondaryIndexes {
		c.consumed(t.index(name).counters, aws.ToFloat64(global.CapacityUnits))
	}
	if consumed.Table == nil && len(c.parts) == 1 && c.parts[0].counters != v.own.counters {
		c.consumed(c.parts[0].counters, own) // a query of an index, and the caller asked for the total only
		return
	}
	c.consumed(v.own.counters, own)
}

// record counts the call.
func (c *call) record(o *Options, now time.Time, took time.Duration) {
	nanos := now.UnixNano()
	for i := range c.parts {
		p := &c.parts[i]
		t := touch{
			units: p.units, item: p.item, attempts: c.attempts, throttled: p.throttled, failed: p.failed, reason: p.reason,
		}
		// What was not served because of its key was wanted all the same: the least it can have cost, once.
		if p.throttled > 0 && p.units == 0 && keyRange(p.reason) {
			t.wanted = 1
			if c.direction == Read {
				t.wanted = 0.5
			}
		}
		if p.end > p.begin {
			t.key = c.texts[p.begin:p.end]
			t.hash = xxhash.Sum64(t.key)
		}
		f := p.counters.flow(c.direction, o)
		if i == 0 {
			f.addTimed(nanos, &t, o.Redact, took)
		} else {
			f.add(nanos, &t, o.Redact)
		}
	}
}

// Units of items whose cost is not told apart: what DynamoDB would charge for their size.
func writeUnits(item map[string]types.AttributeValue) float64 {
	return math.Ceil(float64(itemSize(item)) / 1024)
}

func readUnits(item map[string]types.AttributeValue) float64 {
	return max(1, math.Ceil(float64(itemSize(item))/4096))
}
