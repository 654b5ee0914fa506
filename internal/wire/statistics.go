package wire

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/heatsink-go/heatsink/internal/engine"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// mostDatapoints is how many points CloudWatch returns of one metric.
const mostDatapoints = 1440

// getMetricStatistics answers the older way to ask for a metric, one at a time. The engine keeps sums by the minute, so Sum
// is the only statistic; the others are refused rather than made up.
func getMetricStatistics(ctx context.Context, e *engine.Engine, in cbor.Map) (cbor.Map, *cloudWatchError) {
	from, to, fault := metricTimes(in)
	if fault != nil {
		return nil, fault
	}
	q := metricQuery{metric: text(in["MetricName"]), known: text(in["Namespace"]) == dynamoNamespace}
	if q.metric == "" || text(in["Namespace"]) == "" {
		return nil, &cloudWatchError{"MissingRequiredParameterException", "a request has a Namespace and a MetricName"}
	}
	if fault := q.setPeriod("", in["Period"]); fault != nil {
		return nil, fault
	}
	if points := to.Sub(from) / q.period; points > mostDatapoints {
		return nil, &cloudWatchError{"InvalidParameterCombinationException", "You have requested up to " + strconv.FormatInt(int64(points), 10) +
			" datapoints, which exceeds the limit of 1,440. You may reduce the datapoints requested by increasing Period, or decreasing the time range."}
	}
	if fault := onlySums(in); fault != nil {
		return nil, fault
	}
	q.setDimensions(in["Dimensions"])
	unit := text(in["Unit"])
	if unit != "" && unit != countUnit {
		q.known = false // CloudWatch returns nothing for a unit that a metric does not have
	}
	asked := &heatOfTables{engine: e, last: time.Since(from) + time.Minute, tables: make(map[string][]partitions.Heat)}
	times, values, err := q.read(ctx, asked, from, to)
	if err != nil {
		return nil, &cloudWatchError{"InternalServiceFault", err.Error()}
	}
	points := cbor.List{}
	for i := range times {
		points = append(points, cbor.Map{"Timestamp": times[i], "Sum": values[i], "Unit": cbor.String(countUnit)})
	}
	return cbor.Map{"Label": cbor.String(q.metric), "Datapoints": points}, nil
}

// countUnit is the unit of the metrics that the engine has.
const countUnit = "Count"

// onlySums returns an error if anything but sums is asked for.
func onlySums(in cbor.Map) *cloudWatchError {
	statistics, _ := in["Statistics"].(cbor.List)
	extended, _ := in["ExtendedStatistics"].(cbor.List)
	switch {
	case len(statistics)+len(extended) == 0:
		return &cloudWatchError{"MissingRequiredParameterException", "At least one of the parameters Statistics and ExtendedStatistics must be specified."}
	case len(extended) > 0:
		return invalidMetric("of the statistics only Sum is implemented, not %q", text(extended[0]))
	}
	for _, s := range statistics {
		if text(s) != "Sum" {
			return invalidMetric("of the statistics only Sum is implemented, not %q", text(s))
		}
	}
	return nil
}
