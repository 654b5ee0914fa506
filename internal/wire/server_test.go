package wire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen serves a handler on a port until the test is over.
func listen(t testing.TB, s *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

func TestServer(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	addr := listen(t, NewServer(h))
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for range 3 { // on one connection
		body := `{"TableName":"t"}`
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %sGetItem\r\nContent-Length: %d\r\n\r\n%s",
			dynamoDB, len(body), body)
		res, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || string(got) != `{"Item":{"pk":{"S":"é"}}}` || res.ContentLength != int64(len(got)) {
			t.Fatalf("got %d %s, %v", res.StatusCode, got, err)
		}
	}
}

// An oversized body is answered though nobody reads it, and a client that never
// ends its header does not stay.
func TestServerAgainstClients(t *testing.T) {
	_, h := getStub(t, Options{Unsigned: true})
	s := NewServer(h)
	s.ReadHeaderTimeout, s.ReadTimeout = 500*time.Millisecond, time.Second
	addr := listen(t, s)
	for _, c := range []struct{ name, sent, want string }{
		{"oversized", "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: " + dynamoDB + "GetItem\r\nContent-Length: 99999999\r\n\r\n{", "HTTP/1.1 413"},
		{"slow header", "POST / HTTP/1.1\r\nHost: x\r\n", ""},
		{"slow body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Amz-Target: " + dynamoDB + "GetItem\r\nContent-Length: 10\r\n\r\n{", "HTTP/1.1 400"},
		{"long header", "POST / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", "HTTP/1.1 431"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			go func() { _, _ = io.WriteString(conn, c.sent) }()
			got, err := io.ReadAll(conn)
			if ne, ok := err.(net.Error); ok && ne.Timeout() {
				t.Fatal("the server did not hang up")
			}
			if !strings.HasPrefix(string(got), c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
