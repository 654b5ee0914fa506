package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
)

// problem is the answer to a request that failed: a status, a code for programs and words for people.
type problem struct {
	Status  int           `json:"-"`
	Code    string        `json:"code"`
	Message string        `json:"message"`
	After   time.Duration `json:"-"` // when to try again; 0: do not say
}

func (p *problem) Error() string { return p.Message }

// bad is a request that cannot be understood.
func bad(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "bad_request", Message: fmt.Sprintf(format, args...)}
}

// conflict is a request that does not fit what is there.
func conflict(format string, args ...any) error {
	return &problem{Status: http.StatusConflict, Code: "conflict", Message: fmt.Sprintf(format, args...)}
}

// unknown reports whether nobody can tell if a write has happened.
func unknown(err error) bool {
	return errors.As(err, new(*heatsink.UnknownOutcomeError)) || errors.Is(err, counter.ErrUncertain)
}

// problemOf returns what a client is told about an error. Errors of DynamoDB name tables and keys, so their text stays here.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &problem{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Message: fmt.Sprintf("the body has more than %d bytes", large.Limit)}
	}
	switch {
	case unknown(err): // first: whatever else the error says, the write may have happened
		return &problem{Status: http.StatusInternalServerError, Code: "outcome_unknown", Message: "an answer was lost, so this may or may not have happened"}
	case errors.Is(err, heatsink.ErrToken):
		return &problem{Status: http.StatusBadRequest, Code: "bad_page", Message: "this page is not of this list: begin with the first one"}
	case errors.Is(err, heatsink.ErrNotFound):
		return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such thing"}
	case heatsink.Throttled(err):
		return &problem{Status: http.StatusServiceUnavailable, Code: "throttled", Message: "too busy, nothing has changed: try again", After: time.Second}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{Status: http.StatusServiceUnavailable, Code: "timeout", Message: "this took too long, nothing has changed: try again", After: time.Second}
	}
	return &problem{Status: http.StatusInternalServerError, Code: "internal", Message: "something is wrong here, and was logged"}
}

// halfDone returns an error of the second of two writes. A client must not read that nothing has changed.
func halfDone(err error, done string) error {
	p := problemOf(err)
	if p.Status != http.StatusServiceUnavailable {
		return err
	}
	return &problem{Status: p.Status, Code: "half_done", Message: done, After: p.After}
}

// describe sets the headers of a problem.
func (p *problem) describe(h http.Header) {
	if p.After > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.After.Seconds()))))
	}
}
