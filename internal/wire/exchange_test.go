package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// largeItems returns a handler on an engine with a table of five items, whose
// bytes are more than the first part of a BatchGetItem, and a request for all.
func largeItems(t *testing.T) (h *Handler, all string) {
	t.Helper()
	e, err := engine.Open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	h = NewHandler(e, Options{Unsigned: true})
	must := func(operation, body string) {
		t.Helper()
		if w := do(h, post(dynamoDB+operation, body)); w.Code != http.StatusOK {
			t.Fatalf("%s: got %d %s", operation, w.Code, w.Body)
		}
	}
	must("CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],`+
		`"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`)
	var keys []string
	for i := range 5 {
		must("PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"%d"},"v":{"S":"%s"}}}`, i, strings.Repeat("x", 350<<10)))
		keys = append(keys, fmt.Sprintf(`{"pk":{"S":"%d"}}`, i))
	}
	return h, `{"RequestItems":{"tab":{"Keys":[` + strings.Join(keys, ",") + `]}}}`
}

// Whatever happens on a connection, nothing of the budget is taken and no place
// is occupied when it is over.
func TestBudgetIsWholeAfterExchanges(t *testing.T) {
	t.Parallel()
	h, all := largeItems(t)
	h.operations = maps.Clone(h.operations)
	h.operations[dynamoDB+"Panic"] = func(context.Context, *engine.Engine, *exchange) error { panic("oh no") }
	h.operations[dynamoDB+"Abort"] = func(context.Context, *engine.Engine, *exchange) error { panic(http.ErrAbortHandler) }
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			_, _ = io.WriteString(w, "other")
			return
		}
		h.ServeHTTP(w, r)
	})
	const medium, large = smallBody - 100, smallBody + 100 // of the first and the second lane
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	get := func(size int) string {
		return postOf("GetItem", size) + padded(`{"TableName":"tab","Key":{"pk":{"S":"1"}}}`, size)
	}
	chunked := strings.Replace(postOf("GetItem", 0), "Content-Length: 0", "Transfer-Encoding: chunked", 1)
	for _, c := range []struct {
		name, sent string
		status     int  // 0: none
		cut        bool // nothing follows, though it should
	}{
		{"small", get(100), http.StatusOK, false},
		{"first lane", get(medium), http.StatusOK, false},
		{"second lane", get(large), http.StatusOK, false},
		{"chunked", fmt.Sprintf("%s%x\r\n%s\r\n0\r\n\r\n", chunked, large, get(large)[len(postOf("GetItem", large)):]), http.StatusOK, false},
		{"whole batch", postOf("BatchGetItem", len(all)) + all, http.StatusOK, false},
		{"whole batch, second lane", strings.Replace(postOf("BatchGetItem", len(all)), "Host", "Pragma: x\r\nHost", 1) + all, http.StatusOK, false},
		{"no operation", strings.Replace(get(medium), "GetItem", "Nothing", 1), http.StatusBadRequest, false},
		{"no JSON", postOf("GetItem", medium) + strings.Repeat("x", medium), http.StatusBadRequest, false},
		{"too large", postOf("GetItem", maxBody+1) + "{", http.StatusRequestEntityTooLarge, false},
		{"half a body", get(medium)[:medium/2], http.StatusBadRequest, true},
		{"half a body, second lane", get(large)[:large/2], http.StatusBadRequest, true},
		{"panic", strings.Replace(get(medium), "GetItem", "Panic", 1), http.StatusInternalServerError, false},
		{"abort", strings.Replace(get(medium), "GetItem", "Abort", 1), 0, false},
		{"abort, second lane", strings.Replace(get(large), "GetItem", "Abort", 1), 0, false},
		{"other", "GET /other HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK, false},
	} {
		for _, reads := range []bool{true, false} { // or goes away without a look at the answer
			t.Run(fmt.Sprintf("%s, read %v", c.name, reads), func(t *testing.T) {
				s := NewServer(h, other)
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				served := make(chan error, 1)
				go func() { served <- s.Serve(l) }()
				conn := dial(t, l.Addr().String())
				reader := bufio.NewReader(conn)
				_, _ = io.WriteString(conn, postOf("DescribeEndpoints", 2)+"{}") // so that it is accepted
				response(t, reader)
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, _ = io.WriteString(conn, c.sent)
					if c.cut { // to others it would say that nobody waits for an answer
						_ = conn.(*net.TCPConn).CloseWrite()
					}
				}()
				if reads {
					res, err := http.ReadResponse(reader, nil)
					switch {
					case err == nil && res.StatusCode != c.status, err != nil && c.status != 0:
						t.Errorf("got %v, %v, want %d", res, err, c.status)
					case err == nil:
						_, _ = io.Copy(io.Discard, res.Body)
					}
				}
				<-sent
				_ = conn.Close()
				if err := s.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
				if used, left := s.used(), s.links.all.Len(); used != 0 || left != 0 {
					t.Errorf("%d bytes are taken and %d places occupied after all", used, left)
				}
			})
		}
	}
}

// A request that found no room says nothing about who sent it. Any other answer
// does.
func TestBusyAnswersProveNothing(t *testing.T) {
	for _, c := range []struct {
		name           string
		busy, unsigned bool
		before, after  bool
		status         int
	}{
		{"busy, authenticated before", true, false, true, true, http.StatusServiceUnavailable},
		{"busy, stranger", true, false, false, false, http.StatusServiceUnavailable},
		{"authenticated now", false, false, false, true, http.StatusOK},
		{"refused now", false, true, true, false, http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				_, h := getStub(t, Options{})
				s := NewServer(h, h)
				k := newLink(s, &timed{})
				k.proven.Store(c.before)
				if c.busy {
					defer full(t, &s.budget.strange.small).release()
					defer full(t, &s.budget.proven.small).release()
				}
				r := post(dynamoDB+"GetItem", getBody+strings.Repeat(" ", smallBody-len(getBody)))
				if !c.unsigned {
					r.Header.Set("Authorization", algorithm+" Credential=a/20000101/b/dynamodb/aws4_request, SignedHeaders=host, Signature=c")
					r.Header.Set("X-Amz-Date", "20000101T000000Z")
				}
				x := &exchange{link: k}
				if status := h.answer(x, r); status != c.status || k.proven.Load() != c.after {
					t.Errorf("got %d %s, authenticated %v; want %d, %v", status, x.answer.buf, k.proven.Load(), c.status, c.after)
				}
				k.release()
			})
		})
	}
}

// A body of which nobody knows the length takes as much room as the longest.
func TestRoomForBodiesWithoutLength(t *testing.T) {
	s := NewServer(NewHandler(nil, Options{}), nil)
	k := newLink(s, &timed{})
	k.proven.Store(true)
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader(strings.Repeat("x", 10*keptCapacity))))
	body, err := readBody(nil, r, k)
	if err != nil || len(body) != 10*keptCapacity {
		t.Fatalf("got %d bytes, %v", len(body), err)
	}
	if n, want := s.used(), min(2*maxBody, s.budget.proven.large.size); n != want {
		t.Errorf("%d bytes are taken, want %d", n, want)
	}
	if k.body.progress == 0 {
		t.Error("its client got on, and nobody noted it")
	}
	k.release()
	if n := s.used(); n != 0 {
		t.Errorf("%d bytes are taken after all", n)
	}
}

// Exchanges with large buffers are not used again.
func TestLargeBuffersAreNotKept(t *testing.T) {
	large := make([]byte, keptCapacity+1)
	for name, fresh := range map[string]func() *exchange{
		"body":   func() *exchange { return &exchange{body: large} },
		"answer": func() *exchange { return &exchange{answer: answer{buf: large}} },
	} {
		given := map[*exchange]bool{}
		for range 50 { // a pool may forget some
			x := fresh()
			given[x] = true
			x.release()
		}
		for range 100 {
			if given[exchanges.Get().(*exchange)] {
				t.Fatalf("the buffer of a large %s is used again", name)
			}
		}
	}
}
