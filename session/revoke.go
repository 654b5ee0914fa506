package session

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/dispatch"
)

// revocation leaves nothing of a session but its key, in no index, which keeps the id taken for a while: see keep.
const revocation = "SET #expires = :keep, #ttl = :keep REMOVE #version, #list, #user, #data, #until, #created, #idle"

// Revoke ends the session with an id. When it returns, the session is not found any more, and nothing brings it back.
// It is no error if there is no such session. It costs one request, and 3 write units for up to 1 KB, or 1 if there is
// no such session.
func (s *Store[T]) Revoke(ctx context.Context, id string) error {
	handle, err := s.options.handle(id)
	if err != nil {
		return nil // there is no such session
	}
	return s.RevokeHandle(ctx, handle)
}

// RevokeHandle is Revoke by the handle of a session, as List returns it.
func (s *Store[T]) RevokeHandle(ctx context.Context, handle string) error {
	if err := checkHandle(handle); err != nil {
		return fmt.Errorf("revoke session: %w: the handle: %w", ErrInput, err)
	}
	_, err := s.revoke(ctx, handle, "attribute_exists(#version)", heatsink.Item{})
	return err
}

// revoke revokes a session on a condition, and reports whether it did.
func (s *Store[T]) revoke(ctx context.Context, handle, condition string, values heatsink.Item) (bool, error) {
	values[":keep"] = seconds(roundUp(time.Now().Add(keep)))
	err := s.update(ctx, handle, revocation, condition, values)
	if _, prevented := refused(err); prevented {
		return lost(err), nil
	}
	if err != nil {
		return false, fmt.Errorf("revoke session %q: %w", handle, err)
	}
	return true, nil
}

const (
	revokers  = 16 // requests that RevokeUser has under way at most
	maxPasses = 10 // times that it looks for sessions
)

// RevokeUser ends all sessions of a user, and returns how many it has ended. It finds them in the index by user, which
// lists a new session with a delay. The delay is usually well below a second, but DynamoDB guarantees no bound.
// RevokeUser therefore has two modes.
//
// With Options.StrictRevocation, RevokeUser ends every session whose Create returned before the call, whatever the
// index lists. Sessions that are created after it returns are not affected; those created meanwhile may or may not be.
// If it fails, call it again.
//
// Without StrictRevocation, RevokeUser looks again after Options.Settle until it finds no more sessions. A session that
// the index did not list in that time survives, and one that is created meanwhile may survive.
//
// To keep the current session, revoke all and create a new one: after a change of password it needs a new id anyway.
// RevokeUser costs a Query of half a read unit or more each time it looks, and a Revoke for each session.
// StrictRevocation adds one read unit and one write unit.
func (s *Store[T]) RevokeUser(ctx context.Context, user string) (int, error) {
	if err := checkText(user); err != nil {
		return 0, fmt.Errorf("revoke sessions: %w: the user: %w", ErrInput, err)
	}
	if s.options.StrictRevocation {
		epoch, err := s.nextEpoch(ctx, user)
		if err != nil {
			return 0, err
		}
		return s.sweep(ctx, user, func(v version) bool { return v.epoch < epoch })
	}
	total := 0
	for pass := range maxPasses {
		n, err := s.sweep(ctx, user, func(version) bool { return true })
		total += n
		if err != nil || s.options.Settle < 0 || n == 0 && pass > 0 {
			return total, err
		}
		if err := dispatch.Sleep(ctx, s.options.Settle); err != nil {
			return total, fmt.Errorf("revoke sessions of user %q: interrupted before the last search: %w", user, err)
		}
	}
	return total, fmt.Errorf("revoke sessions of user %q: the index still lists new sessions after %d searches: call it again", user, maxPasses)
}

// sweep revokes those sessions that the index lists for a user and that concern the caller. It gives up at the first
// failure.
func (s *Store[T]) sweep(ctx context.Context, user string, concerns func(version) bool) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		work    sync.WaitGroup
		revoked atomic.Int64
		slots   = make(chan struct{}, revokers)
		listing error
	)
	for r, err := range s.ofUser(ctx, user) {
		if err != nil {
			listing = fmt.Errorf("revoke sessions of user %q: %w", user, err)
			break
		}
		if !concerns(r.version) {
			continue
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			identity := heatsink.Item{":identity": text(r.version.identity())}
			did, err := s.revoke(ctx, r.handle, "begins_with(#version, :identity)", identity)
			if did {
				revoked.Add(1)
			}
			if err != nil {
				cancel(err)
			}
		})
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return int(revoked.Load()), err
	}
	return int(revoked.Load()), listing
}
