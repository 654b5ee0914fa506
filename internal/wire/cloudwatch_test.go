package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// metricsOf returns the metrics of an engine with tables of 500 partitions.
func metricsOf(t *testing.T, tables ...string) http.Handler {
	t.Helper()
	e, err := engine.Open(engine.Options{Physics: &partition.Options{OnDemandPartitions: 500}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range tables {
		create := `{"TableName":"` + name + `","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`
		if w := do(NewHandler(e, Options{Unsigned: true}), post(dynamoDB+"CreateTable", create)); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	return NewCloudWatchHandler(e)
}

func postCBOR(body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPost, CloudWatchPath+"GetMetricData", bytes.NewReader(body))
	r.Header.Set("Smithy-Protocol", "rpc-v2-cbor")
	return r
}

// The largest requests that CloudWatch takes are answered: 500 queries, with the longest names or the most dimensions.
func TestCloudWatchTakesWhatSDKsSend(t *testing.T) {
	server := httptest.NewServer(metricsOf(t))
	defer server.Close()
	client := cloudwatch.New(cloudwatch.Options{ // with its retries: now and then the SDK itself closes an answer of some KB before it has read it
		BaseEndpoint: aws.String(server.URL), Region: "us-east-1",
		Credentials: aws.AnonymousCredentials{}, HTTPClient: server.Client(),
	})
	long := []types.Dimension{
		{Name: aws.String("TableName"), Value: aws.String(strings.Repeat("t", 255))},
		{Name: aws.String("GlobalSecondaryIndexName"), Value: aws.String(strings.Repeat("i", 255))},
	}
	var many []types.Dimension
	for i := range 30 {
		many = append(many, types.Dimension{Name: aws.String(fmt.Sprint("Name", i)), Value: aws.String("value")})
	}
	for name, dimensions := range map[string][]types.Dimension{"long names": long, "many dimensions": many} {
		queries := make([]types.MetricDataQuery, 500)
		for i := range queries {
			queries[i] = types.MetricDataQuery{
				Id: aws.String(fmt.Sprintf("q%0254d", i)), Label: aws.String("label"), ReturnData: aws.Bool(true), AccountId: aws.String("000000000000"),
				MetricStat: &types.MetricStat{
					Metric: &types.Metric{
						Namespace: aws.String("AWS/DynamoDB"), MetricName: aws.String("ConsumedWriteCapacityUnits"), Dimensions: dimensions,
					},
					Period: aws.Int32(60), Stat: aws.String("Sum"), Unit: types.StandardUnitCount,
				},
			}
		}
		out, err := client.GetMetricData(t.Context(), &cloudwatch.GetMetricDataInput{
			StartTime: aws.Time(time.Now().Add(-time.Hour)), EndTime: aws.Time(time.Now()), MetricDataQueries: queries,
		})
		if err != nil || len(out.MetricDataResults) != len(queries) {
			t.Fatalf("%s: %v", name, err)
		}
		for i, r := range out.MetricDataResults {
			if aws.ToString(r.Id) != *queries[i].Id || r.StatusCode != types.StatusCodeComplete {
				t.Errorf("%s: answer %d is %s of %s", name, i, r.StatusCode, aws.ToString(r.Id))
			}
		}
	}
}

// measured answers a request, and returns how many bytes that allocated.
func measured(h http.Handler, r *http.Request) (*httptest.ResponseRecorder, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := do(h, r)
	runtime.ReadMemStats(&after)
	return w, after.TotalAlloc - before.TotalAlloc
}

// A table is looked at once, however many queries are about it.
func TestCloudWatchAsksOnceForATable(t *testing.T) {
	h := metricsOf(t, "orders")
	request := func(queries int) *http.Request {
		var list cbor.List
		for range queries {
			list = append(list, cbor.Map{"Id": cbor.String("q"), "MetricStat": cbor.Map{
				"Metric": cbor.Map{
					"Namespace": cbor.String("AWS/DynamoDB"), "MetricName": cbor.String("ConsumedWriteCapacityUnits"),
					"Dimensions": cbor.List{cbor.Map{"Name": cbor.String("TableName"), "Value": cbor.String("orders")}},
				},
				"Period": cbor.Uint(60), "Stat": cbor.String("Sum"),
			}})
		}
		at := func(seconds float64) cbor.Value { return &cbor.Tag{ID: 1, Value: cbor.Float64(seconds)} }
		return postCBOR(cbor.Encode(cbor.Map{"StartTime": at(1), "EndTime": at(4e9), "MetricDataQueries": list}))
	}
	w, one := measured(h, request(1))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w, all := measured(h, request(500)); w.Code != http.StatusOK || all > 50*one {
		t.Errorf("got %d; 500 queries took %d bytes, one took %d", w.Code, all, one)
	}
}

// What costs much to decode is refused before it is decoded: a request takes little more memory than it is long.
func TestCloudWatchRefusesAttacks(t *testing.T) {
	h := metricsOf(t)
	const most = 8 << 20
	for name, body := range attacks() {
		w, took := measured(h, postCBOR(body))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "SerializationException") || !strings.Contains(w.Body.String(), "more than") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		if took > most {
			t.Errorf("%s: took %d bytes for %d, at most %d are expected", name, took, len(body), most)
		}
	}
	w := do(h, postCBOR(make([]byte, maxCBORBytes+1)))
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "ask for fewer metrics at a time") {
		t.Errorf("too long: got %d %s", w.Code, w.Body)
	}
}
