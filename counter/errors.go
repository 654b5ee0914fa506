package counter

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink/internal/schema"
)

var (
	// ErrUncertain is wrapped by the error of an Add that may be counted, now or later, although nobody can say so: its
	// context ended, or the counter was closed, while it was on its way. All other errors of Add say that it is not
	// counted and never will be, so that it can be tried again.
	ErrUncertain = errors.New("it may be counted")

	// ErrOverflow is wrapped when a number does not fit an int64: what one process has added to a counter, or a total.
	ErrOverflow = errors.New("too large for an int64")

	// ErrClosed is wrapped by all operations of a Counter after Close.
	ErrClosed = errors.New("counter is closed")

	// ErrBusy is wrapped when there is no room for another counter in memory, because Options.MaxCounters of them all
	// have Adds under way; and when a read finds a counter changed by resets or folds again and again.
	ErrBusy = errors.New("too much going on")

	// ErrCorrupt is wrapped when an item is not what this package has written.
	ErrCorrupt = errors.New("not an item of a counter")

	// ErrTable is wrapped by Setup when the table is not what is needed.
	ErrTable = schema.ErrMismatch
)

// AddError says what became of an Add that was not acknowledged.
type AddError struct {
	Key   string
	Delta int64

	// Uncertain is set if the Add may be counted all the same; then the error also is ErrUncertain. If not, it is not
	// counted and never will be.
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

// Unwrap returns the reason, and ErrUncertain if it is.
func (e *AddError) Unwrap() []error {
	if e.Uncertain {
		return []error{e.Err, ErrUncertain}
	}
	return []error{e.Err}
}

// LostError is returned by Close and Flush if Adds that were acknowledged in advance, by AddAsync, could not be stored.
// Some of them may be, if the reason is that answers got lost.
type LostError struct {
	Adds int64 // how many
	Err  error // why
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%d adds that nobody waited for are not known to be counted: %v", e.Adds, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }
