package heatcloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Options say which time is looked at. Fields that are zero have the defaults given here.
type Options struct {
	// To is the end of it. Default: now. CloudWatch is a few minutes behind.
	To time.Time

	// Last is how long it is, in minutes that are begun. Default: an hour.
	Last time.Duration

	// Top is how many keys of each kind Contributor Insights is asked for, 25 at most. Default: 25.
	Top int
}

const (
	minutesKept      = 15 * 24 * time.Hour // how long CloudWatch has sums by the minute
	mostContributors = 25                  // keys that a report of a rule has
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
		faults = append(faults, fmt.Errorf("negative Last %v", o.Last))
	case to.After(now.Add(time.Minute)):
		faults = append(faults, fmt.Errorf("nothing is known of the future: To is %v", o.To))
	case to.Add(-o.Last).Before(now.Add(-minutesKept - time.Minute)):
		faults = append(faults, fmt.Errorf("sums by the minute are kept for 15 days: Last %v before %v is too long", o.Last, to))
	}
	if o.Top < 0 || o.Top > mostContributors {
		faults = append(faults, fmt.Errorf("up to %d keys can be asked for, not Top %d", mostContributors, o.Top))
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
