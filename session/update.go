package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Update stores the session's Data if nobody has stored other data since the session was read, and returns the session
// with its new Version. It compares the session's Version with the stored one. If they differ, the error is
// ErrConflict, and Update returns the stored session. The error is ErrNotFound if the session has expired or was
// revoked.
//
// A touch does not change the Version, so touches and updates do not conflict. Update does not touch the session. It
// costs one request, and 3 write units for up to 1 KB.
//
// If the error is a heatsink.UnknownOutcomeError, the data may have been stored.
func (s *Store[T]) Update(ctx context.Context, session Session[T]) (Session[T], error) {
	return s.store(ctx, session, s.checkEpoch)
}

func (s *Store[T]) store(ctx context.Context, session Session[T], check epochCheck) (Session[T], error) {
	handle, v, err := s.parse(session)
	if err != nil {
		return Session[T]{}, fmt.Errorf("update: %w", err)
	}
	data, err := encode(session.Data)
	if err != nil {
		return Session[T]{}, fmt.Errorf("update session %q: %w: its data: %w", handle, ErrInput, err)
	}
	if check != nil {
		if err := check(ctx, handle, session.User, v); err != nil {
			return Session[T]{}, err
		}
	}
	next := v.next()
	const condition = "#version = :version AND #expires > :now"
	err = s.update(ctx, handle, "SET #data = :data, #version = :next", condition, heatsink.Item{
		":data": data, ":next": text(next.String()), ":version": text(v.String()), ":now": seconds(time.Now()),
	})
	if item, prevented := refused(err); prevented {
		return s.prevented(session, handle, item, v, next, err)
	}
	if err != nil {
		return Session[T]{}, fmt.Errorf("update session %q: %w", handle, err)
	}
	session.Version = next.String()
	return session, nil
}

// prevented finds out why an update from version v to next was not made: because an attempt whose answer was lost has
// made it, because somebody else was faster, or because the session is gone. Only if somebody has written on top of
// either can it not tell.
func (s *Store[T]) prevented(
	own Session[T], handle string, item heatsink.Item, v, next version, err error,
) (Session[T], error) {
	r, gone := s.same(handle, item, v)
	if gone != nil {
		if lost(err) && errors.Is(gone, ErrNotFound) {
			gone = fmt.Errorf("%w: %w", gone, err) // it may have been updated before
		}
		return Session[T]{}, gone
	}
	if r.version == next {
		own.Version, own.Expires, own.Deadline = next.String(), r.expires, r.deadline
		return own, nil
	}
	if lost(err) && r.version.count != next.count {
		return Session[T]{}, fmt.Errorf("update session %q: %w", handle, err)
	}
	current, bad := fromRecord[T](r)
	if bad != nil {
		return current, bad
	}
	current.ID = own.ID
	return current, fmt.Errorf("update session %q: %w", handle, ErrConflict)
}

// maxRounds is how often Change tries before it gives up. Each time it fails, somebody else has succeeded.
const maxRounds = 100

// Change reads a session, calls change with its data, and stores the result. If another request has changed the session
// meanwhile, Change starts over, so concurrent changes of a session are not lost. change may be called more than once,
// each time with the stored data. If it returns an error, Change returns that error and stores nothing.
//
// Change costs a Get and an Update, and one more Update each time it starts over. If the error is a
// heatsink.UnknownOutcomeError, the change may have been stored.
func (s *Store[T]) Change(ctx context.Context, id string, change func(data *T) error) (Session[T], error) {
	current, err := s.Get(ctx, id)
	for range maxRounds {
		if err != nil {
			return Session[T]{}, err
		}
		if err := change(&current.Data); err != nil {
			return Session[T]{}, err
		}
		current, err = s.store(ctx, current, nil)
		if err == nil || !errors.Is(err, ErrConflict) {
			return current, err
		}
		if err = ctx.Err(); err != nil {
			return Session[T]{}, fmt.Errorf("change session %q: %w", current.Handle, err)
		}
	}
	return Session[T]{}, fmt.Errorf("change session %q: %d attempts: %w", current.Handle, maxRounds, ErrConflict)
}
