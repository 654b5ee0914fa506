package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/heatsink-go/heatsink/internal/peer"
)

// A contestant is an engine with a table of stored items and everything measured on it.
type contestant struct {
	peer.Engine
	server *peer.Server
	stored int
	next   atomic.Int64 // the next request's number: never the same twice, so puts are always of new items

	starts       []time.Duration
	idle, loaded int64               // resident bytes after starting and after loading
	samples      map[string][]sample // by workload, one per round
}

func newContestant(e peer.Engine, stored int) *contestant {
	return &contestant{Engine: e, stored: stored, samples: map[string][]sample{}}
}

// A sample is what one burst showed.
type sample struct {
	perSecond float64
	p50, p99  time.Duration
	server    time.Duration // processor time per request
	client    time.Duration
}

func newSample(latencies *hdrhistogram.Histogram, measured time.Duration) sample {
	return sample{
		perSecond: float64(latencies.TotalCount()) / measured.Seconds(),
		p50:       time.Duration(latencies.ValueAtQuantile(50)),
		p99:       time.Duration(latencies.ValueAtQuantile(99)),
	}
}

// start starts the engine and notes how long that took.
func (c *contestant) start(ctx context.Context) error {
	server, err := peer.Serve(ctx, c.Argv)
	if err != nil {
		return fmt.Errorf("%s: start: %w", c.Name, err)
	}
	c.server = server
	c.starts = append(c.starts, server.Started)
	return nil
}

func (c *contestant) stop() error {
	if err := c.server.Stop(); err != nil {
		return fmt.Errorf("%s: stop: %w", c.Name, err)
	}
	return nil
}

func (c *contestant) restart(ctx context.Context) error {
	if err := c.stop(); err != nil {
		return err
	}
	return c.start(ctx)
}

// load creates the table, fills it with c.stored items and notes the memory in use after a rest.
func (c *contestant) load(ctx context.Context, conns int, rest time.Duration, progress logger) error {
	if err := createTable(ctx, c.server.Addr); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	const step = 100_000 // items between signs of life
	for from := 0; from < c.stored; from += step {
		to := min(from+step, c.stored)
		if err := load(ctx, c.server.Addr, from, to, conns); err != nil {
			return fmt.Errorf("%s: load: %w", c.Name, err)
		}
		progress("%s: loaded %d items", c.Name, to)
	}
	if err := sleep(ctx, rest); err != nil {
		return err
	}
	return c.noteMemory(&c.loaded)
}

func (c *contestant) noteMemory(to *int64) (err error) {
	if *to, err = residentBytes(c.server.Process.Pid); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// errStalled is returned when a burst ended without a single answer in its measured part.
var errStalled = errors.New("no answer in the measured time: a longer -duration may help")

// measure wakes the contestant up and puts it under one burst of load.
func (c *contestant) measure(ctx context.Context, w workload, o options) (sample, error) {
	if err := resume(c.server.Process); err != nil {
		return sample{}, err
	}
	before, err := c.usage()
	if err != nil {
		return sample{}, err
	}
	latencies, err := burst{
		addr: c.server.Addr, workload: w, stored: c.stored, next: &c.next,
		conns: o.conns, leadIn: o.duration / 10, duration: o.duration,
	}.run(ctx)
	if err != nil {
		return sample{}, err
	}
	if latencies.TotalCount() == 0 {
		return sample{}, errStalled
	}
	after, err := c.usage()
	if err != nil {
		return sample{}, err
	}
	s := newSample(latencies, o.duration)
	// The processors worked for the lead-in, too: divide by all requests, not by the measured ones.
	requests := time.Duration(after.requests - before.requests)
	s.server = (after.server - before.server) / requests
	s.client = (after.client - before.client) / requests
	return s, pause(c.server.Process)
}

// usage is the processor time spent so far, and the requests it was spent on.
type usage struct {
	server, client time.Duration
	requests       int64
}

func (c *contestant) usage() (u usage, err error) {
	u.requests = c.next.Load()
	if u.server, err = cpuTime(c.server.Process.Pid); err != nil {
		return u, err
	}
	u.client, err = cpuTime(os.Getpid())
	return u, err
}
