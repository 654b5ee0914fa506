package heatsink

import (
	"context"
	"fmt"

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
	return c.run(ctx, c.reads, r, send, nil)
}

// write sends a request that changes something. A write that is not repeatable is not sent again after its answer was
// lost. If an answer was lost and no later one says that the write happened, the error is an UnknownOutcomeError.
func (c *core) write(ctx context.Context, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	err := c.run(ctx, c.writes, r, func(ctx context.Context, attempt int) error {
		err := send(ctx, attempt)
		if dispatch.Judge(err) == dispatch.Unknown {
			r.lost = true
		}
		return err
	}, func(v dispatch.Verdict) bool { return v.Harmless() || repeatable })
	if failed, ok := err.(*ShardError); ok && r.lost {
		if !repeatable && dispatch.Judge(failed.Err) == dispatch.Unknown {
			failed.Err = fmt.Errorf("not repeated, as a second attempt could do it twice or not return what was asked for: %w", failed.Err)
		}
		failed.Err = &UnknownOutcomeError{failed.Err}
	}
	return err
}

// run sends a request through a dispatcher. Its error is a *ShardError.
func (c *core) run(ctx context.Context, d *dispatch.Dispatcher, r *request, send func(ctx context.Context, attempt int) error, again func(dispatch.Verdict) bool) error {
	var last error
	attempts, err := d.Do(ctx, dispatch.Request{
		Send: func(ctx context.Context, attempt int) error {
			if attempt > 1 {
				c.options.Logger.DebugContext(ctx, "request repeated", "table", c.options.Table,
					"operation", r.operation, "shard", r.shardKey, "attempt", attempt, "reason", last)
			}
			last = send(ctx, attempt)
			return last
		},
		Again: again,
	})
	if err == nil {
		return nil
	}
	return &ShardError{
		Operation: r.operation, Table: c.options.Table, ShardKey: r.shardKey, Shard: r.shard, Attempts: attempts, Err: err,
	}
}
