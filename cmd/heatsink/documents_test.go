package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	cwtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heattest"
	"github.com/heatsink-go/heatsink/internal/bubble"
)

// example is one of a document that the project began with: what a reader types, what comes of it, and what must be
// in it.
type example struct {
	Name   string
	Typed  []string // what the reader runs
	Output string
	Want   []string // parts of the output
	Wrong  []string // what is not there and must be, or is there and must not be
}

// check compares the output with what it must have, and must not have.
func (d *example) check(not ...string) {
	for _, part := range d.Want {
		if !strings.Contains(d.Output, part) {
			d.Wrong = append(d.Wrong, fmt.Sprintf("no %q", part))
		}
	}
	for _, part := range not {
		if strings.Contains(d.Output, part) {
			d.Wrong = append(d.Wrong, fmt.Sprintf("there is %q", part))
		}
	}
}

// run runs a command and adds what it prints. The address of the server is left out: it differs each time.
func (d *example) run(t *testing.T, url string, args ...string) {
	t.Helper()
	d.Typed = append(d.Typed, "heatsink "+strings.Join(args, " "))
	stdout, stderr, code := command(t, append(args, "--endpoint", url)...)
	if code != 0 {
		t.Errorf("%s: %s: exit %d, %s", d.Name, d.Typed, code, stderr)
	}
	d.Output += strings.ReplaceAll(stdout, url, "")
}

// The examples of the documents, typed in as their readers would, with what they print.
func TestDocuments(t *testing.T) {
	all := []example{auditOf001(t), statusOf003(t), evenOf003(t), postOf003(t), streamOf004(t), metricsOf004(t)}
	for _, d := range all {
		t.Logf("%s\n$ %s\n%s", d.Name, strings.Join(d.Typed, "\n$ "), d.Output)
		for _, wrong := range d.Wrong {
			t.Errorf("%s: %s", d.Name, wrong)
		}
	}
	writeResult(t, all)
}

// putItem writes an item with these attributes, name by name. A throttled write is returned as false.
func putItem(t *testing.T, client *dynamodb.Client, table string, attributes ...string) bool {
	t.Helper()
	item := heatsink.Item{}
	for i := 0; i < len(attributes); i += 2 {
		item[attributes[i]] = text(attributes[i+1])
	}
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
	if err != nil && !strings.Contains(err.Error(), "Throttling") {
		t.Fatal(err)
	}
	return err == nil
}

// auditOf001 is the table of document 001: 700 items, of which an operations log, a list of brands and one attacked brand have
// most. The audit is to find these three and to say nothing of the rate, which is low.
func auditOf001(t *testing.T) example {
	d := example{Name: "001: the audit of a table with three hot spots", Want: []string{
		"Partition key OPS_LOG has a single value: hot by design", "Partition key BRAND_INDEX has a single value: hot by design",
		"THREAT#brand-abc-123", "findings: 3 warnings",
	}}
	server := serve(t)
	c := client(server.url, "local", "local")
	if _, err := c.CreateTable(t.Context(), tableOf("app", "PK", "SK")); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 6, 22, 1, 0, 0, 0, time.UTC)
	stamp := func(i int) string { return at.Add(time.Duration(i) * time.Minute).Format(time.RFC3339) }
	for i := range 300 {
		putItem(t, c, "app", "PK", "OPS_LOG", "SK", stamp(i)+"#threat_detector", "agent", "threat_detector", "aiSeverity", "HIGH")
	}
	for i := range 140 {
		putItem(t, c, "app", "PK", "BRAND_INDEX", "SK", fmt.Sprintf("BRAND#%s#%x", stamp(i), i), "name", "Luxe Watches")
	}
	for i := range 200 {
		putItem(t, c, "app", "PK", "THREAT#brand-abc-123", "SK", "ALERT#"+stamp(i)+"#geographic_anomaly", "severity", "HIGH")
	}
	for i, brand := range strings.Fields("xyz-789 lux-001 ace-417 neo-552 orb-118 pax-904 rio-331 sol-276 tux-665 uno-043 vox-789 zen-512") {
		for n := range 5 {
			putItem(t, c, "app", "PK", "THREAT#brand-"+brand, "SK", "ALERT#"+stamp(i*5+n)+"#geographic_anomaly", "severity", "LOW")
		}
	}
	d.Typed = []string{"heatsink serve"}
	d.run(t, server.url, "audit", "app")
	d.check("critical", "units/s", "throttled")
	return d
}

// detector is the detector of document 003: a client is recorded for half a minute of so many writes a second by key, and then
// asked for its findings.
func detector(t *testing.T, name string, perSecond map[string]int) example {
	d := example{Name: name, Typed: []string{
		"recorder, err := heat.NewRecorder(heat.Options{})", "client := dynamodb.NewFromConfig(cfg, recorder.Option)", "…",
		"for _, issue := range heat.Explain(recorder.Report(), heat.Rules{}) { fmt.Println(issue.Message) }",
	}}
	bubble.Test(t, func(t *testing.T) {
		db := heattest.Start(t, heattest.Options{Expected: true})
		input := tableOf("users", "pk", "sk")
		if _, err := db.DB.Client().CreateTable(t.Context(), input); err != nil {
			t.Fatal(err)
		}
		users := db.Client(func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
		var keys []string
		for key := range perSecond {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		user := 0
		for range 300 {
			for _, key := range keys {
				for range perSecond[key] / 10 {
					user++
					putItem(t, users, "users", "pk", key, "sk", fmt.Sprint("USER#", user))
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		for _, issue := range heat.Explain(db.Report(), heat.Rules{}) {
			d.Output += fmt.Sprintf("%s: %s\n", issue.Severity, issue.Message)
		}
	})
	if d.Output == "" {
		d.Output = "(nothing)\n"
	}
	return d
}

func statusOf003(t *testing.T) example {
	d := detector(t, "003: a status that has 85 % of the traffic", map[string]int{"STATUS#ACTIVE": 170, "STATUS#BANNED": 20, "STATUS#NEW": 10})
	d.Want = []string{"Partition STATUS#ACTIVE receiving 85% of traffic"}
	d.check("BANNED has a single value", "critical")
	return d
}

func evenOf003(t *testing.T) example {
	d := detector(t, "003: four even statuses", map[string]int{"STATUS#ACTIVE": 50, "STATUS#BANNED": 50, "STATUS#NEW": 50, "STATUS#PENDING": 50})
	d.Want = []string{"(nothing)"}
	d.check()
	return d
}

func postOf003(t *testing.T) example {
	d := detector(t, "003: a viral post", map[string]int{"POST#12345": 1000, "POST#12346": 10, "POST#777": 10})
	d.Want = []string{"critical", "POST#12345"}
	d.check("POST#12346 ", "POST#777 ")
	return d
}

// streamOf004 is the detection by a stream of document 004: which keys were written too often.
func streamOf004(t *testing.T) example {
	d := example{Name: "004: hot keys by the stream", Typed: []string{"heatsink serve"}, Want: []string{"1,000 write units", "user-{n}  101 keys", "Partition user-12345 receiving 91% of traffic", "findings: 1 warning"}}
	server := serve(t)
	c := client(server.url, "local", "local")
	input := tableOf("user-events", "userId", "eventId")
	input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage}
	if _, err := c.CreateTable(t.Context(), input); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i := range 1000 {
		if i == 500 {
			time.Sleep(2*time.Second - time.Since(begun)) // at most 500 a second, however fast the machine is
		}
		putItem(t, c, "user-events", "userId", "user-12345", "eventId", fmt.Sprint("event-", i), "eventType", "page_view")
		if i%10 == 0 {
			putItem(t, c, "user-events", "userId", fmt.Sprint("user-", 20_000+i), "eventId", fmt.Sprint("event-", i), "eventType", "page_view")
		}
	}
	d.run(t, server.url, "audit", "user-events", "--stream", "--from-start")
	d.check()
	return d
}

// metricsOf004 is the detection by CloudWatch of document 004. UserErrors, which the document asks for, does not count throttles:
// WriteThrottleEvents does.
func metricsOf004(t *testing.T) example {
	d := example{Name: "004: throttling by CloudWatch", Typed: []string{"heatsink serve --physics --partition-writes 5"}, Want: []string{
		"UserErrors: 0 datapoints", "Throttling detected at ", ": 200 errors", "findings: 1 critical", "200 requests throttled by key range",
	}}
	server := serve(t, "--physics", "--partition-writes", "5")
	c := client(server.url, "local", "local")
	if _, err := c.CreateTable(t.Context(), tableOf("user-events", "userId", "eventId")); err != nil {
		t.Fatal(err)
	}
	putItem(t, c, "user-events", "userId", "user-12345", "eventId", "event-0", "data", strings.Repeat("x", 200<<10)) // owed for 40 seconds
	for refused := range 200 {
		if putItem(t, c, "user-events", "userId", "user-12345", "eventId", fmt.Sprint("event-", refused)) {
			t.Fatal("a partition that owes took a write")
		}
	}
	known, err := (&account{endpoint: server.url}).clients(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"UserErrors", "WriteThrottleEvents"} {
		d.Typed = append(d.Typed, fmt.Sprintf("cloudwatch.get_metric_statistics(Namespace='AWS/DynamoDB', MetricName='%s', …)", metric))
		out, err := known.metrics.GetMetricStatistics(t.Context(), &cloudwatch.GetMetricStatisticsInput{
			Namespace: aws.String("AWS/DynamoDB"), MetricName: &metric, Dimensions: []cwtypes.Dimension{{Name: aws.String("TableName"), Value: aws.String("user-events")}},
			StartTime: aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now().Add(time.Minute)), Period: aws.Int32(3600), Statistics: []cwtypes.Statistic{cwtypes.StatisticSum},
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Output += fmt.Sprintf("%s: %d datapoints\n", metric, len(out.Datapoints))
		for _, point := range out.Datapoints {
			if *point.Sum > 0 {
				d.Output += fmt.Sprintf("Throttling detected at %s: %.0f errors\n", point.Timestamp.Format(time.RFC3339), *point.Sum)
			}
		}
	}
	d.run(t, server.url, "audit", "user-events", "--cloudwatch")
	d.check()
	return d
}
