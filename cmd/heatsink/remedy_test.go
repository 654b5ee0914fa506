package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/heat/heattest"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/plan"
	"github.com/heatsink-go/heatsink/ratelimit"
	"github.com/heatsink-go/heatsink/replica"
)

// remedy is the closed loop of a kind of finding: a workload that has it, what heatsink plan says about it, and the same
// workload with what the plan says.
type remedy struct {
	kind      heat.Kind
	perSecond int
	before    workload

	metrics  bool     // CloudWatch shows it, not a recorder
	key      string   // that the plan is about; "": the remedy needs no plan
	args     []string // of heatsink plan
	strategy plan.Strategy
	after    func(p plan.Plan) workload
}

// workload is a table and what is done with it.
type workload struct {
	index   bool          // the table has an index by status
	warm    *plan.Warm    // of the table and the index
	limits  *provisioning // nil: on demand without a maximum
	layouts []heat.Layout // that the recorder is told
	ends    bool          // operation -1 ends what runs beside the others
	lasts   time.Duration // 2 s by default; the SDK's retries take seconds, in which less is asked for
	open    func(ctx context.Context, db *heattest.DB) (func(ctx context.Context, i int) error, error)
}

// provisioning limits a table.
type provisioning struct{ writes, maximum int64 }

// body makes an item of 10 KB, so that few requests are many units.
const body = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

var tenKB = strings.Repeat(body, 100)

// order is an item of these workloads.
type order struct {
	Key    string `dynamodbav:"pk"`
	ID     string `dynamodbav:"sk"`
	Status string `dynamodbav:"status,omitempty"`
	Body   string `dynamodbav:"body"`
}

// puts writes items under keys, as somebody does who has not heard of hot partitions.
func puts(key func(i int) string) workload { return spreadOver(layout.Layout{}, nil, key) }

// spreadOver writes the same items through a layout.
func spreadOver(l layout.Layout, warm *plan.Warm, key func(i int) string) workload {
	w := workload{warm: warm, open: func(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		options := heatsink.Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: l}
		if l.Bucket != layout.NoBucket {
			options.EventTime = heatsink.EventTime{Attribute: "sk"}
		}
		orders, err := heatsink.Open[order](db.Client(), options)
		return func(ctx context.Context, i int) error {
			_, err := orders.Put(ctx, order{Key: key(i), ID: time.Now().UTC().Format(time.RFC3339Nano) + fmt.Sprint("#", i), Body: tenKB})
			return err
		}, err
	}}
	if l.Shards > 0 {
		w.layouts = []heat.Layout{{Layout: l}}
	}
	return w
}

func always(key string) func(int) string { return func(int) string { return key } }

// mostly is a key most of the time, and one of some others otherwise.
func mostly(key, other string, others int) func(int) string {
	return func(i int) string {
		if i%5 < 4 {
			return key
		}
		return fmt.Sprintf(other, i/5%others)
	}
}

// planned spreads items as a plan says.
func planned(key func(int) string) func(plan.Plan) workload {
	return func(p plan.Plan) workload {
		l := layout.Layout{Shards: p.Shards, Bucket: p.Bucket}
		return spreadOver(l, p.Warm, key)
	}
}

// remedies are the loops, by kind of finding.
var remedies = []remedy{
	{
		kind: heat.LowCardinality, perSecond: 150, before: puts(always("EVENTS")),
		key: "EVENTS", strategy: plan.Random, after: planned(always("EVENTS")),
	},
	{
		kind: heat.HotKey, perSecond: 180, before: puts(mostly("DEVICE#17", "DEVICE#%d", 3)),
		key: "DEVICE#17", strategy: plan.Random, after: planned(mostly("DEVICE#17", "DEVICE#%d", 3)),
	},
	{
		kind: heat.SkewedTenant, perSecond: 180, before: puts(mostly("TENANT#7", "TENANT#%d", 30)),
		key: "TENANT#7", args: []string{"--unpredictable"}, strategy: plan.BucketedShards, after: planned(mostly("TENANT#7", "TENANT#%d", 30)),
	},
	{
		kind: heat.TimeKey, perSecond: 150, before: puts(always("LOG#2026-11-16")),
		key: "LOG", strategy: plan.BucketedShards, after: planned(always("LOG")),
	},
	{
		kind: heat.RetryStorm, perSecond: 160, before: sdkPuts(always("EVENTS")),
		key: "EVENTS", strategy: plan.Random, after: planned(always("EVENTS")),
	},
	{
		kind: heat.SplitLatency, perSecond: 170, before: sdkPuts(mostly("EVENTS", "CUSTOMER#%d", 40)),
		key: "EVENTS", strategy: plan.Random, after: planned(mostly("EVENTS", "CUSTOMER#%d", 40)),
	},
	{
		kind: heat.SlowAtLowTraffic, perSecond: 150, before: provisioned8000(sdkPuts(always("EVENTS"), (&lab.Watch{Latency: 500 * time.Millisecond}).Option)),
		key: "EVENTS", strategy: plan.Random, after: func(p plan.Plan) workload { return provisioned8000(planned(always("EVENTS"))(p)) },
	},
	{
		kind: heat.HotPartition, perSecond: 150, metrics: true, before: puts(always("EVENTS")),
		key: "EVENTS", strategy: plan.Random, after: planned(always("EVENTS")),
	},
	{
		kind: heat.GlobalCounter, perSecond: 150, before: workload{lasts: 8 * time.Second, open: countOneItem},
		key: "VIEWS", strategy: plan.Counter, after: countWithRecipe,
	},
	{
		kind: heat.PopularItem, perSecond: 680, before: workload{lasts: 6 * time.Second, open: readOneItem},
		key: "POST", args: []string{"--pattern", "mostly", "--stale", "-1s"}, strategy: plan.Replicated, after: readCopies,
	},
	{
		kind: heat.ReadHot, perSecond: 300, before: workload{ends: true, open: readList(false)},
		key: "NEWS", strategy: plan.Cached, after: func(plan.Plan) workload { return workload{ends: true, open: readList(true)} },
	},
	{
		kind: heat.HotIndex, perSecond: 80, before: listedBy(layout.Layout{}),
		after: func(plan.Plan) workload { return listedBy(layout.Layout{Shards: 16, Strategy: layout.Calculated}) },
	},
	{
		kind: heat.DominantKey, perSecond: 70, before: puts(mostly("DEVICE#17", "DEVICE#%d", 3)),
		key: "DEVICE#17", strategy: plan.Leave, // it is below the limit: nothing is to be done
	},
	{
		kind: heat.TableThrottled, perSecond: 30, before: limited(provisioning{writes: 20}),
		after: func(plan.Plan) workload { return limited(provisioning{writes: 1000}) },
	},
	{
		kind: heat.MaximumThrottled, perSecond: 30, before: limited(provisioning{maximum: 20}),
		after: func(plan.Plan) workload { return limited(provisioning{maximum: 1000}) },
	},
	{
		kind: heat.StrayShard, perSecond: 30, before: strays(4),
		after: func(plan.Plan) workload { return strays(8) }, // what readers use
	},
	{
		kind: heat.UnevenShards, perSecond: 100, before: uneven(layout.Product),
		after: func(plan.Plan) workload { return uneven(layout.FNV) },
	},
	{
		kind: heat.Suspicious, perSecond: 50, before: puts(mostly("loadtest", "customer-%d", 20)),
		after: rateLimited,
	},
}

// sdkPuts is puts with the SDK's own retries, which are many.
func sdkPuts(key func(i int) string, options ...func(*dynamodb.Options)) workload {
	return workload{open: func(_ context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		client := db.Client(options...)
		return func(ctx context.Context, i int) error {
			_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{
				"pk": text(key(i)), "sk": text(fmt.Sprint(i)), "body": text(tenKB),
			}})
			return err
		}, nil
	}}
}

// provisioned8000 gives a workload a table with far more capacity than it uses.
func provisioned8000(w workload) workload {
	w.warm, w.limits = nil, &provisioning{writes: 8000}
	return w
}

// countOneItem adds to a number of one item, which has 10 KB.
func countOneItem(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
	client := db.Client()
	key := heatsink.Item{"pk": text("VIEWS"), "sk": text("META")}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{"pk": key["pk"], "sk": key["sk"], "body": text(tenKB)}})
	return func(ctx context.Context, _ int) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("orders"), Key: key, UpdateExpression: aws.String("ADD seen :one"),
			ExpressionAttributeValues: heatsink.Item{":one": &types.AttributeValueMemberN{Value: "1"}},
		})
		return err
	}, err
}

func countWithRecipe(p plan.Plan) workload {
	return workload{warm: p.Warm, ends: true, open: func(_ context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		counters, err := counter.Open(db.Client(), counter.Options{Table: "orders", Shards: p.Shards})
		return func(ctx context.Context, i int) error {
			if i < 0 { // the end
				return counters.Close(ctx)
			}
			return counters.Add(ctx, "VIEWS", 1)
		}, err
	}}
}

// readOneItem reads one item of 40 KB with eventual consistency: 5 units each.
func readOneItem(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
	client := db.Client()
	key := heatsink.Item{"pk": text("POST"), "sk": text("META")}
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: heatsink.Item{"pk": key["pk"], "sk": key["sk"], "body": text(strings.Repeat(tenKB, 4))}})
	return func(ctx context.Context, _ int) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("orders"), Key: key})
		return err
	}, err
}

func readCopies(p plan.Plan) workload {
	return workload{open: func(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		options := replica.Options{Table: "orders-copies", Copies: p.Shards}
		input := tableOf("orders-copies", "id", "")
		input.WarmThroughput = warmth(p.Warm)
		if _, err := db.DB.Client().CreateTable(ctx, input); err != nil {
			return nil, err
		}
		posts, err := replica.Open[string](db.Client(), options)
		if err != nil {
			return nil, err
		}
		_, err = posts.Put(ctx, "POST", strings.Repeat(tenKB, 4))
		return func(ctx context.Context, _ int) error {
			_, err := posts.Get(ctx, "POST")
			return err
		}, err
	}}
}

// readList reads a list of ten items of 10 KB: 12.5 units.
func readList(cached bool) func(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
	return func(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		news, err := heatsink.Open[order](db.Client(), heatsink.Options{Table: "orders", PartitionKey: "pk", SortKey: "sk"})
		if err != nil {
			return nil, err
		}
		for i := range 10 {
			if _, err := news.Put(ctx, order{Key: "NEWS", ID: fmt.Sprint(i), Body: tenKB}); err != nil {
				return nil, err
			}
		}
		load := func(ctx context.Context) (list []order, err error) {
			for o, err := range news.Query(ctx, heatsink.Query{Key: "NEWS"}) {
				if err != nil {
					return nil, err
				}
				list = append(list, o)
			}
			return list, nil
		}
		reads := cache.New[[]order](cache.Options{TTL: time.Second})
		return func(ctx context.Context, i int) error {
			var err error
			switch {
			case i < 0:
				reads.Close()
			case cached:
				_, err = reads.Get(ctx, "NEWS", load)
			default:
				_, err = load(ctx)
			}
			return err
		}, nil
	}
}

// listedBy writes items under their own ids, which an index lists by their status.
func listedBy(l layout.Layout) workload {
	return workload{index: true, open: func(_ context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		orders, err := heatsink.Open[order](db.Client(), heatsink.Options{
			Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: l, Index: heatsink.Index{Name: "by-status", PartitionKey: "status"},
		})
		return func(ctx context.Context, i int) error {
			_, err := orders.Put(ctx, order{Key: fmt.Sprintf("ORDER#%d", i), ID: "META", Status: []string{"OPEN", "PAID", "SENT"}[i%3]})
			return err
		}, err
	}}
}

func limited(p provisioning) workload {
	w := puts(func(i int) string { return fmt.Sprintf("customer-%d", i%100) })
	w.limits = &p
	return w
}

// strays writes to eight shards, which readers may not all know.
func strays(known int) workload {
	w := spreadOver(layout.Layout{Shards: 8}, nil, always("EVENTS"))
	w.layouts = []heat.Layout{{Layout: layout.Layout{Shards: known}}}
	return w
}

// uneven spreads items by a hash of their ids.
func uneven(hash layout.Hash) workload {
	l := layout.Layout{Shards: 8, Strategy: layout.Calculated, Hash: hash}
	return workload{layouts: []heat.Layout{{Layout: l}}, open: func(_ context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		orders, err := heatsink.Open[order](db.Client(), heatsink.Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", Layout: l})
		return func(ctx context.Context, i int) error {
			_, err := orders.Put(ctx, order{Key: "EVENTS", ID: fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i/26%26)})
			return err
		}, err
	}}
}

// rateLimited is the workload of a suspicious key behind package ratelimit.
func rateLimited(plan.Plan) workload {
	key := mostly("loadtest", "customer-%d", 20)
	var w workload
	w.open = func(ctx context.Context, db *heattest.DB) (func(context.Context, int) error, error) {
		put, err := puts(key).open(ctx, db)
		if err != nil {
			return nil, err
		}
		options := ratelimit.Options{Table: "limits", Limit: 1}
		if err := ratelimit.Setup(ctx, db.DB.Client(), options); err != nil {
			return nil, err
		}
		limiter, err := ratelimit.Open(db.DB.Client(), options)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, i int) error {
			if key(i) == "loadtest" {
				if d, err := limiter.Allow(ctx, "loadtest"); err != nil || !d.Allowed {
					return err
				}
			}
			return put(ctx, i)
		}, nil
	}
	return w
}

// withoutLoop are the kinds of findings that have no loop of their own, and why.
var withoutLoop = map[heat.Kind]string{
	heat.NoHelp:           "two reports show it: TestRemedyOfCapacity",
	heat.Throttled:        "the source gives no reason: a recorder reads it",
	heat.AccountThrottled: "AWS raises the quota of an account",
	heat.SystemErrors:     "DynamoDB fails: heatsink retries, and AWS repairs",
	heat.ExpiredItems:     "they stay in the table, and Options.TTL leaves them out of reads: TestRemedyOfExpiredItems",
	heat.KeyGrew:          "it tells of a remedy that was applied",
	heat.GrowthFutile:     "it tells that no number of shards helps",
	heat.GrowthAtMaximum:  "Adaptive.Max is the operator's to raise",
	heat.GrowthFrozen:     "the operator has stopped the growth of a key",
}

// loop is what became of a closed loop, for make proof-heat.
type loop struct {
	Kind    heat.Kind
	Found   string // the finding's message
	Planned string // what heatsink plan says; "" if the remedy needs no plan
	Before  int64  // throttled requests without the remedy
	After   int64  // and with it
	Holds   bool
}

// throttledIn returns how many requests a report has that were throttled.
func throttledIn(report *heat.Report) (n int64) {
	for i := range report.Resources {
		n += report.Resources[i].Reads.Throttled + report.Resources[i].Writes.Throttled
	}
	return n
}

// plannedText is a plan in a few words.
func plannedText(p *plan.Plan) string {
	switch {
	case p.Strategy == plan.Leave:
		return "leave it as it is"
	case p.Shards > 1:
		return fmt.Sprintf("%s, %d shards", p.Strategy, p.Shards)
	}
	return string(p.Strategy)
}

// Each kind of finding is detected, explained, planned for and remedied: with the remedy, the same workload has no such
// finding, and nothing is throttled.
func TestRemedies(t *testing.T) {
	shown := make([]loop, len(remedies))
	defer func() { writeResult(t, shown) }()
	for i := range remedies {
		r := &remedies[i]
		t.Run(string(r.kind), func(t *testing.T) {
			show := &shown[i]
			show.Kind = r.kind
			defer func() { show.Holds = !t.Failed() }()
			before, seen := r.before.run(t, r.perSecond)
			findings := heat.ExplainAll(heat.Rules{}, r.source(before, seen))
			at := slices.IndexFunc(findings, func(f heat.Finding) bool { return f.Kind == r.kind })
			if at < 0 {
				t.Fatalf("not detected: %v", findings)
			}
			if f := findings[at]; f.Cause == "" || f.Remedy == "" || len(f.Evidence) == 0 {
				t.Errorf("not explained: %+v", f)
			}
			show.Found, show.Before = findings[at].Message, throttledIn(&before)
			var p plan.Plan
			if r.key != "" {
				p = r.plan(t, before, findings)
				show.Planned = plannedText(&p)
			}
			if r.after == nil {
				return
			}
			after, seen := r.after(p).run(t, r.perSecond)
			for _, f := range heat.ExplainAll(heat.Rules{}, r.source(after, seen)) {
				if f.Kind == r.kind || f.Severity == heat.Critical {
					t.Errorf("with the remedy: %v: %v", f, f.Evidence)
				}
			}
			if show.After = throttledIn(&after); show.After > 0 {
				t.Errorf("with the remedy, %d requests are throttled", show.After)
			}
		})
	}
}

// source returns the report in which the finding is.
func (r *remedy) source(recorded, metrics heat.Report) heat.Report {
	if r.metrics {
		return metrics
	}
	return recorded
}

// plan asks the command for a plan of what was found.
func (r *remedy) plan(t *testing.T, report heat.Report, findings []heat.Finding) plan.Plan {
	t.Helper()
	data, err := json.Marshal(auditDocument{Reports: []heat.Report{report}, Findings: findings})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, append([]string{"plan", "--report", file, "--json"}, r.args...)...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		var p plan.Plan
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		if p.Key != r.key {
			continue
		}
		if p.Strategy != r.strategy || (p.Snippet == "") != (p.Strategy == plan.Leave) {
			t.Fatalf("%s: got %s with the snippet %q, want %s", p.Key, p.Strategy, p.Snippet, r.strategy)
		}
		return p
	}
	t.Fatalf("no plan for %s in %s", r.key, stdout)
	return plan.Plan{}
}

// run offers a workload to a new engine with physics, in virtual time, and returns what a recorder and CloudWatch saw of it.
func (w workload) run(t *testing.T, perSecond int) (recorded, metrics heat.Report) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		db := heattest.Start(t, heattest.Options{Expected: true, Heat: heat.Options{Layouts: w.layouts}})
		if _, err := db.DB.Client().CreateTable(t.Context(), w.table()); err != nil {
			t.Fatal(err)
		}
		op, err := w.open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		load := lab.Load{PerSecond: perSecond, Measured: cmp.Or(w.lasts, 2*time.Second)}
		if got := load.Sustain(t.Context(), &lab.Watch{}, op); got.Accepted == 0 {
			t.Fatal("no operation succeeded")
		}
		recorded = db.Report()
		time.Sleep(2 * time.Minute) // until CloudWatch has it
		if metrics, err = heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.DB.Client(), "orders", heatcloudwatch.Options{Last: 10 * time.Minute}); err != nil {
			t.Error(err)
		}
		if w.ends {
			if err := op(t.Context(), -1); err != nil {
				t.Error(err)
			}
		}
	})
	return recorded, metrics
}

// More capacity does not help a hot key; shards do.
func TestRemedyOfCapacity(t *testing.T) {
	on := func(capacity int64, w workload) workload {
		w.warm, w.limits = nil, &provisioning{writes: capacity}
		return w
	}
	before, _ := on(3000, puts(always("EVENTS"))).run(t, 150)
	more, _ := on(9000, puts(always("EVENTS"))).run(t, 150)
	findings := heat.ExplainChange(before, more)
	if len(findings) != 1 || findings[0].Kind != heat.NoHelp {
		t.Fatalf("not detected: %v", findings)
	}
	r := remedy{key: "EVENTS", strategy: plan.Random}
	p := r.plan(t, more, heat.ExplainAll(heat.Rules{}, more))
	after, _ := on(9000, planned(always("EVENTS"))(p)).run(t, 150)
	message := findings[0].Message
	if findings := heat.ExplainChange(before, after); len(findings) > 0 {
		t.Errorf("with %d shards: %v", p.Shards, findings)
	}
	writeResult(t, []loop{{heat.NoHelp, message, plannedText(&p), throttledIn(&more), throttledIn(&after), !t.Failed()}})
}

// Expired items that DynamoDB has not deleted are found by a scan, and left out of reads by Options.TTL.
func TestRemedyOfExpiredItems(t *testing.T) {
	type visit struct {
		Key     string `dynamodbav:"pk"`
		ID      string `dynamodbav:"sk"`
		Expires int64  `dynamodbav:"ttl"`
	}
	bubble.Test(t, func(t *testing.T) {
		db := heattest.Start(t, heattest.Options{Expected: true, Engine: local.Options{TTLInterval: 100 * 24 * time.Hour}})
		client := db.Client()
		if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
			TableName:               aws.String("orders"),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the engine looks for expired items once now, and then not for 100 days
		counts := map[string]int{}
		for name, ttl := range map[string]string{"before": "", "after": "ttl"} {
			visits, err := heatsink.Open[visit](client, heatsink.Options{Table: "orders", PartitionKey: "pk", SortKey: "sk", TTL: ttl})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 200 {
				expires := time.Now().Add(time.Hour * time.Duration(i%2*2-1))
				if _, err := visits.Put(t.Context(), visit{"VISITS", fmt.Sprint(i), expires.Unix()}); err != nil {
					t.Fatal(err)
				}
			}
			if counts[name], err = visits.Count(t.Context(), heatsink.Query{Key: "VISITS"}); err != nil {
				t.Fatal(err)
			}
		}
		report, err := heat.ScanTable(t.Context(), client, "orders", heat.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		findings := heat.Explain(report, heat.Rules{})
		at := slices.IndexFunc(findings, func(f heat.Finding) bool { return f.Kind == heat.ExpiredItems })
		if at < 0 {
			t.Fatalf("not detected: %v", findings)
		}
		if counts["before"] != 200 || counts["after"] != 100 {
			t.Errorf("counted %v, want 200 with the expired and 100 without", counts)
		}
		writeResult(t, []loop{{Kind: heat.ExpiredItems, Found: findings[at].Message, Holds: !t.Failed()}})
	})
}

// table returns the request that creates the table of a workload.
func (w workload) table() *dynamodb.CreateTableInput {
	input := tableOf("orders", "pk", "sk")
	input.WarmThroughput = warmth(w.warm)
	if w.index {
		input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("status"), AttributeType: types.ScalarAttributeTypeS})
		input.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-status"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
		}}
	}
	switch {
	case w.limits == nil:
	case w.limits.writes > 0:
		input.BillingMode = types.BillingModeProvisioned
		input.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(100), WriteCapacityUnits: &w.limits.writes}
	default:
		input.OnDemandThroughput = &types.OnDemandThroughput{MaxWriteRequestUnits: &w.limits.maximum}
	}
	return input
}

func tableOf(name, partition, sort string) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	for i, attribute := range []string{partition, sort} {
		if attribute != "" {
			input.AttributeDefinitions = append(input.AttributeDefinitions, types.AttributeDefinition{AttributeName: &attribute, AttributeType: types.ScalarAttributeTypeS})
			input.KeySchema = append(input.KeySchema, types.KeySchemaElement{AttributeName: &attribute, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
		}
	}
	return input
}

// warmth is the throughput that a plan says to warm a table to, and no more than a table's quota.
func warmth(w *plan.Warm) *types.WarmThroughput {
	if w == nil {
		return nil
	}
	return &types.WarmThroughput{
		WriteUnitsPerSecond: aws.Int64(cmp.Or(min(w.WriteUnits, plan.TableQuota), 4000)),
		ReadUnitsPerSecond:  aws.Int64(cmp.Or(min(w.ReadUnits, plan.TableQuota), 12_000)),
	}
}

// Every kind of finding has a loop, or a reason why it has none.
func TestEveryKindHasARemedy(t *testing.T) {
	source, err := os.ReadFile("../../heat/finding.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`(?m)^\t\w+ +Kind = "([^"]+)"`).FindAllSubmatch(source, -1)
	if len(kinds) < 20 {
		t.Fatalf("found %d kinds", len(kinds))
	}
	for _, match := range kinds {
		kind := heat.Kind(match[1])
		loop := slices.ContainsFunc(remedies, func(r remedy) bool { return r.kind == kind })
		if loop == (withoutLoop[kind] != "") {
			t.Errorf("%s: has a loop: %t; has a reason to have none: %q", kind, loop, withoutLoop[kind])
		}
	}
	writeResult(t, map[string]any{"kinds": len(kinds), "without": withoutLoop})
}
