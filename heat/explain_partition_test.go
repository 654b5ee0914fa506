package heat_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// Three keys that together want more than their only partition serves: none is too hot alone, so the finding is about the
// partition, with its keys, and says "likely", as a client's calls do not show partitions.
func TestExplainAFullPartition(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, &local.Physics{OnDemandPartitions: 1, NoSplits: true})
		recorder := newRecorder(t, heat.Options{})
		client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 12_000 { // 1,200 a second
			pk := fmt.Sprint("ORDER#", r.IntN(3))
			_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("views"), Item: key(pk, fmt.Sprint(i))})
			time.Sleep(time.Second / 1200)
		}
		findings := heat.Explain(recorder.Report(), heat.Rules{})
		if len(findings) != 1 || findings[0].Kind != heat.HotPartition || findings[0].Severity != heat.Critical {
			t.Fatalf("got %v", findings)
		}
		message := findings[0].Message
		if !strings.HasPrefix(message, "A partition is full (hot partition), likely of these keys, by the write units/sec that each wants at least: 'ORDER#") ||
			strings.Count(message, "ORDER#") != 3 || strings.Contains(message, "requests/sec") {
			t.Errorf("got %q", message)
		}
		if !strings.Contains(findings[0].Cause, "none is too hot alone") || !strings.Contains(findings[0].Remedy, "warm throughput") {
			t.Errorf("got %+v", findings[0])
		}
	})
}

// A source that knows partitions names the neighbours, those that are not refused too, and keeps partitions apart.
func TestExplainNamesTheNeighbours(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true})
		observe := func(key string, partition uint64, perSecond, refused int) {
			for i := range perSecond / 10 {
				o := heat.Observation{
					Resource: heat.Resource{Table: "app"}, Direction: heat.Write, KeyNames: []string{"pk"}, Key: []string{key},
					Sort: []string{fmt.Sprint(i)}, Units: 1, Partition: partition,
				}
				if i < refused/10 {
					o.Throttled, o.Reason = true, "TableWriteKeyRangeThroughputExceeded"
				}
				recorder.Observe(o)
			}
		}
		for range 200 {
			observe("ORDER#1", 7, 400, 100)
			observe("ORDER#2", 7, 600, 0)
			observe("ORDER#3", 8, 300, 50)
			observe("ORDER#4", 9, 500, 0)
			time.Sleep(100 * time.Millisecond)
		}
		var messages []string
		for _, f := range heat.Explain(recorder.Report(), heat.Rules{}) {
			messages = append(messages, f.Message)
		}
		want := []string{ // requests come ten times a second: rates are up to a percent lower than the mean
			`^Partition 7 is full \(hot partition\): of its 1,000 write units/sec, keys want at least 'ORDER#2' (59\d|600), 'ORDER#1' (39\d|400)$`,
			`^Partition 8 is full at times \(hot partition\): of its 1,000 write units/sec, keys want at least 'ORDER#3' (29\d|300)$`,
		}
		for i, pattern := range want {
			if len(messages) != len(want) || !regexp.MustCompile(pattern).MatchString(messages[i]) {
				t.Fatalf("got  %q\nwant %q", messages, want)
			}
		}
	})
}

// A key that is refused on a partition whose other keys nobody saw, and one that is refused a few times only.
func TestExplainARefusedKeyAlone(t *testing.T) {
	f := hotFlow("ORDER#1", 385, 50)
	f.Keys[0].Refused, f.Keys[0].Throttled, f.Keys[0].Reason = 5, 300, "TableWriteKeyRangeThroughputExceeded"
	findings := heat.Explain(report(f), heat.Rules{})
	want := "The partition of key 'ORDER#1' is full at times (hot partition): the key wants at least 385 of its 1,000 write units/sec, in bursts"
	if len(findings) != 1 || findings[0].Message != want || !strings.Contains(findings[0].Remedy, "package ratelimit") {
		t.Errorf("all of the traffic: got %+v", findings)
	}
	f.Keys[0].Share, f.Distinct.Keys = 0.8, 5
	findings = heat.Explain(report(f), heat.Rules{Excess: 1})
	want = "The partition of key 'ORDER#1' is full (hot partition): the key wants at least 385 of its 1,000 write units/sec, likely others the rest"
	if len(findings) != 1 || findings[0].Message != want {
		t.Errorf("beside others: got %v", findings)
	}
	f.Keys[0].Throttled = 10
	if got := kinds(heat.Explain(report(f), heat.Rules{Excess: 1})); got != "" {
		t.Errorf("ten throttles: got %q", got)
	}
}

// The rates of a rush that has just ended are those of the rush, and not of the quiet time after it. After a minute it is
// over.
func TestRatesOfARush(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		recorder := newRecorder(t, heat.Options{NoDescribe: true, Keys: map[string][]string{"views": {"pk"}}})
		for range 100 {
			for i := range 130 {
				heat.Observe(recorder, "views", heat.Write, fmt.Appendf(nil, "POST#%d", 1+i/129), 1)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(30 * time.Second)
		findings := heat.Explain(recorder.Report(), heat.Rules{})
		if len(findings) != 1 || findings[0].Severity != heat.Critical || !strings.Contains(findings[0].Message, "has 1,28") {
			t.Errorf("half a minute later: got %v", findings)
		}
		time.Sleep(31 * time.Second)
		if got := heat.Explain(recorder.Report(), heat.Rules{Excess: 1}); len(got) != 0 {
			t.Errorf("a minute later: got %v", got)
		}
	})
}

// What a table served is what it served in its busiest minute, also long after.
func TestServedInTheBusiestMinute(t *testing.T) {
	f := heat.Flow{
		Units: 60_000, Requests: 70_000, Throttled: 500,
		Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 500}},
		Trend:     []heat.Point{{From: noon, For: time.Minute, Units: 60_000, Throttled: 500}},
	}
	r := report(f, func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 10_000} })
	r.Source, r.To = heat.Stream, noon.Add(time.Hour)
	findings := heat.Explain(r, heat.Rules{})
	const want = "1000 of 10000 write units a second served in total, in the busiest minute (10%)"
	if len(findings) != 1 || !slices.Contains(findings[0].Evidence, want) {
		t.Errorf("got %+v", findings)
	}
}
