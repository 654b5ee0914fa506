package heatotel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Tracer makes spans of what a heatsink.Collection does. Set it as heatsink.Options.Tracer. A Query is a span, and each of
// its requests to a shard is a child of it. Retries and throttles are events of the request. So are attempts that failed
// otherwise. Requests of other operations, such as Put, are children of the span in the caller's context.
type Tracer struct {
	tracer trace.Tracer
	redact func(dst, key []byte) []byte
}

// TracerOptions configure a Tracer. The zero value is ready to use.
type TracerOptions struct {
	// Redact replaces keys before they become attributes of spans, see heat.Hashed. Default: keys are shown.
	Redact func(dst, key []byte) []byte
}

// NewTracer returns a tracer of a provider, such as otel.GetTracerProvider(). An error says that the provider is nil.
func NewTracer(provider trace.TracerProvider, options TracerOptions) (*Tracer, error) {
	if provider == nil {
		return nil, errors.New("heatotel: the tracer provider is nil: give one, such as otel.GetTracerProvider()")
	}
	return &Tracer{provider.Tracer("github.com/heatsink-go/heatsink"), options.Redact}, nil
}

// The names of attributes. Those of DynamoDB follow OpenTelemetry's conventions for databases.
const (
	systemName     = "db.system.name"
	tableName      = "db.collection.name"
	operationName  = "db.operation.name"
	keyName        = "heatsink.key"
	shardName      = "heatsink.shard_key"
	attemptName    = "heatsink.attempt"
	reasonName     = "heatsink.reason"
	errorName      = "error.type"
	dynamoDB       = "aws.dynamodb"
	retryEvent     = "retry"
	throttleEvent  = "throttle"
	failureEvent   = "attempt failed"
	unknownFailure = "other"
)

// StartOperation begins the span of an operation.
func (t *Tracer) StartOperation(ctx context.Context, operation, table, key string) (context.Context, func(error)) {
	ctx, span := t.tracer.Start(ctx, "heatsink."+operation)
	if span.IsRecording() {
		span.SetAttributes(t.attributes(operation, table, keyName, key)...)
	}
	return ctx, func(err error) { end(span, err) }
}

// StartRequest begins the span of a request to a shard.
func (t *Tracer) StartRequest(ctx context.Context, operation, table, shardKey string) (context.Context, func(error)) {
	ctx, span := t.tracer.Start(ctx, "DynamoDB."+operation, trace.WithSpanKind(trace.SpanKindClient))
	if span.IsRecording() {
		span.SetAttributes(t.attributes(operation, table, shardName, shardKey)...)
	}
	return ctx, func(err error) { end(span, err) }
}

// AttemptFailed adds an event to the span of a request.
func (t *Tracer) AttemptFailed(ctx context.Context, attempt int, err error) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	code, reasons, throttled := classify(err)
	name, attributes := failureEvent, []attribute.KeyValue{attribute.Int(attemptName, attempt), attribute.String(errorName, code)}
	if throttled {
		name = throttleEvent
	}
	if len(reasons) > 0 {
		attributes = append(attributes, attribute.StringSlice(reasonName, reasons))
	}
	span.AddEvent(name, trace.WithAttributes(attributes...))
}

// Retried adds an event to the span of a request.
func (t *Tracer) Retried(ctx context.Context, attempt int) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.AddEvent(retryEvent, trace.WithAttributes(attribute.Int(attemptName, attempt)))
	}
}

// attributes are those of a span. Attributes are UTF-8.
func (t *Tracer) attributes(operation, table, name, key string) []attribute.KeyValue {
	if t.redact != nil && key != "" {
		key = string(t.redact(nil, []byte(key)))
	}
	return []attribute.KeyValue{
		attribute.String(systemName, dynamoDB), attribute.String(operationName, operation),
		attribute.String(tableName, strings.ToValidUTF8(table, "\uFFFD")), attribute.String(name, strings.ToValidUTF8(key, "\uFFFD")),
	}
}

// end ends a span. The text of an error may name keys, so the span has only its type.
func end(span trace.Span, err error) {
	if err != nil {
		code, _, _ := classify(err)
		span.SetAttributes(attribute.String(errorName, code))
		span.SetStatus(codes.Error, code)
	}
	span.End()
}

// classify returns the code of an error, DynamoDB's reasons for a throttle, and whether it is one.
func classify(err error) (code string, reasons []string, throttled bool) {
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case ok:
		code = api.ErrorCode()
	case errors.Is(err, context.Canceled):
		return "canceled", nil, false
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline exceeded", nil, false
	default:
		return unwrapped(err), nil, false
	}
	for _, r := range throttlingReasons(err) {
		if reason := aws.ToString(r.Reason); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	switch code {
	case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded":
		throttled = true
	}
	return code, reasons, throttled
}

// unwrapped returns the type of the innermost error.
func unwrapped(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	if name := fmt.Sprintf("%T", err); name != "*errors.errorString" && name != "*errors.joinError" {
		return name
	}
	return unknownFailure
}

// throttlingReasons returns why DynamoDB throttled a request, nothing if it did not say.
func throttlingReasons(err error) []types.ThrottlingReason {
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
