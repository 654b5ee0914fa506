package heatsink

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
)

// sender sends a collection's requests, including their retries.
type sender struct {
	client        Client
	table         string
	logger        *slog.Logger
	reads, writes *dispatch.Dispatcher // separate, so that reads do not spend the retry budget of writes
}

// request is one request of an operation, whatever its number of attempts. It holds what errors and logs say about it.
type request struct {
	operation string
	place.Home
	in   string // the table, if it is not that of the sender
	lost bool   // a response was lost, so the request may have happened
}

// read sends a request that changes nothing, and retries it. Its error is a *ShardError.
func (s *sender) read(ctx context.Context, r *request, send func(ctx context.Context, attempt int) error) error {
	attempts, err := s.reads.Do(ctx, dispatch.Request{Send: s.logged(r, send)})
	return s.failure(r, attempts, err)
}

// write sends a request that changes something, and retries it. After a lost response, it retries only if the write is
// repeatable. If a response was lost and no later one confirms the write, the error is an UnknownOutcomeError.
func (s *sender) write(ctx context.Context, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	attempts, err := s.writes.Write(ctx, repeatable, &r.lost, s.logged(r, send))
	if err != nil && r.lost {
		err = &UnknownOutcomeError{err}
	}
	return s.failure(r, attempts, err)
}

// logged returns send with a log message for each retry.
func (s *sender) logged(r *request, send func(ctx context.Context, attempt int) error) func(ctx context.Context, attempt int) error {
	var last error
	return func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			s.logger.DebugContext(ctx, "request retried", "table", s.table,
				"operation", r.operation, "shard", r.ShardKey, "attempt", attempt, "reason", last)
		}
		last = send(ctx, attempt)
		return last
	}
}

// failure wraps the error of a request in a *ShardError. It returns nil for nil.
func (s *sender) failure(r *request, attempts int, err error) error {
	if err == nil {
		return nil
	}
	return &ShardError{
		Operation: r.operation, Table: cmp.Or(r.in, s.table), ShardKey: r.ShardKey, Shard: r.Shard, Attempts: attempts, Err: err,
	}
}
