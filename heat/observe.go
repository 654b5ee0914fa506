package heat

import (
	"math"
	"slices"
)

// Observation is a request that something other than this process's clients saw, such as a server, a proxy or a log.
type Observation struct {
	Resource
	Direction Direction

	// KeyNames are the attributes of the partition key, Key their values as text. If both are nil, the request counts
	// without a key.
	KeyNames, Key []string

	// Sort is the text of the sort key if the request was for a single item, and empty but not nil if the table has no
	// sort key. It is nil if the request was for several items, or if that is unknown.
	Sort []string

	// Units are those consumed or, of a throttled request, those it would have consumed. Anything but a positive number
	// counts as 0.
	Units     float64
	Throttled bool
	Reason    string // why, in DynamoDB's words: TableWriteKeyRangeThroughputExceeded

	// Attempt is which attempt at the request it is, as the header Amz-Sdk-Request says: 2 for the first retry. Retries are
	// no demand of their own. Default: the first.
	Attempt int

	// Partition is the number of the partition that holds the key. Default: unknown. Findings then name the neighbours of
	// a key whose partition is full.
	Partition uint64
}

// Observe counts a request at the current time.
func (r *Recorder) Observe(o Observation) {
	t := r.table(o.Table)
	if len(o.KeyNames) > 0 && !slices.Equal(t.index(o.Index).names.partition, o.KeyNames) {
		t.observeKey(o.Index, slices.Clone(o.KeyNames))
	}
	if !(o.Units > 0) || math.IsInf(o.Units, 1) {
		o.Units = 0
	}
	c := newCall()
	defer c.free()
	seen := touch{attempts: 1, units: o.Units, partition: o.Partition}
	if o.Attempt > 1 {
		seen.retries, seen.settled = 1, o.Units
	}
	if o.Throttled {
		seen.units, seen.settled, seen.throttled, seen.reason = 0, 0, 1, o.Reason
		if keyRange(o.Reason) && o.Attempt <= 1 {
			seen.wanted = o.Units
		}
	}
	if o.control(t.view.Load().own.names.partition) {
		t.index(o.Index).flow(o.Direction, &r.options).addControl(&seen)
		return
	}
	if len(o.Key) > 0 {
		c.join(o.Key)
		seen.key = c.texts
		seen.hash = keyHash(seen.key)
	}
	if o.Sort != nil {
		begin := len(c.texts)
		c.join(o.Sort)
		seen.item = itemHash(c.texts[begin:])
	}
	t.index(o.Index).flow(o.Direction, &r.options).add(r.now().UnixNano(), &seen, r.options.Redact)
}

// Forget drops the counts of a table and its indexes, and the decisions about them, such as those of a deleted table.
func (r *Recorder) Forget(table string) {
	r.tables.drop(table)
	r.decisions.drop(table)
}

// join appends the values of a key to the texts.
func (c *call) join(values []string) {
	for i, value := range values {
		if i > 0 {
			c.texts = append(c.texts, '|')
		}
		c.texts = append(c.texts, value...)
	}
}
