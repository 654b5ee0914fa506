package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// AllowanceError ends a read that needs more requests than Config.MaxRequests allows.
type AllowanceError struct {
	Sent     int // requests that have been sent
	Returned int // entries that have been returned
	More     int // requests that the next entry takes, at least
	Stage    int // where they would be sent
}

func (e *AllowanceError) Error() string {
	return fmt.Sprintf("%d requests sent and %d entries returned: the next %d requests, in stage %d, are more than allowed",
		e.Sent, e.Returned, e.More, e.Stage)
}

// MissingError says which shards a read is without. Its errors are those that Config.Lost knows.
type MissingError struct {
	Shards   []error // why each is missing, by stage and ordinal; at least one
	Of       int     // how many shards were to be read
	Complete int     // how many entries were returned before the first was missing
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %d shards missing, the first: %v", len(e.Shards), e.Of, e.Shards[0])
}

func (e *MissingError) Unwrap() []error { return e.Shards }

// WaitError ends a read whose context is over before all shards have answered.
type WaitError struct {
	Waiting int    // how many shards have not answered
	Of      int    // how many shards are merged
	First   string // the name of the first that has not
	Err     error  // the context's
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("%d of %d shards not answered, the first %q: %v", e.Waiting, e.Of, e.First, e.Err)
}

func (e *WaitError) Unwrap() error { return e.Err }

// ended returns the error of a read whose context is over. It says which shards of the merge were waited for.
func ended[V any](ctx context.Context, s *stages[V]) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	wait := &WaitError{Err: err}
	for cu := range s.merging() {
		wait.Of++
		if !cu.dry() {
			continue
		}
		if wait.Waiting == 0 {
			wait.First = cu.name
		}
		wait.Waiting++
	}
	if wait.Waiting == 0 {
		return err
	}
	return wait
}

// missingError returns the error of a read that goes without these cursors.
func missingError[V any](missing []*cursor[V], of, complete int) *MissingError {
	stage := func(cu *cursor[V]) int {
		if cu.stage == nil {
			return -1
		}
		return cu.stage.number
	}
	slices.SortFunc(missing, func(a, b *cursor[V]) int {
		return cmp.Or(cmp.Compare(stage(a), stage(b)), cmp.Compare(a.ordinal, b.ordinal))
	})
	e := &MissingError{Of: of, Complete: complete}
	for _, cu := range missing {
		e.Shards = append(e.Shards, cu.err)
	}
	return e
}

// exceeded returns the error of a read that needs at least so many more requests than it may send.
func exceeded[V any](g *Gather[V], more int) error {
	return &AllowanceError{Sent: g.requests.sent, Returned: g.sizing.returned, More: more, Stage: g.stages.reached()}
}
