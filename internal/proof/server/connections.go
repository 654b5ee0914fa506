package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	openFiles = 256 // that the server may have
	crowdSize = 400 // connections that say nothing
	largePuts = 600
	largeItem = 300 << 10
)

// connections puts large items beside connections without a byte, which are as many again as the server may have.
func connections(ctx context.Context, p *proof) error {
	err := p.besideCrowd(ctx, false, figures2{
		acknowledged: "431 of 600, then it ended", latency: "p50 0.09 s, p99 0.42 s, max 0.50 s", closed: "when it ended",
	})
	return errors.Join(err, p.besideCrowd(ctx, true, figures2{
		acknowledged: "569 of 600; in another run 431, then it ended", latency: "p50 0.02 s, p99 10.93 s, max 11.00 s",
	}))
}

// figures2 are what the crowd did to the server of before.
type figures2 struct{ acknowledged, latency, closed string }

func (p *proof) besideCrowd(ctx context.Context, again bool, before figures2) error {
	name, dir := "2 400 idle connections", "crowd"
	if again {
		name, dir = "2 400 that come again", "crowd-again"
	}
	s, err := p.serve(ctx, launch{args: []string{"--data", filepath.Join(p.work, dir)}, env: signed, files: openFiles})
	if err != nil {
		p.figure(name, before.acknowledged, firstLine(err), "starts", false)
		return nil
	}
	defer s.kill()
	c := client(s.url, 8)
	if err := createTable(ctx, c, table); err != nil {
		return err
	}
	if !again { // the connections of these clients are there before the crowd, those of the others come after it
		warm := &ledger{size: 100}
		if err := each(8, func(int) error { warm.put(ctx, c); return ctx.Err() }); err != nil {
			return err
		}
	}
	crowd := newCrowd(ctx, s.addr(), crowdSize, again)
	defer crowd.end()
	if err := sleep(ctx, 500*time.Millisecond); err != nil { // so that the crowd is there first
		return err
	}
	puts := largePuts
	if p.quick {
		puts = 100
	}
	// A client that does not get through for so long would have given up.
	limit, cancel := context.WithTimeout(ctx, p.pick(2*time.Minute, 30*time.Second))
	defer cancel()
	items, took := &ledger{size: largeItem}, &latencies{}
	var workers sync.WaitGroup
	var next atomic.Int64
	for range 8 {
		workers.Go(func() {
			for next.Add(1) <= int64(puts) && limit.Err() == nil && s.alive() {
				began := time.Now()
				err := errors.New("not acknowledged")
				if items.put(limit, c) {
					err = nil
				}
				took.add(began, err)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	what := of(items.acknowledged(), puts)
	if !s.alive() {
		what += ", then the server ended"
		progress("  it said: %.300s", s.stderr.last())
	}
	p.figure(name+": large puts acknowledged", before.acknowledged, what, "all", items.acknowledged() == puts)
	p.tell(name+": latency of the puts", before.latency, took.String())
	if again {
		return ctx.Err()
	}
	for s.alive() && crowd.left() > 0 && time.Since(crowd.began) < 30*time.Second {
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	closed, last := crowd.closed()
	p.figure(name+": closed by the server", before.closed, fmt.Sprintf("%s within %s", of(closed, crowdSize), seconds(last)), "all within 30 s", closed == crowdSize && s.alive())
	return nil
}

// crowd is many connections that send nothing.
type crowd struct {
	began time.Time
	all   sync.WaitGroup
	stop  context.CancelFunc

	mu    sync.Mutex
	lived []time.Duration // of those that the server closed
	size  int
}

// newCrowd opens connections, each of which is opened again when it ends if again says so.
func newCrowd(ctx context.Context, addr string, size int, again bool) *crowd {
	c := &crowd{began: time.Now(), size: size}
	ctx, c.stop = context.WithCancel(ctx)
	for range size {
		c.all.Go(func() {
			for {
				c.loiter(ctx, addr)
				if !again || sleep(ctx, 10*time.Millisecond) != nil {
					return
				}
			}
		})
	}
	return c
}

// loiter holds one connection until the server or the crowd ends it.
func (c *crowd) loiter(ctx context.Context, addr string) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	began := time.Now()
	_, _ = io.Copy(io.Discard, conn) // until the server has enough of it
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lived = append(c.lived, time.Since(began))
}

// left is how many the server has not closed yet.
func (c *crowd) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size - len(c.lived)
}

// closed returns how many the server has closed, and how long the last of them lived.
func (c *crowd) closed() (int, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lived) == 0 {
		return 0, 0
	}
	return len(c.lived), slices.Max(c.lived)
}

func (c *crowd) end() {
	c.stop()
	c.all.Wait()
}
