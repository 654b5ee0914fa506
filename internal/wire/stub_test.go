package wire

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/attr/attrjson"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// stub stands for the engine's part in one operation.
type stub[In, Out any] struct {
	in  *In // of the last call
	out Out
	err error
}

func (s *stub[In, Out]) call(_ *engine.Engine, _ context.Context, in *In) (Out, error) {
	s.in = in
	return s.out, s.err
}

// serve returns a handler on which one operation is the stub's.
func (s *stub[In, Out]) serve(target string, read func(*request, *In) *engine.Request, write func(*answer, Out), opts Options) *Handler {
	h := NewHandler(nil, opts)
	h.operations = maps.Clone(operations)
	h.operations[target] = op(read, s.call, write)
	return h
}

// post returns an unsigned request.
func post(target, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	return r
}

func do(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// decoded reads a body with an operation's decoder.
func decoded[In any](t *testing.T, read func(*request, *In) *engine.Request, body string) *In {
	t.Helper()
	var r request
	r.reset(body)
	in := new(In)
	r.common(read(&r, in))
	if err := r.end(); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return in
}

// written returns what an operation's encoder makes of an answer.
func written[Out any](t *testing.T, write func(*answer, Out), out Out) string {
	t.Helper()
	var a answer
	a.reset("us-east-1")
	a.begin('{')
	write(&a, out)
	a.end('}')
	if a.err != nil {
		t.Fatal(a.err)
	}
	return string(a.buf)
}

func item(t testing.TB, text string) attr.Item {
	t.Helper()
	var d attrjson.Decoder
	d.Reset(text)
	it := d.Item(&attrjson.ItemType)
	if d.End() != nil || d.Fault != nil {
		t.Fatal(d.Err(), d.Fault)
	}
	return it
}

func raw(t testing.TB, text string) attr.Raw {
	t.Helper()
	return attr.NewRaw(item(t, text))
}
