package session

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Expire makes a session end at a time at the latest, rounded up to seconds, however often it is touched, and returns
// it as it is then. It never lets a session live longer. A time that has come revokes it. It is ErrNotFound if the
// session is gone already. It costs a request, or a few if it is being touched meanwhile, and 5 write units for up to
// 1 KB.
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
	return Session[T]{}, fmt.Errorf("expire session %q: it is touched all the time: %w", handle, ErrConflict)
}
