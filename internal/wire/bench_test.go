package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/engine"
)

const (
	benchItem = `{"pk":{"S":"user#00012345"},"sk":{"S":"order#2026-11-15T10:00:00Z"},"amount":{"N":"1299.95"},"count":{"N":"42"},` +
		`"status":{"S":"SHIPPED"},"note":{"S":"leave at the door, ring twice"},"paid":{"BOOL":true}}`
	benchKey = `{"pk":{"S":"user#00012345"},"sk":{"S":"order#2026-11-15T10:00:00Z"}}`
	benchPut = `{"TableName":"orders","Item":` + benchItem + `}`
	benchGet = `{"TableName":"orders","Key":` + benchKey + `}`
)

func benchmarkRead[In any](b *testing.B, read func(*request, *In) *engine.Request, body string) {
	var r request
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.reset(body)
		in := new(In)
		r.common(read(&r, in))
		if err := r.end(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadGetItem(b *testing.B) { benchmarkRead(b, (*request).getItem, benchGet) }
func BenchmarkReadPutItem(b *testing.B) { benchmarkRead(b, (*request).putItem, benchPut) }

func BenchmarkReadQuery(b *testing.B) {
	benchmarkRead(b, (*request).query, `{"TableName":"orders","KeyConditionExpression":"#p = :p AND begins_with(#s, :s)","Limit":50,`+
		`"ExpressionAttributeNames":{"#p":"pk","#s":"sk"},"ExpressionAttributeValues":{":p":{"S":"user#00012345"},":s":{"S":"order#"}}}`)
}

func BenchmarkWrite50Items(b *testing.B) {
	out := &engine.ReadOutput{Items: make([]attr.Raw, 50), Count: 50, ScannedCount: 50}
	for i := range out.Items {
		out.Items[i] = raw(b, benchItem)
	}
	var a answer
	b.ReportAllocs()
	for b.Loop() {
		a.reset("us-east-1")
		a.begin('{')
		a.read(out)
		a.end('}')
		if a.err != nil {
			b.Fatal(a.err)
		}
	}
	b.SetBytes(int64(len(a.buf)))
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

type rewinding struct{ *strings.Reader }

func (rewinding) Close() error { return nil }

func benchmarkHandler(b *testing.B, h http.Handler, r *http.Request, body string) {
	reader := strings.NewReader(body)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		r.Body, r.ContentLength = rewinding{reader}, int64(len(body))
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

// The whole way of a GetItem but for the engine and net/http.
func BenchmarkHandler(b *testing.B) {
	for name, opts := range map[string]Options{
		"unsigned": {Unsigned: true},
		"any":      {},
	} {
		b.Run(name, func(b *testing.B) {
			s := &stub[engine.GetItemInput, *engine.GetItemOutput]{out: &engine.GetItemOutput{Item: raw(b, benchItem)}}
			r := post(dynamoDB+"GetItem", "")
			r.Header.Set("Authorization", wellFormed)
			r.Header.Set("X-Amz-Date", "20260101T000000Z")
			benchmarkHandler(b, s.serve(dynamoDB+"GetItem", (*request).getItem, (*answer).getItem, opts), r, benchGet)
		})
	}
}

// GetItem over the loopback interface, and the empty handler that it is measured
// against.
func BenchmarkLoopback(b *testing.B) {
	s := &stub[engine.GetItemInput, *engine.GetItemOutput]{out: &engine.GetItemOutput{Item: raw(b, benchItem)}}
	h := s.serve(dynamoDB+"GetItem", (*request).getItem, (*answer).getItem, Options{})
	size := len(written(new(testing.T), (*answer).getItem, s.out))
	empty := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	})
	for _, c := range []struct {
		name   string
		server func() server
	}{
		{"empty", func() server { return &http.Server{Handler: empty} }},
		{"net/http", func() server { return &http.Server{Handler: h} }},
		{"server", func() server { return NewServer(h, h) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			addr := listen(b, c.server())
			request := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: %sGetItem\r\n"+
				"X-Amz-Date: 20260101T000000Z\r\nAuthorization: %s\r\nContent-Length: %d\r\n\r\n%s", addr, dynamoDB, wellFormed, len(benchGet), benchGet)
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					b.Error(err)
					return
				}
				defer conn.Close()
				reader := bufio.NewReader(conn)
				for pb.Next() {
					if _, err := conn.Write(request); err != nil {
						b.Error(err)
						return
					}
					if err := skipResponse(reader, size); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// skipResponse reads a response whose body's size is known.
func skipResponse(r *bufio.Reader, size int) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.Equal(line, []byte("\r\n")) {
			_, err := r.Discard(size)
			return err
		}
	}
}
