package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// ReadOption changes the settings of one read.
type ReadOption func(*dynamodb.GetItemInput)

// Eventual makes a read eventually consistent, at half the price. If a session was created, changed or revoked within
// about the last second, the read may return its earlier state.
func Eventual(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(false) }

// Get returns the session with an id, or ErrNotFound. The read is strongly consistent. An expired session is not found,
// even if DynamoDB has not deleted it yet. A text that cannot be an id is ErrNotFound at no cost; any other id costs
// one request, and 1 read unit for up to 4 KB.
func (s *Store[T]) Get(ctx context.Context, id string, options ...ReadOption) (Session[T], error) {
	handle, err := s.options.handle(id)
	if err != nil {
		return Session[T]{}, fmt.Errorf("%w: invalid id: %w", ErrNotFound, err)
	}
	item, err := s.read(ctx, handle, options)
	if err != nil {
		return Session[T]{}, fmt.Errorf("get session %q: %w", handle, err)
	}
	r, err := s.alive(handle, item)
	if err != nil {
		return Session[T]{}, err
	}
	if err := s.checkEpoch(ctx, handle, r.user, r.version); err != nil {
		return Session[T]{}, err
	}
	found, err := fromRecord[T](r)
	found.ID = id
	return found, err
}

// read returns an item of the table, nil if there is none.
func (s *Store[T]) read(ctx context.Context, key string, options []ReadOption) (heatsink.Item, error) {
	item, err := s.living.Get(ctx, heatsink.Item{s.options.Names.ID: text(key)}, func(in *dynamodb.GetItemInput) {
		in.ConsistentRead = aws.Bool(true)
		for _, option := range options {
			option(in)
		}
	})
	if errors.Is(err, heatsink.ErrNotFound) {
		return nil, nil
	}
	return item, err
}

// alive reads an item that was found under a handle, or is ErrNotFound.
func (s *Store[T]) alive(handle string, item heatsink.Item) (record, error) {
	r, err := s.options.Names.record(item, time.Now())
	if errors.Is(err, errDead) {
		return r, notFound(handle)
	}
	return r, err
}

func notFound(handle string) error { return fmt.Errorf("%w: %q", ErrNotFound, handle) }
