package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// What can become of an item. Errors that wrap these say which item it is.
var (
	// ErrNotFound is wrapped if there is no item: it never existed, has expired, or was deleted.
	ErrNotFound = errors.New("item not found")

	// ErrConflict is wrapped if the item does not have the version that IfVersion states.
	ErrConflict = errors.New("item has another version")

	// ErrVersion is wrapped by Get if the primary has an older version than AtLeast demands.
	ErrVersion = errors.New("the version was never stored, or was lost")

	// ErrInput is wrapped if an argument is invalid.
	ErrInput = errors.New("invalid argument")
)

// ErrOptions is wrapped by errors of Open and Setup if options are invalid.
var ErrOptions = heatsink.ErrOptions

// ErrTable is wrapped by errors of Setup if the existing table lacks something.
var ErrTable = schema.ErrMismatch

// LaggingError says that a write has happened, but that some copies do not have it. Readers of these copies may see
// an older version until MaxStale is over. Do not repeat the write: call Repair, or wait.
type LaggingError struct {
	ID       string
	Version  Version       // which the primary has
	Lagging  int           // the number of copies that may not have it
	Copies   int           // of how many
	MaxStale time.Duration // of the writer
	Err      error         // why they do not have it, each of them; may wrap a heatsink.UnknownOutcomeError for each copy
}

func (e *LaggingError) Error() string {
	return fmt.Sprintf("item %q: version %d is stored, but %d of %d copies may be older for up to %v: %s",
		e.ID, e.Version, e.Lagging, e.Copies, e.MaxStale, first(e.Err))
}

// first returns the text of an error. Of several that are joined it has the first three: there may be a thousand copies.
func first(err error) string {
	const most = 3
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Sprint(err)
	}
	faults := joined.Unwrap()
	if len(faults) <= most {
		return err.Error()
	}
	return fmt.Sprintf("%v\nand %d more", errors.Join(faults[:most]...), len(faults)-most)
}

// Is reports whether an error of a copy is target.
func (e *LaggingError) Is(target error) bool { return errors.Is(e.Err, target) }

// As finds target among the errors of the copies, but no heatsink.UnknownOutcomeError. The outcome of a copy may be
// unknown, but the outcome of the write is known: it is stored, and a caller must not repeat it. There is no Unwrap, because
// errors.As would follow it.
func (e *LaggingError) As(target any) bool {
	if _, unknown := target.(**heatsink.UnknownOutcomeError); unknown {
		return false
	}
	return errors.As(e.Err, target)
}

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
