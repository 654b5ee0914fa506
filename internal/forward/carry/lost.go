package carry

import (
	"errors"
	"fmt"
)

// LostError says that an answer to the user's own write was lost, and that no later answer shows what became of it. The write may have
// happened, and may still happen. It never wraps ErrStale, nor a condition that failed for a repeated attempt: the first attempt may be why.
type LostError struct{ Err error }

func (e *LostError) Error() string { return "an answer was lost: " + e.Err.Error() }

func (e *LostError) Unwrap() error { return e.Err }

// lostBefore returns the error of an operation that has ended with err. lost is the error of the attempt whose answer was lost, or nil.
func lostBefore(lost, err error) error {
	switch {
	case lost == nil:
		return err
	case errors.Is(err, lost):
		return &LostError{err}
	case errors.Is(err, ErrStale):
		return &LostError{fmt.Errorf("%w; it was not repeated: %v", lost, err)}
	}
	return &LostError{fmt.Errorf("%w; then: %w", lost, err)}
}
