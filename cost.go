package heatsink

import (
	"context"

	"github.com/heatsink-go/heatsink/internal/meter"
)

// Cost is what operations consumed.
type Cost struct {
	Requests  int // requests sent to DynamoDB, including retries
	Retries   int // requests that repeated an earlier one
	Throttles int // requests that were throttled
	Items     int // items read, before filters

	// ReadUnits and WriteUnits are the capacity units that DynamoDB reported.
	ReadUnits, WriteUnits float64
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost { return Cost(meter.Cost(c).Plus(meter.Cost(d))) }

// Meter adds up the cost of operations whose context comes from WithMeter, including failed ones. The zero Meter is ready
// for use. Any number of operations may share a Meter concurrently.
//
//	var meter heatsink.Meter
//	n, err := views.Count(heatsink.WithMeter(ctx, &meter), query)
//	fmt.Println(meter.Cost().ReadUnits)
type Meter struct{ sum meter.Meter }

// WithMeter returns a context whose operations add their cost to m, and to every Meter that ctx already has. It covers
// collections and recipes. A meter makes requests ask DynamoDB for the consumed capacity, which adds a few bytes to each
// response.
func WithMeter(ctx context.Context, m *Meter) context.Context { return meter.With(ctx, &m.sum) }

// Cost returns the total so far.
func (m *Meter) Cost() Cost { return Cost(m.sum.Cost()) }
