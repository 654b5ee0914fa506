package heatcloudwatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"github.com/heatsink-go/heatsink/heat"
)

// contributors are the keys that the rules of a table or index list, used and refused ones together.
type contributors struct {
	attributes int // of the partition key
	byKey      map[string]*contributor
	used       float64 // of all keys, those that are not listed as well
	refused    float64
	distinct   int64 // keys, about
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

func newContributors(attributes int) *contributors {
	return &contributors{attributes: max(1, attributes), byKey: make(map[string]*contributor)}
}

// take takes the report of a rule, of keys that were used or of those that were refused.
func (c *contributors) take(report *cloudwatch.GetInsightRuleReportOutput, used bool) {
	listed, per := 0.0, 1.0
	if used {
		per = perWrite
	}
	for _, from := range report.Contributors {
		if len(from.Keys) == 0 {
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
	all := max(listed, aws.ToFloat64(report.AggregateValue)/per)
	if used {
		c.used += all
	} else {
		c.refused += all
	}
	c.distinct = max(c.distinct, aws.ToInt64(report.ApproximateUniqueCount), int64(len(c.byKey)))
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
		Distinct: heat.Distinct{Keys: c.distinct},
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
