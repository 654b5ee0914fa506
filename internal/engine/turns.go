package engine

import "context"

// turns is a sync.Mutex for which nobody waits longer than a context allows.
// Those who wait get it in the order in which they came.
type turns chan struct{}

func newTurns() turns { return make(turns, 1) }

// lock takes the mutex. It returns the context's error if that ends before.
func (t turns) lock(ctx context.Context) error {
	select {
	case t <- struct{}{}: // also if ctx has ended: there is nothing to wait for
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turns) unlock() { <-t }
