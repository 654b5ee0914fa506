package counter

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/schema"
)

var (
	// ErrUncertain is wrapped by the error of an Add that may be counted, now or later. It occurs if the context ended,
	// or the counter was closed, while the Add was being sent. After any other error the Add is not counted and never
	// will be, so it can be repeated.
	ErrUncertain = errors.New("it may be counted")

	// ErrOverflow is wrapped if a sum does not fit an int64: the sum of one process, or a total.
	ErrOverflow = errors.New("the sum does not fit an int64")

	// ErrClosed is wrapped by all operations of a Counter after Close.
	ErrClosed = errors.New("counter is closed")

	// ErrBusy is wrapped if all Options.MaxCounters counters in memory have Adds under way, so that there is no room
	// for another. It is also wrapped if resets and folds by other processes interrupt an operation too often.
	ErrBusy = errors.New("too many concurrent changes")

	// ErrCorrupt is wrapped if an item was not written by this package.
	ErrCorrupt = errors.New("the item was not written by package counter")

	// ErrOrigin is wrapped if the attribute of Options.Origin is no whole number, or is gone after it was imported.
	ErrOrigin = errors.New("the attribute of before cannot be counted")

	// ErrTable is wrapped by Setup if the table does not have the required key.
	ErrTable = schema.ErrMismatch
)

// AddError reports an Add that was not acknowledged.
type AddError struct {
	Key   string
	Delta int64

	// Uncertain is set if the Add may be counted nevertheless; the error then also wraps ErrUncertain. Otherwise the
	// Add is not counted and never will be.
	Uncertain bool

	Err error
}

func (e *AddError) Error() string {
	outcome := "not counted"
	if e.Uncertain {
		outcome = ErrUncertain.Error()
	}
	return fmt.Sprintf("add %d to counter %q: %s: %v", e.Delta, e.Key, outcome, e.Err)
}

// Unwrap returns the reason and, if the outcome is uncertain, ErrUncertain.
func (e *AddError) Unwrap() []error {
	if e.Uncertain {
		return []error{e.Err, ErrUncertain}
	}
	return []error{e.Err}
}

// LostError is returned by Close and Flush if Adds of AddAsync could not be stored. Some of them may be stored, if the
// reason is a lost answer.
type LostError struct {
	Adds int64 // number of Adds
	Err  error // the reason
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%d asynchronous adds may not be counted: %v", e.Adds, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }
