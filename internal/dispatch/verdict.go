package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Verdict is the outcome of an attempt, as its error shows it.
type Verdict uint8

// The verdicts.
const (
	Done     Verdict = iota // it happened
	NotSent                 // it never left the process; a retry may succeed
	Refused                 // DynamoDB refused it temporarily, for example throttled it; a retry may succeed
	Rejected                // DynamoDB refused it permanently; a retry cannot succeed
	Unknown                 // it may have happened, or may still happen
)

var verdictNames = [...]string{"done", "not sent", "refused", "rejected", "unknown"}

// String returns the verdict's name in lower case.
func (v Verdict) String() string { return verdictNames[v] }

// Harmless reports whether the request certainly did not happen and may be retried, even on another shard.
func (v Verdict) Harmless() bool { return v == NotSent || v == Refused }

// Judge returns the verdict on a request. In doubt it is Unknown, because a write that is wrongly believed lost would be
// stored twice.
func Judge(err error) Verdict {
	if err == nil {
		return Done
	}
	if errors.As(err, new(*NotSentError)) {
		return NotSent
	}
	if errors.As(err, new(*UnprocessedError)) {
		return Refused
	}
	if errors.As(err, new(*RejectedError)) {
		return Rejected
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return judgeReasons(canceled.CancellationReasons)
	}
	status := 0
	if answer, ok := errors.AsType[answered](err); ok {
		status = answer.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
			"TransactionConflictException", "ReplicatedWriteConflictException":
			return Refused
		case "TransactionInProgressException": // an attempt whose answer was lost is still under way
			return Unknown
		}
		if status == 0 && api.ErrorFault() == smithy.FaultClient {
			return Rejected
		}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return Refused
	case status == http.StatusRequestTimeout:
		return Unknown
	case status >= 400 && status < 500:
		return Rejected
	case unreached(err):
		return NotSent
	case unsendable(err):
		return Rejected
	}
	return Unknown
}

// judgeReasons is Judge for a transaction that DynamoDB cancelled. It has a reason for each part, which is "None" for
// parts that could have succeeded.
func judgeReasons(reasons []types.CancellationReason) Verdict {
	for _, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			return Rejected
		}
	}
	return Refused
}

// answered is an error with an HTTP status. The SDK has two such types.
type answered interface {
	error
	HTTPStatusCode() int
}

// unreached reports whether there was no connection to send the request on.
func unreached(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// unsendable reports whether the SDK could not serialize the request.
func unsendable(err error) bool {
	return errors.As(err, new(smithy.InvalidParamsError)) || errors.As(err, new(*smithy.InvalidParamsError)) ||
		errors.As(err, new(*smithy.SerializationError))
}

// TooFast reports whether DynamoDB, or a proxy in front of it, throttled the request.
func TooFast(err error) bool {
	if Judge(err) != Refused {
		return false
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, reason := range canceled.CancellationReasons {
			switch aws.ToString(reason.Code) {
			case "ThrottlingError", "ProvisionedThroughputExceeded":
				return true
			}
		}
		return false
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return !ok || !strings.HasSuffix(api.ErrorCode(), "ConflictException")
}

// HotKey reports whether a request was throttled because of its partition, and not because of the table or the account. A
// response without reasons, as from older services, counts as such.
func HotKey(err error) bool {
	if !TooFast(err) {
		return false
	}
	reasons := Reasons(err)
	for _, r := range reasons {
		if r.Reason != nil && strings.HasSuffix(*r.Reason, "KeyRangeThroughputExceeded") {
			return true
		}
	}
	return len(reasons) == 0
}

// Reasons returns why DynamoDB throttled a request. Older services give none.
func Reasons(err error) []types.ThrottlingReason {
	if e, ok := errors.AsType[*types.ProvisionedThroughputExceededException](err); ok {
		return e.ThrottlingReasons
	}
	if e, ok := errors.AsType[*types.ThrottlingException](err); ok {
		return e.ThrottlingReasons
	}
	if e, ok := errors.AsType[*types.RequestLimitExceeded](err); ok {
		return e.ThrottlingReasons
	}
	return nil
}

// Invalid reports whether DynamoDB rejected a request because of its content or size, which is the caller's mistake.
func Invalid(err error) bool {
	if answer, ok := errors.AsType[answered](err); ok && answer.HTTPStatusCode() == http.StatusRequestEntityTooLarge {
		return true
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "ValidationException" || api.ErrorCode() == "SerializationException")
}

// sent reports whether an attempt that ended with err may have left the process.
func sent(err error) bool { return Judge(err) != NotSent && !unsendable(err) }

// NotSentError ends a request whose context ended before the request could be sent.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return e.Err.Error() }

func (e *NotSentError) Unwrap() error { return e.Err }

// RejectedError is a response after which the sender gives up, although DynamoDB did not reject the request.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string { return e.Err.Error() }

func (e *RejectedError) Unwrap() error { return e.Err }

// UnprocessedError is the part of a batch that DynamoDB had no capacity for. DynamoDB reports it without an error.
type UnprocessedError struct{ Left, Of int }

func (e *UnprocessedError) Error() string {
	return fmt.Sprintf("DynamoDB left %d of %d items unprocessed", e.Left, e.Of)
}

// withContext returns an error that wraps both ctx's error and the request's.
func withContext(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w after: %w", ctx.Err(), err)
}
