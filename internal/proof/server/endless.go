package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"
)

// endless is a server whose answers do not end.
type endless struct {
	*httptest.Server
	sent  atomic.Int64
	limit int64         // bytes after which it hangs up, as it has seen enough
	every time.Duration // between small pieces; zero: as fast as it goes
}

func newEndless(limit int64, every time.Duration) *endless {
	e := &endless{limit: limit, every: every}
	e.Server = httptest.NewServer(e)
	return e
}

// ServeHTTP answers with the beginning of what is asked for, followed by a text that never ends.
func (e *endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	start := `{"Table":{"TableName":"`
	if r.Method == http.MethodGet {
		start = `{"table":"`
	}
	_, _ = w.Write([]byte(start))
	piece := []byte(strings.Repeat("x", 1<<16))
	if e.every > 0 {
		piece = piece[:1]
	}
	for e.sent.Load() < e.limit && r.Context().Err() == nil {
		n, err := w.Write(piece)
		e.sent.Add(int64(n))
		if err != nil {
			return
		}
		if e.every > 0 {
			_ = http.NewResponseController(w).Flush()
			if sleep(r.Context(), e.every) != nil {
				return
			}
		}
	}
	panic(http.ErrAbortHandler) // so that it is not taken for a whole answer
}

// readers are the commands that read answers of servers that may be anybody's, and what they did before.
var readers = []struct{ name, bytes, memory, trickle string }{
	{"top", "reads 3399 MB of 5 GB", "10936 MB", "ends after 30.18 s"},
	{"audit", "reads 5000 MB of 5 GB", "17228 MB", "does not end in 3m0s"},
}

// endlessAnswers points heatsink top and audit at a server that does not stop answering, and at one that answers a byte
// at a time.
func (p *proof) endlessAnswers(ctx context.Context) error {
	const enough, most = 1_000_000_000, 300_000_000 // 5 GB took 17 GB of memory before
	for _, reader := range readers {
		e := newEndless(p.size(enough, 2*most), 0)
		ended, peak, s, err := p.consume(ctx, e, reader.name, 2*time.Minute)
		if err != nil {
			return err
		}
		after := fmt.Sprintf("reads %s", megabytes(e.sent.Load()))
		if !ended {
			after += ", does not end"
		}
		progress("    %s: %.300s", reader.name, s.stderr.last())
		p.figure("6 "+reader.name+": an answer that does not end", reader.bytes, after, "reads <= 300 MB", ended && e.sent.Load() <= most)
		p.figure("6 "+reader.name+": its memory", reader.memory, megabytes(peak), "<= 600 MB", peak <= mostMemory)
	}
	if p.quick {
		return nil
	}
	const limit = 3 * time.Minute
	trickled := make([]string, len(readers))
	err := each(len(readers), func(i int) error {
		ended, _, s, err := p.consume(ctx, newEndless(enough, time.Second), readers[i].name, limit)
		trickled[i] = "does not end in " + limit.String()
		if ended {
			trickled[i] = "ends after " + seconds(s.took)
		}
		return err
	})
	for i, reader := range readers {
		p.figure("6 "+reader.name+": an answer of a byte a second", reader.trickle, trickled[i], "ends in < "+limit.String(), strings.HasPrefix(trickled[i], "ends"))
	}
	return err
}

// consume runs a command against an endless server, which it closes, and watches the command's memory.
func (p *proof) consume(ctx context.Context, e *endless, command string, limit time.Duration) (ended bool, peak int64, s *process, err error) {
	defer e.Close()
	defer e.CloseClientConnections()
	s, err = p.launch(launch{
		args: []string{command, "--endpoint", e.URL, "anything"},
		env:  []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_REGION=us-east-1"},
	})
	if err != nil {
		return false, 0, nil, err
	}
	defer s.kill()
	for time.Since(s.begun) < limit {
		now, err := s.peak()
		if err != nil && !s.wait(20*time.Second) { // one that ends has no memory any more
			return false, 0, s, err
		}
		peak = max(peak, now)
		if s.wait(20 * time.Millisecond) {
			return true, peak, s, nil
		}
		if err := ctx.Err(); err != nil {
			return false, peak, s, err
		}
	}
	return false, peak, s, nil
}

// size returns how large something is, in full or quick.
func (p *proof) size(full, quick int64) int64 {
	if p.quick {
		return quick
	}
	return full
}
