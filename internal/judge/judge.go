// Package judge decides how hot a key is. Package heat makes findings of its verdicts and package plan makes plans of
// them, so that both say the same of the same figures.
package judge

// Load is what is known of a key in one direction, in units a second.
type Load struct {
	Demand float64 // surely wanted for some seconds
	Second float64 // in the busiest second; 0 if it is not known
	Limit  float64 // that one partition serves

	// Fullest is the demand for the fullest of the key's shards: 0 if they are as full as each other.
	Fullest float64

	// Refused says that DynamoDB throttles the key by key range, more often than now and then.
	Refused bool
}

// Thresholds are fractions of a partition's limit.
type Thresholds struct{ Warm, Hot float64 }

// The thresholds.
const (
	Warm = 0.7  // a key above it will be hot as traffic grows
	Hot  = 0.95 // a key that stays above it fills a partition

	// Beside is the part of a partition below which a refused key is not to blame: others on its partition are.
	Beside = 0.2

	// FewThrottles is the number of throttles in five minutes that retries handle.
	FewThrottles = 10

	// Rare is among how many requests one that is throttled, and repeated, does no harm.
	Rare = 20

	// Beyond is the demand that is assumed of a key that fills a partition, as a multiple of the limit. What it wants
	// beyond that nobody saw.
	Beyond = 1.1
)

// Default are the thresholds of heat.Rules, unless somebody changes them.
func Default() Thresholds { return Thresholds{Warm, Hot} }

// Verdict is how hot a key is.
type Verdict int

// The verdicts, mildest first.
const (
	Cool      Verdict = iota
	Bystander         // refused, but because of others on its partition
	Warming           // near the limit, or above it for a second
	Crowded           // refused although it is below the limit: its partition is full, of this key and of others
	Alone             // fills a partition by itself
)

// Critical reports whether the key is throttled now, or is about to be.
func (v Verdict) Critical() bool { return v >= Crowded }

// Judge decides how hot a key is. One second alone is at most a warning, since DynamoDB serves a burst from a partition's
// unused capacity.
func (t Thresholds) Judge(l Load) Verdict {
	wanted := max(l.Demand, l.Second)
	switch {
	case l.Demand >= t.Hot*l.Limit, l.Refused && wanted >= t.Warm*l.Limit:
		return Alone
	case l.Refused && wanted >= Beside*l.Limit:
		return Crowded
	case wanted >= t.Warm*l.Limit:
		return Warming
	case l.Refused:
		return Bystander
	}
	return Cool
}

// Handled reports whether retries handle throttles that are more than a few: they are rare among the requests, and none was
// given up, since there are as many retries.
func Handled(throttled, retries, requests int64) bool {
	return throttled > 0 && throttled <= retries && Rare*throttled <= requests
}

// Planned returns the units a second that a plan should be for, and whether they are more than was seen. Only the demand of
// a key that fills a partition by itself is unknown: below that, what was seen is what it wants, in its busiest second.
func (t Thresholds) Planned(l Load) (units float64, guessed bool) {
	if least := Beyond * l.Limit; t.Judge(l) == Alone && l.Demand < least {
		return least, true
	}
	return max(l.Demand, l.Second), false
}

// Over judges a key whose load is spread over shards, as the fullest of them is: by its own load, or by its fair share if that
// is more. It returns what a plan should be for in all of them.
func (t Thresholds) Over(l Load, shards int) (v Verdict, units float64, guessed bool) {
	n := float64(max(shards, 1))
	fair := Load{Demand: l.Demand / n, Second: l.Second / n, Limit: l.Limit, Refused: l.Refused}
	units, guessed = t.Planned(fair)
	v, units = t.Judge(fair), n*units
	if shards < 2 || l.Fullest <= fair.Demand {
		return v, units, guessed
	}
	fullest := Load{Demand: l.Fullest, Second: fair.Second, Limit: l.Limit, Refused: l.Refused}
	own, more := t.Planned(fullest)
	if all := own + max(0, max(l.Demand, l.Second)-max(fullest.Demand, fullest.Second)); all > units {
		units, guessed = all, guessed || more
	}
	return max(v, t.Judge(fullest)), units, guessed
}

// Even is Over for a key whose shards would be as full as each other.
func (t Thresholds) Even(l Load, shards int) Verdict {
	l.Fullest = 0
	v, _, _ := t.Over(l, shards)
	return v
}

// Excess is the part of the whole beyond its fair share that one of several may have, by default.
const Excess = 0.25

// Uneven reports whether the fullest of several shards has far more than its fair share of the whole: twice as much or, of
// few shards, more than excess of the rest.
func Uneven(share float64, shards int, excess float64) bool {
	fair := 1 / float64(max(shards, 1))
	return shards > 1 && (share >= 2*fair || (share-fair)/(1-fair) >= excess)
}
