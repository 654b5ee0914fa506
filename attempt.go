package heatsink

import (
	"context"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// request is one request of an operation, however often it is sent: what errors and logs say about it.
type request struct {
	operation string
	target
	lost bool // an answer was lost, so it may have happened
}

// read sends a request that changes nothing, as often as it takes. Its error is a *ShardError.
func (c *core) read(ctx context.Context, r *request, send func(ctx context.Context, attempt int) error) error {
	attempts, err := c.reads.Do(ctx, dispatch.Request{Send: c.logged(r, send)})
	return c.failure(r, attempts, err)
}

// write sends a request that changes something. A write that is not repeatable is not sent again after its answer was
// lost. If an answer was lost and no later one says that the write happened, the error is an UnknownOutcomeError.
func (c *core) write(ctx context.Context, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	attempts, err := c.writes.Write(ctx, repeatable, &r.lost, c.logged(r, send))
	if err != nil && r.lost {
		err = &UnknownOutcomeError{err}
	}
	return c.failure(r, attempts, err)
}

// logged is send that tells the Logger about attempts that repeat one.
func (c *core) logged(r *request, send func(ctx context.Context, attempt int) error) func(ctx context.Context, attempt int) error {
	var last error
	return func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			c.options.Logger.DebugContext(ctx, "request repeated", "table", c.options.Table,
				"operation", r.operation, "shard", r.shardKey, "attempt", attempt, "reason", last)
		}
		last = send(ctx, attempt)
		return last
	}
}

// failure returns the error of a request as a *ShardError, nil if there is none.
func (c *core) failure(r *request, attempts int, err error) error {
	if err == nil {
		return nil
	}
	return &ShardError{
		Operation: r.operation, Table: c.options.Table, ShardKey: r.shardKey, Shard: r.shard, Attempts: attempts, Err: err,
	}
}
