// Package wire speaks DynamoDB's protocol: JSON over HTTP, one POST for each
// operation, for DynamoDB itself and for DynamoDB Streams.
//
// Reading order: handler.go (the way of a request), operation.go (the table of
// operations), request.go and answer.go (how JSON is read and written), then
// the operations' parameters and answers, a file for each noun; auth.go and
// sigv4.go (who may ask), guard.go (which web pages may); encoding.go (bodies and
// answers that are compressed); server.go and conn.go
// (how requests come over a port).
package wire

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/heatsink-go/heatsink/internal/attempt"
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

	// Guard refuses requests that web pages may have sent. Nil: none are refused.
	Guard *Guard

	// Region is where stream records say they come from. Empty: us-east-1.
	Region string

	// Logger is told about panics and internal errors. Nil: nobody is.
	Logger *slog.Logger
}

// Handler answers both services' operations.
type Handler struct {
	engine     *engine.Engine
	operations map[string]operation
	signatures *verifier // nil: they are not verified
	options    Options
}

// NewHandler returns a handler for an engine.
func NewHandler(e *engine.Engine, opts Options) *Handler {
	opts.Region = cmp.Or(opts.Region, "us-east-1")
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	h := &Handler{engine: e, operations: operations, options: opts}
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
	head    []byte // what the answer is sent with, by a Server
	host    string
	encoded string // how the answer is compressed; empty: not at all
	link    *link  // the connection it came on; nil: none of a Server
	proven  bool   // the request was authenticated
}

// keptCapacity is how large a buffer may be and be used again.
const keptCapacity = 32 << 10

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (x *exchange) release() {
	if cap(x.body) > keptCapacity || cap(x.answer.buf) > keptCapacity {
		return
	}
	x.link = nil
	x.request.reset("")
	x.answer.reset("")
	x.host = ""
	exchanges.Put(x)
}

// ServeHTTP answers a request that net/http read.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchanges.Get().(*exchange)
	x.link, _ = r.Context().Value(linkKey{}).(*link)
	switch contentType := contentTypeOf(r); {
	case headSize(r) > maxServiceHead:
		send(w, http.StatusBadRequest, nil, "", nil, nil)
	case r.Method == http.MethodGet && isRoot(r):
		x.answer.buf = append(x.answer.buf, "healthy: dynamodb."+h.options.Region+".amazonaws.com "...)
		send(w, http.StatusOK, nil, "", x.answer.buf, nil)
	case r.Method != http.MethodPost || !isRoot(r) || contentType == nil:
		send(w, http.StatusNotFound, nil, "", unknownAnswer, nil)
	default:
		status := h.answer(x, r)
		// The rest of that body is not worth reading. After any other answer net/http
		// reads the rest, as the first lane does, or hangs up if it is 256 KB or more.
		if status == http.StatusRequestEntityTooLarge {
			w.Header().Set("Connection", "close")
		}
		send(w, status, contentType, x.encoded, x.answer.buf, x.link)
	}
	x.release()
}

// answer answers a request for an operation, and returns the HTTP status.
func (h *Handler) answer(x *exchange, r *http.Request) (status int) {
	x.answer.reset(h.options.Region)
	x.proven = false
	x.encoded = ""
	status = http.StatusOK
	err := h.serve(x, r)
	if err != nil {
		status = x.answer.error(err)
	}
	if err != errBusy {
		x.link.prove(x.proven)
	}
	if cap(x.body) > keptCapacity { // the client may take its time with the answer
		x.body = nil
		x.request.reset("")
	}
	if err := x.finish(r); err != nil {
		return x.answer.error(err)
	}
	return status
}

// finish compresses the answer, if its client asks for that, and has the memory of
// it counted: for a moment that is twice its length. Only the first count can fail: the
// second gives room back.
func (x *exchange) finish(r *http.Request) error {
	if e := encodingOf(r, len(x.answer.buf)); e != nil {
		if err := x.link.finish(r.Context(), 2*len(x.answer.buf)); err != nil {
			return err
		}
		x.answer.buf, x.encoded = e.encode(x.answer.buf), e.name
	}
	return x.link.finish(r.Context(), len(x.answer.buf))
}

// serve answers a request, or returns the error to answer.
func (h *Handler) serve(x *exchange, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			h.options.Logger.Error("panic", "target", targetOf(r), "panic", p, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	if err := h.options.Guard.host(r); err != nil { // of what else a guard refuses, nothing comes on the first lane
		return forbidden{err}
	}
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
	if x.body, err = readBody(x.body[:0], r, x.link); err != nil {
		return err
	}
	if h.signatures != nil {
		if err := h.signatures.verify(&auth, r, x.body); err != nil {
			return err
		}
	}
	x.proven = true
	x.link.prove(true)
	x.host = hostOf(r)
	if err := x.begin(r); err != nil {
		return err
	}
	x.request.reset(bodyText(x.body))
	x.request.link = x.link
	ctx := r.Context()
	if n := attemptOf(r); n > 1 {
		ctx = attempt.With(ctx, n)
	}
	err = op(ctx, h.engine, x)
	h.report(r, err)
	return err
}

// begin waits for the room that an operation needs, and decompresses the body.
func (x *exchange) begin(r *http.Request) error {
	open, err := packed(r)
	if err != nil {
		return err
	}
	if open == nil {
		return x.link.begin(r.Context(), targetOf(r), len(x.body), 0)
	}
	length, err := open.length(x.body)
	if err != nil {
		return err
	}
	if err := x.link.begin(r.Context(), targetOf(r), length, length); err != nil {
		return err
	}
	x.body, err = open.read(x.body, length)
	return err
}

// report logs errors that are not answers of the engine. Those of a client that
// went away, or had no more time, are nobody's fault.
func (h *Handler) report(r *http.Request, err error) {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	if known := engine.ErrorOf(err); known != nil && known.Type != engine.TypeInternal {
		return
	}
	h.options.Logger.Error("internal error", "target", targetOf(r), "error", err.Error())
}

// hostOf returns the host that a request was sent to. One that never went over a
// network has it in its URL.
func hostOf(r *http.Request) string { return cmp.Or(r.Host, r.URL.Host) }

// maxServiceHead is how many bytes the head of a request may have, as on the
// service.
const maxServiceHead = 16 << 10

// headSize is how many bytes a request's head has, at least.
func headSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// isRoot reports whether a request is for the path that operations have.
func isRoot(r *http.Request) bool { return r.URL.Path == "/" || r.URL.Path == "" }

// targetOf returns the X-Amz-Target header, which names service and operation.
func targetOf(r *http.Request) string {
	if v := r.Header["X-Amz-Target"]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// attemptOf returns which attempt at a request it is, as the SDKs say: "attempt=2; max=3". It is 1 if nobody says so.
func attemptOf(r *http.Request) int {
	v := r.Header["Amz-Sdk-Request"]
	if len(v) == 0 {
		return 1
	}
	for part := range strings.SplitSeq(v[0], ";") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(part), "attempt="); ok {
			if n, err := strconv.Atoi(text); err == nil {
				return n
			}
		}
	}
	return 1
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
