package heatcloudwatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
)

// contributors are the keys that the rules of a table or index list, used and refused ones together.
type contributors struct {
	attributes int // of the partition key
	own        int // which of them is the table's partition key, -1 if none is
	byKey      map[string]*contributor
	used       float64 // of all keys, those that are not listed as well
	refused    float64
	unique     int64 // keys, about, control items included

	control     heat.Control        // what control items took
	controlKeys map[string]struct{} // and which they are
}

// contributor is a key.
type contributor struct {
	key     string
	used    tally
	refused tally
}

// perWrite is how much of a rule's values a write unit is. They are read units and three times the write units, as a
// partition serves a third as many of these; what is here is a third of it, so that 1,000 a second are a full partition.
const perWrite = 3

// tally is how much, in all and by the minute.
type tally struct {
	sum     float64
	minutes series
}

// newContributors returns none yet, of a table or index with a partition key. table is the partition key of the table.
func newContributors(key, table []string) *contributors {
	c := &contributors{attributes: max(1, len(key)), own: -1, byKey: make(map[string]*contributor), controlKeys: make(map[string]struct{})}
	if len(table) == 1 {
		c.own = slices.Index(key, table[0])
	}
	return c
}

// take takes the report of a rule, of keys that were used or of those that were refused.
func (c *contributors) take(report *cloudwatch.GetInsightRuleReportOutput, used bool) {
	listed, hidden, per := 0.0, 0.0, 1.0
	if used {
		per = perWrite
	}
	for _, from := range report.Contributors {
		if len(from.Keys) == 0 {
			continue
		}
		if c.isControl(from.Keys) {
			hidden += c.takeControl(from, used, per)
			continue
		}
		to := c.of(strings.Join(from.Keys[:min(len(from.Keys), c.attributes)], "|"))
		t := &to.refused
		if used {
			t = &to.used
		}
		t.sum += aws.ToFloat64(from.ApproximateAggregateValue) / per
		listed += aws.ToFloat64(from.ApproximateAggregateValue) / per
		for _, minute := range from.Datapoints {
			t.minutes.set(aws.ToTime(minute.Timestamp), aws.ToFloat64(minute.ApproximateValue)/per)
		}
	}
	all := max(listed, aws.ToFloat64(report.AggregateValue)/per-hidden)
	if used {
		c.used += all
	} else {
		c.refused += all
	}
	c.unique = max(c.unique, aws.ToInt64(report.ApproximateUniqueCount))
}

// isControl reports whether a listed key is a control item's.
func (c *contributors) isControl(key []string) bool {
	return c.own >= 0 && c.own < len(key) && layout.IsControl(key[c.own])
}

// takeControl counts a control item apart, and returns what it took.
func (c *contributors) takeControl(from types.InsightRuleContributor, used bool, per float64) float64 {
	c.controlKeys[strings.Join(from.Keys[:min(len(from.Keys), c.attributes)], "|")] = struct{}{}
	took := aws.ToFloat64(from.ApproximateAggregateValue) / per
	c.control.Requests += int64(took)
	if used {
		c.control.Units += took
	} else {
		c.control.Throttled += int64(took)
	}
	return took
}

// distinct returns how many keys there are, about, without those of control items that are listed.
func (c *contributors) distinct() int64 {
	return max(c.unique-int64(len(c.controlKeys)), int64(len(c.byKey)))
}

func (c *contributors) of(key string) *contributor {
	if c.byKey[key] == nil {
		c.byKey[key] = &contributor{key: key}
	}
	return c.byKey[key]
}

// flow returns them as the traffic of a stretch of time, the hottest keys first.
func (c *contributors) flow(elapsed time.Duration) heat.Flow {
	f := heat.Flow{
		Units: c.used, Requests: int64(c.used + c.refused), Throttled: int64(c.refused),
		Distinct: heat.Distinct{Keys: c.distinct()}, Control: c.control,
	}
	if f.Throttled > 0 {
		f.Throttles = []heat.ThrottleCount{{Count: f.Throttled}} // for a reason that is not told
	}
	for _, k := range c.byKey {
		f.Keys = append(f.Keys, k.heat(c.used+c.refused, elapsed))
	}
	slices.SortFunc(f.Keys, func(a, b heat.KeyHeat) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Key, b.Key))
	})
	return f
}

// heat returns what is known of a key. It surely wants what it used; what it was refused may have been for another's
// sake.
func (k *contributor) heat(all float64, elapsed time.Duration) heat.KeyHeat {
	wanted := tally{k.used.sum + k.refused.sum, k.used.minutes.add(k.refused.minutes)}
	h := heat.KeyHeat{
		Key: k.key, Units: k.used.sum, Low: k.used.sum, Rate: wanted.rate(elapsed), RateLow: k.used.rate(elapsed),
		Consumed: k.used.rate(elapsed), Refused: k.refused.rate(elapsed),
		Requests: int64(wanted.sum), Throttled: int64(k.refused.sum),
	}
	if all > 0 {
		h.Share = wanted.sum / all
	}
	return h
}

// rate returns so many a second in the busiest minute, and no less than on average.
func (t tally) rate(elapsed time.Duration) float64 {
	return max(t.minutes.busiest()/time.Minute.Seconds(), t.sum/elapsed.Seconds())
}
