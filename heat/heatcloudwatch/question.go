package heatcloudwatch

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/heatsink-go/heatsink/heat"
)

// operations are those that SystemErrors are counted by.
var operations = []string{
	"PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem",
	"TransactGetItems", "TransactWriteItems",
}

// reasons are the metrics that count throttles by their reason, without "Read" or "Write", and how DynamoDB's reasons
// end.
var reasons = []struct{ metric, reason string }{
	{"KeyRangeThroughputThrottleEvents", "KeyRangeThroughputExceeded"},
	{"ProvisionedThroughputThrottleEvents", "ProvisionedThroughputExceeded"},
	{"AccountLimitThrottleEvents", "AccountLimitExceeded"},
	{"MaxOnDemandThroughputThrottleEvents", "MaxOnDemandThroughputExceeded"},
}

// question is a metric to ask for.
type question struct {
	about      heat.Resource
	metric     string
	dimensions []types.Dimension

	sums series       // the answer
	use  func(series) // puts it into the report, once all questions are answered, in their order
}

func (q *question) String() string { return fmt.Sprintf("%s of %s", q.metric, q.about) }

// questionsAbout returns what is asked about a table or index.
func questionsAbout(r *heat.ResourceReport) []*question {
	dimensions := []types.Dimension{{Name: aws.String("TableName"), Value: aws.String(r.Table)}}
	if r.Index != "" {
		dimensions = append(dimensions, types.Dimension{Name: aws.String("GlobalSecondaryIndexName"), Value: aws.String(r.Index)})
	}
	var all []*question
	ask := func(metric string, use func(series), more ...types.Dimension) {
		all = append(all, &question{
			about: r.Resource, metric: metric, use: use,
			dimensions: append(dimensions[:len(dimensions):len(dimensions)], more...),
		})
	}
	for _, d := range [...]heat.Direction{heat.Read, heat.Write} {
		f := r.Flow(d)
		side, arm := side(r.Resource, d)
		var units series
		ask("Consumed"+side+"CapacityUnits", func(s series) { units = s })
		ask(side+"ThrottleEvents", func(s series) { f.Trend = trend(units, s) })
		for _, reason := range reasons {
			ask(side+reason.metric, func(s series) {
				if n := int64(s.total()); n > 0 {
					f.Throttles = append(f.Throttles, heat.ThrottleCount{Reason: arm + reason.reason, Count: n})
				}
			})
		}
	}
	if r.Index != "" {
		return all
	}
	for _, operation := range operations {
		f := r.Flow(directionOf(operation))
		ask("SystemErrors", func(s series) { f.Errors += int64(s.total()) },
			types.Dimension{Name: aws.String("Operation"), Value: aws.String(operation)})
	}
	return all
}

// side returns how metrics of a direction begin, and how reasons for a throttle do.
func side(r heat.Resource, d heat.Direction) (metric, reason string) {
	metric = "Read"
	if d == heat.Write {
		metric = "Write"
	}
	if r.Index != "" {
		return metric, "Index" + metric
	}
	return metric, "Table" + metric
}

func directionOf(operation string) heat.Direction {
	switch operation {
	case "GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems":
		return heat.Read
	}
	return heat.Write
}
