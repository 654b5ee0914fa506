package heat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// coolKeys is a flow of keys that each take 50 units a second, and that are throttled all the time.
func coolKeys(throttled int64, keys ...string) heat.Flow {
	f := heat.Flow{Distinct: heat.Distinct{Keys: int64(len(keys))}}
	for _, key := range keys {
		k := hotFlow(key, 50, 50).Keys[0]
		k.Share, k.Throttled, k.Refused, k.Reason = 1/float64(len(keys)), throttled, float64(throttled)/60, "TableWriteKeyRangeThroughputExceeded"
		f.Keys = append(f.Keys, k)
		f.Units, f.Requests, f.Throttled = f.Units+k.Units, f.Requests+k.Requests, f.Throttled+throttled
	}
	f.Throttles = []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: f.Throttled}}
	for i := range 60 {
		f.Trend = append(f.Trend, heat.Point{From: noon.Add(time.Duration(i) * time.Second), For: time.Second, Units: f.Units / 60, Throttled: f.Throttled / 60})
	}
	return f
}

// Throttles of several keys none of which is hot name the keys.
func TestExplainNamesCoolKeysThatAreThrottled(t *testing.T) {
	f := coolKeys(450, "VIEWS#SHARD_0", "VIEWS#SHARD_1")
	findings := heat.Explain(report(f), heat.Rules{})
	if len(findings) != 1 || findings[0].Key != "VIEWS#SHARD_0" || !slices.Equal(findings[0].Others, []string{"VIEWS#SHARD_1"}) || findings[0].Severity != heat.Warning {
		t.Fatalf("got %+v", findings)
	}
	if want := "A hot partition: writes of 'VIEWS#SHARD_0', 'VIEWS#SHARD_1' throttled by key range"; findings[0].Message != want {
		t.Errorf("got %s", findings[0].Message)
	}
	checkText(t, fmt.Sprint(findings[0].Evidence), "450 of these for key 'VIEWS#SHARD_0', which wants at least 50")
	checkText(t, findings[0].Cause, "none of these keys is hot by itself", "they share partitions")

	f.Keys[0].Partition, f.Keys[1].Partition = "7", "7"
	checkText(t, heat.Explain(report(f), heat.Rules{})[0].Cause, "they share partition 7")
	f.Keys[1].Partition = "8"
	checkText(t, heat.Explain(report(f), heat.Rules{})[0].Cause, "they share partitions, with each other")
	for i := range f.Trend {
		if i%5 > 0 {
			f.Trend[i].Throttled = 0
		}
	}
	checkText(t, heat.Explain(report(f), heat.Rules{})[0].Cause, "short bursts", "throttled in 12 of 60 seconds")

	f.Throttled, f.Throttles[0].Count = 5000, 5000 // most are of keys that are not listed
	findings = heat.Explain(report(f), heat.Rules{})
	if len(findings) != 1 || findings[0].Key != "" || findings[0].Severity != heat.Critical {
		t.Errorf("got %+v", findings)
	}
	f.Throttled, f.Throttles[0].Count = 900, 900
	index := heat.Explain(report(f, func(r *heat.ResourceReport) { r.Index = "byStatus" }), heat.Rules{})
	if len(index) != 1 || index[0].Kind != heat.HotIndex || index[0].Key == "" || !strings.Contains(index[0].Cause, "it refuses the table's writes") {
		t.Errorf("got %+v", index)
	}
}

// A few throttles in five minutes are harmless: the finding shows those that it means, if there were more before.
func TestExplainFewThrottlesOfMany(t *testing.T) {
	f := heat.Flow{
		Units: 6000, Requests: 6000, Throttled: 17, Distinct: heat.Distinct{Keys: 100},
		Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 17}},
		Trend: []heat.Point{
			{From: noon, For: time.Minute, Units: 3000, Throttled: 12}, {From: noon.Add(10 * time.Minute), For: time.Minute, Units: 3000, Throttled: 5},
		},
	}
	r := report(f)
	r.To = noon.Add(12 * time.Minute)
	findings := heat.Explain(r, heat.Rules{})
	if len(findings) != 1 || findings[0].Severity != heat.Info || !slices.Contains(findings[0].Evidence, "5 requests throttled in the last five minutes") {
		t.Errorf("got %+v", findings)
	}
}

// Contributor Insights counts reads and writes together, and units of what was served.
func TestExplainThrottlesOfInsights(t *testing.T) {
	f := hotFlow("POST#viral", 300, 0)
	f.Throttled, f.Throttles = 735, []heat.ThrottleCount{{Count: 735}}
	f.Keys[0].Throttled = 735
	r := report(f)
	r.Source = heat.Insights
	var text strings.Builder
	for _, f := range heat.Explain(r, heat.Rules{}) {
		text.WriteString(fmt.Sprintln(f.Message, f.Evidence))
	}
	checkText(t, text.String(), "Writes or reads are throttled, and insights does not report the reason", "735 requests throttled, reads and writes together")
	if strings.Contains(text.String(), "735 of 18") {
		t.Errorf("units are no requests: %s", text.String())
	}
}

// Keys that are refused together share one partition only if it serves them, and not where they come in bursts.
func TestExplainPartitionsOfManyKeys(t *testing.T) {
	var keys []string
	for i := range 13 {
		keys = append(keys, fmt.Sprintf("MAIL#SHARD_%d", i))
	}
	f := coolKeys(1200, keys...)
	for i := range f.Keys {
		k := &f.Keys[i]
		k.Rate, k.RateLow, k.Units, k.Requests = 217, 217, 60*217, 60*217
	}
	findings := heat.Explain(report(f), heat.Rules{})
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Message, "Some partitions are full (hot partition), likely of these keys") {
		t.Errorf("got %v", findings)
	}
	checkText(t, findings[0].Cause, "several keys share partitions, each of which serves 1,000 write units/sec")
	var every []heat.Point
	for i := range f.Trend {
		if i%2 == 0 { // a burst every other second, and nothing between
			every = append(every, f.Trend[i])
		}
	}
	f.Trend = every
	findings = heat.Explain(report(f), heat.Rules{})
	if len(findings) != 1 || !strings.HasPrefix(findings[0].Message, "Partitions are full at times (hot partition), likely of bursts of these keys") {
		t.Errorf("got %v", findings)
	}
	checkText(t, findings[0].Cause, "short bursts")
	checkText(t, findings[0].Remedy, "spread each burst over some seconds", "raise the number of shards")
	checkText(t, fmt.Sprint(findings[0].Evidence), "throttled in 30 of 59 seconds")

	large := hotFlow("MEDIA", 400, 50) // 100 KB each, one after the other
	k := &large.Keys[0]
	k.Requests, k.Throttled, k.Refused, k.Share, k.Reason = 300, 60, 1, 1, "TableWriteKeyRangeThroughputExceeded"
	findings = heat.Explain(report(large), heat.Rules{})
	if len(findings) != 1 || strings.Contains(findings[0].Message, "others") {
		t.Errorf("got %v", findings)
	}
	checkText(t, findings[0].Cause, "a few requests are a burst, as each takes 100 write units")
}
