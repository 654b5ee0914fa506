package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// grace is how long a burst may overrun before its connections are cut.
const grace = 30 * time.Second

// A burst is one stretch of load on one server: every connection sends its next request when it has read the
// answer to the last one. It ends after its duration, or when request number limit is reached, if that is not 0.
type burst struct {
	addr     string
	workload workload
	stored   int           // loaded items, for workloads that visit them
	next     *atomic.Int64 // number of the next request, shared by the connections
	limit    int64
	conns    int
	leadIn   time.Duration // load that comes before the measured part
	duration time.Duration
}

// run applies the load and returns the latencies, in nanoseconds, of all requests answered in the measured part.
// The first bad answer ends the burst and is its error.
func (b burst) run(ctx context.Context) (*hdrhistogram.Histogram, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.leadIn+b.duration+grace,
		fmt.Errorf("%s: still unanswered %v after the end", b.workload.op, grace))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	clients := make([]*client, b.conns)
	for i := range clients {
		c, err := dial(ctx, b.addr)
		if err != nil {
			return nil, err
		}
		defer c.close()
		clients[i] = c
	}

	begin := time.Now().Add(b.leadIn)
	latencies := make([]*hdrhistogram.Histogram, b.conns)
	var wg sync.WaitGroup
	for i, c := range clients {
		latencies[i] = newHistogram()
		wg.Go(func() {
			if err := b.repeat(c, begin, latencies[i]); err != nil {
				fail(err)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, more := range latencies[1:] {
		latencies[0].Merge(more)
	}
	return latencies[0], nil
}

// repeat is the life of one connection.
func (b burst) repeat(c *client, begin time.Time, latencies *hdrhistogram.Histogram) error {
	r := newRequest(b.addr, b.workload.op, b.workload.body)
	want := []byte(b.workload.want)
	end := begin.Add(b.duration)
	for sent := time.Now(); ; {
		n := b.next.Add(1) - 1
		if b.limit > 0 && n >= b.limit {
			return nil
		}
		r.aim(b.workload.index(int(n), b.stored))
		if err := c.do(r, want); err != nil {
			return err
		}
		answered := time.Now()
		if answered.After(end) {
			return nil
		}
		if answered.After(begin) {
			if err := latencies.RecordValue(int64(answered.Sub(sent))); err != nil {
				return fmt.Errorf("%s: %w", b.workload.op, err)
			}
		}
		sent = answered
	}
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(10*time.Minute), 3)
}

// load stores the items numbered from <= i < to, which must be multiples of batchSize.
func load(ctx context.Context, addr string, from, to, conns int) error {
	var next atomic.Int64
	next.Store(int64(from / batchSize))
	b := burst{
		addr: addr, workload: loading, next: &next, limit: int64(to / batchSize),
		conns: conns, duration: 10 * time.Minute,
	}
	if _, err := b.run(ctx); err != nil {
		return err
	}
	if next.Load() < b.limit {
		return fmt.Errorf("%s: loaded only %d of %d items in %v", loading.op, next.Load()*batchSize, to, b.duration)
	}
	return nil
}
