package wire

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// CloudWatchPath is where CloudWatch's operations are in the protocol that most SDKs speak to it: Smithy's RPC v2 with CBOR.
const CloudWatchPath = "/service/GraniteServiceVersion20100801/operation/"

// NewCloudWatchHandler answers what can be asked of CloudWatch about the tables of an engine with physics: GetMetricData
// and GetMetricStatistics of the sums by the minute in AWS/DynamoDB, and GetInsightRuleReport of Contributor Insights. It
// asks for no credentials. Requests are those of IsCloudWatch.
func NewCloudWatchHandler(e *engine.Engine) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol, is := metricProtocolOf(r)
		if !is {
			http.NotFound(w, r)
			return
		}
		operation, in, fault := readCloudWatch(protocol, r)
		var out cbor.Map
		if fault == nil {
			out, fault = cloudWatch(r.Context(), e, operation, in)
		}
		if fault != nil {
			refuseCloudWatch(w, protocol, fault)
			return
		}
		protocol.write(w, operation, out)
	})
}

// NewNoCloudWatchHandler answers every request for CloudWatch with an error that says why there are no metrics.
func NewNoCloudWatchHandler(why string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol, is := metricProtocolOf(r)
		if !is {
			http.Error(w, why, http.StatusNotFound)
			return
		}
		_, _, fault := readCloudWatch(protocol, r)
		if fault == nil {
			fault = &cloudWatchError{"InvalidAction", why}
		}
		refuseCloudWatch(w, protocol, fault)
	})
}

func refuseCloudWatch(w http.ResponseWriter, protocol metricProtocol, fault *cloudWatchError) {
	status := http.StatusBadRequest
	if fault.kind == typeAccessDenied {
		status = http.StatusForbidden
	}
	protocol.refuse(w, status, fault)
}

// cloudWatchError is an answer that is an exception.
type cloudWatchError struct{ kind, message string }

func (e *cloudWatchError) Error() string { return e.message }

func invalidMetric(format string, args ...any) *cloudWatchError {
	return &cloudWatchError{"InvalidParameterValueException", fmt.Sprintf(format, args...)}
}

func readCloudWatch(protocol metricProtocol, r *http.Request) (string, cbor.Map, *cloudWatchError) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxCBORBytes+1))
	if err != nil {
		return "", nil, &cloudWatchError{"SerializationException", err.Error()}
	}
	if len(body) > maxCBORBytes {
		return "", nil, &cloudWatchError{"RequestEntityTooLarge", fmt.Sprintf("a request may have %d bytes: ask for fewer metrics at a time", maxCBORBytes)}
	}
	operation, in, err := protocol.read(r, body)
	if fault := (*cloudWatchError)(nil); errors.As(err, &fault) {
		return "", nil, fault
	}
	if err != nil {
		return "", nil, &cloudWatchError{"SerializationException", err.Error()}
	}
	return operation, in, nil
}

// metricOperations are those of CloudWatch that there are.
var metricOperations = map[string]func(context.Context, *engine.Engine, cbor.Map) (cbor.Map, *cloudWatchError){
	"GetMetricData":        getMetricData,
	"GetMetricStatistics":  getMetricStatistics,
	"GetInsightRuleReport": insightRuleReport,
}

func cloudWatch(ctx context.Context, e *engine.Engine, operation string, in cbor.Map) (cbor.Map, *cloudWatchError) {
	op := metricOperations[operation]
	if op == nil {
		return nil, &cloudWatchError{"UnknownOperationException", "heatsink does not implement CloudWatch's " + operation}
	}
	return op(ctx, e, in)
}

// getMetricData answers queries one by one, up to so many points; the rest is for the next page.
func getMetricData(ctx context.Context, e *engine.Engine, in cbor.Map) (cbor.Map, *cloudWatchError) {
	from, to, fault := metricTimes(in)
	if fault != nil {
		return nil, fault
	}
	queries, _ := in["MetricDataQueries"].(cbor.List)
	if len(queries) == 0 || len(queries) > 500 {
		return nil, invalidMetric("MetricDataQueries has %d members, 1 to 500 are allowed", len(queries))
	}
	most := cmp.Or(whole(in["MaxDatapoints"]), 100_800)
	first, fault := metricToken(in["NextToken"], len(queries))
	if fault != nil {
		return nil, fault
	}
	asked := &heatOfTables{engine: e, last: time.Since(from) + time.Minute, tables: make(map[string][]partitions.Heat)}
	var results cbor.List
	points := 0
	for i := first; i < len(queries); i++ {
		query, fault := parseMetricQuery(queries[i])
		if fault != nil {
			return nil, fault
		}
		result, n, err := query.answer(ctx, asked, from, to)
		if err != nil {
			return nil, &cloudWatchError{"InternalServiceFault", err.Error()}
		}
		if points += n; points > most && i > first {
			token := base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(i)))
			return cbor.Map{"MetricDataResults": results, "NextToken": cbor.String(token)}, nil
		}
		results = append(results, result)
	}
	return cbor.Map{"MetricDataResults": results}, nil
}

func metricTimes(in cbor.Map) (from, to time.Time, fault *cloudWatchError) {
	from, okFrom := moment(in["StartTime"])
	to, okTo := moment(in["EndTime"])
	if !okFrom || !okTo || !from.Before(to) {
		return from, to, invalidMetric("StartTime must be before EndTime")
	}
	return from, to, nil
}

func metricToken(value cbor.Value, queries int) (int, *cloudWatchError) {
	token := text(value)
	if token == "" {
		return 0, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(token)
	n, err2 := strconv.Atoi(string(decoded))
	if err != nil || err2 != nil || n < 0 || n >= queries {
		return 0, &cloudWatchError{"InvalidNextToken", "the token is not one of this query"}
	}
	return n, nil
}

// insightRuleReport lists the keys of a rule.
func insightRuleReport(ctx context.Context, e *engine.Engine, in cbor.Map) (cbor.Map, *cloudWatchError) {
	from, to, fault := metricTimes(in)
	if fault != nil {
		return nil, fault
	}
	name := text(in["RuleName"])
	report, err := e.InsightRuleReport(ctx, name, from, to, cmp.Or(whole(in["MaxContributorCount"]), 10))
	if err != nil {
		return nil, &cloudWatchError{"InternalServiceFault", err.Error()}
	}
	if report == nil {
		return nil, &cloudWatchError{"ResourceNotFoundException", "there is no rule " + name}
	}
	contributors := cbor.List{}
	for _, c := range report.Contributors {
		points := cbor.List{}
		for _, p := range c.Minutes {
			points = append(points, cbor.Map{
				"Timestamp": &cbor.Tag{ID: 1, Value: cbor.Float64(p.Start.Unix())}, "ApproximateValue": cbor.Float64(p.Value),
			})
		}
		contributors = append(contributors, cbor.Map{
			"Keys": textList(c.Keys), "ApproximateAggregateValue": cbor.Float64(c.Sum), "Datapoints": points,
		})
	}
	return cbor.Map{
		"KeyLabels": textList(report.KeyLabels), "AggregationStatistic": cbor.String("Sum"),
		"AggregateValue": cbor.Float64(report.Total), "ApproximateUniqueCount": cbor.Uint(uint64(report.Unique)),
		"Contributors": contributors,
	}, nil
}

func textList(texts []string) cbor.List {
	list := cbor.List{}
	for _, s := range texts {
		list = append(list, cbor.String(s))
	}
	return list
}

// metricQuery asks for a metric of a table or index.
type metricQuery struct {
	id, metric, table, index string
	period                   time.Duration
	known                    bool // the dimensions are those of a table or index
}

func parseMetricQuery(value cbor.Value) (q metricQuery, fault *cloudWatchError) {
	query, _ := value.(cbor.Map)
	q.id = text(query["Id"])
	stat, ok := query["MetricStat"].(cbor.Map)
	if q.id == "" || !ok {
		return q, invalidMetric("a query has an Id and a MetricStat; expressions are not implemented")
	}
	metric, _ := stat["Metric"].(cbor.Map)
	q.metric = text(metric["MetricName"])
	q.known = text(metric["Namespace"]) == dynamoNamespace
	if s := text(stat["Stat"]); s != "Sum" {
		return q, invalidMetric("query %s: of the statistics only Sum is implemented, not %q", q.id, s)
	}
	if fault := q.setPeriod("query "+q.id+": ", stat["Period"]); fault != nil {
		return q, fault
	}
	q.setDimensions(metric["Dimensions"])
	return q, nil
}

// dynamoNamespace is where CloudWatch has the metrics of DynamoDB.
const dynamoNamespace = "AWS/DynamoDB"

func (q *metricQuery) setPeriod(where string, value cbor.Value) *cloudWatchError {
	q.period = time.Duration(whole(value)) * time.Second
	if q.period < time.Minute || q.period%time.Minute != 0 {
		return invalidMetric("%sthe period is a multiple of 60 seconds, not %v", where, q.period)
	}
	return nil
}

func (q *metricQuery) setDimensions(value cbor.Value) {
	dimensions, _ := value.(cbor.List)
	for _, value := range dimensions {
		dimension, _ := value.(cbor.Map)
		switch name := text(dimension["Name"]); name {
		case "TableName":
			q.table = text(dimension["Value"])
		case "GlobalSecondaryIndexName":
			q.index = text(dimension["Value"])
		default:
			q.known = false // such as Operation: there is nothing under it
		}
	}
}

// answer returns the result of a query and how many points it has. What does not exist has none, as in CloudWatch.
func (q *metricQuery) answer(ctx context.Context, asked *heatOfTables, from, to time.Time) (cbor.Map, int, error) {
	times, values, err := q.read(ctx, asked, from, to)
	if err != nil {
		return nil, 0, err
	}
	return cbor.Map{
		"Id": cbor.String(q.id), "Label": cbor.String(q.metric), "StatusCode": cbor.String("Complete"),
		"Timestamps": times, "Values": values,
	}, len(times), nil
}

// read returns the points of a query.
func (q *metricQuery) read(ctx context.Context, asked *heatOfTables, from, to time.Time) (times, values cbor.List, err error) {
	times, values = cbor.List{}, cbor.List{}
	if !q.known {
		return times, values, nil
	}
	heat, err := asked.of(ctx, q.table)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range heat {
		if h.Index == q.index {
			times, values = q.points(h.Minutes, from, to)
		}
	}
	return times, values, nil
}

// heatOfTables is what the engine said about tables, each asked once: there may be
// 500 queries about one, and it takes milliseconds.
type heatOfTables struct {
	engine *engine.Engine
	last   time.Duration
	tables map[string][]partitions.Heat
}

func (h *heatOfTables) of(ctx context.Context, table string) ([]partitions.Heat, error) {
	if heat, ok := h.tables[table]; ok {
		return heat, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	heat, err := h.engine.Heat(ctx, table, h.last)
	if missing := new(engine.Error); err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	for i := range heat {
		heat[i].Partitions, heat[i].Splits = nil, nil // most of it, and nobody asks for it here
	}
	h.tables[table] = heat
	return heat, nil
}

// points sums minutes up by period, oldest first. Periods without traffic have no point.
func (q *metricQuery) points(minutes []partitions.Minute, from, to time.Time) (times, values cbor.List) {
	times, values = cbor.List{}, cbor.List{}
	var at time.Time
	sum := 0.0
	flush := func() {
		if sum != 0 {
			times = append(times, &cbor.Tag{ID: 1, Value: cbor.Float64(at.Unix())})
			values = append(values, cbor.Float64(sum))
		}
		sum = 0
	}
	for _, m := range minutes {
		if m.Start.Before(from) || !m.Start.Before(to) {
			continue
		}
		if start := m.Start.Truncate(q.period); !start.Equal(at) {
			flush()
			at = start
		}
		sum += m.Metrics[q.metric]
	}
	flush()
	return times, values
}

// text returns a string, "" for anything else.
func text(value cbor.Value) string {
	s, _ := value.(cbor.String)
	return string(s)
}

// whole returns a number that is not negative and not fractional, 0 for anything else.
func whole(value cbor.Value) int {
	if n, ok := value.(cbor.Uint); ok && uint64(n) <= math.MaxInt32 {
		return int(n)
	}
	return 0
}

// moment returns a time: a tagged number of seconds.
func moment(value cbor.Value) (time.Time, bool) {
	tag, ok := value.(*cbor.Tag)
	if !ok || tag.ID != 1 {
		return time.Time{}, false
	}
	switch seconds := tag.Value.(type) {
	case cbor.Uint:
		return time.Unix(int64(min(uint64(seconds), math.MaxInt32*8)), 0), true
	case cbor.Float64:
		if float64(seconds) > 0 && float64(seconds) < math.MaxInt32*8 {
			return time.UnixMilli(int64(1000 * float64(seconds))), true
		}
	case cbor.Float32:
		if seconds > 0 && seconds < math.MaxInt32 {
			return time.Unix(int64(seconds), 0), true
		}
	}
	return time.Time{}, false
}
