package traffic

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what came of a sale so far.
type Result struct {
	Rows    []Row // one for each kind of request
	Elapsed time.Duration
}

// Row is what came of one kind of request.
type Row struct {
	Name      string
	Done      int // answered with success
	Throttled int // answered with 503
	Limited   int // answered with 429
	Failed    int // answered with anything else, or not at all
	Unsent    int // because too many requests had no answer yet
	P50, P99  time.Duration
}

// Total adds the rows up. It has no latencies.
func (r Result) Total() (all Row) {
	for _, row := range r.Rows {
		all.Done += row.Done
		all.Throttled += row.Throttled
		all.Limited += row.Limited
		all.Failed += row.Failed
		all.Unsent += row.Unsent
	}
	return all
}

// String returns the result as a table in Markdown, with rates per second.
func (r Result) String() string {
	var b strings.Builder
	b.WriteString("| | done/s | throttled/s | limited/s | failed/s | unsent/s | p50 | p99 |\n|---|---|---|---|---|---|---|---|\n")
	rate := func(n int) float64 { return float64(n) / max(r.Elapsed.Seconds(), 0.001) }
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %v | %v |\n", row.Name, rate(row.Done), rate(row.Throttled), rate(row.Limited),
			rate(row.Failed), rate(row.Unsent), row.P50.Round(time.Millisecond), row.P99.Round(time.Millisecond))
	}
	return b.String()
}

func (s *sale) result() Result {
	result := Result{Elapsed: time.Since(s.start)}
	if s.For > 0 {
		result.Elapsed = min(result.Elapsed, s.For) // requests were sent for so long
	}
	result.Elapsed = max(result.Elapsed-s.Skip, 0)
	for i, k := range kinds {
		result.Rows = append(result.Rows, s.tallies[i].named(k.name))
	}
	return result
}

// outcome is what an answer means.
type outcome uint8

const (
	failed outcome = iota
	done
	throttled
	limited
)

func outcomeOf(status int) outcome {
	switch {
	case status >= 200 && status < 300:
		return done
	case status == http.StatusServiceUnavailable:
		return throttled
	case status == http.StatusTooManyRequests:
		return limited
	}
	return failed
}

// tally counts the answers to a kind of request, in fixed memory.
type tally struct {
	mu        sync.Mutex
	row       Row
	latencies *hdrhistogram.Histogram // in microseconds
}

func newTally() *tally {
	return &tally{latencies: hdrhistogram.New(1, time.Minute.Microseconds(), 3)}
}

func (t *tally) answered(status int, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch outcomeOf(status) {
	case done:
		t.row.Done++
	case throttled:
		t.row.Throttled++
	case limited:
		t.row.Limited++
	default:
		t.row.Failed++
	}
	_ = t.latencies.RecordValue(min(took, time.Minute).Microseconds()) // within its bounds
}

// lost counts a request without an answer.
func (t *tally) lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row.Failed++
}

func (t *tally) unsent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.row.Unsent++
}

func (t *tally) named(name string) Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.row
	row.Name = name
	row.P50 = time.Duration(t.latencies.ValueAtQuantile(50)) * time.Microsecond
	row.P99 = time.Duration(t.latencies.ValueAtQuantile(99)) * time.Microsecond
	return row
}
