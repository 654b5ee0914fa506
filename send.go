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
	tracer        Tracer               // nil if nobody traces
	reads, writes *dispatch.Dispatcher // separate, so that reads do not spend the retry budget of writes
}

// Tracer is told of operations as they happen: of Query, Page and Count, and of each request that any operation sends to a
// shard. Its methods are called concurrently, and must not block. They are not told of requests for control items, of
// transactions and of writes to movable collections.
type Tracer interface {
	// StartOperation begins an operation on a logical key. Its requests get the returned context. The operation ends with the
	// returned function, which is called once, with its error.
	StartOperation(ctx context.Context, operation, table, key string) (context.Context, func(error))

	// StartRequest begins a request to a shard, such as "Query" or "PutItem", with its retries. Of a batch, it is the first
	// shard.
	StartRequest(ctx context.Context, operation, table, shardKey string) (context.Context, func(error))

	// AttemptFailed says that an attempt of the request of ctx has failed, the first being 1. err has DynamoDB's reasons.
	AttemptFailed(ctx context.Context, attempt int, err error)

	// Retried says that another attempt of the request of ctx begins.
	Retried(ctx context.Context, attempt int)
}

// untraced ends what nobody traces.
func untraced(error) {}

// startOperation begins an operation for the tracer, if there is one.
func (s *sender) startOperation(ctx context.Context, operation, key string) (context.Context, func(error)) {
	if s.tracer == nil {
		return ctx, untraced
	}
	return s.tracer.StartOperation(ctx, operation, s.table, key)
}

// startRequest begins a request for the tracer, if there is one.
func (s *sender) startRequest(ctx context.Context, r *request) (context.Context, func(error)) {
	if s.tracer == nil {
		return ctx, untraced
	}
	return s.tracer.StartRequest(ctx, r.operation, s.table, r.ShardKey)
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
	ctx, end := s.startRequest(ctx, r)
	attempts, err := s.reads.Do(ctx, dispatch.Request{Send: s.logged(r, send)})
	end(err)
	return s.failure(r, attempts, err)
}

// write sends a request that changes something, and retries it. After a lost response, it retries only if the write is
// repeatable. If a response was lost and no later one confirms the write, the error is an UnknownOutcomeError.
func (s *sender) write(ctx context.Context, r *request, repeatable bool, send func(ctx context.Context, attempt int) error) error {
	ctx, end := s.startRequest(ctx, r)
	attempts, err := s.writes.Write(ctx, repeatable, &r.lost, s.logged(r, send))
	if err != nil && r.lost {
		err = &UnknownOutcomeError{err}
	}
	end(err)
	return s.failure(r, attempts, err)
}

// logged returns send with a log message for each retry, and with what the tracer is told of attempts.
func (s *sender) logged(r *request, send func(ctx context.Context, attempt int) error) func(ctx context.Context, attempt int) error {
	var last error
	return func(ctx context.Context, attempt int) error {
		if attempt > 1 {
			s.logger.DebugContext(ctx, "request retried", "table", s.table,
				"operation", r.operation, "shard", r.ShardKey, "attempt", attempt, "reason", last)
			if s.tracer != nil {
				s.tracer.Retried(ctx, attempt)
			}
		}
		if last = send(ctx, attempt); last != nil && s.tracer != nil {
			s.tracer.AttemptFailed(ctx, attempt, last)
		}
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
