// Package lease bounds how long a process uses what it has read. DynamoDB refuses a request whose signature is older or newer
// than a quarter of an hour. So a request that is signed within a lease cannot take effect long after it, whatever stops the
// process meanwhile and whatever its clock shows: a wrong clock only makes requests fail.
//
// This needs a server that checks the time of signatures. DynamoDB does. DynamoDB Local, DAX and proxies that sign requests anew
// do not.
package lease

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/heatsink-go/heatsink/internal/dispatch"
)

const (
	// Term is how long what was read may be used: requests are signed with it up to so long after the read was signed.
	Term = time.Minute
	// Lateness bounds how far the time at which a request takes effect is from its signature, both ways.
	Lateness = 15 * time.Minute
	// Wait is how long to wait after a change, by the signatures of the one who waits, until no request that was built on what
	// was there before can take effect. A read of before was signed at most Lateness after the change. Requests with it were
	// signed within Term, and took effect within Lateness. The change itself and the end of the wait are known by their own
	// signatures only, each off by Lateness. The rest, Slack, is for the time between a stamp in a request and its signature.
	Wait = Term + 4*Lateness + Slack
	// Slack is how far the time that a request carries may be before its signature: see Near.
	Slack = time.Minute
)

var (
	// ErrOver is wrapped when a request would have been signed after its lease. It was not sent: read anew, and begin again.
	ErrOver = errors.New("what the request is built on was read too long ago")
	// ErrOff is wrapped when a request would have been signed with another time than the one that it carries. It was not sent: take
	// the time of a new signature, and begin again.
	ErrOff = errors.New("the request is not signed at the time that it carries")
	// ErrUnsigned is wrapped when a request was not signed here, so that nothing bounds when it takes effect.
	ErrUnsigned = errors.New("the client does not sign its requests, or does not pass on options")
)

// Stamp is when a request was signed. Its methods are safe for concurrent use.
type Stamp struct {
	mu sync.Mutex
	at time.Time
}

// Note is an option for one request, whose signature it notes: the first one, if there are several attempts.
func (s *Stamp) Note(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, after("heatsink: note the signature", func(signed time.Time) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.at.IsZero() || signed.Before(s.at) {
			s.at = signed
		}
		return nil
	}))
}

// Time returns when the request was signed. The error wraps ErrUnsigned.
func (s *Stamp) Time() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() {
		return time.Time{}, ErrUnsigned
	}
	return s.at, nil
}

// Lease is the time within which requests may be signed.
type Lease struct{ until time.Time }

// New returns the lease on what a request has read. The error wraps ErrUnsigned.
func New(read *Stamp) (Lease, error) {
	at, err := read.Time()
	return Lease{at.Add(Term)}, err
}

// Earlier returns the one of two leases that ends first, for a request that is built on both.
func (l Lease) Earlier(m Lease) Lease {
	if m.until.Before(l.until) {
		return m
	}
	return l
}

// Bind is an option for one request. If it would be signed after the lease, it fails with ErrOver and is not sent.
func (l Lease) Bind(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, after("heatsink: keep the lease", func(signed time.Time) error {
		if signed.After(l.until) {
			return &dispatch.NotSentError{Err: fmt.Errorf("%w: signed at %s, and the lease was until %s",
				ErrOver, signed.Format(time.RFC3339), l.until.Format(time.RFC3339))}
		}
		return nil
	}))
}

// Near is an option for one request that carries the time at. If it would be signed before that, or more than Slack after it, it fails
// with ErrOff and is not sent. Signatures have whole seconds.
func Near(at time.Time) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, after("heatsink: carry the time of the signature", func(signed time.Time) error {
			if signed.Before(at.Truncate(time.Second)) || signed.After(at.Add(Slack)) {
				return &dispatch.NotSentError{Err: fmt.Errorf("%w: signed at %s, and it carries %s",
					ErrOff, signed.Format(time.RFC3339), at.UTC().Format(time.RFC3339))}
			}
			return nil
		}))
	}
}

// Over reports whether a lease has ended by this machine's clock. It saves a request that Bind would refuse.
func (l Lease) Over(now time.Time) bool { return now.After(l.until) }

// after returns an option that calls check for each signature of a request, before it is sent.
func after(id string, check func(signed time.Time) error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc(id, func(
			ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
		) (middleware.FinalizeOutput, middleware.Metadata, error) {
			r, ok := in.Request.(*smithyhttp.Request)
			if !ok {
				return next.HandleFinalize(ctx, in)
			}
			signed, err := signedAt(r.Header)
			if err == nil {
				err = check(signed)
			}
			if err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			return next.HandleFinalize(ctx, in)
		}), "Signing", middleware.After)
	}
}

// signedAt returns the time in a signature's header, which is what the server checks.
func signedAt(h http.Header) (time.Time, error) {
	at, err := time.Parse("20060102T150405Z", h.Get("X-Amz-Date"))
	if err != nil {
		return at, &dispatch.NotSentError{Err: fmt.Errorf("%w: %w", ErrUnsigned, err)}
	}
	return at, nil
}
