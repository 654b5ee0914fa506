// Package meter adds up what requests cost, for the meters that a context carries. internal/dispatch adds what it sends,
// and who reads an answer adds the units in it. The library's Meter and Cost are the public side of it.
package meter

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cost is what requests took. The library's type of that name has the same fields, and documents them.
type Cost struct {
	Requests  int
	Retries   int
	Throttles int
	Items     int

	ReadUnits, WriteUnits float64
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{
		Requests:   c.Requests + d.Requests,
		Retries:    c.Retries + d.Retries,
		Throttles:  c.Throttles + d.Throttles,
		Items:      c.Items + d.Items,
		ReadUnits:  c.ReadUnits + d.ReadUnits,
		WriteUnits: c.WriteUnits + d.WriteUnits,
	}
}

// Meter is a sum of costs. The zero Meter is ready, and may be used concurrently.
type Meter struct {
	mu   sync.Mutex
	cost Cost
}

// Cost returns the sum so far.
func (m *Meter) Cost() Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

func (m *Meter) add(c Cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cost = m.cost.Plus(c)
}

// List is the meters of a context. The nil List has none.
type List struct {
	meter *Meter
	next  *List
}

type key struct{}

// With returns a context with one meter more than ctx has.
func With(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, key{}, &List{m, Of(ctx)})
}

// Of returns the meters of a context.
func Of(ctx context.Context) *List {
	l, _ := ctx.Value(key{}).(*List)
	return l
}

// Add adds a cost to all meters of a context.
func Add(ctx context.Context, c Cost) {
	if c == (Cost{}) {
		return
	}
	for l := Of(ctx); l != nil; l = l.next {
		l.meter.add(c)
	}
}

// Wanted is what requests ask DynamoDB to report: nothing if there is no meter.
func (l *List) Wanted() types.ReturnConsumedCapacity {
	if l == nil {
		return types.ReturnConsumedCapacityNone
	}
	return types.ReturnConsumedCapacityTotal
}

// Ask makes a request report what it consumes if ctx has a meter, unless the caller has decided that already.
func Ask(ctx context.Context, report *types.ReturnConsumedCapacity) {
	if *report == "" && Of(ctx) != nil {
		*report = types.ReturnConsumedCapacityTotal
	}
}

// Read adds how many items a read has read, and what its answer says that it consumed; nil if it does not say.
func Read(ctx context.Context, items int, consumed *types.ConsumedCapacity) {
	Add(ctx, Cost{Items: items, ReadUnits: units(consumed)})
}

// ReadAll is Read for an answer about several tables.
func ReadAll(ctx context.Context, items int, consumed []types.ConsumedCapacity) {
	c := Cost{Items: items}
	for i := range consumed {
		c.ReadUnits += units(&consumed[i])
	}
	Add(ctx, c)
}

// Wrote adds what the answer to a write says that it consumed; nil if it does not say.
func Wrote(ctx context.Context, consumed *types.ConsumedCapacity) {
	Add(ctx, Cost{WriteUnits: units(consumed)})
}

// WroteAll is Wrote for an answer about several tables. A transaction that DynamoDB has done already, and is sent again
// with the same token, only reads: such an answer has read units.
func WroteAll(ctx context.Context, consumed []types.ConsumedCapacity) {
	var c Cost
	for i := range consumed {
		read := aws.ToFloat64(consumed[i].ReadCapacityUnits)
		c.ReadUnits += read
		c.WriteUnits += units(&consumed[i]) - read
	}
	Add(ctx, c)
}

func units(consumed *types.ConsumedCapacity) float64 {
	if consumed == nil {
		return 0
	}
	return aws.ToFloat64(consumed.CapacityUnits)
}
