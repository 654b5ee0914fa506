package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// routes is everything that the shop answers.
func routes(s *shop, watch *watch) http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"POST /orders":                       s.limited(s.postOrder),
		"GET /orders":                        s.limited(s.listOrders),
		"GET /orders/{id}":                   s.limited(s.getOrder),
		"PUT /orders/{id}/status":            s.limited(s.putStatus),
		"POST /products/{product}/likes":     s.postLike,
		"GET /products/{product}/likes":      s.getLikes,
		"POST /products/{product}/views":     s.postView,
		"GET /products/{product}/views":      s.listViews,
		"GET /products/{product}/views/days": s.countViews,
		"GET /shoppers":                      s.listShoppers,
		"GET /shoppers/{customer}":           s.getShopper,
	} {
		mux.Handle(pattern, s.serve(h))
	}
	mux.Handle("GET /metrics", watch.metrics)
	mux.Handle("GET /heat/", http.StripPrefix("/heat", watch.page))
	return mux
}

// handler answers a request, or returns why it cannot.
type handler func(*http.Request) (answer, error)

// answer is what a client gets: JSON, or nothing.
type answer struct {
	status   int
	location string // of what was made
	body     any
}

func ok(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

var done = answer{status: http.StatusNoContent}

// list is a page of something. Next is given as ?page=… to get the page after it, and is empty after the last one.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

const (
	patience = 3 * time.Second // how long a request may take
	maxBody  = 64 << 10        // the most that a client may send, in bytes
)

// serve makes a handler one of net/http.
func (s *shop) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		a, err := h(r)
		if err != nil {
			p := problemOf(err)
			if p.Status == http.StatusInternalServerError {
				s.log.Error(p.Code, "method", r.Method, "path", r.URL.Path, "error", err)
			}
			p.describe(w.Header())
			a = answer{status: p.Status, body: map[string]*problem{"error": p}}
		}
		a.write(w)
	})
}

func (a answer) write(w http.ResponseWriter) {
	if a.location != "" {
		w.Header().Set("Location", a.location)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body) // the client has gone
}
