package heatsink

import (
	"context"
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
func (s *sender) read(ctx context.Context, r *request, send func(ctx context.Context, attempt int) error) error {
	attempts, err := s.reads.Do(ctx, dispatch.Request{Send: s.logged(r, send)})
	return s.failure(r, attempts, err)
}

// write sends a request that changes something. A write that is not repeatable is not sent again after its answer was
// lost. If an answer was lost and no later one says that the write happened, the error is an UnknownOutcomeError.
func (s *sender) write(ctx context.Context, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	attempts, err := s.writes.Write(ctx, repeatable, &r.lost, s.logged(r, send))
	if err != nil && r.lost {
		err = &UnknownOutcomeError{err}
	}
	return s.failure(r, attempts, err)
}

// logged is send that tells the Logger about attempts that repeat one.
func (s *sender) logged(r *request, send func(ctx context.Context, attempt int) error) func(ctx context.Context, attempt int) error {
	var last error
	return func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			s.logger.DebugContext(ctx, "request repeated", "table", s.table,
				"operation", r.operation, "shard", r.ShardKey, "attempt", attempt, "reason", last)
		}
		last = send(ctx, attempt)
		return last
	}
}

// failure returns the error of a request as a *ShardError, nil if there is none.
func (s *sender) failure(r *request, attempts int, err error) error {
	if err == nil {
		return nil
	}
	return &ShardError{
		Operation: r.operation, Table: s.table, ShardKey: r.ShardKey, Shard: r.Shard, Attempts: attempts, Err: err,
	}
}
