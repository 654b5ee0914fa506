package faulty

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Fault is what goes wrong with a request.
type Fault uint8

// The faults. "Done" means that DynamoDB did what the request asks for, or refused it, as it would have without a fault.
const (
	// None lets the request be.
	None Fault = iota
	// Throttled requests are refused for their rate, as on provisioned tables: the key's partition is too hot. Not done.
	Throttled
	// ThrottledOnDemand is the same as on-demand tables answer it, by another exception.
	ThrottledOnDemand
	// Conflict is the refusal for a transaction on the same item. Not done.
	Conflict
	// Denied requests are refused for good. Not done.
	Denied
	// Unreached requests find nobody to connect to, which the sender can see. Not done.
	Unreached
	// LostRequest is a connection that broke before the request arrived. Not done, but the sender cannot know.
	LostRequest
	// LostAnswer is a connection that broke before the answer arrived, whatever it was. Done.
	LostAnswer
	// BrokeDown requests are done and answered by an internal error; what DynamoDB refuses is answered as it is.
	BrokeDown
	// Unanswered requests wait until their context ends. Not done.
	Unanswered
	// UnansweredDone is the same, but done at the beginning of the wait.
	UnansweredDone
	// Late is a connection that broke while the request was still under way: it arrives after the delay (see
	// [Faults.Delay]), while the sender has gone on. Done then.
	Late
	// Partly leaves half of a batch unprocessed, the larger half if they differ. A batch of one, and what is no batch, is
	// Throttled.
	Partly
)

var names = [...]string{
	"none", "throttled", "throttled on demand", "conflict", "denied", "unreached", "lost request", "lost answer", "broke down",
	"unanswered", "unanswered but done", "late", "partly",
}

func (f Fault) String() string {
	if int(f) < len(names) {
		return names[f]
	}
	return "unknown fault"
}

// Err returns the error that a write with this fault returns, nil for None. The SDK wraps it in the operation's name.
func (f Fault) Err() error { return f.err("PutItem", nil) }

func (f Fault) err(operation string, input any) error {
	switch f {
	case None:
		return nil
	case ThrottledOnDemand:
		return Answer(http.StatusBadRequest, &types.ThrottlingException{Message: aws.String("too fast"), ThrottlingReasons: reasons(operation)})
	case Conflict:
		return Answer(http.StatusBadRequest, conflict(input))
	case Denied:
		return Answer(http.StatusBadRequest, &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no", Fault: smithy.FaultClient})
	case Unreached:
		return broken(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	case LostRequest:
		return broken(&net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.ECONNRESET)})
	case LostAnswer, Unanswered, UnansweredDone, Late:
		return broken(io.ErrUnexpectedEOF)
	case BrokeDown:
		return Answer(http.StatusInternalServerError, &types.InternalServerError{Message: aws.String("oops")})
	}
	return Answer(http.StatusBadRequest, &types.ProvisionedThroughputExceededException{
		Message: aws.String("too fast"), ThrottlingReasons: reasons(operation),
	})
}

// Answer returns the error that the SDK makes of an answer with an HTTP status and an error in it.
func Answer(status int, err error) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
}

// broken returns the error that the SDK makes of a connection that cannot be made, written to or read from.
func broken(err error) error {
	return &smithyhttp.RequestSendError{Err: &url.Error{Op: "Post", URL: "https://dynamodb", Err: err}}
}

// reasons says which limit was exceeded: that of a partition.
func reasons(operation string) []types.ThrottlingReason {
	kind := "Write"
	if strings.Contains(operation, "Get") || operation == "Query" || operation == "Scan" {
		kind = "Read"
	}
	return []types.ThrottlingReason{{Reason: aws.String("Table" + kind + "KeyRangeThroughputExceeded")}}
}

// conflict is the exception for a request that meets a transaction; of a transaction, its last item does.
func conflict(input any) error {
	var items int
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		items = len(in.TransactItems)
	case *dynamodb.TransactGetItemsInput:
		items = len(in.TransactItems)
	default:
		return &types.TransactionConflictException{Message: aws.String("there is a transaction on this item")}
	}
	met := make([]types.CancellationReason, items)
	for i := range met {
		met[i].Code = aws.String("None")
	}
	if items > 0 {
		met[items-1].Code = aws.String("TransactionConflict")
	}
	return &types.TransactionCanceledException{Message: aws.String("cancelled"), CancellationReasons: met}
}
