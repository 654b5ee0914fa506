package counter

import (
	"errors"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// verdict is what an error says about the request that it answers.
type verdict uint8

const (
	busy     verdict = iota // it did not happen, and may if it is sent again
	rejected                // it did not happen, and never will
	unsure                  // it may have happened, or may still
)

// weigh tells what an error means. In doubt it is unsure.
func weigh(err error) verdict {
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		return weighReasons(canceled.CancellationReasons)
	}
	status := 0
	if answered, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		status = answered.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
			"TransactionConflictException", "ReplicatedWriteConflictException":
			return busy
		case "TransactionInProgressException":
			return unsure
		}
		if status == 0 && api.ErrorFault() == smithy.FaultClient {
			return rejected
		}
	}
	switch {
	case errors.Is(err, ErrCorrupt):
		return rejected
	case status == http.StatusTooManyRequests:
		return busy
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return rejected
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return busy
	}
	return unsure
}

// weighReasons is weigh for a transaction that DynamoDB has cancelled.
func weighReasons(reasons []types.CancellationReason) verdict {
	for _, reason := range reasons {
		switch aws.ToString(reason.Code) {
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			return rejected
		}
	}
	return busy
}
