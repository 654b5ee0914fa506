package heat

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// settle fills in what became of a call: each of its attempts, and what the last one consumed.
func (r *Recorder) settle(c *call, input, output any, metadata middleware.Metadata, err error) {
	if attempts, ok := retry.GetAttemptResults(metadata); ok && len(attempts.Results) > 0 {
		for _, attempt := range attempts.Results {
			r.settleAttempt(c, attempt.Err)
		}
	} else {
		r.settleAttempt(c, err)
	}
	if err == nil {
		r.settleAnswer(c, input, output)
	}
}

func (r *Recorder) settleAttempt(c *call, err error) {
	c.attempts++
	if err == nil {
		c.answered = true
		return
	}
	if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
		c.answered = true
		c.cancelled(cancelled.CancellationReasons)
		for i := range cancelled.CancellationReasons {
			if keySchema(aws.ToString(cancelled.CancellationReasons[i].Message)) {
				r.doubt(c, false)
			}
		}
		return
	}
	if reasons, ok := throttle(err); ok {
		r.throttled(c, reasons)
		return
	}
	if failed := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &failed) {
		c.answered, c.unmet = true, true
		return // an answer like any other
	}
	r.outdated(c, err)
	for i := range c.parts {
		c.parts[i].failed++
	}
}

// throttle reports whether an error says "too fast", and why.
func throttle(err error) ([]types.ThrottlingReason, bool) {
	var (
		provisioned *types.ProvisionedThroughputExceededException
		throttling  *types.ThrottlingException
		limit       *types.RequestLimitExceeded
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &provisioned):
		return provisioned.ThrottlingReasons, true
	case errors.As(err, &throttling):
		return throttling.ThrottlingReasons, true
	case errors.As(err, &limit):
		return limit.ThrottlingReasons, true
	case errors.As(err, &api):
		return nil, isThrottleCode(api.ErrorCode())
	}
	return nil, false
}

func isThrottleCode(code string) bool {
	switch code {
	case "ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded", "ThrottlingException", "ThrottlingError",
		"RequestLimitExceeded":
		return true
	}
	return false
}

// throttled counts a refusal of the whole request, at the table or at the indexes that the reasons name: if an index is
// too busy, the key to blame is the index's.
func (r *Recorder) throttled(c *call, reasons []types.ThrottlingReason) {
	if len(reasons) == 0 {
		c.refuse(nil, "")
		return
	}
	for i, reason := range reasons {
		if !slices.ContainsFunc(reasons[:i], func(earlier types.ThrottlingReason) bool { // an attempt is refused once
			return aws.ToString(earlier.Resource) == aws.ToString(reason.Resource)
		}) {
			c.refuse(r.blamed(aws.ToString(reason.Resource)), aws.ToString(reason.Reason))
		}
	}
}

// blamed returns what an ARN such as arn:aws:dynamodb:…:table/orders/index/byStatus stands for, nil if nothing known.
func (r *Recorder) blamed(arn string) *counters {
	_, name, ok := strings.Cut(arn, ":table/")
	if !ok {
		return nil
	}
	name, index, _ := strings.Cut(name, "/index/")
	return r.table(name).index(index).counters
}

// refuse counts a refused attempt at the parts of a table or index, or at all of the first part's if it is not known
// which.
func (c *call) refuse(blamed *counters, reason string) {
	if blamed == nil && len(c.parts) > 0 {
		blamed = c.parts[0].counters
	}
	found := false
	for i := range c.parts {
		if p := &c.parts[i]; p.counters == blamed {
			p.throttled, p.reason, found = p.throttled+1, reason, true
		}
	}
	if !found && blamed != nil {
		c.parts = append(c.parts, part{counters: blamed, throttled: 1, reason: reason, control: c.onlyControl(blamed.Table)})
	}
}

// cancelled counts what a cancelled transaction says of each of its items. Parts of indexes follow those of their item.
func (c *call) cancelled(reasons []types.CancellationReason) {
	at := -1
	for i := range c.parts {
		p := &c.parts[i]
		if p.counters.Index != "" {
			continue
		}
		if at++; at < len(reasons) && isThrottleCode(aws.ToString(reasons[at].Code)) {
			p.throttled++
		}
	}
}

// settleAnswer shares what was consumed among the parts, and counts what a batch left undone as refused.
func (r *Recorder) settleAnswer(c *call, input, output any) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		r.consumed(c, c.answer(out.ConsumedCapacity))
	case *dynamodb.QueryOutput:
		r.consumed(c, out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		r.consumed(c, out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		if in, ok := input.(*dynamodb.PutItemInput); ok {
			c.revealPut(c.view(r, aws.ToString(in.TableName)), in, out.Attributes)
		}
		r.consumed(c, c.answer(out.ConsumedCapacity))
	case *dynamodb.UpdateItemOutput:
		if in, ok := input.(*dynamodb.UpdateItemInput); ok {
			c.revealUpdate(c.view(r, aws.ToString(in.TableName)), in, out.Attributes)
		}
		r.consumed(c, c.answer(out.ConsumedCapacity))
	case *dynamodb.DeleteItemOutput:
		if in, ok := input.(*dynamodb.DeleteItemInput); ok {
			c.revealDelete(c.view(r, aws.ToString(in.TableName)), in, out.Attributes)
		}
		r.consumed(c, c.answer(out.ConsumedCapacity))
	case *dynamodb.BatchGetItemOutput:
		if in, ok := input.(*dynamodb.BatchGetItemInput); ok {
			r.settleBatchGet(c, in, out)
		}
	case *dynamodb.BatchWriteItemOutput:
		r.settleBatchWrite(c, out)
	case *dynamodb.TransactGetItemsOutput:
		r.consumedAll(c, out.ConsumedCapacity)
	case *dynamodb.ExecuteStatementOutput:
		r.consumed(c, out.ConsumedCapacity)
	case *dynamodb.BatchExecuteStatementOutput:
		r.settleStatements(c, out)
	case *dynamodb.ExecuteTransactionOutput:
		r.consumedAll(c, out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		r.consumedAll(c, out.ConsumedCapacity)
	}
}

func (r *Recorder) consumed(c *call, consumed *types.ConsumedCapacity) {
	if consumed != nil {
		c.capacity(c.table(r, aws.ToString(consumed.TableName)), consumed)
	}
}

func (r *Recorder) consumedAll(c *call, all []types.ConsumedCapacity) {
	for i := range all {
		r.consumed(c, &all[i])
	}
}
