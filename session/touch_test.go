package session_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// never is an interval after which nothing is deleted in a test: what has expired stays in the table.
const never = 1000 * time.Hour

// X31, 000-21: an expired session is not found, listed or counted from the second on, although DynamoDB deletes it
// days later.
func TestExpiredIsGoneAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond) // not at a full second
		client := start(t, local.Options{TTLInterval: never}).Client()
		sessions := open(t, client, session.Options{})
		s := create(t, sessions, "ann")
		if want := time.Now().Add(30*time.Minute + 700*time.Millisecond); !s.Expires.Equal(want) {
			t.Fatalf("expires at %v, want 30 minutes from now, rounded up: %v", s.Expires, want)
		}
		stored, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("sessions")})
		if err != nil || len(stored.Items) != 1 {
			t.Fatalf("stored %v, %v", stored, err)
		}
		if ttl, _ := stored.Items[0]["expires"].(*types.AttributeValueMemberN); ttl == nil || ttl.Value != fmt.Sprint(s.Expires.Unix()) {
			t.Errorf("the expiry is %v, want %d", stored.Items[0]["expires"], s.Expires.Unix())
		}
		if ttl, _ := stored.Items[0]["ttl"].(*types.AttributeValueMemberN); ttl == nil || ttl.Value != fmt.Sprint(s.Expires.Unix()+3600) {
			t.Errorf("the time to live is %v, want an hour later, in seconds", stored.Items[0]["ttl"])
		}
		check := func(alive bool) {
			t.Helper()
			want := 0
			if alive {
				want = 1
			}
			if _, err := sessions.Get(t.Context(), s.ID); errors.Is(err, session.ErrNotFound) == alive {
				t.Errorf("get: %v", err)
			}
			if n, err := sessions.Count(t.Context()); n != want || err != nil {
				t.Errorf("counted %d, %v", n, err)
			}
			if all := handles(t, sessions.List(t.Context())); len(all) != want {
				t.Errorf("listed %v", all)
			}
			if all := handles(t, sessions.ByUser(t.Context(), "ann")); len(all) != want {
				t.Errorf("listed by user: %v", all)
			}
			if page, err := sessions.Page(t.Context(), 10, ""); len(page.Sessions) != want || err != nil {
				t.Errorf("page of %v, %v", page.Sessions, err)
			}
		}
		time.Sleep(time.Until(s.Expires) - 1)
		check(true)
		time.Sleep(time.Nanosecond)
		check(false)
		for what, err := range map[string]error{
			"touch":  second(sessions.Touch(t.Context(), s)),
			"update": second(sessions.Update(t.Context(), s)),
			"expire": second(sessions.Expire(t.Context(), s, time.Now().Add(time.Minute))),
			"visit":  second(sessions.Visit(t.Context(), s.ID)),
			"change": second(sessions.Change(t.Context(), s.ID, func(*cart) error { return nil })),
		} {
			if !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s: got %v, want ErrNotFound", what, err)
			}
		}
		check(false)
		if stored, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("sessions")}); err != nil || stored.Count != 1 {
			t.Fatalf("the item was deleted, so this test shows nothing: %v, %v", stored, err)
		}
	})
}

func second[A any](_ A, err error) error { return err }

// A session lives as long as it is used, and Idle after that, give or take TouchEvery.
func TestTouchSlides(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, start(t, local.Options{TTLInterval: time.Hour}).Client(), session.Options{})
		s := create(t, sessions, "ann")
		for range 100 {
			time.Sleep(29 * time.Minute)
			if _, err := sessions.Visit(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
		}
		last := time.Now()
		s, err := sessions.Get(t.Context(), s.ID)
		if err != nil || s.Expires.Sub(last) != 30*time.Minute {
			t.Errorf("got %v, %v, want 30 minutes from %v", s, err, last)
		}
		time.Sleep(2*time.Minute + 59*time.Second)
		again, err := sessions.Touch(t.Context(), s)
		if err != nil || !again.Expires.Equal(s.Expires) {
			t.Errorf("got %v, %v, want it untouched before 3 minutes have passed", again, err)
		}
		time.Sleep(time.Second)
		again, err = sessions.Touch(t.Context(), s)
		if err != nil || !again.Expires.Equal(time.Now().Add(30*time.Minute)) {
			t.Errorf("got %v, %v, want it touched after 3 minutes", again, err)
		}
		time.Sleep(30 * time.Minute)
		if _, err := sessions.Visit(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("after 30 minutes: got %v", err)
		}
	})
}

func TestTouchStopsAtTheDeadline(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, local.Start(t).Client(), session.Options{MaxAge: 100*time.Minute + 30*time.Second})
		s := create(t, sessions, "ann")
		deadline := time.Now().Add(100*time.Minute + 30*time.Second)
		if !s.Deadline.Equal(deadline) {
			t.Errorf("deadline %v, want %v", s.Deadline, deadline)
		}
		for time.Until(deadline) > time.Minute {
			time.Sleep(time.Minute)
			if _, err := sessions.Visit(t.Context(), s.ID); err != nil {
				t.Fatalf("%v before the deadline: %v", time.Until(deadline), err)
			}
		}
		time.Sleep(time.Until(deadline) - 1)
		if s, err := sessions.Visit(t.Context(), s.ID); err != nil || !s.Expires.Equal(deadline) {
			t.Errorf("just before the deadline: %v, %v", s, err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := sessions.Visit(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("at the deadline: got %v", err)
		}
	})
}

// Sessions differ: one that is remembered for a month is touched once in three days, one of a minute before it is over.
func TestSessionsOfTheirOwnTerms(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t, local.Options{TTLInterval: time.Hour}).Client()
		sessions := open(t, client, session.Options{MaxAge: 12 * time.Hour})
		month, minute := 30*24*time.Hour, time.Minute
		long := create(t, sessions, "ann", session.WithIdle(month), session.WithMaxAge(0))
		if !long.Deadline.IsZero() || long.Idle != month || !long.Expires.Equal(time.Now().Add(month)) {
			t.Errorf("got %+v", long)
		}
		time.Sleep(71 * time.Hour)
		if s, err := sessions.Visit(t.Context(), long.ID); err != nil || !s.Expires.Equal(long.Expires) {
			t.Errorf("after 71 hours: %v, %v", s, err)
		}
		time.Sleep(time.Hour)
		if s, err := sessions.Visit(t.Context(), long.ID); err != nil || !s.Expires.Equal(time.Now().Add(month)) {
			t.Errorf("after 72 hours: %v, %v", s, err)
		}

		rarely := openOn(t, client, session.Options{TouchEvery: time.Hour})
		short := create(t, rarely, "ann", session.WithIdle(minute))
		time.Sleep(31 * time.Second)
		if s, err := rarely.Visit(t.Context(), short.ID); err != nil || s.Expires.Sub(short.Expires) != 31*time.Second {
			t.Errorf("a session of a minute is not touched in time: %v, %v", s, err)
		}
		part := create(t, sessions, "ann", session.WithIdle(1500*time.Millisecond), session.WithMaxAge(time.Second))
		if part.Idle != 2*time.Second || !part.Expires.Equal(part.Deadline) || time.Until(part.Expires) != time.Second {
			t.Errorf("got %+v", part)
		}
	})
}

// A clock that is behind neither shortens a session's life nor touches it.
func TestTouchNeverShortens(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, local.Start(t).Client(), session.Options{TouchEvery: -1})
		s := create(t, sessions, "ann")
		time.Sleep(10 * time.Minute)
		ahead, err := sessions.Touch(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		// What was read before somebody else's touch, and a session whose expiry a faster clock has set.
		stale := s
		stale.Expires = s.Expires.Add(-time.Hour)
		for _, s := range []session.Session[cart]{stale, ahead} {
			if got, err := sessions.Touch(t.Context(), s); err != nil || !got.Expires.Equal(ahead.Expires) {
				t.Errorf("got %v, %v, want %v", got, err, ahead)
			}
		}
	})
}

func TestExpireBoundsALife(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, local.Start(t).Client(), session.Options{TouchEvery: -1})
		s := create(t, sessions, "ann")
		later, err := sessions.Expire(t.Context(), s, time.Now().Add(time.Hour))
		if err != nil || !later.Expires.Equal(s.Expires) || !later.Deadline.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("in an hour: got %+v, %v", later, err)
		}
		time.Sleep(20 * time.Minute)
		// A touch of somebody who has not heard of the deadline.
		time.Sleep(5 * time.Minute)
		if s, err = sessions.Touch(t.Context(), s); err != nil || !s.Expires.Equal(time.Now().Add(30*time.Minute)) {
			t.Errorf("touch: %v, %v", s, err)
		}
		time.Sleep(10 * time.Minute)
		stale := s
		stale.Deadline = time.Time{}
		if s, err = sessions.Touch(t.Context(), stale); err != nil || !s.Expires.Equal(later.Deadline) || !s.Deadline.Equal(later.Deadline) {
			t.Errorf("touch beyond the deadline: %+v, %v, want %v", s, err, later.Deadline)
		}
		// Never later than before, and twice is once.
		for _, in := range []time.Duration{time.Minute, time.Minute, 2 * time.Hour} {
			s, err = sessions.Expire(t.Context(), stale, time.Now().Add(in))
			if err != nil || !s.Expires.Equal(time.Now().Add(time.Minute)) || !s.Deadline.Equal(s.Expires) {
				t.Errorf("in %v: got %+v, %v", in, s, err)
			}
		}
		time.Sleep(59 * time.Second)
		if _, err := sessions.Visit(t.Context(), s.ID); err != nil {
			t.Error(err)
		}
		if _, err := sessions.Expire(t.Context(), s, time.Now()); err != nil {
			t.Error(err)
		}
		if _, err := sessions.Get(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("expired now: got %v", err)
		}
		if _, err := sessions.Expire(t.Context(), s, time.Now()); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("expired again: got %v", err)
		}
	})
}
