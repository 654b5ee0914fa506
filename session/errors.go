package session

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// What can become of a session. Errors that wrap these say which session it is, by its handle.
var (
	// ErrNotFound is wrapped when there is no living session: it never was, has expired, or was revoked.
	ErrNotFound = errors.New("session not found")

	// ErrExists is wrapped by Create if the id that was asked for is taken, by a living session or by one that was
	// revoked less than an hour ago.
	ErrExists = errors.New("session exists")

	// ErrConflict is wrapped when the session was changed since it was read.
	ErrConflict = errors.New("session was changed by somebody else")

	// ErrInput is wrapped when an argument cannot be right.
	ErrInput = errors.New("invalid argument")
)

// ErrOptions is wrapped by what Open and Setup return for options that cannot be right.
var ErrOptions = heatsink.ErrOptions

// ErrToken is wrapped by Page for a token that is not one of its own.
var ErrToken = heatsink.ErrToken

// ErrTable is wrapped by Setup if the table is there and not what is needed.
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
