package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// server is one of ours or of net/http.
type server interface {
	Serve(net.Listener) error
	Close() error
}

// listen runs a server on a port until the test is over.
func listen(t testing.TB, s server) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: got %v, want %v", err, http.ErrServerClosed)
		}
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

// dial connects for as long as the test takes, but not forever.
func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

const (
	getBody   = `{"TableName":"t"}`
	getAnswer = `{"Item":{"pk":{"S":"é"}}}`
)

// getRequest is a request for GetItem with more headers, each with its line's end.
func getRequest(more string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost:8000\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %sGetItem\r\n"+
		"%sContent-Length: %d\r\n\r\n%s", dynamoDB, more, len(getBody), getBody)
}

// response reads an answer and returns its body.
func response(t *testing.T, r *bufio.Reader) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(got)
}

// counted counts the requests that arrive on the second lane.
type counted struct {
	http.Handler
	requests atomic.Int32
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Add(1)
	c.Handler.ServeHTTP(w, r)
}

func TestServerKeepsConnections(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	rest := &counted{Handler: h}
	conn := dial(t, listen(t, NewServer(h, rest)))
	reader := bufio.NewReader(conn)
	expect := func(want string, times int) {
		t.Helper()
		for range times {
			if res, got := response(t, reader); res.StatusCode != http.StatusOK || got != want || res.Close {
				t.Fatalf("got %d %s, want %s", res.StatusCode, got, want)
			}
		}
	}
	for range 3 {
		io.WriteString(conn, getRequest(""))
		expect(getAnswer, 1)
	}
	// Several at once, byte by byte, and one in the middle of another packet.
	io.WriteString(conn, strings.Repeat(getRequest(""), 50))
	expect(getAnswer, 50)
	for _, b := range []byte(getRequest("")) {
		conn.Write([]byte{b})
	}
	expect(getAnswer, 1)
	two := getRequest("") + getRequest("")
	io.WriteString(conn, two[:len(two)*3/4])
	expect(getAnswer, 1)
	io.WriteString(conn, two[len(two)*3/4:])
	expect(getAnswer, 1)
	if n := rest.requests.Load(); n != 0 {
		t.Errorf("%d requests were handed over", n)
	}
	// Whoever is handed over loses nothing, and can go on. Of a superfluous end of
	// a line, as after a body long ago, nothing is made.
	io.WriteString(conn, getRequest("")+"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"+getRequest(""))
	expect(getAnswer, 1)
	expect("healthy: dynamodb.us-east-1.amazonaws.com ", 1)
	expect(getAnswer, 1)
	io.WriteString(conn, getRequest(""))
	expect(getAnswer, 1)
	if n := rest.requests.Load(); n != 3 {
		t.Errorf("%d requests on the second lane, want 3", n)
	}
}

// A body may be longer than what a connection buffers, and an answer than what
// is kept.
func TestServerLongBodies(t *testing.T) {
	s, h := getStub(t, Options{Unsigned: true})
	long := strings.Repeat("x", 300<<10)
	s.out.Item = raw(t, `{"pk":{"S":"`+long+`"}}`)
	rest := &counted{Handler: h}
	conn := dial(t, listen(t, NewServer(h, rest)))
	reader := bufio.NewReader(conn)
	for i, size := range []int{100, maxHead, maxHead + 1, 100 << 10, maxFastBody, 100, maxFastBody + 1} {
		body := getBody + strings.Repeat(" ", size-len(getBody))
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: %sGetItem\r\nContent-Length: %d\r\n\r\n%s",
			dynamoDB, len(body), body)
		if res, got := response(t, reader); res.StatusCode != http.StatusOK || got != `{"Item":{"pk":{"S":"`+long+`"}}}` {
			t.Errorf("%d bytes: got %d %.100s", size, res.StatusCode, got)
		}
		if want := i == 6; rest.requests.Load() != 0 != want {
			t.Errorf("%d bytes: on the second lane %v, want %v", size, !want, want)
		}
	}
}

// An oversized body is answered though nobody reads it, and a client that takes
// its time does not stay.
func TestServerAgainstClients(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	s := NewServer(h, h)
	s.limit(limits{header: 300 * time.Millisecond, body: 400 * time.Millisecond, write: time.Second, idle: 300 * time.Millisecond})
	addr := listen(t, s)
	const start = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: " + dynamoDB + "GetItem\r\n"
	for _, c := range []struct{ name, sent, want string }{
		{"oversized", start + "Content-Length: 99999999\r\n\r\n{", "HTTP/1.1 413"},
		{"silent", "", ""},
		{"slow header", "POST / HTTP/1.1\r\nHost: x\r\n", ""},
		{"slow header, second lane", "GET / HTTP/1.1\r\nHost: x\r\n", ""},
		{"slow body", start + "Content-Length: 10\r\n\r\n{", "HTTP/1.1 400"},
		{"slow body that nobody wants", strings.Replace(start, "GetItem", "Nothing", 1) + "Content-Length: 10\r\n\r\n{", "HTTP/1.1 400"},
		{"long header", "POST / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		{"idle", getRequest(""), "HTTP/1.1 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, addr)
			go func() { _, _ = io.WriteString(conn, c.sent) }()
			got, err := io.ReadAll(conn)
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Fatal("the server did not hang up")
			}
			if !strings.HasPrefix(string(got), c.want) || c.want == "" && len(got) > 0 {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("header byte by byte", func(t *testing.T) {
		t.Parallel()
		conn := dial(t, addr)
		began := time.Now()
		for _, b := range []byte(getRequest("X: " + strings.Repeat("x", 100) + "\r\n")) {
			if _, err := conn.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the server did not hang up for %v", took)
		}
	})
	t.Run("never reads", func(t *testing.T) {
		t.Parallel()
		stub, h := getStub(t, Options{Unsigned: true})
		stub.out.Item = raw(t, `{"pk":{"S":"`+strings.Repeat("x", 1<<20)+`"}}`)
		s := NewServer(h, h)
		s.limit(limits{header: time.Second, body: time.Second, write: 200 * time.Millisecond, idle: time.Minute})
		conn := dial(t, listen(t, s))
		for range 100 { // until the kernel has no more room
			if _, err := io.WriteString(conn, getRequest("")); err != nil {
				return
			}
		}
		for len(s.list()) > 0 {
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// list returns the connections on the first lane.
func (s *Server) list() (list []*conn) {
	s.each(func(c *conn) { list = append(list, c) })
	return list
}

// A client that goes away in the middle of a body did not ask for anything.
func TestServerBodyThatBreaksOff(t *testing.T) {
	s, h := getStub(t, Options{Unsigned: true})
	conn := dial(t, listen(t, NewServer(h, h)))
	cut := getRequest("")
	cut = strings.Replace(cut, "Content-Length: 17", "Content-Length: 18", 1)
	io.WriteString(conn, cut)
	_ = conn.(*net.TCPConn).CloseWrite()
	reader := bufio.NewReader(conn)
	res, got := response(t, reader)
	if res.StatusCode != http.StatusBadRequest || got != serialization+`}` {
		t.Errorf("got %d %s", res.StatusCode, got)
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Errorf("after the answer: got %v, want %v", err, io.EOF)
	}
	if s.in != nil {
		t.Error("it was asked")
	}
}

func TestServerSurvivesPanics(t *testing.T) {
	var log safeBuffer
	_, h := getStub(t, Options{Unsigned: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	h.operations[dynamoDB+"Panic"] = func(context.Context, *engine.Engine, *exchange) error { panic("oh no") }
	h.operations[dynamoDB+"Abort"] = func(context.Context, *engine.Engine, *exchange) error { panic(http.ErrAbortHandler) }
	addr := listen(t, NewServer(h, h))
	conn := dial(t, addr)
	reader := bufio.NewReader(conn)
	io.WriteString(conn, strings.Replace(getRequest(""), "GetItem", "Panic", 1))
	if res, got := response(t, reader); res.StatusCode != http.StatusInternalServerError || got != internalAnswer || res.Close {
		t.Errorf("got %d %s", res.StatusCode, got)
	}
	if text := log.String(); !strings.Contains(text, "oh no") || !strings.Contains(text, "Panic") {
		t.Errorf("logged %q", text)
	}
	io.WriteString(conn, strings.Replace(getRequest(""), "GetItem", "Abort", 1))
	if got, err := io.ReadAll(reader); len(got) > 0 || err != nil {
		t.Errorf("after an abort: got %s, %v", got, err)
	}
	conn = dial(t, addr)
	io.WriteString(conn, getRequest(""))
	if res, got := response(t, bufio.NewReader(conn)); res.StatusCode != http.StatusOK || got != getAnswer {
		t.Errorf("after panics: got %d %s", res.StatusCode, got)
	}
}

type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// held is a server with a GetItem that takes until it is let go.
type held struct {
	*Server
	addr    string
	began   chan context.Context
	letGo   chan struct{}
	served  chan error
	release func()
}

func hold(t *testing.T) *held {
	t.Helper()
	h := NewHandler(nil, Options{Unsigned: true})
	s := &held{began: make(chan context.Context, 10), letGo: make(chan struct{}), served: make(chan error, 1)}
	s.release = sync.OnceFunc(func() { close(s.letGo) })
	h.operations = map[string]operation{dynamoDB + "GetItem": func(ctx context.Context, _ *engine.Engine, x *exchange) error {
		s.began <- ctx
		<-s.letGo
		x.answer.buf = append(x.answer.buf, `{}`...)
		return nil
	}}
	s.Server = NewServer(h, h)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	go func() { s.served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.release()
		_ = s.Close()
	})
	return s
}

const chunkedGet = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: " + dynamoDB + "GetItem\r\n" +
	"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"

func TestShutdownLetsRequestsFinish(t *testing.T) {
	s := hold(t)
	idle, silent, fast, slow := dial(t, s.addr), dial(t, s.addr), dial(t, s.addr), dial(t, s.addr)
	io.WriteString(idle, strings.Replace(getRequest(""), "GetItem", "Nothing", 1))
	idleReader := bufio.NewReader(idle)
	response(t, idleReader)
	io.WriteString(fast, getRequest(""))
	<-s.began
	io.WriteString(slow, chunkedGet)
	<-s.began

	shut := make(chan error, 1)
	go func() { shut <- s.Shutdown(context.Background()) }()
	// Whoever waits is sent away, whoever is answered is not.
	for _, c := range []io.Reader{idleReader, silent} {
		if got, err := io.ReadAll(c); len(got) > 0 || err != nil {
			t.Errorf("a waiting client got %q, %v", got, err)
		}
	}
	if _, err := net.Dial("tcp", s.addr); err == nil {
		t.Error("the server still listens")
	}
	select {
	case err := <-shut:
		t.Fatalf("Shutdown did not wait: %v", err)
	case err := <-s.served:
		t.Fatalf("Serve did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.release()
	for _, c := range []net.Conn{fast, slow} {
		res, got := response(t, bufio.NewReader(c))
		if res.StatusCode != http.StatusOK || got != `{}` || !res.Close {
			t.Errorf("got %d %s, closing %v", res.StatusCode, got, res.Close)
		}
	}
	if err := <-shut; err != nil {
		t.Error(err)
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func TestShutdownGivesUpAndCloseDoesNotWait(t *testing.T) {
	for name, text := range map[string]string{"first lane": getRequest(""), "second lane": chunkedGet} {
		t.Run(name, func(t *testing.T) {
			s := hold(t)
			conn := dial(t, s.addr)
			io.WriteString(conn, text)
			request := <-s.began
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Shutdown: got %v", err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if got, _ := io.ReadAll(conn); len(got) > 0 {
				t.Errorf("got %s", got)
			}
			<-request.Done()
			select {
			case err := <-s.served:
				t.Fatalf("Serve did not wait for its request: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			s.release()
			if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
}

// Many connections come and go while the server ends: each is answered or
// closed, and none is left.
func TestShutdownAmongClients(t *testing.T) {
	h := NewHandler(nil, Options{Unsigned: true})
	for range 20 {
		s := NewServer(h, h)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				for {
					conn, err := net.Dial("tcp", l.Addr().String())
					if err != nil {
						return
					}
					reader := bufio.NewReader(conn)
					for range 5 {
						text := strings.Replace(getRequest(""), "GetItem", "DescribeEndpoints", 1)
						if i%2 == 0 {
							text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
						}
						if _, err := io.WriteString(conn, text); err != nil {
							break
						}
						res, err := http.ReadResponse(reader, nil)
						if err != nil {
							break
						}
						if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
							t.Errorf("half an answer: %v %v", res.Status, err)
						}
					}
					_ = conn.Close()
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		clients.Wait()
	}
}

func TestServeAfterClose(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	s := NewServer(h, h)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	listen(t, s)
}

// failing is a listener that fails as told.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) == 0 {
		return f.Listener.Accept()
	}
	err := f.errs[0]
	f.errs = f.errs[1:]
	return nil, err
}

type passing struct{ error }

func (passing) Temporary() bool { return true }

func TestServeThroughTrouble(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	trouble := errors.New("no more files")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(h, h)
	served := make(chan error, 1)
	go func() { served <- s.Serve(&failing{l, []error{passing{trouble}, passing{trouble}}}) }()
	conn := dial(t, l.Addr().String())
	io.WriteString(conn, getRequest(""))
	response(t, bufio.NewReader(conn))
	_ = l.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %v", err, net.ErrClosed)
	}
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("got %s", got)
	}
}
