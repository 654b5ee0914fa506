package session

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Expire sets the latest end of a session to at, rounded up to seconds, however often it is touched, and returns the
// session. It never prolongs a session. If at is not in the future, the session is revoked. The error is ErrNotFound if
// the session has already ended. It costs one request and 5 write units for up to 1 KB, and a few more requests if the
// session is touched meanwhile.
func (s *Store[T]) Expire(ctx context.Context, session Session[T], at time.Time) (Session[T], error) {
	handle, v, err := s.parse(session)
	if err != nil {
		return Session[T]{}, fmt.Errorf("expire: %w", err)
	}
	at = roundUp(at)
	if !time.Now().Before(at) {
		did, err := s.revoke(ctx, handle, "begins_with(#version, :identity) AND #expires > :now",
			heatsink.Item{":identity": text(v.identity()), ":now": seconds(time.Now())})
		if err == nil && !did {
			err = notFound(handle)
		}
		session.Expires, session.Deadline = at, at
		return session, err
	}
	// Whether the expiry has to move is tried, not read: a touch may come in between, and then it is tried the other
	// way.
	for range 4 {
		expression := "SET #until = :at"
		condition := "#expires <= :at AND (attribute_not_exists(#until) OR #until > :at)"
		values := heatsink.Item{":identity": text(v.identity()), ":now": seconds(time.Now()), ":at": seconds(at)}
		moves := session.Expires.After(at)
		if moves {
			expression, condition = "SET #until = :at, #expires = :at, #ttl = :ttl", "#expires > :at"
			values[":ttl"] = deletion(at)
		}
		condition += " AND begins_with(#version, :identity) AND #expires > :now"
		err := s.update(ctx, handle, expression, condition, values)
		item, prevented := refused(err)
		switch {
		case err == nil:
			session.Deadline = at
			if moves {
				session.Expires = at
			}
			return session, nil
		case !prevented:
			return Session[T]{}, fmt.Errorf("expire session %q: %w", handle, err)
		}
		r, err := s.same(handle, item, v)
		if err != nil {
			return Session[T]{}, err
		}
		session.Expires, session.Deadline = r.expires, r.deadline
		if !r.deadline.IsZero() && !r.deadline.After(at) {
			return session, nil
		}
	}
	return Session[T]{}, fmt.Errorf("expire session %q: every attempt met a concurrent touch: %w", handle, ErrConflict)
}
