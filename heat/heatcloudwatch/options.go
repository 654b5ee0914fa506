package heatcloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options select the time range. A field at zero has its default.
type Options struct {
	// To is the end of the time range, rounded up to a minute, but not to one that is not over. Default: now. CloudWatch is
	// a few minutes behind.
	To time.Time

	// Last is the length of the time range, rounded up to minutes. Default: an hour. A minute that is not over comes on
	// top, so that a report has at least one whole minute.
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
	now := time.Now()
	if o.To.IsZero() || o.To.After(now) {
		o.To = now
	}
	if end := o.end(); !end.After(now) {
		o.To = end
	}
	o.To = o.To.UTC()
	o.Last = cmp.Or(o.Last, time.Hour)
	o.Top = cmp.Or(o.Top, mostContributors)
	return o
}

// from returns the beginning: that of the minute it falls into.
func (o Options) from() time.Time {
	return o.To.Truncate(time.Minute).Add(-o.Last).Truncate(time.Minute)
}

// end returns the end of the last minute, which may not be over. Rates are until To: a sum of a few seconds is none of a minute.
func (o Options) end() time.Time {
	whole := o.To.UTC().Truncate(time.Minute)
	if whole.Before(o.To) {
		return whole.Add(time.Minute)
	}
	return whole
}
