package heat_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/heat/heatcloudwatch"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
)

// orders writes new orders of customers of very different size, and remembers which were acknowledged.
type orders struct {
	client    *dynamodb.Client
	customers *rand.Zipf
	offered   int
	writing   sync.WaitGroup

	mu    sync.Mutex
	acked map[string]float64 // by customer
	lines bytes.Buffer       // what an export of the table has
}

// offer writes so many orders a second for so long. Nobody waits for an answer.
func (o *orders) offer(t *testing.T, perSecond int, long time.Duration) {
	const tick = 100 * time.Millisecond
	for range long / tick {
		for range perSecond / int(time.Second/tick) {
			customer, order := fmt.Sprintf("CUSTOMER#%d", o.customers.Uint64()), fmt.Sprintf("ORDER#%05d", o.offered)
			o.offered++
			o.writing.Go(func() { o.put(t, customer, order) })
		}
		time.Sleep(tick)
	}
}

// put writes an order. One that is refused as often as the SDK tries is given up.
func (o *orders) put(t *testing.T, customer, order string) {
	in := &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: key(customer, order)}
	if _, err := o.client.PutItem(t.Context(), in); err != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked[customer]++
	fmt.Fprintf(&o.lines, `{"Item":{"pk":{"S":%q},"sk":{"S":%q}}}`+"\n", customer, order)
}

// total returns how many were acknowledged.
func (o *orders) total() float64 {
	all := 0.0
	for _, n := range o.acked {
		all += n
	}
	return all
}

// top returns the customers with the most acknowledged orders.
func (o *orders) top(n int) []string {
	var customers []string
	for customer := range o.acked {
		customers = append(customers, customer)
	}
	slices.SortFunc(customers, func(a, b string) int { return int(o.acked[b] - o.acked[a]) })
	return customers[:n]
}

// startOrders starts an engine with a table that has a stream and Contributor Insights. Its partitions are small, so that
// less makes one hot, and so many that the hottest key has one to itself: what else is there would be throttled with it.
func startOrders(t *testing.T) *local.DB {
	t.Helper()
	return startOrdersWith(t, local.Physics{PartitionWrites: 150, OnDemandPartitions: 64, NoSplits: true})
}

func startOrdersWith(t *testing.T, physics local.Physics) *local.DB {
	t.Helper()
	db, err := local.New(local.Options{Physics: &physics})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	client := db.Client()
	if err := db.CreateTable(t.Context(), "orders", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName:           aws.String("orders"),
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.UpdateContributorInsights(t.Context(), &dynamodb.UpdateContributorInsightsInput{
		TableName: aws.String("orders"), ContributorInsightsAction: types.ContributorInsightsActionEnable,
	}); err != nil {
		t.Fatal(err)
	}
	return db
}

// 004-15, 004-29, X25, X26: one workload, two quiet minutes and a rush in which the hottest key is throttled, seen by every
// source. All that know keys have the same five on top, in the same order, each with as many units or items as were
// acknowledged; CloudWatch has consumed and refused as many as the recorder, by the same reasons, retries included; and each
// says what is wrong with the same key, or at least that the table has a hot partition.
func TestSourcesAgreeOnTheTopKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := startOrders(t)
		recorder := newRecorder(t, heat.Options{Decay: 2 * time.Second})              // a rush of seconds is all of late
		if err := recorder.Describe(t.Context(), db.Client(), "orders"); err != nil { // else calls made beside the first have no key
			t.Fatal(err)
		}
		o := &orders{
			client: db.Client(recorder.Option, func(o *dynamodb.Options) {
				o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 100 * time.Millisecond })
			}),
			customers: rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 2, 1, 79), acked: make(map[string]float64),
		}
		o.offer(t, 10, 2*time.Minute)
		o.offer(t, 500, 6*time.Second)
		o.writing.Wait()

		live, insights := recorder.Report(), readInsights(t, db)
		want := o.top(5)
		for _, report := range []heat.Report{live, readStream(t, db), readScan(t, db), readExport(t, &o.lines), insights} {
			o.compare(t, report, want)
			if findings := heat.Explain(report, heat.Rules{}); len(findings) == 0 || findings[0].Key != want[0] {
				t.Errorf("%s: %s, want one about %s first", report.Source, kinds(findings), want[0])
			}
		}
		stream := readStream(t, db)
		if note := strings.Join(stream.Notes, "; "); !strings.Contains(note, "no reads and no throttled requests") {
			t.Errorf("the stream's notes are %q: they do not say what it leaves out", note)
		}
		if r := resource(t, stream, "orders"); r.Reads.Requests != 0 || r.Writes.Throttled != 0 || resource(t, live, "orders").Writes.Throttled == 0 {
			t.Errorf("the stream shows %d reads and %d throttles", r.Reads.Requests, r.Writes.Throttled)
		}
		compareThrottles(t, live, insights)
		compareMetrics(t, live, readMetrics(t, db))
	})
}

// compare checks the top keys of a source, and how much they have: units of a flow, or items of what is stored.
func (o *orders) compare(t *testing.T, report heat.Report, want []string) {
	t.Helper()
	r := resource(t, report, "orders")
	all, amounts := r.Writes.Units, make(map[string]float64)
	got := topKeys(r.Writes, len(want))
	for _, k := range r.Writes.Keys {
		amounts[k.Key] = k.Units
	}
	if r.Stored != nil {
		all = float64(r.Stored.Items)
		for _, k := range r.Stored.Keys {
			got = append(got, k.Key)
			amounts[k.Key] = float64(k.Items)
		}
	}
	if got = got[:min(len(want), len(got))]; !slices.Equal(got, want) || all != o.total() {
		t.Errorf("%s: %v of %v, want %v of %v", report.Source, got, all, want, o.total())
	}
	for _, k := range want {
		if amounts[k] != o.acked[k] {
			t.Errorf("%s: %s has %v, want %v", report.Source, k, amounts[k], o.acked[k])
		}
	}
}

// compareThrottles checks that Contributor Insights and the recorder have seen the same refusals, key by key.
func compareThrottles(t *testing.T, live, insights heat.Report) {
	t.Helper()
	throttled := func(report heat.Report) map[string]int64 {
		all := map[string]int64{"all": resource(t, report, "orders").Writes.Throttled}
		for _, k := range resource(t, report, "orders").Writes.Keys {
			if k.Throttled > 0 {
				all[k.Key] = k.Throttled
			}
		}
		return all
	}
	want := throttled(live)
	if got := throttled(insights); !maps.Equal(got, want) || len(want) < 2 {
		t.Errorf("insights: throttled %v, want %v", got, want)
	}
}

// compareMetrics checks that CloudWatch and the recorder have seen as much consumed and refused.
func compareMetrics(t *testing.T, live, metrics heat.Report) {
	t.Helper()
	got, want := resource(t, metrics, "orders").Writes, resource(t, live, "orders").Writes
	if got.Units != want.Units || got.Throttled != want.Throttled || !slices.Equal(got.Throttles, want.Throttles) {
		t.Errorf("cloudwatch: %v units and %v, want %v and %v", got.Units, got.Throttles, want.Units, want.Throttles)
	}
	if want.Retries == 0 || want.Throttled < 500 || want.Throttles[0].Reason != "TableWriteKeyRangeThroughputExceeded" {
		t.Errorf("the workload was to be throttled by key range, and tried again: %d retries, %v", want.Retries, want.Throttles)
	}
	findings := heat.Explain(metrics, heat.Rules{})
	if len(findings) != 1 || findings[0].Kind != heat.HotPartition || findings[0].Table != "orders" || findings[0].Severity != heat.Critical {
		t.Errorf("cloudwatch: %s", kinds(findings))
	}
}

func readStream(t *testing.T, db *local.DB) heat.Report {
	t.Helper()
	stream, err := heat.OpenStream(t.Context(), db.Client(), db.StreamsClient(), "orders", heat.StreamOptions{FromStart: true, UntilNow: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return stream.Report()
}

func readScan(t *testing.T, db *local.DB) heat.Report {
	t.Helper()
	report, err := heat.ScanTable(t.Context(), db.Client(), "orders", heat.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// readExport reads lines as they are exported: compressed.
func readExport(t *testing.T, lines io.Reader) heat.Report {
	t.Helper()
	var file bytes.Buffer
	zipped := gzip.NewWriter(&file)
	if _, err := io.Copy(zipped, lines); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := heat.NewExportReader("orders", heat.Options{Keys: map[string][]string{"orders": {"pk"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Read("0001.json.gz", &file); err != nil {
		t.Fatal(err)
	}
	return reader.Report()
}

func readInsights(t *testing.T, db *local.DB) heat.Report {
	t.Helper()
	report, err := heatcloudwatch.Insights(t.Context(), db.CloudWatchClient(), db.Client(), "orders", heatcloudwatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func readMetrics(t *testing.T, db *local.DB) heat.Report {
	t.Helper()
	report, err := heatcloudwatch.Metrics(t.Context(), db.CloudWatchClient(), db.Client(), "orders", heatcloudwatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}
