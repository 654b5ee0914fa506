package session_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// Answers that are lost and requests that are refused for their rate do not show: everything is done once.
func TestLostAnswers(t *testing.T) {
	for name, script := range map[string][]faulty.Fault{
		"lost after": {faulty.LostAnswer}, "lost before": {faulty.LostRequest}, "both": {faulty.LostRequest, faulty.LostAnswer, faulty.Throttled}, "throttled": {faulty.Throttled, faulty.Throttled},
		"throttled after a loss": {faulty.LostAnswer, faulty.Throttled, faulty.LostAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				ctx := t.Context()
				db := local.Start(t)
				plain := open(t, db.Client(), session.Options{})
				client := faulty.On(t, db.Client(), nil)
				sessions := openOn(t, client, session.Options{TouchEvery: -1})
				fail := func() { client.Decide(failWrites(script...)) }

				fail()
				s, err := sessions.Create(ctx, "ann", cart{Items: 1}, session.WithID("one"))
				if err != nil {
					t.Fatalf("create: %v", err)
				}
				time.Sleep(time.Minute)
				fail()
				if s, err = sessions.Touch(ctx, s); err != nil || time.Until(s.Expires) < 29*time.Minute+50*time.Second {
					t.Errorf("touch: %v, %v", s, err)
				}
				before := s
				fail()
				s.Data.Items = 2
				if s, err = sessions.Update(ctx, s); err != nil || s.Version == before.Version {
					t.Errorf("update: %+v, %v", s, err)
				}
				fail()
				if s, err = sessions.Change(ctx, "one", func(c *cart) error { c.Items++; return nil }); err != nil || s.Data.Items != 3 {
					t.Errorf("change: %+v, %v", s, err)
				}
				fail()
				if s, err = sessions.Expire(ctx, s, time.Now().Add(10*time.Minute)); err != nil {
					t.Errorf("expire: %v", err)
				}
				if got, err := plain.Get(ctx, "one"); err != nil || got != s {
					t.Errorf("got %+v, %v, want %+v", got, err, s)
				}
				fail()
				if err := sessions.Revoke(ctx, "one"); err != nil {
					t.Errorf("revoke: %v", err)
				}
				if _, err := plain.Get(ctx, "one"); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("revoked: %v", err)
				}
				if n, err := plain.Count(ctx); n != 0 || err != nil {
					t.Errorf("%d are left, %v", n, err)
				}
			})
		})
	}
}

// An update whose answer is lost, and on top of which somebody has written before it is tried again, may have been
// made: only then does it say so. If somebody has written instead of it, it is known not to have been.
func TestLostUpdateOvertaken(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db := local.Start(t)
		plain := open(t, db.Client(), session.Options{})
		client := faulty.On(t, db.Client(), nil)
		// The first retry comes after this, when somebody else has written.
		sessions := openOn(t, client, session.Options{Retry: heatsink.Retry{Base: 10 * time.Second, Max: 10 * time.Second}})
		overtake := func(id string) {
			go func() {
				time.Sleep(time.Microsecond)
				if _, err := plain.Change(ctx, id, func(c *cart) error { c.Items += 10; return nil }); err != nil {
					t.Error(err)
				}
			}()
		}
		s := create(t, plain, "ann")
		client.Decide(failWrites(faulty.LostAnswer))
		overtake(s.ID)
		changed := s
		changed.Data.Items = 1
		if _, err := sessions.Update(ctx, changed); !lostOutcome(err) || errors.Is(err, session.ErrConflict) {
			t.Errorf("done and overtaken: got %v", err)
		}
		if got, err := plain.Get(ctx, s.ID); err != nil || got.Data.Items != 11 {
			t.Errorf("got %+v, %v", got, err)
		}

		s = create(t, plain, "ann")
		client.Decide(failWrites(faulty.LostRequest))
		overtake(s.ID)
		changed = s
		changed.Data.Items = 1
		current, err := sessions.Update(ctx, changed)
		if !errors.Is(err, session.ErrConflict) || lostOutcome(err) || current.Data.Items != 10 || current.ID != s.ID {
			t.Errorf("not done and overtaken: got %+v, %v", current, err)
		}

		s = create(t, plain, "ann")
		client.Decide(failWrites(faulty.LostAnswer))
		go func() {
			time.Sleep(time.Microsecond)
			if err := plain.Revoke(ctx, s.ID); err != nil {
				t.Error(err)
			}
		}()
		if _, err := sessions.Update(ctx, s); !errors.Is(err, session.ErrNotFound) || !lostOutcome(err) {
			t.Errorf("done and revoked: got %v", err)
		}
	})
}

func lostOutcome(err error) bool { return errors.As(err, new(*heatsink.UnknownOutcomeError)) }

// A visit whose touch fails finds the session all the same. The log says so, with the handle and without the id.
func TestVisitOutlivesAFailedTouch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		db := local.Start(t)
		open(t, db.Client(), session.Options{})
		client := faulty.On(t, db.Client(), nil)
		sessions := openOn(t, client, session.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Retry: heatsink.Retry{Attempts: 2}})
		s := create(t, sessions, "ann")
		time.Sleep(10 * time.Minute)
		client.Decide(failWrites(faulty.Throttled, faulty.Throttled))
		got, err := sessions.Visit(t.Context(), s.ID)
		if err != nil || got != s {
			t.Errorf("got %v, %v, want %v", got, err, s)
		}
		if text := log.String(); !strings.Contains(text, "session not touched") || !strings.Contains(text, s.Handle) || strings.Contains(text, s.ID) {
			t.Errorf("logged %q", text)
		}
		if got, err = sessions.Visit(t.Context(), s.ID); err != nil || !got.Expires.After(s.Expires) {
			t.Errorf("the next visit: %v, %v", got, err)
		}
		// Revoked between the read and the touch.
		time.Sleep(10 * time.Minute)
		revoking := &between{Client: db.Client(), do: func() {
			if err := sessions.Revoke(t.Context(), s.ID); err != nil {
				t.Error(err)
			}
		}}
		if _, err := openOn(t, revoking, session.Options{}).Visit(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("revoked in between: got %v", err)
		}
	})
}

// between is a client that does something between a read and what follows.
type between struct {
	session.Client
	do func()
}

func (b *between) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	defer b.do()
	return b.Client.GetItem(ctx, in, opts...)
}

// Every write, sent again up to a quarter of an hour later, is harmless: no session is revived, faulty.None lives longer or
// shorter, no data change.
func TestLateDuplicates(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		client := faulty.On(t, start(t, local.Options{TTLInterval: time.Second}).Client(), nil)
		if err := session.Setup(ctx, client.Direct, session.Options{Table: "sessions"}); err != nil {
			t.Fatal(err)
		}
		sessions := openOn(t, client, session.Options{TouchEvery: -1, Idle: time.Hour, Settle: -1})
		s := create(t, sessions, "ann", session.WithID("one"))
		again := func(check func()) {
			t.Helper()
			for _, w := range writesOf(client) {
				if time.Since(w.At) < 15*time.Minute {
					_ = w.Again() // most conditions fail
					check()
				}
			}
		}
		check := func(what string) {
			t.Helper()
			again(func() {
				if got, err := sessions.Get(ctx, s.ID); err != nil || got != s {
					t.Errorf("%s: got %+v, %v, want %+v", what, got, err, s)
				}
			})
		}
		gone := func(what, id string) {
			t.Helper()
			again(func() {
				if got, err := sessions.Get(ctx, id); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("%s: got %v, %v", what, got, err)
				}
				if n := len(handles(t, sessions.ByUser(ctx, "ann"))); n != 0 {
					t.Errorf("%s: %d are listed", what, n)
				}
			})
		}
		var err error
		check("created")
		for range 3 {
			time.Sleep(time.Minute)
			if s, err = sessions.Touch(ctx, s); err != nil {
				t.Fatal(err)
			}
			check("touched")
			if s, err = sessions.Change(ctx, s.ID, func(c *cart) error { c.Items++; return nil }); err != nil {
				t.Fatal(err)
			}
			check("changed")
		}
		if s, err = sessions.Expire(ctx, s, time.Now().Add(5*time.Minute)); err != nil {
			t.Fatal(err)
		}
		check("about to expire")
		time.Sleep(5 * time.Minute)
		gone("expired", s.ID)
		time.Sleep(time.Minute) // it is deleted now
		gone("deleted", s.ID)

		s = create(t, sessions, "ann", session.WithID("two"))
		if err := sessions.Revoke(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
		for range 15 {
			gone("revoked", s.ID)
			time.Sleep(time.Minute)
		}
		s = create(t, sessions, "ann", session.WithID("three"))
		if n, err := sessions.RevokeUser(ctx, "ann"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		gone("revoked with all of the user's", s.ID)
	})
}

// A touch that was sent in time and arrives late lets the session live as of when it was sent, not longer, and not if
// it was revoked meanwhile. This is the one thing that comes back, and documented.
func TestLateTouch(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, local.Options{TTLInterval: never})
		plain := open(t, db.Client(), session.Options{})
		for _, revoked := range []bool{false, true} {
			s := create(t, plain, "ann")
			time.Sleep(29 * time.Minute)
			sent := time.Now()
			late := faulty.On(t, db.Client(), faulty.Always(faulty.Late).Of("UpdateItem"))
			late.Delay(faulty.Exactly(2 * time.Minute))
			if _, err := openOn(t, late, session.Options{}).Touch(t.Context(), s); err == nil {
				t.Error("a touch without an answer succeeded")
			}
			if revoked {
				if err := plain.Revoke(t.Context(), s.ID); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(90 * time.Second)
			if _, err := plain.Get(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("expired: %v", err)
			}
			time.Sleep(time.Minute)
			late.Wait()
			got, err := plain.Get(t.Context(), s.ID)
			if revoked {
				if !errors.Is(err, session.ErrNotFound) {
					t.Errorf("revoked: got %v, %v", got, err)
				}
			} else if err != nil || got.Expires.Sub(sent) != 30*time.Minute {
				t.Errorf("got %v, %v, want 30 minutes from %v", got, err, sent)
			}
		}
	})
}

// Requests of one session that count in its data, through a client that loses answers: what was acknowledged is
// counted once, what was left open once at most.
func TestChangeCountsOnce(t *testing.T) {
	for name, rate := range map[string]int{"no faults": 0, "faults": 30} {
		t.Run(name, func(t *testing.T) {
			db := local.Start(t)
			plain := open(t, db.Client(), session.Options{})
			luck := rand.New(rand.NewPCG(1, 2))
			client := faulty.On(t, db.Client(), faulty.Random(luck, rate, faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.Late))
			client.Delay(faulty.UpTo(luck, time.Millisecond))
			sessions := openOn(t, client, session.Options{Retry: heatsink.Retry{Attempts: 20, Base: time.Microsecond, Max: time.Millisecond, Burst: 10_000}})
			s := create(t, plain, "ann")
			const workers, each = 8, 15
			var all sync.WaitGroup
			var mu sync.Mutex
			done, open := 0, 0
			for range workers {
				all.Go(func() {
					for range each {
						_, err := sessions.Change(t.Context(), s.ID, func(c *cart) error { c.Items++; return nil })
						mu.Lock()
						switch {
						case err == nil:
							done++
						case lostOutcome(err):
							open++
						default:
							t.Error(err)
						}
						mu.Unlock()
					}
				})
				all.Go(func() {
					for range each { // touches must not disturb, nor be disturbed
						stale := s
						stale.Expires = stale.Expires.Add(-time.Hour)
						if _, err := sessions.Touch(t.Context(), stale); err != nil && !lostOutcome(err) {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			client.Wait()
			got, err := plain.Get(t.Context(), s.ID)
			if err != nil || got.Data.Items < done || got.Data.Items > done+open || done+open != workers*each {
				t.Errorf("counted %d, %v; %d were acknowledged and %d left open", got.Data.Items, err, done, open)
			}
			if rate == 0 && open > 0 {
				t.Errorf("%d left open without a fault", open)
			}
		})
	}
}

// A session whose answer was lost, and that others have touched, changed or revoked before it is created again, is told
// from another session with its id.
func TestCreateAgainAfterALostAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		fault   faulty.Fault
		between func(t *testing.T, others *session.Store[cart])
		want    error // nil: it is created
		unknown bool
	}{
		"touched": {faulty.LostAnswer, func(t *testing.T, others *session.Store[cart]) {
			if _, err := others.Visit(t.Context(), "one"); err != nil {
				t.Error(err)
			}
		}, nil, false},
		"changed": {faulty.LostAnswer, func(t *testing.T, others *session.Store[cart]) {
			if _, err := others.Change(t.Context(), "one", func(c *cart) error { c.Items++; return nil }); err != nil {
				t.Error(err)
			}
		}, nil, false},
		"revoked": {faulty.LostAnswer, func(t *testing.T, others *session.Store[cart]) {
			if err := others.Revoke(t.Context(), "one"); err != nil {
				t.Error(err)
			}
		}, nil, true},
		"another's": {faulty.LostRequest, func(t *testing.T, others *session.Store[cart]) {
			if _, err := others.Create(t.Context(), "ann", cart{Items: 1}, session.WithID("one")); err != nil {
				t.Error(err)
			}
		}, session.ErrExists, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := local.Start(t)
				others := open(t, db.Client(), session.Options{TouchEvery: -1})
				client := faulty.On(t, db.Client(), failWrites(c.fault))
				sessions := openOn(t, client, session.Options{Retry: heatsink.Retry{Base: time.Minute, Max: time.Minute}})
				var all sync.WaitGroup
				all.Go(func() {
					_, err := sessions.Create(t.Context(), "ann", cart{Items: 1}, session.WithID("one"))
					unknown := errors.As(err, new(*heatsink.UnknownOutcomeError)) && !errors.Is(err, session.ErrExists)
					if unknown != c.unknown || !c.unknown && !errors.Is(err, c.want) {
						t.Errorf("got %v, want %v, unknown %v", err, c.want, c.unknown)
					}
				})
				synctest.Wait()
				time.Sleep(time.Millisecond)
				c.between(t, others)
				all.Wait()
			})
		})
	}
}
