package heatcloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options select the time range. A field at zero has its default.
type Options struct {
	// To is the end of the time range. Default: now. CloudWatch is a few minutes behind.
	To time.Time

	// Last is the length of the time range, rounded up to minutes. Default: an hour.
	Last time.Duration

	// Top is the number of keys of each kind to ask Contributor Insights for, at most 25. Default: 25.
	Top int
}

const (
	minutesKept      = 15 * 24 * time.Hour // how long CloudWatch keeps sums by the minute
	mostContributors = 25                  // the most keys in a report of a rule
)

func (o Options) validate() error {
	var faults []error
	now := time.Now()
	to := o.To
	if to.IsZero() {
		to = now
	}
	switch {
	case o.Last < 0:
		faults = append(faults, fmt.Errorf("negative Last %v: it must be a duration before To", o.Last))
	case to.After(now.Add(time.Minute)):
		faults = append(faults, fmt.Errorf("time To %v is in the future: it must not be", o.To))
	case to.Add(-o.Last).Before(now.Add(-minutesKept - time.Minute)):
		faults = append(faults, fmt.Errorf("a Last of %v before %v is too long: CloudWatch keeps sums by the minute for 15 days", o.Last, to))
	}
	if o.Top < 0 || o.Top > mostContributors {
		faults = append(faults, fmt.Errorf("a Top of %d is out of range: it must be between 0 and %d", o.Top, mostContributors))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.To.IsZero() {
		o.To = time.Now()
	}
	o.Last = cmp.Or(o.Last, time.Hour)
	o.Top = cmp.Or(o.Top, mostContributors)
	if whole := o.To.UTC().Truncate(time.Minute); !whole.Equal(o.To) {
		o.To = whole.Add(time.Minute) // the minute that is not over counts as far as it is
	}
	o.To = o.To.UTC()
	return o
}

// from returns the beginning: that of the minute it falls into.
func (o Options) from() time.Time { return o.To.Add(-o.Last).Truncate(time.Minute) }
