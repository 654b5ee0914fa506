package heatsink

import (
	"context"

	"github.com/heatsink-go/heatsink/internal/meter"
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
func (c Cost) Plus(d Cost) Cost { return Cost(meter.Cost(c).Plus(meter.Cost(d))) }

// Meter adds up what operations cost: those whose context comes from WithMeter, failed ones included. The zero Meter is
// ready, and any number of operations may share it.
//
//	var meter heatsink.Meter
//	n, err := views.Count(heatsink.WithMeter(ctx, &meter), query)
//	fmt.Println(meter.Cost().ReadUnits)
type Meter struct{ sum meter.Meter }

// WithMeter returns a context whose operations are added to m, and to any Meter that ctx has already: those of
// collections and of the recipes. They ask DynamoDB for the capacity units they consume, which costs nothing but a few
// bytes.
func WithMeter(ctx context.Context, m *Meter) context.Context { return meter.With(ctx, &m.sum) }

// Cost returns the sum so far.
func (m *Meter) Cost() Cost { return Cost(m.sum.Cost()) }
