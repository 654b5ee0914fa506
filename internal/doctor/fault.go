package doctor

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// fault is why a request failed.
type fault uint8

const (
	none        fault = iota
	denied            // the credentials may not do it
	missing           // there is no such table
	throttled         // too many requests, or too large ones
	expired           // the session's credentials are over
	stranger          // the server does not know the access key
	signature         // the signature is wrong
	late              // the signature has the wrong time
	unreachable       // there was no answer
	unsupported       // the server does not have the operation
	invalid           // the server took the request for a mistake
	interrupted       // the caller did not wait for the answer
	other
)

// faultOf returns why a request failed.
func faultOf(err error) fault {
	if err == nil {
		return none
	}
	if dispatch.TooFast(err) {
		return throttled
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return transportFault(err)
	}
	text := api.ErrorMessage()
	switch api.ErrorCode() {
	case "AccessDeniedException", "AccessDenied", "NotAuthorized", "UnauthorizedOperation":
		return denied
	case "ResourceNotFoundException", "TableNotFoundException":
		return missing
	case "ExpiredTokenException", "ExpiredToken":
		return expired
	case "UnrecognizedClientException", "InvalidClientTokenId", "InvalidAccessKeyId", "MissingAuthenticationTokenException", "MissingAuthenticationToken", "IncompleteSignatureException":
		return stranger
	case "RequestExpired", "RequestTimeTooSkewed":
		return late
	case "InvalidSignatureException", "SignatureDoesNotMatch":
		if strings.Contains(text, "Signature expired") || strings.Contains(text, "not yet current") {
			return late
		}
		return signature
	case "UnknownOperationException", "UnknownOperation":
		return unsupported
	case "ValidationException":
		return invalid
	}
	return other
}

// transportFault is for errors that are no answer of DynamoDB.
func transportFault(err error) fault {
	if errors.Is(err, context.Canceled) {
		return interrupted
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && response.HTTPStatusCode() != 0 {
		return other // somebody answers, in another language
	}
	if _, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok || errors.Is(err, context.DeadlineExceeded) {
		return unreachable
	}
	return other
}

// reason returns the innermost text of an error: the server's own words, without the SDK's around them.
func reason(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if api.ErrorMessage() == "" {
			return api.ErrorCode()
		}
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if send, ok := errors.AsType[*smithyhttp.RequestSendError](err); ok {
		return strings.TrimPrefix(send.Err.Error(), "request send failed, ")
	}
	return err.Error()
}

// onResource finds the resource that AWS names in a refusal: "… is not authorized to perform: dynamodb:Scan on resource: ARN because …".
var onResource = regexp.MustCompile(`on resource: (arn:[^\s,]+)`)

// resourceIn returns the ARN in the text of a refusal, "" if there is none.
func resourceIn(err error) string {
	if m := onResource.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// isMissing reports whether a table is not there.
func isMissing(err error) bool {
	_, ok := errors.AsType[*types.ResourceNotFoundException](err)
	return ok || faultOf(err) == missing
}
