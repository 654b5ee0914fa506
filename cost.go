package heatsink

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cost is what operations took.
type Cost struct {
	Requests  int // sent to DynamoDB, retries included
	Retries   int // of these, those that repeated one
	Throttles int // answers that said "too fast"
	Items     int // items read, before any filter

	// ReadUnits and WriteUnits are the capacity units DynamoDB reported.
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

// units returns what a response says it consumed.
func units(consumed *types.ConsumedCapacity) float64 {
	if consumed == nil || consumed.CapacityUnits == nil {
		return 0
	}
	return *consumed.CapacityUnits
}

// Meter adds up what operations cost: those whose context comes from WithMeter, failed ones included. The zero Meter is
// ready, and any number of operations may share it.
//
//	var meter heatsink.Meter
//	n, err := views.Count(heatsink.WithMeter(ctx, &meter), query)
//	fmt.Println(meter.Cost().ReadUnits)
type Meter struct {
	mu   sync.Mutex
	cost Cost
}

// WithMeter returns a context whose operations are added to m, and to any Meter that ctx has already. They ask DynamoDB
// for the capacity units they consume, which costs nothing but a few bytes.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, &meterLink{m, metersOf(ctx)})
}

// Cost returns the sum so far.
func (m *Meter) Cost() Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cost
}

type meterKey struct{}

// meterLink is the list of a context's meters.
type meterLink struct {
	meter *Meter
	next  *meterLink
}

// metersOf returns the meters of a context, nil if there are none.
func metersOf(ctx context.Context) *meterLink {
	l, _ := ctx.Value(meterKey{}).(*meterLink)
	return l
}

func (l *meterLink) add(c Cost) {
	for ; l != nil; l = l.next {
		l.meter.mu.Lock()
		l.meter.cost = l.meter.cost.Plus(c)
		l.meter.mu.Unlock()
	}
}

// wanted is what requests ask DynamoDB to report.
func (l *meterLink) wanted() types.ReturnConsumedCapacity {
	if l == nil {
		return types.ReturnConsumedCapacityNone
	}
	return types.ReturnConsumedCapacityTotal
}

// ask makes a request report what it consumes if somebody wants to know, unless the caller has decided that.
func (l *meterLink) ask(report *types.ReturnConsumedCapacity) {
	if l != nil && *report == "" {
		*report = l.wanted()
	}
}
