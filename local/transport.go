package local

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// endpoint is where the clients believe the engine is. Nothing ever connects to
// it.
const endpoint = "http://" + endpointHost

// endpointHost is in no top-level domain that exists, so that no web page can have
// the name. The handler answers to it: somebody may put a transport before it.
const endpointHost = "dynamodb.local.heatsink"

// The clients sign every request with these. Nobody looks unless Options.Signatures is set.
const accessKey, secretKey = "local", "local"

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey, Source: "heatsink/local"}, nil
})

// transport is an HTTP client that calls the handler instead of connecting to
// anything, in the caller's goroutine: nothing to pool, to time out or to leak.
type transport struct{ db *DB }

// closedError is the answer of an engine that was closed. It spares the caller
// the client's retries.
type closedError struct{}

func (closedError) Error() string        { return "heatsink: the engine is closed" }
func (closedError) RetryableError() bool { return false }

func (t transport) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if t.db.closed.Load() {
		return nil, closedError{}
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.RequestURI = r.URL.RequestURI()
	w := &answer{header: http.Header{}, status: http.StatusOK}
	t.db.handler.ServeHTTP(w, r)
	_ = r.Body.Close() // ours to close, as it is a RoundTripper's
	// The answer of a request that was answered is passed on, also if ctx ended
	// meanwhile: a write that has happened must not look as if it had been given
	// up. A request that was given up is answered with an internal error.
	if err := r.Context().Err(); err != nil && w.status == http.StatusInternalServerError {
		return nil, err
	}
	return &http.Response{
		Status:        strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.header,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}, nil
}

// answer is a response as the handler writes it.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
