package local

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink/internal/partition"
)

// Physics makes the partitions of tables throttle as DynamoDB's do. A partition
// serves a fixed number of units per second, whatever the table has
// provisioned, so a test can fail because of a hot key. The zero value is
// DynamoDB as far as it is known, and a field at zero has its default. Tests
// may set lower rates than those of the service.
//
// The engine uses the standard library's time. Inside a testing/synctest
// bubble, ten minutes of traffic take only the time to compute them.
type Physics struct {
	// PartitionReads and PartitionWrites are the read and write units per
	// second that one partition serves. A strongly consistent read counts in
	// full. Default: 3,000 and 1,000.
	PartitionReads, PartitionWrites int64

	// Window is how long an idle partition saves up capacity: it accepts at
	// most Window × its rate at once. Default: 200 ms. Raise Window when you
	// lower the rates; otherwise a partition of 10 units per second accepts
	// only two units at once.
	Window time.Duration

	// OnDemandPartitions is the number of partitions of a new on-demand table.
	// Default: 4.
	OnDemandPartitions int

	// Burst is how long a provisioned table saves up unused capacity. Burst
	// capacity never raises the limit of a partition. Default: 300 s.
	Burst time.Duration

	// A partition is hot while it serves SplitThreshold of its limit. After
	// SplitHold it starts to split, and SplitDuration later it is two
	// partitions. The split is at the point that divides its load evenly, if
	// there is one. Defaults: 0.8, 5 min and 3 min. A negative SplitDuration
	// splits at once.
	SplitThreshold float64
	SplitHold      time.Duration
	SplitDuration  time.Duration

	// NoSplits disables splits.
	NoSplits bool

	// TableReads and TableWrites are the quota of a table or index, in units
	// per second. Default: 40,000 and 40,000. Negative: no quota.
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
		faults = append(faults, fmt.Errorf("option Physics.%s %s", cmp.Or(fieldOf[f.Option], f.Option), f.Text))
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
