package wire

import (
	"errors"
	"net/http"
	"strings"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// The exceptions that come from the protocol rather than the engine.
const (
	typeTooLarge            = "RequestEntityTooLargeException"
	typeMissingToken        = "MissingAuthenticationTokenException"
	typeIncompleteSignature = "IncompleteSignatureException"
	typeInvalidSignature    = "InvalidSignatureException"
	typeUnrecognizedClient  = "UnrecognizedClientException"
)

var (
	errUnknownOperation = &engine.Error{Type: engine.TypeUnknownOperation}
	errInternal         = &engine.Error{
		Type:    engine.TypeInternal,
		Message: "The request processing has failed because of an unknown error, exception or failure.",
	}
)

// error writes an error instead of whatever was written, and returns its HTTP
// status. Errors that the engine does not know are not shown to the client.
func (a *answer) error(err error) (status int) {
	var e *engine.Error
	if !errors.As(err, &e) {
		e = errInternal
	}
	a.reset(a.region)
	a.begin('{')
	a.string("__type", prefix(e.Type)+e.Type)
	if e.Message != "" {
		a.string(messageName(e.Type), strings.ToValidUTF8(e.Message, "\uFFFD"))
	}
	a.optRaw("Item", e.Item)
	if e.Reasons != nil {
		a.array("CancellationReasons")
		for i := range e.Reasons {
			a.element()
			a.reason(&e.Reasons[i])
			a.end('}')
		}
		a.end(']')
	}
	if e.Throttling != nil {
		a.array(throttlingName(e.Type))
		for _, t := range e.Throttling {
			a.element()
			a.string("reason", t.Reason)
			a.string("resource", t.Resource)
			a.end('}')
		}
		a.end(']')
	}
	a.end('}')
	switch {
	case a.err != nil: // the item is damaged
		return a.error(a.err)
	case e.Type == engine.TypeInternal:
		return http.StatusInternalServerError
	case e.Type == typeTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

func (a *answer) reason(r *engine.CancellationReason) {
	a.string("Code", r.Code)
	if r.Message != "" {
		a.string("Message", strings.ToValidUTF8(r.Message, "\uFFFD"))
	}
	a.optRaw("Item", r.Item)
}

// prefix returns the namespace that AWS puts before an exception's type.
func prefix(typ string) string {
	switch typ {
	case engine.TypeValidation:
		return "com.amazon.coral.validate#"
	case engine.TypeSerialization, engine.TypeUnknownOperation, typeTooLarge,
		typeMissingToken, typeIncompleteSignature, typeInvalidSignature, typeUnrecognizedClient:
		return "com.amazon.coral.service#"
	case engine.TypeThrottling:
		return "com.amazon.coral.availability#"
	default:
		return "com.amazonaws.dynamodb.v20120810#"
	}
}

// messageName returns how an exception of the type spells its message.
func messageName(typ string) string {
	if typ == engine.TypeTransactionCanceled || typ == engine.TypeSerialization {
		return "Message"
	}
	return "message"
}

// throttlingName returns how an exception of the type spells its
// ThrottlingReasons; the SDKs tell the cases apart.
func throttlingName(typ string) string {
	if typ == engine.TypeThrottling {
		return "throttlingReasons"
	}
	return "ThrottlingReasons"
}
