package partition

import (
	"math"
	"time"
)

// Mode is how a table pays for its capacity. All of a table's indexes share it.
type Mode uint8

const (
	// OnDemand tables (PAY_PER_REQUEST) are limited by their partitions, their
	// maximum if they have one, and the table quota.
	OnDemand Mode = iota
	// Provisioned tables are limited by what is provisioned, which their
	// partitions share.
	Provisioned
)

func (m Mode) String() string {
	if m == Provisioned {
		return "provisioned"
	}
	return "on-demand"
}

// MarshalText makes it a word in JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Capacity is what a table or index may use, as CreateTable and UpdateTable set
// it.
type Capacity struct {
	Mode Mode

	// Provisioned is the capacity in Provisioned mode; both must be positive.
	Provisioned Rate

	// Maximum is the most in OnDemand mode (OnDemandThroughput). A field that
	// is not positive sets no maximum.
	Maximum Rate

	// Warm is what the partitions must be able to serve at once
	// (WarmThroughput); it lifts no limit. Zero: whatever they are.
	Warm Rate
}

// maxPartitions bounds a set, whatever it is asked for.
const maxPartitions = 1 << 16

// partitionsFor returns how many partitions it takes to serve rate, each within
// its ceiling: reads and writes are limited independently, so it is the larger
// of both, not the sum of the 2016 formula. At least one.
func (r *rules) partitionsFor(rate Rate) int {
	n := 1.0
	for d := range directions {
		n = max(n, math.Ceil(float64(rate.of(d))/float64(r.Partition.of(d))))
	}
	return int(min(n, maxPartitions))
}

// partitions returns how many partitions a capacity needs at least. ever is the
// highest rate that the set was ever provisioned for: a table that is switched to
// on-demand mode keeps serving it [AWS: on-demand-capacity-mode].
func (r *rules) partitions(c Capacity, ever Rate) int {
	n := r.partitionsFor(ever.max(c.Warm))
	if c.Mode == OnDemand {
		n = max(n, r.OnDemandPartitions)
	}
	return n
}

// flow is what admission gives out for one direction over all partitions.
type flow struct {
	// table is the provisioned capacity or the maximum on-demand throughput.
	// All partitions draw from it, each as much as it likes: that is adaptive
	// capacity since admission control became global [ATC'22 4.2].
	table bucket
	limit limit // what a request ran into if table refuses it

	// quota limits on-demand tables. What is provisioned is held against the
	// quotas when it is set.
	quota bucket
}

// tableWindow is what limits on whole tables save up at least: they are per
// second.
const tableWindow = time.Second

// newFlow returns the flow of a new set, or of one that changes its mode. It
// starts with one second's worth: nothing has been left unused so far that could
// have been saved for a burst.
func (r *rules) newFlow(d direction, c Capacity, at instant) flow {
	if c.Mode == Provisioned {
		f := flow{table: newBucket(c.Provisioned.of(d), r.Burst, tableWindow, at), limit: provisionedThroughput}
		f.table.step = instant(r.TableRefill)
		return f
	}
	f := flow{table: newBucket(c.Maximum.of(d), r.Burst, tableWindow, at), limit: maxOnDemandThroughput}
	f.table.step = instant(r.TableRefill)
	if quota := r.TableQuota.of(d); quota < math.MaxInt64 {
		f.quota = newBucket(quota, tableWindow, tableWindow, at)
	}
	return f
}

// change adapts the flow to another capacity. Within a mode, what was saved for
// bursts is kept as far as it still fits.
func (f *flow) change(r *rules, d direction, from, to Capacity, at instant) {
	rate := func(c Capacity) int64 {
		if c.Mode == Provisioned {
			return c.Provisioned.of(d)
		}
		return max(c.Maximum.of(d), 0)
	}
	if from.Mode != to.Mode || rate(from) == 0 || rate(to) == 0 {
		*f = r.newFlow(d, to, at)
		return
	}
	f.table.resize(rate(to), r.Burst, at)
}

// exceeds returns the limits of the whole set that refuse a request.
func (f *flow) exceeds(d direction, at instant, e *exceeded) {
	if f.table.refuses(at) {
		e.add(d, f.limit)
	}
	if f.quota.refuses(at) {
		e.add(d, accountLimit)
	}
}

func (f *flow) take(cost amount, at instant) {
	f.table.charge(cost, at)
	f.quota.charge(cost, at)
}
