package heatsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// verdict is what an error says about the request that it answers.
type verdict uint8

const (
	done      verdict = iota // it happened
	throttled                // it did not happen, and may if it is sent again
	rejected                 // it did not happen, and never will
	unknown                  // it may have happened, or may still
)

// judge tells what became of a request. In doubt it is unknown: a write that is believed lost and sent to another shard
// would be there twice.
func judge(err error) verdict {
	if err == nil {
		return done
	}
	if errors.As(err, new(*unprocessedError)) {
		return throttled
	}
	status := 0
	if answer, ok := errors.AsType[answered](err); ok {
		status = answer.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
			"TransactionConflictException", "ReplicatedWriteConflictException":
			return throttled
		}
		if status == 0 && api.ErrorFault() == smithy.FaultClient {
			return rejected
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return throttled
	case status == http.StatusRequestTimeout:
		return unknown
	case status >= 400 && status < 500:
		return rejected
	case notSent(err):
		return throttled
	case notSendable(err):
		return rejected
	}
	return unknown
}

// answered is an error that came with an HTTP status: the SDK has two types of them.
type answered interface {
	error
	HTTPStatusCode() int
}

// notSent reports whether there was no connection that the request could have been sent on.
func notSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// notSendable reports whether the SDK could not even write the request down.
func notSendable(err error) bool {
	return errors.As(err, new(smithy.InvalidParamsError)) || errors.As(err, new(*smithy.InvalidParamsError)) ||
		errors.As(err, new(*smithy.SerializationError))
}

// tooFast reports whether DynamoDB, or something in front of it, refused the request for its rate.
func tooFast(err error) bool {
	if judge(err) != throttled || notSent(err) {
		return false
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return !ok || !strings.HasSuffix(api.ErrorCode(), "ConflictException")
}

// hotShard reports whether a throttled request was too much for its shard, and not for the table or the account. Where
// the answer gives no reasons, as older ones do not, it is taken to be.
func hotShard(err error) bool {
	if !tooFast(err) {
		return false
	}
	var reasons []types.ThrottlingReason
	if e, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err); ok {
		reasons = e.ThrottlingReasons
	} else if e, ok := errors.AsType[*types.ThrottlingException](err); ok {
		reasons = e.ThrottlingReasons
	} else if e, ok := errors.AsType[*types.RequestLimitExceeded](err); ok {
		reasons = e.ThrottlingReasons
	}
	for _, r := range reasons {
		if r.Reason != nil && strings.HasSuffix(*r.Reason, "KeyRangeThroughputExceeded") {
			return true
		}
	}
	return len(reasons) == 0
}

// unprocessedError is the part of a batch that DynamoDB had no capacity for. It says so without an error.
type unprocessedError struct{ left, of int }

func (e *unprocessedError) Error() string {
	return fmt.Sprintf("%d of %d left unprocessed", e.left, e.of)
}

// attempts sends a request until it is done, or it makes no sense to go on: it was rejected; again says no; it was sent
// Retry.Attempts times; the budget for retries is spent; or ctx ends. A nil again repeats whatever was
// throttled or unknown. Once ctx is over nothing is repeated, so again is not asked.
//
// send is told which attempt it is, the first being 1. attempts returns how many there were and the last one's error,
// together with ctx's if that was the reason to stop. Requests, Retries and Throttles are added to cost.
func (c *core) attempts(ctx context.Context, cost *Cost, retries *budget, send func(ctx context.Context, attempt int) error, again func(verdict) bool) (sent int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	retries.request()
	for {
		sent++
		cost.Requests++
		if sent > 1 {
			cost.Retries++
		}
		err = c.attempt(ctx, sent, send)
		v := judge(err)
		if v == done {
			return sent, nil
		}
		if tooFast(err) {
			cost.Throttles++
		}
		if v == rejected {
			return sent, err
		}
		if ctx.Err() != nil {
			return sent, withContext(ctx, err)
		}
		if again != nil && !again(v) || sent >= c.options.Retry.Attempts {
			return sent, err
		}
		if !retries.retry() {
			return sent, fmt.Errorf("not repeated, the retry budget is spent: %w", err)
		}
		if !sleep(ctx, c.backoff(sent)) {
			return sent, withContext(ctx, err)
		}
	}
}

// attempt sends a request once, within the time that an attempt may take.
func (c *core) attempt(ctx context.Context, n int, send func(ctx context.Context, attempt int) error) error {
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	return send(ctx, n)
}

// withTimeout returns a context for one attempt.
func (c *core) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if timeout := c.options.Retry.Timeout; timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return ctx, func() {}
}

// withContext returns an error that is both ctx's and the request's.
func withContext(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w after: %w", ctx.Err(), err)
}

// backoff returns how long to wait after n attempts: any time up to Base × 2ⁿ⁻¹, which keeps those that were throttled
// together from coming back together.
func (c *core) backoff(n int) time.Duration {
	r := c.options.Retry
	longest := r.Max
	if n-1 < 32 && r.Base <= r.Max>>(n-1) {
		longest = r.Base << (n - 1)
	}
	return time.Duration(c.chooser.uint64N(uint64(longest) + 1))
}

// request is one request of an operation, however often it is sent: what errors and logs say about it.
type request struct {
	operation string
	target
	retries *budget // nil: the collection's for reads
	lost    bool    // an answer was lost, so it may have happened
}

// run sends a request as attempts does. Its error is a *ShardError.
func (c *core) run(ctx context.Context, cost *Cost, r *request, send func(ctx context.Context, attempt int) error, again func(verdict) bool) error {
	var last error
	sent, err := c.attempts(ctx, cost, cmp.Or(r.retries, c.readRetries), func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			c.options.Logger.DebugContext(ctx, "request repeated", "table", c.options.Table,
				"operation", r.operation, "shard", r.shardKey, "attempt", attempt, "reason", last)
		}
		last = send(ctx, attempt)
		return last
	}, again)
	if err == nil {
		return nil
	}
	return c.shardError(r.operation, r.target, sent, err)
}

// write is run for a request that changes something. A write that is not repeatable is not sent again after its answer
// was lost. If an answer was lost and no later one says that the write happened, the error is an UnknownOutcomeError.
func (c *core) write(ctx context.Context, cost *Cost, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	r.retries = c.writeRetries
	err := c.run(ctx, cost, r, func(ctx context.Context, attempt int) error {
		err := send(ctx, attempt)
		if judge(err) == unknown {
			r.lost = true
		}
		return err
	}, func(v verdict) bool { return v == throttled || repeatable })
	if failed, ok := err.(*ShardError); ok && r.lost {
		failed.Err = &UnknownOutcomeError{failed.Err}
	}
	return err
}

func (c *core) shardError(operation string, t target, attempts int, err error) *ShardError {
	return &ShardError{Operation: operation, Table: c.options.Table, ShardKey: t.shardKey, Shard: t.shard, Attempts: attempts, Err: err}
}

// sleep waits for d, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
