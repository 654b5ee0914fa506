package heat_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

var noon = time.Date(2026, 6, 22, 12, 0, 0, 0, time.UTC)

// report is a minute of a table with one flow of writes.
func report(writes heat.Flow, edit ...func(*heat.ResourceReport)) heat.Report {
	r := heat.ResourceReport{Resource: heat.Resource{Table: "app"}, Key: []string{"pk"}, Writes: writes}
	for _, e := range edit {
		e(&r)
	}
	return heat.Report{Source: heat.Live, From: noon, To: noon.Add(time.Minute), Resources: []heat.ResourceReport{r}}
}

// shares makes a flow of 10,000 requests in a minute out of keys and their percentages.
func shares(percent map[string]float64) heat.Flow {
	f := heat.Flow{Units: 10_000, Requests: 10_000, Distinct: heat.Distinct{Keys: int64(len(percent))}}
	for key, p := range percent {
		units := p * 100
		f.Keys = append(f.Keys, heat.KeyHeat{
			Key: key, Units: units, Low: units, Rate: units / 60, RateLow: units / 60, Consumed: units / 60,
			Share: p / 100, Requests: int64(units), Items: 50,
		})
	}
	return f
}

func kinds(findings []heat.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %s %s", f.Severity, f.Kind, f.Key))
	}
	return strings.Join(all, "; ")
}

// 003-02, X06: 90/5/3/2 has one hot key, four times 25 % none; nor has anything with too few requests to tell.
func TestExplainJudgesSharesAgainstTheFairShare(t *testing.T) {
	for _, test := range []struct {
		name    string
		percent map[string]float64
		want    string
	}{
		{"one of four", map[string]float64{"user-1": 90, "user-2": 5, "user-3": 3, "user-4": 2}, "warning dominant-key user-1"},
		{"four alike", map[string]float64{"user-1": 25, "user-2": 25, "user-3": 25, "user-4": 25}, ""},
		{"nine alike", nine(), ""},
		{"a bit uneven", map[string]float64{"user-1": 35, "user-2": 25, "user-3": 20, "user-4": 20}, ""},
	} {
		if got := kinds(heat.Explain(report(shares(test.percent)), heat.Rules{})); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	few := shares(map[string]float64{"user-1": 90, "user-2": 10})
	few.Requests = 99
	if got := kinds(heat.Explain(report(few), heat.Rules{})); got != "" {
		t.Errorf("with 99 requests: %q", got)
	}
}

func nine() map[string]float64 {
	all := make(map[string]float64)
	for i := range 9 {
		all[fmt.Sprint("user-", i)] = 100.0 / 9
	}
	return all
}

// 003-15, X05: both forms of the message, of figures and of what a recorder measures on the engine.
func TestExplainMessages(t *testing.T) {
	t.Run("measured", func(t *testing.T) { bubble.Test(t, messagesOfMeasurements) })
	dominant := shares(map[string]float64{"STATUS#ACTIVE": 85, "STATUS#BANNED": 10, "STATUS#NEW": 5})
	findings := heat.Explain(report(dominant), heat.Rules{})
	if len(findings) != 1 || findings[0].Message != "Partition STATUS#ACTIVE receiving 85% of traffic" || findings[0].Kind != heat.LowCardinality {
		t.Errorf("got %s: %+v", kinds(findings), findings)
	}
	// Of reads as well, where the key's design is still what is wrong, unless it is one item that is read.
	for items, want := range map[int64]heat.Kind{50: heat.LowCardinality, 1: heat.PopularItem} {
		read := report(heat.Flow{}, func(r *heat.ResourceReport) {
			r.Reads = shares(map[string]float64{"STATUS#ACTIVE": 85, "STATUS#BANNED": 10, "STATUS#NEW": 5})
			for i := range r.Reads.Keys {
				r.Reads.Keys[i].Items = items
			}
			r.Patterns = []heat.Pattern{{Shape: "STATUS#ACTIVE", Example: "STATUS#ACTIVE", Distinct: heat.Distinct{Keys: 1}, Reads: 8500}}
		})
		findings := heat.Explain(read, heat.Rules{})
		if len(findings) != 1 || findings[0].Message != "Partition STATUS#ACTIVE receiving 85% of traffic" || findings[0].Kind != want || findings[0].Direction != heat.Read {
			t.Errorf("reads of %d items: got %s: %+v, want %s", items, kinds(findings), findings, want)
		}
	}
	hot := heat.Flow{Units: 60_000, Requests: 60_000, Distinct: heat.Distinct{Keys: 1000}, Keys: []heat.KeyHeat{{
		Key: "POST#12345", Units: 60_000, Low: 60_000, Rate: 1000, RateLow: 1000, Consumed: 1000, Share: 0.9, Requests: 60_000, Items: 60,
	}}}
	findings = heat.Explain(report(hot), heat.Rules{})
	if len(findings) != 1 || findings[0].Message != "Partition key 'POST#12345' has 1,000 requests/sec (hot partition)" || findings[0].Severity != heat.Critical {
		t.Errorf("got %s: %+v", kinds(findings), findings)
	}
}

// messagesOfMeasurements writes a table of statuses and a table of posts, in virtual time.
func messagesOfMeasurements(t *testing.T) {
	db := start(t, nil)
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option)
	if err := db.CreateTable(t.Context(), "posts", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	write := func(table string, i item) {
		t.Helper()
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: i}); err != nil {
			t.Fatal(err)
		}
	}
	statuses := slices.Concat(slices.Repeat([]string{"ACTIVE"}, 17), []string{"BANNED", "BANNED", "NEW"})
	body := text(strings.Repeat("x", 1500)) // two write units
	for ms := range 6000 {
		if ms%10 == 0 {
			write("views", key("STATUS#"+statuses[ms/10%20], fmt.Sprint(ms)))
		}
		viral := key("POST#12345", fmt.Sprint(ms))
		viral["body"] = body
		write("posts", viral)
		if ms%100 == 0 {
			write("posts", key(fmt.Sprint("POST#", ms), "1"))
		}
		time.Sleep(time.Millisecond)
	}
	var messages []string
	for _, f := range heat.Explain(recorder.Report(), heat.Rules{}) {
		messages = append(messages, f.String())
	}
	want := []string{
		"critical: posts: Partition key 'POST#12345' has 1,000 requests/sec (hot partition)",
		"warning: views: Partition STATUS#ACTIVE receiving 85% of traffic",
	}
	if !slices.Equal(messages, want) {
		t.Errorf("got  %q\nwant %q", messages, want)
	}
}

// Evidence says what is known and no more: one demand, which is the message's, a bound where it is one, and no number of items
// where it ends.
func TestExplainEvidence(t *testing.T) {
	for _, test := range []struct {
		edit func(*heat.KeyHeat)
		want string
	}{
		{func(k *heat.KeyHeat) { k.Rate, k.RateLow = 1041.3, 1040.8 }, "demand: 1,041 write units a second; one partition serves 1,000"},
		{func(k *heat.KeyHeat) { k.Rate = 2100 }, "demand: at least 2,000 write units a second; one partition serves 1,000"},
		{func(k *heat.KeyHeat) { k.Throttled = 20 }, "demand: at least 2,000 write units a second; one partition serves 1,000"},
		{func(k *heat.KeyHeat) { k.Throttled = 20 }, "2,000 write units a second were served in the last seconds"},
		{func(k *heat.KeyHeat) { k.Busy = 2500 }, "demand: 2,500 write units a second at its busiest of the last minute; one partition serves 1,000"},
		{func(k *heat.KeyHeat) { k.Second = 2600 }, "demand: 2,600 write units a second in the last full second; one partition serves 1,000"},
		{func(k *heat.KeyHeat) { k.Items = 1 }, "one item"},
		{func(k *heat.KeyHeat) { k.Items = 2 }, "about 2 different items"},
		{func(k *heat.KeyHeat) { k.Items = 199 }, "about 199 different items"},
		{func(k *heat.KeyHeat) { k.Items = 200 }, "more than 200 different items"},
		{func(k *heat.KeyHeat) { k.Items = 266 }, "more than 200 different items"},
	} {
		flow := hotFlow("POST#viral", 2000, 50)
		test.edit(&flow.Keys[0])
		findings := heat.Explain(report(flow), heat.Rules{})
		if len(findings) != 1 || !slices.Contains(findings[0].Evidence, test.want) {
			t.Errorf("no %q in %+v", test.want, findings)
		}
		if stated := regexp.MustCompile(`(at least )?[\d,]+`).FindString(findings[0].Evidence[0]); !strings.Contains(findings[0].Message, " has "+stated+" requests/sec") {
			t.Errorf("the evidence is of another demand than the message: %q, %q", findings[0].Message, findings[0].Evidence[0])
		}
	}
}

// Contributor Insights counts units, so the message is about units.
func TestExplainUnitsOfInsights(t *testing.T) {
	insights := report(hotFlow("POST#viral", 2000, 0))
	insights.Source = heat.Insights
	findings := heat.Explain(insights, heat.Rules{})
	if len(findings) != 1 || findings[0].Message != "Partition key 'POST#viral' has 2,000 units/sec (hot partition)" {
		t.Errorf("got %+v", findings)
	}
}

// A key is said to want more than a partition serves only if it does. If it was refused below that, its partition is full.
func TestExplainCausesBelowTheLimit(t *testing.T) {
	const reason = "TableWriteKeyRangeThroughputExceeded"
	for _, test := range []struct {
		key   string
		rate  float64
		items int64
		edit  func(*heat.KeyHeat)
		want  string
	}{
		{"user-12345", 813, 50, func(*heat.KeyHeat) {}, "one key uses most of a partition's capacity"},
		{"user-12345", 960, 50, func(*heat.KeyHeat) {}, "one key uses most of a partition's capacity"},
		{"user-12345", 1041, 50, func(*heat.KeyHeat) {}, "writes to one key exceed what a partition serves"},
		{"user-12345", 813, 50, func(k *heat.KeyHeat) { k.Refused, k.Reason = 5, reason }, "its partition is full: of the 1,000 write units/sec the key wants at least 813, in bursts that are more at once"},
		{"user-12345", 813, 50, func(k *heat.KeyHeat) { k.Second = 1300 }, "writes to one key exceed what a partition serves"},
		{"POST#viral", 813, 1, func(*heat.KeyHeat) {}, "one item uses most of a partition's capacity"},
		{"POST#viral", 1041, 1, func(*heat.KeyHeat) {}, "writes to one item of many exceed what a partition serves"},
		{"POST#viral", 90, 1, func(*heat.KeyHeat) {}, "one item takes most of the traffic"},
	} {
		flow := hotFlow(test.key, test.rate, test.items)
		test.edit(&flow.Keys[0])
		findings := heat.Explain(report(flow), heat.Rules{})
		if len(findings) != 1 || findings[0].Cause != test.want {
			t.Errorf("%s at %v: got %+v, want %q", test.key, test.rate, findings, test.want)
		}
	}
}

// hotFlow has one key at so many units a second, on so many items, among a thousand others.
func hotFlow(key string, rate float64, items int64) heat.Flow {
	return heat.Flow{
		Units: 60 * (rate + 10), Requests: int64(60 * (rate + 10)), Distinct: heat.Distinct{Keys: 1000},
		Keys: []heat.KeyHeat{{
			Key: key, Units: 60 * rate, Low: 60 * rate, Rate: rate, RateLow: rate, Consumed: rate,
			Share: rate / (rate + 10), Requests: int64(60 * rate), Items: items,
		}},
	}
}

func withPattern(shape string, keys int64) func(*heat.ResourceReport) {
	return func(r *heat.ResourceReport) {
		r.Patterns = append(r.Patterns, heat.Pattern{Shape: shape, Distinct: heat.Distinct{Keys: keys}})
	}
}

// 003-03 to 003-06, 004-02, 004-03: the causes of a hot key.
func TestExplainTellsTheCause(t *testing.T) {
	for _, test := range []struct {
		name   string
		report heat.Report
		want   string
	}{
		{"003-03 low cardinality", report(hotFlow("STATUS#ACTIVE", 2000, 200)), "critical low-cardinality STATUS#ACTIVE"},
		{"003-04 today", report(hotFlow("DATE#2024-12-02", 2000, 200)), "critical time-key DATE#2024-12-02"},
		{"003-04 this hour", report(hotFlow("HOUR#2024-12-02T15", 2000, 200)), "critical time-key HOUR#2024-12-02T15"},
		{"this hour, sharded", report(hotFlow("HOUR#2024-12-02T15#SHARD#3", 2000, 200)), "critical hot-key HOUR#2024-12-02T15#SHARD#3"},
		{"003-05 popular item", report(hotFlow("POST#viral", 2000, 1)), "critical popular-item POST#viral"},
		{"003-06 global counter", report(hotFlow("COUNTER#GLOBAL", 2000, 1)), "critical global-counter COUNTER#GLOBAL"},
		{"004-02 a loud user", report(hotFlow("user-12345", 10_000, 200)), "critical hot-key user-12345"},
		{"004-03 tenant", report(hotFlow("TENANT#big-one", 2000, 200), withPattern("TENANT#{id}", 500)), "critical skewed-tenant TENANT#big-one"},
		{"warm only", report(hotFlow("user-12345", 750, 200)), "warning hot-key user-12345"},
		{"003-07 many keys, none hot", report(hotFlow("USER#7c9e6679-7425-40de-944b-e07fc1f90ae7", 2, 1)), ""},
	} {
		got := kinds(heat.Explain(test.report, heat.Rules{Excess: 1}))
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// X07: the worst comes first, whatever comes first in the report; what is as bad stays in the report's order.
func TestExplainOrdersBySeverity(t *testing.T) {
	writes := hotFlow("user#loadtest#7", 750, 200)
	writes.Keys = append(writes.Keys, hotFlow("user-2", 2000, 200).Keys[0], hotFlow("user-3", 800, 200).Keys[0])
	r := report(writes)
	r.Resources[0].Reads = hotFlow("CONFIG", 5000, 12)
	got := kinds(heat.Explain(r, heat.Rules{Excess: 1}))
	want := "critical hot-key user-2; critical read-hot CONFIG; " +
		"warning hot-key user#loadtest#7; warning hot-key user-3; info suspicious-key user#loadtest#7"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A key that is read too much wants a cache, and the finding says not to shard.
func TestExplainReadHotKeys(t *testing.T) {
	r := report(heat.Flow{})
	r.Resources[0].Reads = hotFlow("CONFIG", 5000, 12)
	findings := heat.Explain(r, heat.Rules{})
	if len(findings) != 1 || findings[0].Kind != heat.ReadHot || !strings.Contains(findings[0].Remedy, "do not shard") {
		t.Errorf("got %+v", findings)
	}
}

// A figure of the sketch decides by its lower bound: a key that may be hot is not called hot.
func TestExplainUsesTheLowerBound(t *testing.T) {
	f := hotFlow("user-1", 2000, 200)
	f.Keys[0].RateLow, f.Keys[0].Share = 100, 0.01
	if got := heat.Explain(report(f), heat.Rules{}); len(got) != 0 {
		t.Errorf("got %s", kinds(got))
	}
}

// X24: only key-range reasons mean a hot partition. What sharding does not cure is said to be something else, also where a
// key that is far below the limit has most of the refusals.
func TestExplainThrottlesThatAreNoKeys(t *testing.T) {
	t.Run("measured", func(t *testing.T) { bubble.Test(t, throttledTable) })
	for reason, want := range map[string]heat.Kind{
		"TableWriteProvisionedThroughputExceeded": heat.TableThrottled,
		"TableWriteAccountLimitExceeded":          heat.AccountThrottled,
		"TableWriteMaxOnDemandThroughputExceeded": heat.MaximumThrottled,
	} {
		f := heat.Flow{Units: 1000, Requests: 2000, Throttled: 1000, Throttles: []heat.ThrottleCount{{Reason: reason, Count: 1000}}}
		findings := heat.Explain(report(f), heat.Rules{})
		if len(findings) != 1 || findings[0].Kind != want || !strings.Contains(findings[0].Remedy, "do not shard") {
			t.Errorf("%s: got %+v", reason, findings)
		}
		refused := func(reason string) heat.Report {
			f := hotFlow("user-12345", 300, 200)
			f.Throttled, f.Throttles = 1000, []heat.ThrottleCount{{Reason: reason, Count: 1000}}
			f.Keys[0].Refused, f.Keys[0].Throttled, f.Keys[0].Reason = 17, 1000, reason
			return report(f)
		}
		if got := kinds(heat.Explain(refused(reason), heat.Rules{Excess: 1})); got != fmt.Sprintf("critical %s ", want) {
			t.Errorf("%s, of a key: got %q, want %q alone", reason, got, want)
		}
		const hot = "TableWriteKeyRangeThroughputExceeded"
		if got := kinds(heat.Explain(refused(hot), heat.Rules{Excess: 1})); got != "critical hot-partition user-12345" {
			t.Errorf("%s, of a key: got %q", hot, got)
		}
	}
}

// throttledTable writes twice as much to one key as its table is provisioned for, which is far below what a partition
// serves: a recorder takes the reason from DynamoDB's exceptions.
func throttledTable(t *testing.T) {
	db := start(t, &local.Physics{})
	if _, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("small"), BillingMode: types.BillingModeProvisioned,
		ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(150), WriteCapacityUnits: aws.Int64(150)},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}); err != nil {
		t.Fatal(err)
	}
	recorder := newRecorder(t, heat.Options{})
	client := db.Client(recorder.Option, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	for i := range 5000 { // 250 and 50 a second for 20 seconds
		pk := "ORDER#12345"
		if i%6 == 5 {
			pk = fmt.Sprint("ORDER#", i%5000)
		}
		_, _ = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("small"), Item: key(pk, fmt.Sprint(i))})
		time.Sleep(time.Second / 300)
	}
	w := resource(t, recorder.Report(), "small").Writes
	if len(w.Throttles) != 1 || w.Throttles[0].Reason != "TableWriteProvisionedThroughputExceeded" || w.Throttled < 500 {
		t.Fatalf("%d throttled: %+v", w.Throttled, w.Throttles)
	}
	if got := kinds(heat.Explain(recorder.Report(), heat.Rules{Excess: 1})); got != "critical table-throttled " {
		t.Errorf("got %q, want table-throttled alone", got)
	}
}

// 004-14, 003-16: throttled by key range while the table has room is a hot partition, also if no key is known. 004-21: up
// to ten in five minutes are healthy.
func TestExplainAHotPartitionWithoutAKey(t *testing.T) {
	f := func(n int64) heat.Flow {
		return heat.Flow{
			Units: 60_000, Requests: 70_000, Throttled: n,
			Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: n}},
			Trend:     []heat.Point{{From: noon, For: time.Minute, Units: 60_000, Throttled: n}},
		}
	}
	room := func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 10_000} }
	findings := heat.Explain(report(f(11), room), heat.Rules{})
	if len(findings) != 1 || findings[0].Kind != heat.HotPartition || findings[0].Severity != heat.Critical ||
		!strings.Contains(strings.Join(findings[0].Evidence, " "), "1000 of 10000 write units a second served in total (10%)") {
		t.Fatalf("got %+v", findings)
	}
	const hot = "A hot partition: writes throttled by key range"
	full := func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 1000} }
	if message := findings[0].Message; message != hot+" while the table has spare capacity" {
		t.Errorf("10%% of the capacity: got %q", message)
	}
	if findings := heat.Explain(report(f(11), full), heat.Rules{}); len(findings) != 1 || findings[0].Message != hot {
		t.Errorf("all of the capacity: got %+v", findings)
	}
	if findings := heat.Explain(report(f(10), room), heat.Rules{}); len(findings) != 1 || findings[0].Severity != heat.Info {
		t.Errorf("ten throttles: got %+v", findings)
	}
	hotIndex := report(f(500), room)
	hotIndex.Resources[0].Index = "byStatus"
	if findings := heat.Explain(hotIndex, heat.Rules{}); len(findings) != 1 || findings[0].Kind != heat.HotIndex {
		t.Errorf("index: got %+v", findings)
	}
}

// 003-16: the other signs of a snapshot: slow at low traffic, fast and slow, uneven keys (above), more capacity no help.
func TestExplainSigns(t *testing.T) {
	f := heat.Flow{
		Units: 6000, Requests: 6600, Throttled: 600, Retries: 400,
		Throttles: []heat.ThrottleCount{{Reason: "TableWriteKeyRangeThroughputExceeded", Count: 600}},
		Latency:   heat.Latency{P50: 50 * time.Millisecond, P99: 500 * time.Millisecond, P999: 2 * time.Second},
	}
	room := func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 10_000} }
	if got := kinds(heat.Explain(report(f, room), heat.Rules{})); got != "critical hot-partition ; warning slow-at-low-traffic " {
		t.Errorf("slow: got %q", got)
	}
	f.Latency.P50 = 5 * time.Millisecond
	if got := kinds(heat.Explain(report(f, room), heat.Rules{})); got != "critical hot-partition ; warning fast-and-slow " {
		t.Errorf("split: got %q", got)
	}
	f.Retries = 3000
	if got := kinds(heat.Explain(report(f, room), heat.Rules{})); !strings.Contains(got, "warning retry-amplification") {
		t.Errorf("retries: got %q", got)
	}

	raised := report(f, func(r *heat.ResourceReport) { r.Capacity = &heat.Capacity{WriteUnits: 20_000} })
	if got := kinds(heat.ExplainChange(report(f, room), raised)); got != "critical capacity-no-help " {
		t.Errorf("raised: got %q", got)
	}
	cured := raised
	cured.Resources = []heat.ResourceReport{raised.Resources[0]}
	cured.Resources[0].Writes.Throttled = 10
	if got := kinds(heat.ExplainChange(report(f, room), cured)); got != "" {
		t.Errorf("helped: got %q", got)
	}
}

// More capacity has helped if it is used, or if the table's own limit throttles. Where the reason is unknown, nobody is told
// to lower it.
func TestExplainChangeOfUsedCapacity(t *testing.T) {
	const keyRange, provisioned = "TableWriteKeyRangeThroughputExceeded", "TableWriteProvisionedThroughputExceeded"
	at := time.Unix(1_800_000_000, 0)
	hour := func(from time.Time, capacity int64, perSecond float64, throttles ...heat.ThrottleCount) heat.Report {
		f := heat.Flow{Units: perSecond * 600, Requests: 600_000, Throttles: throttles}
		for _, t := range throttles {
			f.Throttled += t.Count
		}
		return heat.Report{Source: heat.CloudWatch, From: from, To: from.Add(10 * time.Minute), Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "orders"}, Key: []string{"pk"}, Capacity: &heat.Capacity{WriteUnits: capacity, ReadUnits: 10}, Writes: f,
		}}}
	}
	by := func(reason string, n int64) heat.ThrottleCount { return heat.ThrottleCount{Reason: reason, Count: n} }
	for _, test := range []struct {
		name   string
		before []heat.ThrottleCount
		units  float64 // a second, after
		after  []heat.ThrottleCount
		peak   float64 // units a second in one minute
		want   string
	}{
		{"all used, by the table's limit", []heat.ThrottleCount{by(provisioned, 6000)}, 4000, []heat.ThrottleCount{by(provisioned, 6000)}, 0, ""},
		{"idle, by the table's limit", []heat.ThrottleCount{by(keyRange, 6000)}, 900, []heat.ThrottleCount{by(provisioned, 6000)}, 0, ""},
		{"by key range, where it was the table's limit", []heat.ThrottleCount{by(provisioned, 6000)}, 900, []heat.ThrottleCount{by(keyRange, 6000)}, 0, ""},
		{"used, by key range", []heat.ThrottleCount{by(keyRange, 6000)}, 2000, []heat.ThrottleCount{by(keyRange, 6000)}, 0, ""},
		{"used in a minute", []heat.ThrottleCount{by(keyRange, 6000)}, 900, []heat.ThrottleCount{by(keyRange, 6000)}, 3500, ""},
		{"idle, by key range", []heat.ThrottleCount{by(keyRange, 6000)}, 900, []heat.ThrottleCount{by(keyRange, 6000)}, 950, "critical capacity-no-help "},
		{"mostly by key range", []heat.ThrottleCount{by(keyRange, 6000)}, 900, []heat.ThrottleCount{by(keyRange, 6000), by(provisioned, 10)}, 0, "critical capacity-no-help "},
		{"used, unknown", []heat.ThrottleCount{by("", 6000)}, 4000, []heat.ThrottleCount{by("", 6000)}, 0, ""},
		{"idle, unknown", []heat.ThrottleCount{by("", 6000)}, 900, []heat.ThrottleCount{by("", 6000)}, 0, "warning capacity-no-help "},
	} {
		before, after := hour(at, 1000, 900, test.before...), hour(at.Add(time.Hour), 4000, test.units, test.after...)
		if test.peak > 0 {
			after.Resources[0].Writes.Trend = []heat.Point{{From: after.From.Add(time.Minute), For: time.Minute, Units: 60 * test.peak}}
		}
		if got := kinds(heat.ExplainChange(before, after)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// 001-12, X15: an index with one value of its key, or far fewer than the table, takes every write of the table.
func TestExplainIndexOfLowCardinality(t *testing.T) {
	r := report(heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: 900}})
	r.Resources = append(r.Resources, heat.ResourceReport{
		Resource: heat.Resource{Table: "app", Index: "GSI1"}, Key: []string{"GSI1PK"},
		Writes: heat.Flow{Units: 1000, Requests: 1000, Distinct: heat.Distinct{Keys: 3}},
	})
	if got := kinds(heat.Explain(r, heat.Rules{})); got != "warning hot-index " {
		t.Errorf("few: got %q", got)
	}
	r.Resources[1].Writes.Distinct.Keys = 1
	r.Resources[1].Patterns = []heat.Pattern{{Shape: "OPS_LOG", Example: "OPS_LOG", Distinct: heat.Distinct{Keys: 1}, Writes: 1000}}
	if got := kinds(heat.Explain(r, heat.Rules{})); got != "warning low-cardinality OPS_LOG" {
		t.Errorf("constant: got %q", got)
	}
}

// 004-26: loud keys that look like tests are marked, and can be left out.
func TestExplainSuspects(t *testing.T) {
	f := shares(map[string]float64{"user#loadtest#7": 20, "USER#1": 16, "USER#2": 16, "USER#3": 16, "USER#4": 16, "USER#5": 16})
	findings := heat.Explain(report(f), heat.Rules{})
	if got := kinds(findings); got != "info suspicious-key user#loadtest#7" {
		t.Errorf("got %q", got)
	}
	rules := heat.Rules{Exclude: func(key string) bool { return strings.Contains(key, "loadtest") }}
	if got := kinds(heat.Explain(report(f), rules)); got != "" {
		t.Errorf("excluded: got %q", got)
	}
}

// A key that holds most of a table is a finding whatever the others look like, if all of the table was looked at.
func TestExplainAKeyWithMostItems(t *testing.T) {
	stored := func(fraction float64, keys int64, items map[string]int64) func(*heat.ResourceReport) {
		return func(r *heat.ResourceReport) {
			r.Stored = &heat.Stored{Items: 1000, Fraction: fraction, Distinct: heat.Distinct{Keys: keys}}
			for key, n := range items {
				r.Stored.Keys = append(r.Stored.Keys, heat.KeyItems{Key: key, Items: n, Low: n, Share: float64(n) / 1000})
			}
			r.Patterns = []heat.Pattern{
				{Shape: "ORG#{n}", Example: "ORG#7", Distinct: heat.Distinct{Keys: 1}, Items: items["ORG#7"]},
				{Shape: "{id}", Example: "x-1", Distinct: heat.Distinct{Keys: keys - 1}, Items: 1000 - items["ORG#7"]},
			}
		}
	}
	most := map[string]int64{"ORG#7": 950}
	for _, test := range []struct {
		name   string
		report heat.Report
		rules  heat.Rules
		want   string
	}{
		{"all of the table", report(heat.Flow{}, stored(1, 51, most)), heat.Rules{}, "warning dominant-key ORG#7"},
		{"a sample", report(heat.Flow{}, stored(0.9, 51, most)), heat.Rules{}, ""},
		{"too few items", report(heat.Flow{}, stored(1, 51, most)), heat.Rules{Items: 951}, ""},
		{"left out", report(heat.Flow{}, stored(1, 51, most)), heat.Rules{Exclude: func(string) bool { return true }}, ""},
		{"a fair share", report(heat.Flow{}, stored(1, 4, map[string]int64{"ORG#7": 250})), heat.Rules{}, ""},
		{"the only key", report(heat.Flow{}, stored(1, 1, map[string]int64{"ORG#7": 1000})), heat.Rules{}, ""},
		{"known as hot", report(hotFlow("ORG#7", 2000, 50), stored(1, 51, most)), heat.Rules{}, "critical hot-key ORG#7"},
	} {
		findings := heat.Explain(test.report, test.rules)
		if got := kinds(findings); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if len(findings) == 1 && findings[0].Kind == heat.DominantKey && (findings[0].Message != "Partition key 'ORG#7' holds 95.0% of the items" ||
			findings[0].Evidence[0] != "at least 950 items, of 1000 examined; a fair share of 51 partition keys is 2.0%") {
			t.Errorf("%s: got %+v", test.name, findings[0])
		}
	}
}

// Expired rows that are still counted.
func TestExplainExpiredItems(t *testing.T) {
	stored := func(r *heat.ResourceReport) { r.Stored = &heat.Stored{Items: 1000, Expired: 300, Fraction: 1} }
	if got := kinds(heat.Explain(report(heat.Flow{}, stored), heat.Rules{})); got != "info expired-items " {
		t.Errorf("got %q", got)
	}
}

// Reports and findings survive JSON.
func TestReportsAndFindingsAreJSON(t *testing.T) {
	r := report(hotFlow("POST#viral", 2000, 1), withPattern("POST#{id}", 7))
	r.Resources[0].Writes.Trend = []heat.Point{{From: noon, For: time.Second, Units: 7}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back heat.Report
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("got %+v, %v", back, err)
	}
	findings := heat.Explain(r, heat.Rules{})
	text, err = json.Marshal(findings)
	if err != nil || !strings.Contains(string(text), `"severity":"critical"`) || !strings.Contains(string(text), `"direction":"write"`) {
		t.Errorf("got %s, %v", text, err)
	}
	var again []heat.Finding
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, findings) {
		t.Errorf("got %+v, %v", again, err)
	}
	if err := json.Unmarshal([]byte(`[{"severity":"awful"}]`), &again); err == nil || !strings.Contains(err.Error(), `unknown severity "awful"`) {
		t.Errorf("got %v", err)
	}
}
