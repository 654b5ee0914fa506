package local_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/local"
)

// silent is a response that nobody reads.
type silent struct {
	header http.Header
	status int
}

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) Write(p []byte) (int, error) { return len(p), nil }
func (s *silent) WriteHeader(status int)      { s.status = status }

// caller sends one operation's requests to a handler, each body again and again.
type caller struct {
	handler http.Handler
	request *http.Request
	bodies  []string
}

func newCaller(h http.Handler, operation string, bodies ...string) *caller {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", nil)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	return &caller{h, r, bodies}
}

func (c *caller) call(n int) (status int) {
	body := c.bodies[n%len(c.bodies)]
	c.request.Body = io.NopCloser(strings.NewReader(body))
	c.request.ContentLength = int64(len(body))
	w := &silent{header: http.Header{}, status: http.StatusOK}
	c.handler.ServeHTTP(w, c.request)
	return w.status
}

const benchKeys = 4096

// benchBodies are requests for items of about half a KB under many keys.
func benchBodies() (puts, gets []string) {
	for i := range benchKeys {
		key := fmt.Sprintf(`"id":{"S":"user-%d"}`, i)
		puts = append(puts, `{"TableName":"users","Item":{`+key+`,"name":{"S":"`+strings.Repeat("n", 400)+`"},"visits":{"N":"17"}}}`)
		gets = append(gets, `{"TableName":"users","Key":{`+key+`}}`)
	}
	return puts, gets
}

// startBench starts an engine with a table of all items.
func startBench(b *testing.B, physics *local.Physics, puts []string) http.Handler {
	b.Helper()
	db, err := local.New(local.Options{Physics: physics})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	create := newCaller(db.Handler(), "CreateTable", `{"TableName":"users","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}`)
	if status := create.call(0); status != http.StatusOK {
		b.Fatalf("create table: %d", status)
	}
	put := newCaller(db.Handler(), "PutItem", puts...)
	for i := range puts {
		if status := put.call(i); status != http.StatusOK {
			b.Fatalf("put: %d", status)
		}
	}
	return db.Handler()
}

// unlimited is physics that never refuses anything.
var unlimited = local.Physics{PartitionReads: 1e9, PartitionWrites: 1e9, TableReads: -1, TableWrites: -1}

// BenchmarkPhysics compares an engine whose partitions throttle, with limits so
// high that nothing is, to one without. The goal is that it is no more than a
// tenth slower.
func BenchmarkPhysics(b *testing.B) {
	puts, gets := benchBodies()
	for _, operation := range []struct {
		name   string
		bodies []string
	}{{"PutItem", puts}, {"GetItem", gets}} {
		for _, c := range []struct {
			name    string
			physics *local.Physics
		}{{"off", nil}, {"on", &unlimited}} {
			b.Run(operation.name+"/"+c.name, func(b *testing.B) {
				h := startBench(b, c.physics, puts)
				var failed atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					c := newCaller(h, operation.name, operation.bodies...)
					for n := 0; pb.Next(); n++ {
						if c.call(n) != http.StatusOK {
							failed.Add(1)
						}
					}
				})
				b.StopTimer()
				if n := failed.Load(); n > 0 {
					b.Errorf("%d of %d requests failed", n, b.N)
				}
			})
		}
	}
}

// BenchmarkPhysicsRatio does the same by turns, a few requests on either engine,
// so that a machine that has other things to do slows down both. It reports the
// throughput with physics as a share of that without.
//
//	go test ./local -run '^$' -bench PhysicsRatio -count 6
func BenchmarkPhysicsRatio(b *testing.B) {
	const turn = 50
	puts, gets := benchBodies()
	for _, operation := range []struct {
		name   string
		bodies []string
	}{{"PutItem", puts}, {"GetItem", gets}} {
		b.Run(operation.name, func(b *testing.B) {
			callers := []*caller{
				newCaller(startBench(b, nil, puts), operation.name, operation.bodies...),
				newCaller(startBench(b, &unlimited, puts), operation.name, operation.bodies...),
			}
			var took [2][]time.Duration
			for n := 0; b.Loop(); n++ {
				for i := range callers {
					i = (i + n) % 2
					start := time.Now()
					for j := range turn {
						if status := callers[i].call(n*turn + j); status != http.StatusOK {
							b.Fatalf("got %d", status)
						}
					}
					took[i] = append(took[i], time.Since(start))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			median := len(took[0]) / 2
			b.ReportMetric(float64(took[0][median])/float64(took[1][median]), "on/off")
			b.ReportMetric(0, "ns/op")
		})
	}
}
