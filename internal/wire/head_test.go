package wire

import (
	"bufio"
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// checkHead verifies that whatever the first lane accepts, net/http accepts and
// understands in the same way: a request is never read as two different ones. It
// reports whether the lane does. A text ends before the empty line.
func checkHead(t *testing.T, h *head, text string, cut int) bool {
	t.Helper()
	if strings.Contains(text, "\r\n\r\n") || !h.parse(text) {
		return false
	}
	want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text + "\r\n")))
	if err != nil {
		t.Fatalf("net/http does not accept %q: %v", text, err)
	}
	want.Header.Del("Host") // as its server does
	got := h.request
	if got.Method != want.Method || *got.URL != *want.URL || got.RequestURI != want.RequestURI ||
		got.Proto != want.Proto || got.Host != want.Host || got.ContentLength != want.ContentLength ||
		want.Close || want.TransferEncoding != nil || want.Trailer != nil {
		t.Errorf("%q:\ngot  %+v\nwant %+v", text, got, want)
	}
	if !maps.EqualFunc(got.Header, want.Header, slices.Equal) {
		t.Errorf("%q:\ngot  %q\nwant %q", text, got.Header, want.Header)
	}
	// Nobody takes it for another's before it is whole.
	known, ok := begins([]byte(text[:cut]), 0)
	if ok {
		known, ok = begins([]byte(text), known)
	}
	if !ok || known != len(text) {
		t.Errorf("%q, cut at %d: %d bytes may begin a head, %v", text, cut, known, ok)
	}
	return true
}

func FuzzHead(f *testing.F) {
	const start = "Host: localhost:8000\r\nContent-Type: application/json\r\n"
	for i, more := range []string{
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
		f.Add(start+more, 5*i)
	}
	h := newHead(context.Background()) // the same for all, as on a connection
	f.Fuzz(func(t *testing.T, lines string, cut int) {
		text := requestLine + lines + "\r\n"
		checkHead(t, &h, text, min(max(cut, 0), len(text)))
	})
}

// It is FuzzHead with more to the point. -lanes.inputs says how many.
func TestLanesAgreeOnHeads(t *testing.T) {
	var g traffic
	var accepted uint64
	h := newHead(t.Context())
	for i := *laneFrom; i < *laneFrom+*laneInputs && !t.Failed(); i++ {
		g.of(*laneSeed, i)
		g.request()
		if g.oneIn(2) {
			g.damage()
		}
		end := bytes.Index(g.b, []byte("\r\n\r\n"))
		if end >= 0 && checkHead(t, &h, string(g.b[:end+2]), g.rng.IntN(end+2)) {
			accepted++
		}
		if t.Failed() {
			t.Logf("-lanes.seed=%d -lanes.from=%d -lanes.inputs=1", *laneSeed, i)
		}
	}
	t.Logf("%d heads, seed %d: the first lane accepts %d, and reads them as net/http does", *laneInputs, *laneSeed, accepted)
	if accepted < *laneInputs/4 {
		t.Error("it accepts hardly any")
	}
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
