package local

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// Physics makes tables consist of partitions that throttle, as DynamoDB's do: a
// partition takes so many units a second and no more, whatever the table is
// provisioned for, so that a test can fail because of a hot key. The zero value
// is DynamoDB as far as it is known; a field at zero has its default. Tests may
// want smaller numbers than the service's.
//
// Everything runs on the standard library's time: inside a testing/synctest
// bubble, ten minutes of traffic take no longer than computing them.
type Physics struct {
	// PartitionReads and PartitionWrites are the units that one partition serves
	// a second, strongly consistent reads counting in full. Default: 3,000 and
	// 1,000.
	PartitionReads, PartitionWrites int64

	// Window is how long a partition that is not used saves up: Window × the rate
	// above is the most it takes at once. Default: 200 ms. Raise it along with
	// lowering the rates, or a partition of 10 units takes two at a time.
	Window time.Duration

	// OnDemandPartitions is how many partitions an on-demand table starts with.
	// Default: 4.
	OnDemandPartitions int

	// Burst is how long a provisioned table saves up capacity that it does not
	// use. It never lifts a partition's limit. Default: 300 s.
	Burst time.Duration

	// A partition that serves SplitThreshold of its limit for SplitHold is split
	// in two SplitDuration later, at the point that divides its load evenly, if
	// there is one. Defaults: 0.8, 5 min, 3 min. A negative SplitDuration is none.
	SplitThreshold float64
	SplitHold      time.Duration
	SplitDuration  time.Duration

	// NoSplits keeps partitions as they are.
	NoSplits bool

	// TableReads and TableWrites are the quota of a table or index. Default:
	// 40,000 and 40,000. Negative: none.
	TableReads, TableWrites int64
}

// fieldOf are the fields that options come from, where they have another name.
var fieldOf = map[string]string{"Partition.Read": "PartitionReads", "Partition.Write": "PartitionWrites"}

// validate returns an error that names every field that cannot be used.
func (p *Physics) validate() error {
	if p == nil {
		return nil
	}
	var faults []error
	for _, f := range p.options().Faults() {
		faults = append(faults, fmt.Errorf("Physics.%s %s", cmp.Or(fieldOf[f.Option], f.Option), f.Text))
	}
	return errors.Join(faults...)
}

func (p *Physics) options() *partition.Options {
	if p == nil {
		return nil
	}
	return &partition.Options{
		Partition:          partition.Rate{Read: p.PartitionReads, Write: p.PartitionWrites},
		Window:             p.Window,
		OnDemandPartitions: p.OnDemandPartitions,
		Burst:              p.Burst,
		SplitThreshold:     p.SplitThreshold,
		SplitHold:          p.SplitHold,
		SplitDuration:      p.SplitDuration,
		NoSplits:           p.NoSplits,
		TableQuota:         partition.Rate{Read: p.TableReads, Write: p.TableWrites},
	}
}
