package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
)

// touchable is the condition for a touch: the session lives, nobody else has let it live as long already, and it may
// live that long. A touch that comes twice, or late, finds that it may not or need not.
const touchable = "begins_with(#version, :identity) AND #expires > :now AND #expires < :expires AND " +
	"(attribute_not_exists(#until) OR #until >= :expires)"

// Visit is Get followed by Touch, for every page of a web site. If the session can be read but the touch fails, because
// DynamoDB throttles or does not answer, Visit returns the session and logs the failure. The next visit tries again.
func (s *Store[T]) Visit(ctx context.Context, id string, options ...ReadOption) (Session[T], error) {
	found, err := s.Get(ctx, id, options...)
	if err != nil {
		return found, err
	}
	touched, err := s.touch(ctx, found, nil)
	if err == nil || errors.Is(err, ErrNotFound) {
		return touched, err
	}
	s.options.Logger.WarnContext(ctx, "session not touched", "handle", found.Handle, "expires", found.Expires, "error", err)
	return found, nil
}

// Touch prolongs a session to its Idle from now, but not beyond its Deadline, and returns it. The error is ErrNotFound
// if the session has expired or was revoked. A touch is written if it prolongs the session by at least
// Options.TouchEvery, or up to its Deadline. It then costs one request, and 5 write units for up to 1 KB. Otherwise
// Touch costs nothing and does not notice whether the session was revoked; Get and Visit do.
func (s *Store[T]) Touch(ctx context.Context, session Session[T]) (Session[T], error) {
	return s.touch(ctx, session, s.checkEpoch)
}

// epochCheck is checkEpoch, or nil if that was done a moment ago.
type epochCheck func(ctx context.Context, handle, user string, v version) error

func (s *Store[T]) touch(ctx context.Context, session Session[T], check epochCheck) (Session[T], error) {
	handle, v, err := s.parse(session)
	if err != nil {
		return Session[T]{}, fmt.Errorf("touch: %w", err)
	}
	// A second round is needed if Expire has moved the deadline, which it can only do towards now.
	for range 3 {
		now := time.Now()
		expires := session.extended(now)
		if !session.due(expires, s.options.TouchEvery) {
			if !now.Before(session.Expires) {
				return Session[T]{}, notFound(handle)
			}
			return session, nil
		}
		if check != nil {
			if err := check(ctx, handle, session.User, v); err != nil {
				return Session[T]{}, err
			}
			check = nil
		}
		err = s.updateListed(ctx, handle, "SET #expires = :expires, #ttl = :ttl", touchable, heatsink.Item{
			":identity": text(v.identity()), ":now": seconds(now), ":expires": seconds(expires), ":ttl": deletion(expires),
		})
		item, prevented := refused(err)
		switch {
		case err == nil:
			session.Expires = expires
			return session, nil
		case !prevented:
			return Session[T]{}, fmt.Errorf("touch session %q: %w", handle, err)
		}
		r, err := s.same(handle, item, v)
		if err != nil {
			return Session[T]{}, err
		}
		session.Expires, session.Deadline = r.expires, r.deadline
		if !r.expires.Before(expires) { // somebody else's touch, or an attempt of ours whose answer was lost
			return session, nil
		}
	}
	return Session[T]{}, fmt.Errorf("touch session %q: its deadline keeps changing: %w", handle, ErrConflict)
}

// parse returns what the methods that take a session need to know of it.
func (s *Store[T]) parse(session Session[T]) (handle string, v version, err error) {
	handle = session.Handle
	if handle == "" && session.ID != "" {
		handle, err = s.options.handle(session.ID)
	} else {
		err = checkHandle(handle)
	}
	if err != nil {
		return "", v, fmt.Errorf("%w: the session's handle: %w", ErrInput, err)
	}
	if v, err = parseVersion(session.Version); err != nil {
		return "", v, fmt.Errorf("%w: session %q: %w", ErrInput, handle, err)
	}
	return handle, v, nil
}

// same reads the item of a session. It is ErrNotFound if it is no longer that session's.
func (s *Store[T]) same(handle string, item heatsink.Item, v version) (record, error) {
	r, err := s.alive(handle, item)
	if err == nil && !r.version.sameSession(v) {
		err = notFound(handle)
	}
	return r, err
}
