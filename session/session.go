package session

import (
	"cmp"
	"fmt"
	"time"
)

// Session is a session as it was when it was read or written.
type Session[T any] struct {
	// ID is the secret that gives access to the session. It is empty in lists, because it is not stored, and it is left
	// out of JSON.
	ID string `json:"-"`

	// Handle identifies the session in the table. It gives no access: it can be shown, logged and passed to
	// RevokeHandle.
	Handle string

	User string // "" if the session has none
	Data T

	// Version changes with the data. It has no other meaning; compare it for equality only.
	Version string

	Created  time.Time
	Expires  time.Time     // end of the session, unless it is touched
	Deadline time.Time     // latest possible end; the zero time if there is none
	Idle     time.Duration // how long it lives after a touch
}

// String describes the session without its secret and its data.
func (s Session[T]) String() string {
	user := ""
	if s.User != "" {
		user = fmt.Sprintf(" of %q", s.User)
	}
	return fmt.Sprintf("session %s%s until %s", s.Handle, user, s.Expires.UTC().Format(time.RFC3339))
}

// extended returns when the session would end if it were touched now.
func (s *Session[T]) extended(now time.Time) time.Time {
	expires := roundUp(now.Add(s.Idle))
	if !s.Deadline.IsZero() && s.Deadline.Before(expires) {
		return s.Deadline
	}
	return expires
}

// due reports whether it is worth a write to let the session live until expires.
func (s *Session[T]) due(expires time.Time, every time.Duration) bool {
	every = cmp.Or(every, s.Idle/10)
	moved := expires.Sub(s.Expires)
	return moved > 0 && (moved >= min(every, s.Idle/2) || expires.Equal(s.Deadline))
}

// roundUp returns the next full second: that is what DynamoDB's time to live is counted in.
func roundUp(t time.Time) time.Time {
	up := t.Truncate(time.Second)
	if up.Before(t) {
		up = up.Add(time.Second)
	}
	return up.UTC()
}
