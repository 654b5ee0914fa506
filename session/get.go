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

// ReadOption makes a read different from others.
type ReadOption func(*dynamodb.GetItemInput)

// Eventual makes a read eventually consistent, at half the price: a session that was created, changed or revoked less
// than, usually, a second ago may be found as it was before.
func Eventual(in *dynamodb.GetItemInput) { in.ConsistentRead = aws.Bool(false) }

// Get returns the session with an id, or ErrNotFound: the read is strongly consistent, and whoever has expired is not
// found, whether or not DynamoDB has deleted it. What cannot be an id is ErrNotFound, too, and costs no request;
// anything else costs one, and 1 read unit for up to 4 KB.
func (s *Store[T]) Get(ctx context.Context, id string, options ...ReadOption) (Session[T], error) {
	handle, err := s.options.handle(id)
	if err != nil {
		return Session[T]{}, fmt.Errorf("%w: the id cannot be one: %w", ErrNotFound, err)
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
