package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

func TestFaultOf(t *testing.T) {
	api := func(code, message string) error {
		return fmt.Errorf("operation: %w", &smithy.GenericAPIError{Code: code, Message: message})
	}
	proxy := func(status int) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: errors.New("no JSON")}
	}
	for _, c := range []struct {
		err  error
		want fault
	}{
		{nil, none},
		{api("AccessDeniedException", "no"), denied},
		{api("ResourceNotFoundException", ""), missing},
		{api("ThrottlingException", ""), throttled},
		{api("RequestLimitExceeded", ""), throttled},
		{&types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("ThrottlingError")}}}, throttled},
		{proxy(http.StatusTooManyRequests), throttled}, // of a proxy
		{proxy(http.StatusBadGateway), other},
		{api("ExpiredTokenException", ""), expired},
		{api("UnrecognizedClientException", ""), stranger},
		{api("InvalidSignatureException", "does not match"), signature},
		{api("InvalidSignatureException", "Signature expired: a is now earlier than b"), late},
		{api("InvalidSignatureException", "Signature not yet current: a is still later than b"), late},
		{api("UnknownOperationException", ""), unsupported},
		{api("ValidationException", ""), invalid},
		{api("InternalServerError", ""), other},
		{&aws.RequestCanceledError{Err: context.Canceled}, interrupted},
		{&smithyhttp.RequestSendError{Err: errors.New("connection refused")}, unreachable},
		{context.DeadlineExceeded, unreachable},
		{errors.New("else"), other},
	} {
		if got := faultOf(c.err); got != c.want {
			t.Errorf("%v: got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestResourceIn(t *testing.T) {
	err := errors.New("User: arn:aws:iam::1:user/a is not authorized to perform: dynamodb:Query on resource: arn:aws:dynamodb:eu-west-1:1:table/t/index/i because no")
	if got := resourceIn(err); got != "arn:aws:dynamodb:eu-west-1:1:table/t/index/i" {
		t.Errorf("got %q", got)
	}
	if got := resourceIn(errors.New("no")); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestClosest(t *testing.T) {
	if got := closest([]string{"a", "Orders-prod", "b"}, "orders"); !slices.Equal(got, []string{"Orders-prod", "a", "b"}) {
		t.Errorf("got %q", got)
	}
	if got := listed([]string{"a", "b", "c"}, 2); got != "a, b and 1 more" {
		t.Errorf("got %q", got)
	}
}
