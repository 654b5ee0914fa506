package partition

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Options says how partitions behave where AWS publishes no number, and lets a
// test scale down what it does publish. The zero value is DynamoDB as far as it
// is known. A field at zero has its default.
//
// Some things that DynamoDB has are not modelled, because nothing is known that
// a test could rely on: storage nodes and their buckets (a partition's neighbours
// on a node), partitions moving between nodes, and the request routers' own
// share of a table's tokens. The hash is the caller's: it is part of a place.
type Options struct {
	// Partition is the most that one partition serves, in units per second, for
	// reads and writes independently. Default: 3,000 read, 1,000 write units
	// [AWS: bp-partition-key-design].
	Partition Rate

	// EventualReads is the most that one partition serves in read units per
	// second if some of the reads are eventually consistent, which any of its
	// three replicas can answer; strongly consistent ones among them stay below
	// Partition.Read. Default: Partition.Read, which is what AWS promises. AWS
	// measured 4,500 on a partition once [AWS blog, Scaling DynamoDB part 2].
	EventualReads int64

	// Window is how long a partition that is not used saves up what it could
	// have served: Partition × Window is the most that it takes at once after a
	// pause. Unpublished. It is the one number that makes both of AWS's figures
	// for loading a file into a new table come out, 1,250 write units per second
	// in the order of keys and 3,600 shuffled; with one second, the literal
	// reading of "per second", the first would be 2,500. Whoever scales Partition
	// down to a few units may want to scale it up. Default: 200 ms.
	Window time.Duration

	// Burst is how long a table saves up capacity that it does not use, both
	// provisioned and maximum on-demand throughput. AWS keeps "up to 300
	// seconds" and "a portion", and may use some of it for itself: less here is
	// harsher, down to one second. Default: 300 s [AWS: burst-adaptive-capacity].
	Burst time.Duration

	// TableRefill is how often a table's capacity flows into what admission
	// gives out; the ATC'22 paper says that routers ask for tokens every few
	// seconds. Default: zero, all the time.
	TableRefill time.Duration

	// SplitThreshold is the share of Partition that a partition must serve to
	// count as hot. "A certain threshold" [ATC'22 4.4], "near its limit" [AWS
	// blog part 3]. Default: 0.8.
	SplitThreshold float64

	// SplitHold is how long a partition must stay hot before it is split.
	// Unpublished. With SplitDuration, and the minute that the measured load
	// takes to rise, a saturated partition has become two after about nine
	// minutes: an independent test saw eight, AWS's own about ten. Default:
	// 5 min.
	SplitHold time.Duration

	// SplitDuration is how long a split takes: "in the order of minutes"
	// [ATC'22 4.4]. Until then the partition serves as before. Negative: none
	// at all. Default: 3 min.
	SplitDuration time.Duration

	// SplitBytes is the size at which a partition is split whatever its load.
	// Default: 10 GB [AWS: HowItWorks.Partitions].
	SplitBytes int64

	// NoSplits switches splits for heat and size and the growth of on-demand
	// tables off.
	NoSplits bool

	// ResizeDuration is how long it takes until a raised capacity or warm
	// throughput has its partitions. Default: zero, at once, because the call
	// that raises it is answered when it is done.
	ResizeDuration time.Duration

	// OnDemandPartitions is how many partitions an on-demand table starts with.
	// Default: 4, which makes 4,000 write and 12,000 read units [AWS:
	// on-demand-capacity-mode].
	OnDemandPartitions int

	// GrowthPeriod is how long it takes an on-demand table that has reached a
	// new peak to be able to serve twice that peak. AWS: beyond double the
	// previous peak within 30 minutes, requests may be throttled. Default:
	// 30 min.
	GrowthPeriod time.Duration

	// TableQuota is the most that a table, or an index, may serve on demand or
	// have provisioned. Negative: no quota. Default: 40,000 and 40,000 [AWS:
	// ServiceQuotas; the throttling guide adds a table's indexes up instead].
	TableQuota Rate

	// AccountQuota is the most that all tables and indexes together may have
	// provisioned. Negative: no quota. Default: 80,000 and 80,000.
	AccountQuota Rate

	// AccountLimitException reports that TableQuota was exceeded. AWS's
	// Programming.Errors says RequestLimitExceeded, its page on throttled
	// indexes says ThrottlingException. Default: RequestLimitExceeded.
	AccountLimitException Exception

	// HistorySeconds is for how many seconds a partition's load is kept, 16
	// bytes each. Default: 300.
	HistorySeconds int

	// HistoryMinutes is for how many minutes a set's metrics are kept, 96 bytes
	// each. Default: 180.
	HistoryMinutes int

	// HistorySplits is how many splits a set remembers. Default: 1,000.
	HistorySplits int

	// Seed is where the sampling of keys starts from.
	Seed uint64
}

// Rate is a number of read and one of write units per second.
type Rate struct{ Read, Write int64 }

func (r Rate) of(d direction) int64 {
	if d == read {
		return r.Read
	}
	return r.Write
}

func (r Rate) max(o Rate) Rate { return Rate{max(r.Read, o.Read), max(r.Write, o.Write)} }

// longest bounds durations, so that sums of them never overflow.
const longest = 100 * 365 * 24 * time.Hour

// Fault is an option that cannot be used. Callers whose users set the option
// under another name put that name before the text.
type Fault struct {
	Option string // the field, such as SplitHold or Partition.Write
	Text   string // the value and what it must be: "is -1s, must be …"
}

// validate returns all faults as one error.
func (o *Options) validate() error {
	var faults []error
	for _, f := range o.Faults() {
		faults = append(faults, fmt.Errorf("partition options: %s %s", f.Option, f.Text))
	}
	return errors.Join(faults...)
}

// Faults returns everything that is wrong with the options, nil if nothing is.
func (o *Options) Faults() []Fault {
	var faults []Fault
	fault := func(name, format string, args ...any) {
		faults = append(faults, Fault{name, fmt.Sprintf(format, args...)})
	}
	notNegative := func(name string, n int64) {
		if n < 0 {
			fault(name, "is %d, must not be negative", n)
		}
	}
	notNegative("Partition.Read", o.Partition.Read)
	notNegative("Partition.Write", o.Partition.Write)
	if o.EventualReads != 0 && o.EventualReads < o.withDefaults().Partition.Read {
		fault("EventualReads", "is %d, must not be less than Partition.Read", o.EventualReads)
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{
		{"Window", o.Window},
		{"Burst", o.Burst},
		{"TableRefill", o.TableRefill},
		{"SplitHold", o.SplitHold},
		{"ResizeDuration", o.ResizeDuration},
		{"GrowthPeriod", o.GrowthPeriod},
	} {
		if d.Duration < 0 || d.Duration > longest {
			fault(d.name, "is %v, must be between 0 and %v", d.Duration, longest)
		}
	}
	if o.SplitDuration > longest {
		fault("SplitDuration", "is %v, must not be more than %v", o.SplitDuration, longest)
	}
	if !(o.SplitThreshold >= 0 && o.SplitThreshold <= 1) {
		fault("SplitThreshold", "is %v, must be between 0 and 1", o.SplitThreshold)
	}
	notNegative("SplitBytes", o.SplitBytes)
	if o.OnDemandPartitions < 0 || o.OnDemandPartitions > maxPartitions {
		fault("OnDemandPartitions", "is %d, must be between 0 and %d", o.OnDemandPartitions, maxPartitions)
	}
	switch o.AccountLimitException {
	case "", ProvisionedThroughputExceededException, ThrottlingException, RequestLimitExceeded:
	default:
		fault("AccountLimitException", "is %q, must be one of the exceptions that carry reasons", o.AccountLimitException)
	}
	notNegative("HistorySeconds", int64(o.HistorySeconds))
	notNegative("HistoryMinutes", int64(o.HistoryMinutes))
	notNegative("HistorySplits", int64(o.HistorySplits))
	return faults
}

func (o *Options) withDefaults() Options {
	d := *o
	set(&d.Partition.Read, 3_000)
	set(&d.Partition.Write, 1_000)
	set(&d.EventualReads, d.Partition.Read)
	set(&d.Window, 200*time.Millisecond)
	set(&d.Burst, 300*time.Second)
	d.Burst = max(d.Burst, tableWindow)
	set(&d.SplitThreshold, 0.8)
	set(&d.SplitHold, 5*time.Minute)
	set(&d.SplitDuration, 3*time.Minute)
	d.SplitDuration = max(d.SplitDuration, 0)
	set(&d.SplitBytes, 10<<30)
	set(&d.OnDemandPartitions, 4)
	set(&d.GrowthPeriod, 30*time.Minute)
	quota(&d.TableQuota.Read, 40_000)
	quota(&d.TableQuota.Write, 40_000)
	quota(&d.AccountQuota.Read, 80_000)
	quota(&d.AccountQuota.Write, 80_000)
	set(&d.AccountLimitException, RequestLimitExceeded)
	set(&d.HistorySeconds, 300)
	set(&d.HistoryMinutes, 180)
	set(&d.HistorySplits, 1_000)
	return d
}

// set gives a field that is not set its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// quota is set for fields where negative means none.
func quota(field *int64, value int64) {
	set(field, value)
	if *field < 0 {
		*field = math.MaxInt64
	}
}

// rules are options with what follows from them.
type rules struct {
	Options

	perUnit  [directions]float64 // the share of a partition's second that one unit takes
	decay    float64             // of a partition's heat, per second
	interval float64             // seconds of a partition's full load between two samples
}

func newRules(o Options) *rules {
	r := &rules{Options: o.withDefaults()}
	for d := range directions {
		r.perUnit[d] = 1 / float64(r.Partition.of(d))
	}
	// Heat is the load's moving average over a tenth of SplitHold: it passes
	// over lulls of seconds, and follows the load long before the hold is over.
	r.decay = math.Exp(-10 * float64(time.Second) / float64(r.SplitHold))
	// Samples are taken so far apart that those of one hold fill the sample.
	r.interval = r.SplitHold.Seconds() * r.SplitThreshold / sampleSize
	return r
}
