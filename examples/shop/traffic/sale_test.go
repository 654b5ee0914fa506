package traffic

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A sale where nothing answers says so before it begins, and one that fails says why, once.
func TestProblems(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Error(w, "the disk is full", http.StatusInternalServerError)
			return
		}
		http.Error(w, "wait", http.StatusServiceUnavailable) // which is no failure
	}))
	defer server.Close()
	var told atomic.Int32
	s := Sale{URL: server.URL, Scale: 0.1, For: 200 * time.Millisecond, Problem: func(err error) {
		told.Add(1)
		if text := err.Error(); !strings.HasPrefix(text, "POST /") || !strings.Contains(text, "Internal Server Error: the disk is full") {
			t.Errorf("got %s", text)
		}
	}}
	if err := s.Reach(t.Context()); err != nil {
		t.Errorf("got %v", err)
	}
	if result := s.Run(t.Context()); told.Load() != 1 || result.Total().Failed < 2 {
		t.Errorf("told %d times of %v", told.Load(), result)
	}
	server.Close()
	if err := s.Reach(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v without a server", err)
	}
}
