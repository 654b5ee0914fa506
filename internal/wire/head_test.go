package wire

import (
	"bufio"
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// Whatever the first lane accepts, net/http accepts and understands in the same
// way: a request is never read as two different ones.
func FuzzHead(f *testing.F) {
	const start = "Host: localhost:8000\r\nContent-Type: application/json\r\n"
	for _, more := range []string{
		"Content-Length: 17",
		"content-length:17\r\nX-Amz-Target: a\r\nx-amz-target:\tb ",
		"Content-Length: 17\r\nContent-Length: 18",
		"Content-Length: 17\r\nTransfer-Encoding: chunked",
		"Content-Length: 17\r\nConnection: keep-alive\r\nTrailer: X",
		"Content-Length: 17\r\nX: a\r\n b",
		"Content-Length: 17\r\nX : a",
		"Content-Length: 17\r\nX: a\nY: b",
		"Content-Length: +17\r\nPragma: no-cache",
		"Content-Length: 17\r\nHost: x\r\nExpect: 100-continue",
	} {
		f.Add(start + more)
	}
	h := newHead(context.Background()) // the same for all, as on a connection
	f.Fuzz(func(t *testing.T, lines string) {
		text := requestLine + lines + "\r\n"
		if strings.Contains(text, "\r\n\r\n") || !h.parse(text) {
			return
		}
		want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text + "\r\n")))
		if err != nil {
			t.Fatalf("net/http does not accept %q: %v", text, err)
		}
		want.Header.Del("Host") // as its server does
		got := h.request
		if got.Method != want.Method || got.URL.String() != want.URL.String() || got.RequestURI != want.RequestURI ||
			got.Proto != want.Proto || got.Host != want.Host || got.ContentLength != want.ContentLength ||
			want.Close || want.TransferEncoding != nil || want.Trailer != nil {
			t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
		}
		if !reflect.DeepEqual(got.Header, want.Header) {
			t.Errorf("%q:\ngot  %q\nwant %q", text, got.Header, want.Header)
		}
	})
}

// Values of one request must not show up in the next.
func TestHeadIsReused(t *testing.T) {
	h := newHead(t.Context())
	for _, more := range []string{"X: 1\r\nX: 2\r\n", "Y: 1\r\n", "", "X: 3\r\n"} {
		text := requestLine + "Host: x\r\nContent-Type: application/json\r\n" + more + "Content-Length: 1\r\n"
		fresh := newHead(t.Context())
		if !h.parse(text) || !fresh.parse(text) {
			t.Fatalf("%q was not accepted", text)
		}
		same(t, h.request.Header, fresh.request.Header)
	}
	if h.parse("GET / HTTP/1.1\r\n") {
		t.Error("accepts GET")
	}
}

func BenchmarkHead(b *testing.B) {
	text := requestLine + "Host: localhost:8000\r\nUser-Agent: aws-sdk-go-v2/1.41.0 ua/2.1 os/linux lang/go#1.26 md/GOARCH#amd64 api/dynamodb#1.53.0\r\n" +
		"Content-Length: 105\r\nAccept-Encoding: identity\r\nAmz-Sdk-Request: attempt=1; max=3\r\nAuthorization: " + wellFormed + "\r\n" +
		"Content-Type: application/x-amz-json-1.0\r\nX-Amz-Date: 20260101T000000Z\r\nX-Amz-Target: " + dynamoDB + "GetItem\r\n"
	h := newHead(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		if !h.parse(text) {
			b.Fatal("not accepted")
		}
	}
}
