package wire

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// The exceptions that come from the protocol rather than the engine.
const (
	typeTooLarge            = "RequestEntityTooLargeException"
	typeMissingToken        = "MissingAuthenticationTokenException"
	typeIncompleteSignature = "IncompleteSignatureException"
	typeInvalidSignature    = "InvalidSignatureException"
	typeUnrecognizedClient  = "UnrecognizedClientException"
	typeAccessDenied        = engine.TypeAccessDenied
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
	e := cmp.Or(engine.ErrorOf(err), errInternal)
	a.reset(a.region)
	a.begin('{')
	a.string("__type", prefix(e.Type)+e.Type)
	a.message(messageName(e.Type), e.Message)
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
	case e.Type == engine.TypeUnavailable:
		return http.StatusServiceUnavailable
	case e.Type == typeTooLarge:
		return http.StatusRequestEntityTooLarge
	case errors.As(err, new(forbidden)):
		return http.StatusForbidden
	}
	return http.StatusBadRequest
}

func (a *answer) reason(r *engine.CancellationReason) {
	a.string("Code", r.Code)
	a.message("Message", r.Message)
	a.optRaw("Item", r.Item)
}

// maxMessage is how many bytes of an error's message are sent. Many messages
// repeat a parameter, which can be as long as a request.
const maxMessage = 8 << 10

// message writes an error's message, if there is one.
func (a *answer) message(name, text string) {
	if len(text) > maxMessage {
		end := maxMessage
		for end > maxMessage-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "..."
	}
	a.optString(name, strings.ToValidUTF8(text, "\uFFFD"))
}

// prefix returns the namespace that AWS puts before an exception's type.
func prefix(typ string) string {
	switch typ {
	case engine.TypeValidation:
		return "com.amazon.coral.validate#"
	case engine.TypeSerialization, engine.TypeUnknownOperation, engine.TypeUnavailable, typeTooLarge,
		typeMissingToken, typeIncompleteSignature, typeInvalidSignature, typeUnrecognizedClient, typeAccessDenied:
		return "com.amazon.coral.service#"
	case engine.TypeThrottling:
		return "com.amazon.coral.availability#"
	default:
		return "com.amazonaws.dynamodb.v20120810#"
	}
}

// messageName returns how an exception of the type spells its message.
func messageName(typ string) string {
	switch typ {
	case engine.TypeTransactionCanceled, engine.TypeTransactionInProgress, engine.TypeIdempotentMismatch, engine.TypeSerialization:
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
