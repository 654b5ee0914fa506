package partition

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Reason is why a request was throttled, in the words of DynamoDB's
// ThrottlingReasons (since August 2025): what was throttled, the direction, and
// the limit.
type Reason string

// The sixteen reasons.
const (
	TableReadKeyRangeThroughputExceeded     Reason = "TableReadKeyRangeThroughputExceeded"
	TableReadProvisionedThroughputExceeded  Reason = "TableReadProvisionedThroughputExceeded"
	TableReadAccountLimitExceeded           Reason = "TableReadAccountLimitExceeded"
	TableReadMaxOnDemandThroughputExceeded  Reason = "TableReadMaxOnDemandThroughputExceeded"
	TableWriteKeyRangeThroughputExceeded    Reason = "TableWriteKeyRangeThroughputExceeded"
	TableWriteProvisionedThroughputExceeded Reason = "TableWriteProvisionedThroughputExceeded"
	TableWriteAccountLimitExceeded          Reason = "TableWriteAccountLimitExceeded"
	TableWriteMaxOnDemandThroughputExceeded Reason = "TableWriteMaxOnDemandThroughputExceeded"
	IndexReadKeyRangeThroughputExceeded     Reason = "IndexReadKeyRangeThroughputExceeded"
	IndexReadProvisionedThroughputExceeded  Reason = "IndexReadProvisionedThroughputExceeded"
	IndexReadAccountLimitExceeded           Reason = "IndexReadAccountLimitExceeded"
	IndexReadMaxOnDemandThroughputExceeded  Reason = "IndexReadMaxOnDemandThroughputExceeded"
	IndexWriteKeyRangeThroughputExceeded    Reason = "IndexWriteKeyRangeThroughputExceeded"
	IndexWriteProvisionedThroughputExceeded Reason = "IndexWriteProvisionedThroughputExceeded"
	IndexWriteAccountLimitExceeded          Reason = "IndexWriteAccountLimitExceeded"
	IndexWriteMaxOnDemandThroughputExceeded Reason = "IndexWriteMaxOnDemandThroughputExceeded"
)

// direction tells reads from writes.
type direction uint8

const (
	read direction = iota
	write
	directions
)

// limit is one of the four kinds of limits a request can run into, in the order
// in which a Throttle lists them: what belongs to the whole table comes first.
type limit uint8

const (
	provisionedThroughput limit = iota
	maxOnDemandThroughput
	accountLimit
	keyRangeThroughput
	limits
)

// reasons holds the names by what is throttled, direction and limit.
var reasons = [2][directions][limits]Reason{
	{
		{TableReadProvisionedThroughputExceeded, TableReadMaxOnDemandThroughputExceeded, TableReadAccountLimitExceeded, TableReadKeyRangeThroughputExceeded},
		{TableWriteProvisionedThroughputExceeded, TableWriteMaxOnDemandThroughputExceeded, TableWriteAccountLimitExceeded, TableWriteKeyRangeThroughputExceeded},
	},
	{
		{IndexReadProvisionedThroughputExceeded, IndexReadMaxOnDemandThroughputExceeded, IndexReadAccountLimitExceeded, IndexReadKeyRangeThroughputExceeded},
		{IndexWriteProvisionedThroughputExceeded, IndexWriteMaxOnDemandThroughputExceeded, IndexWriteAccountLimitExceeded, IndexWriteKeyRangeThroughputExceeded},
	},
}

// exceeded is a set of limits by direction: one bit for each of the eight.
type exceeded uint8

func (e *exceeded) add(d direction, l limit) { *e |= 1 << (uint8(d)*uint8(limits) + uint8(l)) }

// of returns the limits of one direction, a bit each.
func (e exceeded) of(d direction) uint8 {
	return uint8(e) >> (uint8(d) * uint8(limits)) & (1<<limits - 1)
}

// Exception is the name of the exception that a throttled request is answered
// with.
type Exception string

// The three exceptions that carry ThrottlingReasons.
const (
	ProvisionedThroughputExceededException Exception = "ProvisionedThroughputExceededException"
	ThrottlingException                    Exception = "ThrottlingException"
	RequestLimitExceeded                   Exception = "RequestLimitExceeded"
)

// Throttle says why a request was refused. It is an error, so that it can be
// wrapped; Admit returns the bare pointer.
type Throttle struct {
	// Causes holds every limit that any of the charges ran into, in the order
	// of the charges. It is never empty.
	Causes []Cause
}

// Cause is one limit that one charge ran into.
type Cause struct {
	Charge   int // which of the charges handed to Admit
	Set      *Set
	Reason   Reason
	OnDemand bool // the set's capacity mode at that moment

	direction direction
	limit     limit
}

// Resource is the ARN that stands beside the reason in the exception.
func (c Cause) Resource() string { return c.Set.resource }

// Exception is how DynamoDB reports this cause: exceeding an account's limit as
// Options.AccountLimitException says, everything else by the capacity mode.
func (c Cause) Exception() Exception {
	switch {
	case c.limit == accountLimit:
		return c.Set.rules.AccountLimitException
	case c.OnDemand:
		return ThrottlingException
	default:
		return ProvisionedThroughputExceededException
	}
}

// Exception is the exception to answer with: that of the first cause.
func (t *Throttle) Exception() Exception { return t.Causes[0].Exception() }

// Reasons returns the causes that differ in set or reason: the list that stands
// in the exception.
func (t *Throttle) Reasons() []Cause {
	var list []Cause
	for _, c := range t.Causes {
		if !slices.ContainsFunc(list, func(o Cause) bool { return o.Set == c.Set && o.Reason == c.Reason }) {
			list = append(list, c)
		}
	}
	return list
}

// Throttled reports whether the charge with this number ran into any limit
// itself, rather than being refused because of others: what a transaction's
// cancellation reasons need to know.
func (t *Throttle) Throttled(charge int) bool {
	return slices.ContainsFunc(t.Causes, func(c Cause) bool { return c.Charge == charge })
}

func (t *Throttle) Error() string {
	var b strings.Builder
	for i, c := range t.Reasons() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s on %s", c.Reason, c.Resource())
	}
	return b.String()
}

// add appends the causes of one charge.
func (t *Throttle) add(charge int, s *Set, e exceeded) {
	kind := 0
	if s.index {
		kind = 1
	}
	for d := range directions {
		for left := e.of(d); left != 0; left &= left - 1 {
			l := limit(bits.TrailingZeros8(left))
			t.Causes = append(t.Causes, Cause{
				Charge:    charge,
				Set:       s,
				Reason:    reasons[kind][d][l],
				OnDemand:  s.capacity.Mode == OnDemand,
				direction: d,
				limit:     l,
			})
		}
	}
}
