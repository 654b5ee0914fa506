package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/engine"
)

// Both lanes answer to the byte what net/http alone does.
func TestLanesAgree(t *testing.T) {
	const (
		start = "POST / HTTP/1.1\r\nHost: localhost:8000\r\n"
		kind  = "Content-Type: application/x-amz-json-1.0\r\n"
		get   = "X-Amz-Target: " + dynamoDB + "GetItem\r\n"
		body  = "Content-Length: 17\r\n\r\n" + getBody
		whole = start + kind + get
	)
	type sent struct {
		name, text string
		first      bool // lane
	}
	cases := []sent{
		{"plain", whole + body, true},
		{"two spaces in the first line", "POST  / HTTP/1.1\r\nHost: x\r\n" + kind + get + body, false},
		{"names in lower case", "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-amz-target: " + dynamoDB + "GetItem\r\ncontent-length: 17\r\n\r\n" + getBody, true},
		{"names in upper case", "POST / HTTP/1.1\r\nHOST: x\r\nCONTENT-TYPE: application/json\r\nX-AMZ-TARGET: " + dynamoDB + "GetItem\r\nCONTENT-LENGTH: 17\r\n\r\n" + getBody, true},
		{"spaces around values", whole + "X: \t  \r\nContent-Length:  17\t \r\n\r\n" + getBody, true},
		{"no space", start + "Content-Type:application/json\r\nX-Amz-Target:" + dynamoDB + "GetItem\r\nContent-Length:17\r\n\r\n" + getBody, true},
		{"kept alive", whole + "Connection: Keep-Alive\r\n" + body, true},
		{"type with parameters", start + "Content-Type: application/json; charset=utf-8\r\n" + get + body, true},
		{"target twice", whole + "X-Amz-Target: Nothing\r\n" + body, true},
		{"leading zeros", whole + "Content-Length: 0017\r\n\r\n" + getBody, true},
		{"no target", start + kind + body, true},
		{"unknown operation", start + kind + "X-Amz-Target: " + dynamoDB + "Nothing\r\n" + body, true},
		{"not JSON", whole + "Content-Length: 1\r\n\r\n{", true},
		{"IPv6", strings.Replace(whole, "localhost", "[::1]", 1) + body, true},
		{"empty line after", whole + body + "\r\n", true},
		{"two empty lines after", whole + body + "\r\n\r\n", true},
		{"three empty lines after", whole + body + "\r\n\r\n\r\n", true}, // but what follows is not
		{"endpoints", start + kind + "X-Amz-Target: " + dynamoDB + "DescribeEndpoints\r\nContent-Length: 2\r\n\r\n{}", true},

		{"as many headers as the first lane keeps", start + kind + headers(maxFields-4) + get + body, true},
		{"more headers than the first lane keeps", start + kind + headers(maxFields) + get + body, false},
		{"CloudWatch", start + kind + "X-Amz-Target: " + cloudWatchTarget + "GetMetricData\r\nContent-Length: 2\r\n\r\n{}", false},
		{"other type", start + "Content-Type: text/plain\r\n" + get + body, false},
		{"no type", start + get + body, false},
		{"health", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false},
		{"other method", "PUT / HTTP/1.1\r\nHost: x\r\n" + kind + get + body, false},
		{"other path", "POST /x HTTP/1.1\r\nHost: x\r\n" + kind + get + body, false},
		{"query", "POST /?a=b HTTP/1.1\r\nHost: x\r\n" + kind + get + body, false},
		{"whole URL", "POST http://x/ HTTP/1.1\r\nHost: y\r\n" + kind + "X-Amz-Target: " + dynamoDB + "DescribeEndpoints\r\nContent-Length: 2\r\n\r\n{}", false},
		{"HTTP/1.0", strings.Replace(whole, "1.1", "1.0", 1) + body, false},
		{"HTTP/1.0, kept alive", strings.Replace(whole, "1.1", "1.0", 1) + "Connection: keep-alive\r\n" + body, false},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false},
		{"HTTP/3.0", strings.Replace(whole, "1.1", "3.0", 1) + body, false},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", false},
		{"garbage", "hello\r\n\r\n", false},
		{"closed", whole + "Connection: close\r\n" + body, false},
		{"upgrade", whole + "Connection: Upgrade\r\nUpgrade: h2c\r\n" + body, false},
		{"expectation", whole + "Expect: 100-continue\r\n" + body, false},
		{"odd expectation", whole + "Expect: miracles\r\n" + body, false},
		{"chunked", whole + "Transfer-Encoding: chunked\r\n\r\n11\r\n" + getBody + "\r\n0\r\n\r\n", false},
		{"chunked with a length", whole + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n11\r\n" + getBody + "\r\n0\r\n\r\n", false},
		{"unknown encoding", whole + "Transfer-Encoding: gzip\r\n" + body, false},
		{"pragma", whole + "Pragma: no-cache\r\n" + body, false},
		{"no length", whole + "\r\n", false},
		{"length 0", whole + "Content-Length: 0\r\n\r\n", false},
		{"no length, no type", start + get + "\r\n", false},
		{"the same length twice", whole + "Content-Length: 17\r\n" + body, false},
		{"two lengths", whole + "Content-Length: 16\r\n" + body, false},
		{"list of lengths", whole + "Content-Length: 17, 17\r\n\r\n" + getBody, false},
		{"negative length", whole + "Content-Length: -17\r\n\r\n" + getBody, false},
		{"signed length", whole + "Content-Length: +17\r\n\r\n" + getBody, false},
		{"huge length", whole + "Content-Length: 99999999999999999999\r\n\r\n" + getBody, false},
		{"oversized", whole + "Content-Length: 99999999\r\n\r\n" + getBody, false},
		{"no host", "POST / HTTP/1.1\r\n" + kind + get + body, false},
		{"empty host", "POST / HTTP/1.1\r\nHost:\r\n" + kind + get + body, false},
		{"two hosts", start + "Host: x\r\n" + kind + get + body, false},
		{"bad host", "POST / HTTP/1.1\r\nHost: a b\r\n" + kind + get + body, false},
		{"folded header", whole + "X: a\r\n b\r\n" + body, false},
		{"folded first header", "POST / HTTP/1.1\r\n X: a\r\nHost: x\r\n" + kind + get + body, false},
		{"bare LF", strings.ReplaceAll(whole, "\r\n", "\n") + body, false},
		{"bare LFs at the end of the head", whole + "Content-Length: 17\n\n" + getBody, false},
		{"half a head", start, false},
		{"half a line", start + "Conte", false},
		{"half a first line", "POST", false},
		{"one bare LF", whole + "X: a\nY: b\r\n" + body, false},
		{"bare CR", whole + "X: a\rb\r\n" + body, false},
		{"NUL", whole + "X: a\x00b\r\n" + body, false},
		{"space before colon", whole + "X : a\r\n" + body, false},
		{"space in name", whole + "X Y: a\r\n" + body, false},
		{"no name", whole + ": a\r\n" + body, false},
		{"no colon", whole + "X\r\n" + body, false},
		{"not ASCII", whole + "X: é\r\n" + body, false},
		{"empty line before", "\r\n" + whole + body, false},
		{"long header", whole + "X: " + strings.Repeat("x", maxHead) + "\r\n" + body, false},
		{"too long header", whole + "X: " + strings.Repeat("x", 64<<10) + "\r\n" + body, false},
	}
	_, h := getStub(t, Options{Unsigned: true})
	compareLanes(t, h, func(compare func(name, text string, first bool)) {
		for _, c := range cases {
			compare(c.name, c.text, c.first)
		}
	})

	unavailable, h := getStub(t, Options{Unsigned: true})
	unavailable.err = &engine.Error{Type: engine.TypeUnavailable, Message: "m"}
	compareLanes(t, h, func(compare func(name, text string, first bool)) {
		compare("unavailable", whole+body, true)
		compare("unavailable, second lane", whole+"Pragma: no-cache\r\n"+body, false)
	})

	_, h = getStub(t, Options{Credentials: &testCredentials})
	twice := func(r *http.Request) { r.Header["X-Custom"] = []string{"b", "a   c"} }
	compareLanes(t, h, func(compare func(name, text string, first bool)) {
		for name, s := range map[string]signed{
			"signed":               {},
			"signed twice":         {before: twice},
			"signed and added to":  {before: twice, after: func(r *http.Request) { r.Header.Add("X-Custom", "d") }},
			"signed and reordered": {before: twice, after: func(r *http.Request) { r.Header["X-Custom"] = []string{"a   c", "b"} }},
			"signed long ago":      {age: time.Hour},
			"other body":           {body: `{"TableName":"u"}`},
			"other target":         {after: func(r *http.Request) { r.Header.Set("X-Amz-Target", dynamoDB+"DescribeEndpoints") }},
			"other host":           {after: func(r *http.Request) { r.Host = "elsewhere" }},
			"other service":        {service: "s3"},
			"unsigned":             {after: func(r *http.Request) { r.Header.Del("Authorization") }},
		} {
			compare(name, onTheWire(t, s.request(t)), true)
		}
	})
}

// headers returns n headers.
func headers(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "X-Header-%d: x\r\n", i)
	}
	return text.String()
}

// Who is told to come again later may do so on the same connection, on both
// lanes. A body that is too long to be read for nothing ends it.
func TestUnavailableHangsUpOnLongBodiesOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int  // of the body
		second bool // lane
		busy   bool // there is no room for the body: it is not read
		closed bool
	}{
		{"read, first lane", keptCapacity, false, false, false},
		{"read, second lane", keptCapacity, true, false, false},
		{"read and long", 2 * smallBody, true, false, false},
		{"not read, first lane", smallBody, false, true, false},
		{"not read, second lane", smallBody, true, true, false},
		{"not read and long", 2 * smallBody, true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				stub, h := getStub(t, Options{Unsigned: true})
				stub.err = &engine.Error{Type: engine.TypeUnavailable, Message: "of the engine"}
				rest := &counted{Handler: h}
				s := NewServer(h, rest)
				want := "of the engine"
				if c.busy {
					want = errBusy.Message
					defer full(t, &s.budget.strange.small).release()
					defer full(t, &s.budget.strange.large).release()
				}
				listener, served := make(taps), make(chan error, 1)
				go func() { served <- s.Serve(listener) }()
				conn := newTap()
				listener <- conn
				head := postOf("GetItem", c.size)
				if c.second {
					head = strings.Replace(head, "Host", "Pragma: x\r\nHost", 1)
				}
				conn.send([]byte(head+getBody+strings.Repeat(" ", c.size-len(getBody))), false)
				time.Sleep(roomWait + time.Millisecond) // and well below what a connection may idle
				synctest.Wait()
				got := conn.sent()
				if !strings.HasPrefix(got, "HTTP/1.1 503 ") || !strings.Contains(got, want) {
					t.Errorf("got %q, want 503 and %q", got, want)
				}
				if closes := strings.Contains(got, "Connection: close"); closes != c.closed {
					t.Errorf("it says that it hangs up: %v, want %v", closes, c.closed)
				}
				if second := rest.requests.Load() > 0; second != c.second {
					t.Errorf("on the second lane: %v, want %v", second, c.second)
				}
				conn.send([]byte(getRequest("")), false)
				synctest.Wait()
				if again := len(conn.sent()) > len(got); again == c.closed {
					t.Errorf("another request on the connection is answered: %v, want %v", again, !c.closed)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				<-served
			})
		})
	}
}

// onTheWire writes a request as it is, without correcting anything.
func onTheWire(t *testing.T, r *http.Request) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST / HTTP/1.1\r\nHost: %s\r\n", r.Host)
	_ = r.Header.WriteSubset(&b, map[string]bool{"Content-Length": true})
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.String()
}

var varying = regexp.MustCompile(`(?m)^(X-Amzn-Requestid|Date): .*\r$`)

// compareLanes compares what our server and net/http's answer to requests, each
// on a connection of its own, twice: the second shows whether it stays open.
func compareLanes(t *testing.T, h *Handler, cases func(compare func(name, text string, first bool))) {
	t.Helper()
	rest := &counted{Handler: h}
	ours := NewServer(h, rest)
	theirs := &http.Server{Handler: h, MaxHeaderBytes: ours.rest.MaxHeaderBytes}
	theirAddr, ourAddr := listen(t, theirs), listen(t, ours)
	cases(func(name, text string, first bool) {
		t.Run(name, func(t *testing.T) {
			before := rest.requests.Load()
			want, got := talk(t, theirAddr, text), talk(t, ourAddr, text)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if want == "" {
				t.Error("no answer to compare")
			}
			if now := rest.requests.Load(); first && now != before {
				t.Errorf("%d requests were handed over", now-before)
			}
			if accepted := parses(text); accepted != first {
				t.Errorf("on the first lane: %v, want %v", accepted, first)
			}
		})
	})
}

func parses(text string) bool {
	end := strings.Index(text, "\r\n\r\n")
	h := newHead(context.Background())
	return end >= 0 && end+4 <= maxHead && h.parse(text[:end+2])
}

// talk sends a request twice and returns all that is answered until the end.
func talk(t *testing.T, addr, text string) string {
	conn := dial(t, addr)
	go func() {
		_, _ = io.WriteString(conn, text+text)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	got, _ := io.ReadAll(conn) // a reset ends it as well
	return string(varying.ReplaceAll(bytes.TrimSpace(got), []byte("$1: …\r")))
}
