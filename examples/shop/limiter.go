package main

import (
	"context"
	"net/http"
	"time"

	"github.com/heatsink-go/heatsink/ratelimit"
)

// limiter bounds what each client of the API may ask about orders, over all processes. A client is an app or a partner, so that
// its key is a hot one.
type limiter struct{ *ratelimit.Limiter }

func openLimiter(ctx context.Context, db *database, how spread, limit int) (*limiter, error) {
	options := ratelimit.Options{
		Table: how.prefix + "limits", Limit: limit, Window: time.Minute, Lease: how.lease,
		FailOpen: true, // a shop goes on selling when its limiter cannot be asked
	}
	if err := ratelimit.Setup(ctx, db.client, options); err != nil {
		return nil, err
	}
	l, err := ratelimit.Open(db.client, options)
	return &limiter{l}, err
}

// limited lets a handler answer only as often as the client of the request may ask.
func (s *shop) limited(next handler) handler {
	return func(r *http.Request) (answer, error) {
		client, err := clientOf(r)
		if err != nil {
			return answer{}, err
		}
		decision, err := s.limiter.Allow(r.Context(), client)
		if err != nil {
			s.log.Debug("limiter", "client", client, "error", err) // the decision says what to do
		}
		if !decision.Allowed {
			return answer{}, &problem{
				Status: http.StatusTooManyRequests, Code: "limited", After: max(decision.RetryAfter, time.Second),
				Message: "this client has sent too many requests: wait as long as Retry-After says",
			}
		}
		return next(r)
	}
}

// clientOf returns who sends a request. In a real shop that would be checked.
func clientOf(r *http.Request) (string, error) {
	client := r.Header.Get("X-Client")
	if !plain.MatchString(client) {
		return "", bad("header X-Client is %q: want the name of your program, "+plainWords, client)
	}
	return client, nil
}
