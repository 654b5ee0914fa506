package heatsink

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
)

// sender sends a collection's requests, each as often as it takes.
type sender struct {
	client        Client
	table         string
	logger        *slog.Logger
	reads, writes *dispatch.Dispatcher // two, as reads must not spend the retries that writes need
}

// request is one request of an operation, however often it is sent: what errors and logs say about it.
type request struct {
	operation string
	place.Home
	lost bool // an answer was lost, so it may have happened
}

// read sends a request that changes nothing, as often as it takes. Its error is a *ShardError.
func (s *sender) read(ctx context.Context, cost *Cost, r *request, send func(ctx context.Context, attempt int) error) error {
	return s.run(ctx, cost, s.reads, r, send, nil)
}

// write sends a request that changes something. A write that is not repeatable is not sent again after its answer was
// lost. If an answer was lost and no later one says that the write happened, the error is an UnknownOutcomeError.
func (s *sender) write(ctx context.Context, cost *Cost, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	err := s.run(ctx, cost, s.writes, r, func(ctx context.Context, attempt int) error {
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

// run sends a request through a dispatcher, and adds to cost what it took. Its error is a *ShardError.
func (s *sender) run(ctx context.Context, cost *Cost, d *dispatch.Dispatcher, r *request, send func(ctx context.Context, attempt int) error, again func(dispatch.Verdict) bool) error {
	var last error
	var tally dispatch.Tally
	attempts, err := d.Do(ctx, &tally, dispatch.Request{
		Send: func(ctx context.Context, attempt int) error {
			if attempt > 1 {
				s.logger.DebugContext(ctx, "request repeated", "table", s.table,
					"operation", r.operation, "shard", r.ShardKey, "attempt", attempt, "reason", last)
			}
			last = send(ctx, attempt)
			return last
		},
		Again: again,
	})
	cost.Requests += tally.Requests
	cost.Retries += tally.Retries
	cost.Throttles += tally.Throttles
	if err == nil {
		return nil
	}
	return &ShardError{
		Operation: r.operation, Table: s.table, ShardKey: r.ShardKey, Shard: r.Shard, Attempts: attempts, Err: err,
	}
}
