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
// It is no error if there is none. It costs a request and 3 write units for up to 1 KB, or 1 if there is none.
func (s *Store[T]) Revoke(ctx context.Context, id string) error {
	handle, err := s.options.handle(id)
	if err != nil {
		return nil // there is no such session
	}
	return s.RevokeHandle(ctx, handle)
}

// RevokeHandle is Revoke for who knows a session from a list.
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

// RevokeUser ends all sessions of a user, and returns how many it has ended. It looks them up in the index by user,
// which lists a session a moment after it was created: usually well below a second, but nobody promises how long. So
// there are two ways to do it.
//
// With Options.StrictRevocation, no session whose Create returned before RevokeUser was called is found any more when
// that returns, whatever the index lists. Sessions created afterwards are not concerned; those created meanwhile are
// either. If it fails, call it again.
//
// Without, it looks again after Options.Settle until it finds no more. A session that was not listed in all that time
// survives, and so may one that is created meanwhile.
//
// To end all but the present one, revoke all and create it anew: after a change of password it should have a new id
// anyway. It costs a Query of half a read unit or more for each time it looks, a Revoke for each session, and, if
// strict, a read and a write unit.
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
			return total, fmt.Errorf("revoke sessions of user %q: before the last were looked for: %w", user, err)
		}
	}
	return total, fmt.Errorf("revoke sessions of user %q: there are still new ones after %d times", user, maxPasses)
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
