package engine

import (
	"context"
	"sync"
)

// jobs are the goroutines that add and remove indexes, make backups and restore
// tables. Each ends when its work is done, or when the engine is closed.
type jobs struct {
	mu     sync.Mutex
	closed bool
	done   sync.WaitGroup
	start  func(job func(context.Context)) // with a context that ends when they are closed
	cancel context.CancelFunc
}

func newJobs() *jobs {
	j := &jobs{}
	ctx, cancel := context.WithCancel(context.Background())
	j.cancel = cancel
	j.start = func(job func(context.Context)) { j.done.Go(func() { job(ctx) }) }
	return j
}

// run starts a job. If they are closed, it does nothing and returns false: what is to
// be done is stored, and is done after the next start.
func (j *jobs) run(job func(context.Context)) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.start(job)
	}
	return !j.closed
}

// close ends the jobs and waits for them.
func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.done.Wait()
}
