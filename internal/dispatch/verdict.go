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

// Verdict is what an error says about the request that it answers.
type Verdict uint8

// The verdicts.
const (
	Done     Verdict = iota // it happened
	NotSent                 // it never left, so it did not happen; it may if it is sent again
	Refused                 // DynamoDB refused it for now: it did not happen, and may if it is sent again
	Rejected                // DynamoDB refused it for good: it did not happen, and never will
	Unknown                 // it may have happened, or may still
)

var verdictNames = [...]string{"done", "not sent", "refused", "rejected", "unknown"}

// String returns the verdict's name in lower case.
func (v Verdict) String() string { return verdictNames[v] }

// Harmless reports whether the request surely did not happen and may succeed if it is sent again, even elsewhere.
func (v Verdict) Harmless() bool { return v == NotSent || v == Refused }

// Judge tells what became of a request. In doubt it is Unknown: a write that is believed lost and sent to another place
// would be there twice.
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

// judgeReasons is Judge for a transaction that DynamoDB has cancelled. It names a reason for each part, "None" for those
// that stood against nothing.
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

// answered is an error that came with an HTTP status: the SDK has two types of them.
type answered interface {
	error
	HTTPStatusCode() int
}

// unreached reports whether there was no connection that the request could have been sent on.
func unreached(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// unsendable reports whether the SDK could not even write the request down.
func unsendable(err error) bool {
	return errors.As(err, new(smithy.InvalidParamsError)) || errors.As(err, new(*smithy.InvalidParamsError)) ||
		errors.As(err, new(*smithy.SerializationError))
}

// TooFast reports whether DynamoDB, or something in front of it, refused the request for its rate.
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

// HotKey reports whether a request was too much for its key's partition, and not for the table or the account. Where the
// answer gives no reasons, as older ones do not, it is taken to be.
func HotKey(err error) bool {
	if !TooFast(err) {
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

// Invalid reports whether DynamoDB rejected a request for what it says or how much that is, which is the caller's mistake.
func Invalid(err error) bool {
	if answer, ok := errors.AsType[answered](err); ok && answer.HTTPStatusCode() == http.StatusRequestEntityTooLarge {
		return true
	}
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && (api.ErrorCode() == "ValidationException" || api.ErrorCode() == "SerializationException")
}

// sent reports whether an attempt that ended with err can have left the process.
func sent(err error) bool { return Judge(err) != NotSent && !unsendable(err) }

// NotSentError is the end of a request that was still waiting for its turn when its context ended.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return e.Err.Error() }

func (e *NotSentError) Unwrap() error { return e.Err }

// RejectedError is an answer that makes the sender give up, although DynamoDB has nothing against the request.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string { return e.Err.Error() }

func (e *RejectedError) Unwrap() error { return e.Err }

// UnprocessedError is the part of a batch that DynamoDB had no capacity for. DynamoDB says so without an error.
type UnprocessedError struct{ Left, Of int }

func (e *UnprocessedError) Error() string {
	return fmt.Sprintf("%d of %d left unprocessed", e.Left, e.Of)
}

// withContext returns an error that is both ctx's and the request's.
func withContext(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w after: %w", ctx.Err(), err)
}
