package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"

	"github.com/heatsink-go/heatsink/internal/proof/scenario"
)

// scans compares a table that is scanned in as many segments as there are cores, all at once, with the same segments one by one.
func scans(ctx context.Context, o Options) ([]scenario.Figure, error) {
	cores := min(runtime.GOMAXPROCS(0), 4)
	if cores < 2 {
		return []scenario.Figure{{What: "parallel scans", After: "not measured: there is one core", Holds: true}}, nil
	}
	b, err := newBed(ctx, min(o.Held, 20*o.Few))
	if err != nil {
		return nil, err
	}
	speed, err := alternate(ctx, max(o.Rounds/10, 1), wallTime, func() error { return b.scan(ctx, cores, true) }, func() error { return b.scan(ctx, cores, false) })
	return []scenario.Figure{atLeast(fmt.Sprintf("Scan in %d segments at once: speed / one after the other", cores), speed, 0.7*float64(cores))},
		errors.Join(err, b.db.Close())
}

// scan reads the whole table in segments.
func (b *bed) scan(ctx context.Context, segments int, together bool) error {
	counts, faults := make([]int, segments), make([]error, segments)
	var all sync.WaitGroup
	for i := range segments {
		read := func() { counts[i], faults[i] = b.segment(ctx, i, segments) }
		if together {
			all.Go(read)
		} else {
			read()
		}
	}
	all.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	if sum != b.items {
		return fmt.Errorf("the Scan found %d items, want %d", sum, b.items)
	}
	return nil
}

// segment reads a segment page by page, and returns how many items it has.
func (b *bed) segment(ctx context.Context, segment, of int) (items int, err error) {
	start := ""
	for {
		body := fmt.Sprintf(`{"TableName":"items","Segment":%d,"TotalSegments":%d%s}`, segment, of, start)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
		if err != nil {
			return items, err
		}
		r.Header = http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"DynamoDB_20120810.Scan"}}
		w := &response{header: http.Header{}, status: http.StatusOK}
		b.handler.ServeHTTP(w, r)
		// Only the end of the page is read as JSON: it is the engine that is measured.
		text := w.body.Bytes()
		at := bytes.LastIndex(text, []byte(`],"Count":`))
		if w.status != http.StatusOK || at < 0 {
			return items, fmt.Errorf("scan: %d %.200s", w.status, text)
		}
		var end struct {
			Count            int
			LastEvaluatedKey json.RawMessage
		}
		if err := json.Unmarshal(append([]byte("{"), text[at+2:]...), &end); err != nil {
			return items, fmt.Errorf("scan: %w", err)
		}
		items += end.Count
		if end.LastEvaluatedKey == nil {
			return items, nil
		}
		start = `,"ExclusiveStartKey":` + string(end.LastEvaluatedKey)
	}
}
