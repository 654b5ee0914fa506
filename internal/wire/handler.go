// Package wire speaks DynamoDB's protocol: JSON over HTTP, one POST for each
// operation, for DynamoDB itself and for DynamoDB Streams.
//
// Reading order: handler.go (the way of a request), operation.go (the table of
// operations), request.go and answer.go (how JSON is read and written), then
// the operations' parameters and answers, a file for each noun; auth.go and
// sigv4.go (who may ask).
package wire

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// Options configure a handler. The zero value answers whoever sends a
// well-formed Authorization, whatever the credentials: for loopback.
type Options struct {
	// Credentials are what requests must be signed with. Nil: anything.
	Credentials *Credentials

	// Unsigned makes the handler answer requests without any Authorization, for
	// a client in the same process. It is ignored if there are Credentials.
	Unsigned bool

	// Region is where stream records say they come from. Empty: us-east-1.
	Region string

	// Logger is told about panics and internal errors. Nil: nobody is.
	Logger *slog.Logger
}

type handler struct {
	engine     *engine.Engine
	operations map[string]operation
	signatures *verifier // nil: they are not verified
	options    Options
}

// NewHandler returns a handler that answers both services' operations.
func NewHandler(e *engine.Engine, opts Options) http.Handler {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	h := &handler{engine: e, operations: operations, options: opts}
	if opts.Credentials != nil {
		h.signatures = &verifier{credentials: *opts.Credentials}
	}
	return h
}

// exchange is one request and its answer. It is used again for others, but what
// was read from the body is not: that may be kept by anybody.
type exchange struct {
	request request
	answer  answer
	body    []byte
	host    string
}

// keptCapacity is how large a buffer may be and be used again.
const keptCapacity = 64 << 10

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (x *exchange) release() {
	if cap(x.body) > keptCapacity || cap(x.answer.buf) > keptCapacity {
		return
	}
	x.request.reset("")
	x.answer.reset("")
	x.host = ""
	exchanges.Put(x)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchanges.Get().(*exchange)
	x.answer.reset(h.options.Region)
	status := http.StatusOK
	root := r.URL.Path == "/" || r.URL.Path == ""
	switch contentType := contentTypeOf(r); {
	case r.Method == http.MethodGet && root:
		x.answer.buf = append(x.answer.buf, "healthy: dynamodb."+h.options.Region+".amazonaws.com "...)
		send(w, status, nil, x.answer.buf)
	case r.Method != http.MethodPost || !root || contentType == nil:
		send(w, http.StatusNotFound, nil, unknownAnswer)
	default:
		if err := h.serve(x, r); err != nil {
			status = x.answer.error(err)
			if status == http.StatusRequestEntityTooLarge {
				w.Header().Set("Connection", "close") // the rest of the body is not worth reading
			}
		}
		send(w, status, contentType, x.answer.buf)
	}
	x.release()
}

// serve answers a request, or returns the error to answer.
func (h *handler) serve(x *exchange, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			h.options.Logger.Error("panic", "target", targetOf(r), "panic", p, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	op := h.operations[targetOf(r)]
	if op == nil {
		return errUnknownOperation
	}
	var auth authorization
	if h.signatures != nil || !h.options.Unsigned {
		if auth, err = parseAuthorization(r); err != nil {
			return err
		}
	}
	if h.signatures != nil { // before the body is read, which may be large
		if err := h.signatures.check(&auth, r); err != nil {
			return err
		}
	}
	if x.body, err = readBody(x.body[:0], r); err != nil {
		return err
	}
	if h.signatures != nil {
		if err := h.signatures.verify(&auth, r, x.body); err != nil {
			return err
		}
	}
	x.host = hostOf(r)
	x.request.reset(string(x.body))
	err = op(r.Context(), h.engine, x)
	h.report(r, err)
	return err
}

// report logs errors that are not answers of the engine. Those of a client that
// went away are nobody's fault.
func (h *handler) report(r *http.Request, err error) {
	var known *engine.Error
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &known) && known.Type != engine.TypeInternal {
		return
	}
	h.options.Logger.Error("internal error", "target", targetOf(r), "error", err)
}

// hostOf returns the host that a request was sent to. One that never went over a
// network has it in its URL.
func hostOf(r *http.Request) string { return cmp.Or(r.Host, r.URL.Host) }

// targetOf returns the X-Amz-Target header, which names service and operation.
func targetOf(r *http.Request) string {
	if v := r.Header["X-Amz-Target"]; len(v) > 0 {
		return v[0]
	}
	return ""
}

var (
	amzJSON   = []string{"application/x-amz-json-1.0"}
	plainJSON = []string{"application/json"}
)

// contentTypeOf returns the content type to answer a request with: that of the
// request, if it is one that DynamoDB reads, otherwise nil. A request without a
// body needs none.
func contentTypeOf(r *http.Request) []string {
	v := r.Header["Content-Type"]
	if len(v) == 0 {
		if r.ContentLength == 0 {
			return plainJSON
		}
		return nil
	}
	if v[0] == amzJSON[0] {
		return amzJSON
	}
	kind, _, _ := strings.Cut(v[0], ";")
	switch kind = strings.TrimSpace(kind); {
	case strings.EqualFold(kind, amzJSON[0]):
		return amzJSON
	case strings.EqualFold(kind, plainJSON[0]):
		return plainJSON
	}
	return nil
}
