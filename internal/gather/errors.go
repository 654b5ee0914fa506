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
	Sent     int // requests sent
	Returned int // entries returned
	More     int // the minimum number of requests for the next entry
	Stage    int // the stage that needs them
}

func (e *AllowanceError) Error() string {
	return fmt.Sprintf("%d requests returned %d entries, and the next %d requests, in stage %d, exceed the limit",
		e.Sent, e.Returned, e.More, e.Stage)
}

// MissingError lists the shards that a read is missing. Its errors are those for which Config.Lost is true.
type MissingError struct {
	Shards   []error // why each is missing, by stage and ordinal; at least one
	Of       int     // the number of shards to read
	Complete int     // the number of entries returned before the first shard was missing
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%d of %d shards missing, the first: %v", len(e.Shards), e.Of, e.Shards[0])
}

func (e *MissingError) Unwrap() []error { return e.Shards }

// WaitError ends a read whose context ended before all shards answered, or before they were known.
type WaitError struct {
	Waiting int    // the number of shards that have not answered
	Of      int    // the number of shards that are merged
	Unknown bool   // Stages.More has not returned, so there may be more shards
	First   string // the name of the first shard that has not answered; empty if all have
	Err     error  // the context's
}

func (e *WaitError) Error() string {
	switch {
	case e.Waiting == 0:
		return fmt.Sprintf("the number of shards is not known yet, %d answered: %v", e.Of, e.Err)
	case e.Unknown:
		return fmt.Sprintf("%d of at least %d shards did not answer, the first is %q: %v", e.Waiting, e.Of, e.First, e.Err)
	}
	return fmt.Sprintf("%d of %d shards did not answer, the first is %q: %v", e.Waiting, e.Of, e.First, e.Err)
}

func (e *WaitError) Unwrap() error { return e.Err }

// ended returns the error of a read whose context ended. It names the shards that have not answered.
func ended[V any](ctx context.Context, s *stages[V]) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	wait := &WaitError{Unknown: s.awaited(), Err: err}
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
	if wait.Waiting == 0 && !wait.Unknown {
		return err
	}
	return wait
}

// missingError returns the error of a read without these cursors.
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

// exceeded returns the error of a read that needs more requests than it may send.
func exceeded[V any](g *Gather[V], more int) error {
	return &AllowanceError{Sent: g.requests.sent, Returned: g.sizing.returned, More: more, Stage: g.stages.reached()}
}
