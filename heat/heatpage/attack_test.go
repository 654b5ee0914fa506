package heatpage

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
)

// hostile returns a key that attacks whoever shows it.
func hostile(i int) string {
	parts := []string{"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202egnp.exe", "\x1b[2J\x00\r\n", "{{nonce}}{{data}}", "אבג", "\u2028", `"'&` + "`", "\xff\xfe"}
	return fmt.Sprintf("%s%d%s", parts[i%len(parts)], i, strings.Repeat("x", i%3*700))
}

// Keys of any number and any name leave the page bounded, and its document whole.
func TestHostileKeys(t *testing.T) {
	now, first := noon, 0
	page, err := New(Options{Rows: 100, Source: func(context.Context) (Round, error) {
		now = now.Add(time.Second)
		var keys []heat.KeyHeat
		for i := range 1000 { // others each time
			keys = append(keys, heat.KeyHeat{Key: hostile(first + i), Low: 10, Second: float64(1 + i%7)})
		}
		first += 1000
		return reportOf(now, float64(100_000*first), keys...), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		page.step(context.Background())
	}
	if rows := len(page.history.rows); rows > 112 || len(page.history.byID) != rows {
		t.Errorf("the page has %d rows, and %d by number", rows, len(page.history.byID))
	}
	var out bytes.Buffer
	if err := page.Export(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if n := strings.Count(text, "</script>"); n != 2 {
		t.Errorf("the document has %d ends of scripts, want 2", n)
	}
	if strings.Contains(text, "<img") || out.Len() > 4<<20 {
		t.Errorf("a key is in the document as it is, or its %d bytes are too many", out.Len())
	}
}

// A column keeps its hottest keys; what the others took is not lost.
func TestColumnsAreBounded(t *testing.T) {
	h := newHistory(10_000, nil)
	most := cellsOf(time.Second)
	for second := range 2 {
		var keys []heat.KeyHeat
		total := 0.0
		for i := range 2 * most {
			units := float64(second * (1 + i))
			keys = append(keys, heat.KeyHeat{Key: fmt.Sprint("k", i), Low: units})
			total += units
		}
		r := reportOf(noon.Add(time.Duration(second)*time.Second), total, keys...)
		h.take(&r)
	}
	c := h.columns[len(h.columns)-1]
	if len(c.cells) != most+1 {
		t.Fatalf("a column has %d cells, want %d and the others", len(c.cells), most)
	}
	sum := 0.0
	for id, d := range c.cells {
		sum += d.units
		if r := h.byID[id]; r.Kind == keyRow && d.units <= float64(most) {
			t.Fatalf("%s has a cell of %v units", r.Key, d.units)
		}
	}
	if want := float64(most * (2*most + 1)); sum != want {
		t.Errorf("all took %v units, want %v", sum, want)
	}
}

// Whoever only asks whether there are events gets an answer, and no place among those who follow.
func TestHeadOfEvents(t *testing.T) {
	page, err := New(Options{Source: func(context.Context) (Round, error) { return Round{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodHead, "http://127.0.0.1/events", nil)
	request.RemoteAddr = "127.0.0.1:4000"
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/event-stream" || answer.Body.Len() > 0 || len(page.viewers) > 0 {
		t.Errorf("got %d, %v, %d bytes, %d followers", answer.Code, answer.Header(), answer.Body.Len(), len(page.viewers))
	}
}
