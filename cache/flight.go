package cache

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

var errLoadGivenUp = errors.New("cache: the load was cancelled: nobody waits for it, and 1,000 newer loads run")

// errLoadExited is returned when load ended its goroutine, as t.FailNow does, and so has no result.
var errLoadExited = errors.New("cache: load called runtime.Goexit")

// A flight is a load that callers wait for together, maybe before it has started. The cache's lock guards what
// changes; the result may be read once landed is closed.
type flight[V any] struct {
	key       string
	load      func(context.Context) (V, error)
	ctx       context.Context // of the call that asked for it, then of the load
	cancel    context.CancelCauseFunc
	end       context.CancelFunc // stops the timer
	waiting   int
	alone     *list.Element // in Cache.alone, if it is there
	givenUp   bool
	forgotten bool
	next      *flight[V] // starts when this one has landed

	landed   chan struct{}
	value    V
	err      error
	panicked *loadPanic
}

// newFlight returns a flight that nobody waits for yet.
func newFlight[V any](ctx context.Context, key string, load func(context.Context) (V, error)) *flight[V] {
	return &flight[V]{key: key, load: load, ctx: context.WithoutCancel(ctx), landed: make(chan struct{})}
}

// begin makes the context of the load, which may take so long; 0 is any time.
func (f *flight[V]) begin(timeout time.Duration) {
	f.ctx, f.cancel = context.WithCancelCause(f.ctx)
	f.end = func() {}
	if timeout > 0 {
		f.ctx, f.end = context.WithTimeoutCause(f.ctx, timeout, loadTimeout(timeout))
	}
}

// fly runs the load and notes how it ended.
func (f *flight[V]) fly() {
	f.err = errLoadExited // unless it returns
	defer func() {
		if value := recover(); value != nil {
			f.panicked = &loadPanic{value, debug.Stack()}
		}
	}()
	f.value, f.err = f.load(f.ctx)
}

// A loadPanic carries a panic from the goroutine of a load to the goroutines that wait for it.
type loadPanic struct {
	value any
	stack []byte
}

func (p *loadPanic) Error() string { return fmt.Sprintf("cache: load: %v\n\n%s", p.value, p.stack) }

func (p *loadPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// loadTimeout is why the context of a load ended that took longer than this. Reads that return the cause of their context
// return it in the place of context.DeadlineExceeded, so it is one.
type loadTimeout time.Duration

func (t loadTimeout) Error() string {
	return fmt.Sprintf("cache: the load took longer than Options.LoadTimeout, which is %v", time.Duration(t))
}

func (t loadTimeout) Is(target error) bool { return target == context.DeadlineExceeded }

// explain returns the error of a load whose time was up. A load that returned the cause of its context has said why already.
func (t loadTimeout) explain(key string, err error) error {
	if errors.Is(err, t) {
		return fmt.Errorf("load %q: %w", key, err)
	}
	return fmt.Errorf("load %q: %w: %w", key, t, err)
}

// Timeout is for those who ask errors whether they are a timeout, as they can ask context.DeadlineExceeded.
func (t loadTimeout) Timeout() bool { return true }
