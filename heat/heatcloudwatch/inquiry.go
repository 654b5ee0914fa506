package heatcloudwatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

const (
	namespace   = "AWS/DynamoDB"
	mostQueries = 500 // of one GetMetricData
)

// inquiry is one GetMetricData, all pages of it.
type inquiry struct {
	questions []*question
	status    []types.StatusCode // what the last page said of each question
	notes     []string
}

func (q *inquiry) run(ctx context.Context, client MetricsClient, o Options) error {
	q.status = make([]types.StatusCode, len(q.questions))
	in := &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(o.from()), EndTime: aws.Time(o.end()), ScanBy: types.ScanByTimestampAscending,
		MetricDataQueries: q.queries(),
	}
	for {
		out, err := client.GetMetricData(ctx, in)
		if err != nil {
			return err
		}
		q.note("CloudWatch", out.Messages)
		for _, result := range out.MetricDataResults {
			if err := q.take(result); err != nil {
				return err
			}
		}
		switch next := aws.ToString(out.NextToken); next {
		case "":
			return q.end()
		case aws.ToString(in.NextToken):
			return errors.New("CloudWatch returned the same page again")
		}
		in.NextToken = out.NextToken
	}
}

func (q *inquiry) queries() []types.MetricDataQuery {
	var all []types.MetricDataQuery
	for i, asked := range q.questions {
		metric := &types.Metric{
			Namespace: aws.String(namespace), MetricName: aws.String(asked.metric), Dimensions: asked.dimensions,
		}
		all = append(all, types.MetricDataQuery{
			Id:         aws.String("q" + strconv.Itoa(i)),
			MetricStat: &types.MetricStat{Metric: metric, Period: aws.Int32(60), Stat: aws.String("Sum")},
		})
	}
	return all
}

// take takes what a page has of a question.
func (q *inquiry) take(result types.MetricDataResult) error {
	id := aws.ToString(result.Id)
	i, err := strconv.Atoi(strings.TrimPrefix(id, "q"))
	if err != nil || i < 0 || i >= len(q.questions) {
		return fmt.Errorf("CloudWatch returned a result for %q, which was not requested", id)
	}
	asked := q.questions[i]
	if len(result.Timestamps) != len(result.Values) {
		return fmt.Errorf("%s: CloudWatch returned %d times but %d values", asked, len(result.Timestamps), len(result.Values))
	}
	for j, at := range result.Timestamps {
		if err := counted(result.Values[j]); err != nil {
			return fmt.Errorf("%s: minute %s: %w", asked, at.UTC().Format(time.RFC3339), err)
		}
		asked.sums.set(at, result.Values[j])
	}
	q.status[i] = result.StatusCode
	if result.StatusCode == types.StatusCodeForbidden {
		return fmt.Errorf("%s: %s", asked, statusText(result.StatusCode, result.Messages))
	}
	q.note(asked.String(), result.Messages)
	return nil
}

// end judges what the pages said last: while there are more, neither a part of the data nor an error is the last word.
func (q *inquiry) end() error {
	var partly []string
	for i, status := range q.status {
		what := q.questions[i].String()
		switch status {
		case types.StatusCodeComplete:
		case types.StatusCodeInternalError:
			return fmt.Errorf("%s: %s", what, status)
		default: // a part of it, or no answer at all
			partly = append(partly, what)
		}
	}
	if len(partly) > 0 {
		q.add("CloudWatch's response is incomplete, there may be more: " + strings.Join(partly, ", "))
	}
	return nil
}

// note keeps what CloudWatch has to say about its answer.
func (q *inquiry) note(about string, messages []types.MessageData) {
	for _, m := range messages {
		q.add(fmt.Sprintf("%s: %s", about, message(m)))
	}
}

func (q *inquiry) add(note string) {
	if !slices.Contains(q.notes, note) {
		q.notes = append(q.notes, note)
	}
}

func statusText(status types.StatusCode, messages []types.MessageData) string {
	texts := []string{string(status)}
	for _, m := range messages {
		texts = append(texts, message(m))
	}
	return strings.Join(texts, ", ")
}

func message(m types.MessageData) string {
	return strings.Trim(aws.ToString(m.Code)+": "+aws.ToString(m.Value), ": ")
}
