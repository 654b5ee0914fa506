package session

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// What can become of a session. Errors that wrap these say which session it is, by its handle.
var (
	// ErrNotFound is wrapped if there is no live session: it never existed, has expired, or was revoked.
	ErrNotFound = errors.New("session not found")

	// ErrExists is wrapped by Create if the given id belongs to a live session, or to one that was revoked less than an
	// hour ago.
	ErrExists = errors.New("session exists")

	// ErrConflict is wrapped if the session has changed since it was read.
	ErrConflict = errors.New("session was changed concurrently")

	// ErrInput is wrapped if an argument is invalid.
	ErrInput = errors.New("invalid argument")
)

// ErrOptions is wrapped by errors of Open and Setup if options are invalid.
var ErrOptions = heatsink.ErrOptions

// ErrToken is wrapped by errors of Page if the token is not from Page.
var ErrToken = heatsink.ErrToken

// ErrTable is wrapped by errors of Setup if the existing table lacks something.
var ErrTable = schema.ErrMismatch

// refused returns the item that made a write's condition fail, nil if there is none, and whether that is what happened.
func refused(err error) (heatsink.Item, bool) {
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok {
		return nil, false
	}
	return failed.Item, true
}

// lost reports whether an earlier attempt of a write may have succeeded.
func lost(err error) bool {
	_, ok := errors.AsType[*heatsink.UnknownOutcomeError](err)
	return ok
}
