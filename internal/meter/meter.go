// Package meter adds up the cost of requests in the meters that a context carries. internal/dispatch adds the requests
// that it sends. The caller that reads a response adds its capacity units. The library's Meter and Cost are the public
// side of it.
package meter

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cost is what requests consumed. The library's type of that name has the same fields and documents them.
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

// Meter is a sum of costs. The zero Meter is ready for use, also concurrently.
type Meter struct {
	mu   sync.Mutex
	cost Cost
}

// Cost returns the total so far.
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

// With returns a context with m in addition to the meters of ctx.
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

// Wanted returns what requests should ask DynamoDB to report: nothing without a meter.
func (l *List) Wanted() types.ReturnConsumedCapacity {
	if l == nil {
		return types.ReturnConsumedCapacityNone
	}
	return types.ReturnConsumedCapacityTotal
}

// Ask makes a request report its consumed capacity if ctx has a meter, unless the caller has already set report.
func Ask(ctx context.Context, report *types.ReturnConsumedCapacity) {
	if *report == "" && Of(ctx) != nil {
		*report = types.ReturnConsumedCapacityTotal
	}
}

// Read adds the number of items that were read, and the consumed capacity of the response, which may be nil.
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

// Wrote adds the consumed capacity of the response to a write, which may be nil.
func Wrote(ctx context.Context, consumed *types.ConsumedCapacity) {
	Add(ctx, Cost{WriteUnits: units(consumed)})
}

// WroteAll is Wrote for a response about several tables. A transaction that DynamoDB has already done only reads when it
// is sent again with the same token. Its response has read units.
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
