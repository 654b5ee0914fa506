package wire

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/internal/partition"
)

func postForm(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

func postMetricsJSON(operation, body string) *http.Request {
	return post(cloudWatchTarget+operation, body)
}

// Whichever of the three protocols a program speaks, it is told the same.
func TestCloudWatchProtocolsAgree(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e, err := engine.Open(engine.Options{Physics: &partition.Options{}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		h := Services(NewHandler(e, Options{Unsigned: true}), NewCloudWatchHandler(e))
		ok := func(r *http.Request) string {
			t.Helper()
			w := do(h, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			return w.Body.String()
		}
		ok(post(dynamoDB+"CreateTable", `{"TableName":"orders","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
			`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`))
		from := time.Now()
		for i := range 7 {
			ok(post(dynamoDB+"PutItem", fmt.Sprintf(`{"TableName":"orders","Item":{"pk":{"S":"<&%d>"}}}`, i)))
		}
		time.Sleep(2 * time.Minute)
		to := time.Now()

		stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
		times := fmt.Sprintf(`"StartTime":%d,"EndTime":%d.5`, from.Unix(), to.Unix())
		form := fmt.Sprintf("&Version=2010-08-01&StartTime=%s&EndTime=%s", stamp(from), stamp(to))
		const metric = `"Namespace":"AWS/DynamoDB","MetricName":"ConsumedWriteCapacityUnits","Dimensions":[{"Name":"TableName","Value":"orders"}]`

		got := ok(postMetricsJSON("GetMetricStatistics", `{`+metric+`,`+times+`,"Period":60,"Statistics":["Sum"]}`))
		want := fmt.Sprintf(`{"Datapoints":[{"Sum":7,"Timestamp":%d,"Unit":"Count"}],"Label":"ConsumedWriteCapacityUnits"}`, from.Truncate(time.Minute).Unix())
		if got != want {
			t.Errorf("JSON: got %s, want %s", got, want)
		}
		got = ok(postForm("Action=GetMetricStatistics&Namespace=AWS%2FDynamoDB&MetricName=ConsumedWriteCapacityUnits&Period=60" +
			"&Dimensions.member.1.Name=TableName&Dimensions.member.1.Value=orders&Statistics.member.1=Sum" + form))
		want = "<Datapoints><member><Sum>7</Sum><Timestamp>" + stamp(from.Truncate(time.Minute)) + "</Timestamp><Unit>Count</Unit></member></Datapoints>"
		if !strings.Contains(got, want) || !regexp.MustCompile(`^<GetMetricStatisticsResponse xmlns="[^"]+"><GetMetricStatisticsResult>.*</GetMetricStatisticsResult><ResponseMetadata><RequestId>\w{52}</RequestId></ResponseMetadata></GetMetricStatisticsResponse>$`).MatchString(got) {
			t.Errorf("form: got %s, want %s in it", got, want)
		}

		got = ok(postMetricsJSON("GetMetricData", `{"MetricDataQueries":[{"Id":"a","MetricStat":{"Metric":{`+metric+`},"Period":60,"Stat":"Sum"},"ReturnData":true}],`+times+`}`))
		if !strings.Contains(got, `"Values":[7]`) {
			t.Errorf("JSON: got %s", got)
		}
		var queries strings.Builder
		for i := 12; i > 0; i-- { // in the order of their numbers, not of their names
			at := fmt.Sprintf("&MetricDataQueries.member.%d.", i)
			fmt.Fprintf(&queries, "%sId=q%d%[1]sMetricStat.Stat=Sum%[1]sMetricStat.Period=60%[1]sMetricStat.Metric.MetricName=ConsumedWriteCapacityUnits"+
				"%[1]sMetricStat.Metric.Namespace=AWS%%2FDynamoDB%[1]sMetricStat.Metric.Dimensions.member.1.Name=TableName"+
				"%[1]sMetricStat.Metric.Dimensions.member.1.Value=orders", at, i)
		}
		got = ok(postForm("Action=GetMetricData" + form + queries.String()))
		if n := strings.Count(got, "<Values><member>7</member></Values>"); n != 12 || strings.Index(got, "<Id>q2</Id>") > strings.Index(got, "<Id>q10</Id>") {
			t.Errorf("form: %d of 12 results, or not in order: %s", n, got)
		}
	})
}

// Faults are told in the words of the protocol in which they were made.
func TestCloudWatchProtocolsRefuse(t *testing.T) {
	h := metricsOf(t)
	for name, c := range map[string]struct {
		request *http.Request
		want    string
	}{
		"JSON, an unknown operation": {postMetricsJSON("PutDashboard", "{}"), `{"__type":"UnknownOperationException","message":"heatsink does not implement CloudWatch's PutDashboard"}`},
		"form, an unknown operation": {postForm("Action=Put<Dashboard"), "<Code>UnknownOperationException</Code><Message>heatsink does not implement CloudWatch&#39;s Put&lt;Dashboard</Message>"},
		"JSON, no times":             {postMetricsJSON("GetMetricData", "{}"), "StartTime must be before EndTime"},
		"form, no times":             {postForm("Action=GetMetricData"), "<Code>InvalidParameterValue</Code><Message>StartTime must be before EndTime"},
		"form, a wrong time":         {postForm("Action=GetMetricData&StartTime=yesterday"), "StartTime is &#34;yesterday&#34;: give a time such as"},
		"form, a wrong number":       {postForm("Action=GetMetricStatistics&Period=x"), "&#34;x&#34; is not a number"},
		"form, a wrong member":       {postForm("Dimensions.member.x.Name=a"), "&#34;x&#34; is not the number of a member"},
		"form, an escape":            {postForm("a=%zz"), "invalid URL escape"},
		"form, a text":               {postForm(""), "a map is expected"},
		"JSON, none":                 {postMetricsJSON("GetMetricData", ""), "JSON at byte 0"},
		"JSON, a list":               {postMetricsJSON("GetMetricData", "[]"), "a map is expected"},
		"JSON, half":                 {postMetricsJSON("GetMetricData", `{"StartTime":`), "JSON at byte"},
		"JSON, two":                  {postMetricsJSON("GetMetricData", `{} {}`), "JSON has more after its end"},
		"JSON, a huge number":        {postMetricsJSON("GetMetricData", `{"StartTime":1e999}`), "is not a number"},
		"JSON, deep":                 {postMetricsJSON("GetMetricData", strings.Repeat("[", 20)), "values are nested more than 16 deep"},
		"form, deep":                 {postForm(strings.Repeat("a.", 40) + "=1"), "values are nested more than 16 deep"},
		"JSON, many":                 {postMetricsJSON("GetMetricData", `{"a":[`+strings.Repeat("1,", maxCBORValues)+`1]}`), "more than 100000 values"},
		"form, many":                 {postForm(strings.Repeat("a=&", maxCBORValues)), "exceeded limit"},
		"form, many parts":           {postForm(manyParts()), "more than 100000 values"},
		"JSON, long":                 {postMetricsJSON("GetMetricData", strings.Repeat(" ", maxCBORBytes+1)), "ask for fewer metrics at a time"},
	} {
		if w := do(h, c.request); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: got %d %.300s, want %s", name, w.Code, w.Body, c.want)
		}
	}
	if w := do(h, httptest.NewRequest(http.MethodGet, "/", nil)); w.Code != http.StatusNotFound {
		t.Errorf("not for CloudWatch: got %d %s", w.Code, w.Body)
	}
	r := postMetricsJSON("GetMetricStatistics", `{"StartTime":1,"EndTime":2,"Namespace":"n","MetricName":"m","Period":60}`)
	if got := do(h, r).Header().Get("X-Amzn-Query-Error"); got != "MissingParameter;Sender" {
		t.Errorf("got %q for programs that know the names of older protocols", got)
	}
}

// manyParts is a form with few fields, whose names have many parts.
func manyParts() string {
	var form strings.Builder
	for i := range 9_000 {
		fmt.Fprintf(&form, "%x%s=&", i, strings.Repeat(".a", 25))
	}
	return form.String()
}

// A server without metrics says why in every protocol.
func TestNoCloudWatchSaysWhy(t *testing.T) {
	h := NewNoCloudWatchHandler("they need physics")
	for name, r := range map[string]*http.Request{
		"CBOR": postCBOR(cbor.Encode(cbor.Map{})), "JSON": postMetricsJSON("GetMetricData", "{}"), "form": postForm("Action=GetMetricData"),
	} {
		if w := do(h, r); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "they need physics") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
}

// In forms, services differ by the version alone: who sends all of them here hears what to do.
func TestOtherServicesAreNamed(t *testing.T) {
	for name, h := range map[string]http.Handler{"with metrics": metricsOf(t), "without": NewNoCloudWatchHandler("they need physics")} {
		w := do(h, postForm("Action=GetCallerIdentity&Version=2011-06-15"))
		for _, want := range []string{"InvalidAction", "GetCallerIdentity", "2011-06-15", "another service", "AWS_ENDPOINT_URL_DYNAMODB"} {
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: got %d %s, want %s", name, w.Code, w.Body, want)
			}
		}
	}
}
