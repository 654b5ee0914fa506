package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/internal/peer"
	"github.com/heatsink-go/heatsink/internal/proof/engine/draw"
	"github.com/heatsink-go/heatsink/local"
)

// inProcess is an engine of the test's own, behind a handler that may change what it answers.
func inProcess(t *testing.T, name string, around func(http.Handler) http.Handler) *subject {
	t.Helper()
	web := httptest.NewServer(around(local.Start(t).Handler()))
	t.Cleanup(web.Close)
	s := &subject{name: name, server: &peer.Server{Addr: strings.TrimPrefix(web.URL, "http://")}}
	for _, table := range draw.Tables {
		if a, err := s.call(t.Context(), "CreateTable", table.Create()); err != nil || a.Type != "" {
			t.Fatal(a, err)
		}
	}
	return s
}

func asItIs(h http.Handler) http.Handler { return h }

// The engine does not differ from itself.
func TestNoDifference(t *testing.T) {
	p := &panel{engine: inProcess(t, "heatsink", asItIs), peers: []*subject{inProcess(t, "dynoxide", asItIs)}}
	for seed := range uint64(3) {
		if err := p.run(t.Context(), drawn(seed, 100), func(f finding) { t.Errorf("seed %d: got %+v", seed, f) }); err != nil {
			t.Fatal(err)
		}
	}
}

// A peer that loses items is found out. The shortest example is a request that shows it, and what it needs.
func TestShrink(t *testing.T) {
	forgetful := inProcess(t, "dynoxide", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DeleteItem") {
				w.Write([]byte("{}")) // and nothing is deleted
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	p := &panel{engine: inProcess(t, "heatsink", asItIs), peers: []*subject{forgetful}}
	s := drawn(5, 150)
	var found []finding
	if err := p.run(t.Context(), s, func(f finding) { found = append(found, f) }); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.op.Name != "DeleteItem" {
			continue
		}
		c := class{peer: f.peer, operation: f.op.Name, Difference: f.Difference}
		short, err := shrink(t.Context(), p, s[:f.at+1], c)
		if err != nil {
			t.Fatal(err)
		}
		still, err := differs(t.Context(), p, short, c)
		if err != nil || !still || len(short) > 5 {
			t.Errorf("got %d requests that differ: %v, %v; want a few", len(short), still, err)
		}
		return
	}
	t.Errorf("got %d differences and none of a DeleteItem", len(found))
}
