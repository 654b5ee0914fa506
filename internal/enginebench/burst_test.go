package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func serve(t *testing.T, handler http.HandlerFunc) (addr string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// The empty handler's answer must satisfy every workload. What is answered in the lead-in is not measured.
func TestBurst(t *testing.T) {
	addr := serve(t, answerEmpty)
	for _, w := range compared {
		for leadIn, want := range map[time.Duration]int64{0: 50, time.Hour: 0} {
			b := burst{
				addr: addr, workload: w, stored: comparedItems, next: new(atomic.Int64), limit: 50, conns: 4,
				leadIn: leadIn, duration: time.Hour,
			}
			latencies, err := b.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if n := latencies.TotalCount(); n != want {
				t.Errorf("%s: measured %d requests after a lead-in of %v, want %d", w.name, n, leadIn, want)
			}
		}
	}
}

func TestBurstEndsAfterItsDuration(t *testing.T) {
	b := burst{
		addr: serve(t, answerEmpty), workload: get, stored: comparedItems, next: new(atomic.Int64), conns: 2,
		duration: time.Millisecond,
	}
	if _, err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestLoadSendsEveryBatchOnce(t *testing.T) {
	var answered atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answered.Add(1)
		answerEmpty(w, r)
	})
	if err := load(t.Context(), addr, 1000, 5000, 4); err != nil {
		t.Fatal(err)
	}
	if want := int64(4000 / batchSize); answered.Load() != want {
		t.Errorf("got %d requests, want %d", answered.Load(), want)
	}
}

func TestBurstErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"status", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"__type":"ThrottlingException"}`, http.StatusBadRequest)
		}, `Query: status 400: {"__type":"ThrottlingException"}`},
		{"content", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"Count":7}`))
		}, `Query: no "Count":50 in the answer: {"Count":7}`},
		{"connection", func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, "Query: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := burst{
				addr: serve(t, test.handler), workload: query, stored: comparedItems, next: new(atomic.Int64),
				conns: 2, duration: time.Minute,
			}
			_, err := b.run(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestBurstEndsWithItsContext(t *testing.T) {
	hang := make(chan struct{})
	addr := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
	t.Cleanup(func() { close(hang) }) // before the server's, which waits for its handlers
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	b := burst{addr: addr, workload: get, stored: 1, next: new(atomic.Int64), conns: 2, duration: time.Minute}
	if _, err := b.run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}
