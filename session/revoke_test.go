package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// lagging is a client whose indexes show everything as it was a while ago.
func lagging(t testing.TB, lag time.Duration) *dynamodb.Client {
	t.Helper()
	return start(t, local.Options{Lag: &local.Lag{Min: lag, Max: lag}}).Client()
}

// A session that the index does not list yet: strict revocation ends it at once, the other when the index lists it in
// time.
func TestRevokeUserWithAnIndexThatLags(t *testing.T) {
	for _, c := range []struct {
		name     string
		options  session.Options
		lag      time.Duration
		survives bool
	}{
		{"strict", session.Options{StrictRevocation: true}, time.Hour, false},
		{"in time", session.Options{}, 900 * time.Millisecond, false},
		{"too late", session.Options{}, 3 * time.Second, true},
		{"patient", session.Options{Settle: 5 * time.Second}, 3 * time.Second, false},
		{"hasty", session.Options{Settle: -1}, 900 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx := t.Context()
				sessions := open(t, lagging(t, c.lag), c.options)
				old := create(t, sessions, "ann")
				other := create(t, sessions, "bob")
				time.Sleep(10 * time.Second)
				fresh := create(t, sessions, "ann")
				want := 2
				if c.survives {
					want = 1
				} else if c.options.StrictRevocation {
					want = 0 // the index lists none, and none has to be
				}
				n, err := sessions.RevokeUser(ctx, "ann")
				if n != want || err != nil {
					t.Errorf("revoked %d, %v, want %d", n, err, want)
				}
				if _, err := sessions.Get(ctx, old.ID); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("the old one: %v", err)
				}
				if _, err := sessions.Get(ctx, fresh.ID); errors.Is(err, session.ErrNotFound) == c.survives {
					t.Errorf("the fresh one: %v", err)
				}
				if _, err := sessions.Get(ctx, other.ID); err != nil {
					t.Errorf("somebody else's: %v", err)
				}
				next := create(t, sessions, "ann")
				if _, err := sessions.Visit(ctx, next.ID); err != nil {
					t.Errorf("the next: %v", err)
				}
				time.Sleep(29 * time.Minute) // the index has caught up, or not
				if c.options.StrictRevocation {
					fresh.Expires = fresh.Expires.Add(-20 * time.Minute) // a touch is due
					for what, err := range map[string]error{
						"touch": second(sessions.Touch(ctx, fresh)), "update": second(sessions.Update(ctx, fresh)), "visit": second(sessions.Visit(ctx, fresh.ID)),
						"change": second(sessions.Change(ctx, fresh.ID, func(*cart) error { return nil })),
					} {
						if !errors.Is(err, session.ErrNotFound) {
							t.Errorf("%s: %v", what, err)
						}
					}
				}
			})
		})
	}
}

// With strict revocation, the list of a user leaves out what was revoked although the index still has it.
func TestByUserLeavesOutTheRevoked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		sessions := open(t, lagging(t, time.Minute), session.Options{StrictRevocation: true})
		create(t, sessions, "ann")
		if n, err := sessions.RevokeUser(ctx, "ann"); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		next := create(t, sessions, "ann")
		time.Sleep(2 * time.Minute)
		if got := handles(t, sessions.ByUser(ctx, "ann")); len(got) != 1 || got[0] != next.Handle {
			t.Errorf("got %v, want %s alone", got, next.Handle)
		}
		if n, err := sessions.Count(ctx); n != 2 || err != nil { // as documented
			t.Errorf("counted %d, %v", n, err)
		}
		if n, err := sessions.RevokeUser(ctx, "ann"); n != 2 || err != nil {
			t.Errorf("revoked %d, %v", n, err)
		}
	})
}

// Logins and revocations at the same time. Whoever logged in before a revocation began is out when it returns, and
// who logs in after it returned is not.
func TestStrictRevocationAgainstLogins(t *testing.T) {
	ctx := t.Context()
	sessions := open(t, local.Start(t).Client(), session.Options{StrictRevocation: true})
	type login struct {
		session.Session[cart]
		began, ended int64
	}
	var (
		clock    atomic.Int64 // orders what happens
		finished atomic.Bool  // nobody revokes any more
		revokers sync.WaitGroup
		all      sync.WaitGroup
		mu       sync.Mutex
		logins   []login
	)
	for range 4 {
		all.Go(func() {
			for left := 10; left > 0; {
				if finished.Load() { // a few more, which stay in
					left--
				}
				time.Sleep(time.Millisecond)
				l := login{began: clock.Add(1)}
				s, err := sessions.Create(ctx, "ann", cart{})
				if err != nil {
					t.Error(err)
					return
				}
				l.Session, l.ended = s, clock.Add(1)
				mu.Lock()
				logins = append(logins, l)
				mu.Unlock()
			}
		})
	}
	var began, ended []int64
	for range 2 {
		revokers.Go(func() {
			for range 5 {
				time.Sleep(time.Millisecond)
				b := clock.Add(1)
				if _, err := sessions.RevokeUser(ctx, "ann"); err != nil {
					t.Error(err)
				}
				mu.Lock()
				began, ended = append(began, b), append(ended, clock.Add(1))
				mu.Unlock()
			}
		})
	}
	revokers.Wait()
	finished.Store(true)
	all.Wait()
	lived, died := 0, 0
	for _, l := range logins {
		must, may := false, true // be out; be in
		for i := range began {
			if l.ended < began[i] {
				must = true
			}
			if ended[i] > l.began {
				may = false
			}
		}
		switch _, err := sessions.Get(ctx, l.ID); {
		case err == nil:
			if lived++; must {
				t.Errorf("logged in from %d to %d and still in: revoked from %v to %v", l.began, l.ended, began, ended)
			}
		case errors.Is(err, session.ErrNotFound):
			if died++; may {
				t.Errorf("logged in from %d to %d and out: revoked from %v to %v", l.began, l.ended, began, ended)
			}
		default:
			t.Error(err)
		}
	}
	if lived < 40 || died == 0 {
		t.Errorf("%d are in, %d out: this shows little", lived, died)
	}
}

// A session that is revoked while it is touched, updated and expired by others stays revoked.
func TestRevokedStaysRevoked(t *testing.T) {
	ctx := t.Context()
	sessions := open(t, local.Start(t).Client(), session.Options{TouchEvery: -1})
	for i := range 20 {
		s := create(t, sessions, "ann")
		stale := s
		stale.Expires = stale.Expires.Add(-time.Hour)
		var all sync.WaitGroup
		revoked := make(chan struct{})
		for j := range 4 {
			all.Go(func() {
				for range 10 {
					var err error
					switch j {
					case 0:
						_, err = sessions.Touch(ctx, stale)
					case 1:
						_, err = sessions.Change(ctx, s.ID, func(c *cart) error { c.Items++; return nil })
					case 2:
						_, err = sessions.Expire(ctx, s, time.Now().Add(time.Hour))
					case 3:
						_, err = sessions.Visit(ctx, s.ID)
					}
					if err != nil && !errors.Is(err, session.ErrNotFound) {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			defer close(revoked)
			if err := sessions.Revoke(ctx, s.ID); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			<-revoked
			for range 5 {
				if _, err := sessions.Get(ctx, s.ID); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("round %d: got %v", i, err)
				}
			}
		})
		all.Wait()
		if _, err := sessions.Get(ctx, s.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("round %d: in the end: %v", i, err)
		}
	}
	if n, err := sessions.Count(ctx); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}

// A user with many sessions, and one who never stops logging in.
func TestRevokeUserOfMany(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := local.Start(t)
		sessions := open(t, db.Client(), session.Options{})
		for range 300 {
			create(t, sessions, "ann")
		}
		if n, err := sessions.RevokeUser(ctx, "ann"); n != 300 || err != nil {
			t.Errorf("revoked %d, %v", n, err)
		}
		bots, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() {
			for bots.Err() == nil {
				create(t, sessions, "bot")
				time.Sleep(100 * time.Millisecond)
			}
		})
		if n, err := sessions.RevokeUser(ctx, "bot"); n < 10 || err == nil {
			t.Errorf("revoked %d of who never stops, %v", n, err)
		}
		stop()
		all.Wait()

		create(t, sessions, "eve")
		short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		if n, err := sessions.RevokeUser(short, "eve"); n != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("in half a second: revoked %d, %v", n, err)
		}
		client := faulty.On(t, db.Client(), failWrites(faulty.Throttled))
		for i := range 40 {
			create(t, sessions, fmt.Sprint("zoe-", i%2))
		}
		once := openOn(t, client, session.Options{Retry: heatsink.Retry{Attempts: 1}})
		if n, err := once.RevokeUser(ctx, "zoe-0"); n > 19 || err == nil {
			t.Errorf("with a failure: revoked %d, %v", n, err)
		}
		if n, err := once.RevokeUser(ctx, "zoe-0"); n < 1 || err != nil {
			t.Errorf("called again: revoked %d, %v", n, err)
		}
		if n := len(handles(t, sessions.ByUser(ctx, "zoe-0"))); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}
