package heatsink

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/place"
)

// ErrOptions is wrapped by errors of Open about options that are missing or contradict each other. Errors about the
// Layout itself wrap layout.ErrInvalid. The errors that wrap ErrOptions, and those below, say what was given and what is
// wrong with it.
var ErrOptions = place.ErrOptions

// Errors of operations on one item.
var (
	// ErrItem is wrapped when an item lacks what determines its place, such as a key, a time or an id. It is also wrapped
	// when an update would change one of these.
	ErrItem = place.ErrItem
	// ErrNotFound is returned by Get and GetMerged, and by Update and Delete where they must find the item first.
	ErrNotFound = errors.New("item not found")
	// ErrScattered is wrapped when an operation needs to know the shard of an item, but the item may be in several.
	ErrScattered = place.ErrScattered
)

// Errors of reads of many items.
var (
	// ErrQuery is wrapped when a Query is invalid. If DynamoDB finds the fault, the error is a *ShardError with
	// DynamoDB's ValidationException.
	ErrQuery = errors.New("invalid query")
	// ErrToken is wrapped when a page token is damaged, forged, of another query, or from a time when more shards were
	// read. Begin again with the first page.
	ErrToken = errors.New("invalid page token")
	// ErrTooManyRequests is wrapped when a read takes more requests than Query.MaxRequests allows. If that is known
	// before the first request, the error also wraps ErrQuery.
	ErrTooManyRequests = errors.New("too many requests")
)

// ErrTooNarrow is wrapped, by any operation, when a key turns out to have items in shards that the collection does not
// read. Queries would miss these items. Raise Layout.Shards or Width.Read wherever the key is read.
var ErrTooNarrow = place.ErrTooNarrow

// ShardError names the shard whose request failed. The SDK's error is available through errors.As.
type ShardError struct {
	Operation string // "Query", "PutItem", …
	Table     string
	Index     string // empty for the table itself
	ShardKey  string
	Shard     int
	Attempts  int // how often the request was sent
	Err       error
}

func (e *ShardError) Error() string {
	on := e.Table
	if e.Index != "" {
		on += "/" + e.Index
	}
	tries := ""
	if e.Attempts > 1 {
		tries = fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	shard := ""
	if e.ShardKey != "" { // nothing was sent: the context had ended before
		shard = fmt.Sprintf(" shard %q", e.ShardKey)
	}
	return fmt.Sprintf("%s %s%s%s: %v", e.Operation, on, shard, tries, e.Err)
}

func (e *ShardError) Unwrap() error { return e.Err }

// GatherError ends a read that could not reach every shard. With Query.Partial it comes with the items of the other
// shards: as the last pair of a sequence, or together with a page, a count or a fold. If DynamoDB rejects a request, as
// it would for any shard, the read ends with the *ShardError alone.
type GatherError struct {
	Shards []*ShardError // the shards that are missing, in order; at least one
	Of     int           // the number of shards to read

	// Complete is the length of the prefix of the returned items that is known to be gap-free. After that prefix, items
	// of the missing shards may be lacking.
	Complete int
}

func (e *GatherError) Error() string {
	const show = 3
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d shards missing: ", len(e.Shards), e.Of)
	for i, s := range e.Shards {
		if i == show {
			fmt.Fprintf(&b, "; and %d more", len(e.Shards)-show)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.Error())
	}
	return b.String()
}

func (e *GatherError) Unwrap() []error {
	errs := make([]error, len(e.Shards))
	for i, s := range e.Shards {
		errs[i] = s
	}
	return errs
}

// UnknownOutcomeError means that a write may or may not have happened: a response was lost, and no later response settled
// it. heatsink has retried an idempotent write on the same shard. It has not retried a write that is not idempotent, such
// as an ADD.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string { return "outcome unknown: " + e.Err.Error() }

func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// Throttled reports whether an operation of a collection or a recipe failed because DynamoDB throttled it: its table, its
// partition or the account had no capacity left, also after retries. The operation did not happen, and may succeed later. A
// service answers such a request with status 503. It is false for an UnknownOutcomeError, and for what a limit of this
// process has refused.
func Throttled(err error) bool {
	return !errors.As(err, new(*UnknownOutcomeError)) && dispatch.TooFast(err)
}

// DecodeError is an item that does not fit the collection's type, or whose event time is invalid. Query and Page continue
// after it; other reads end with it. To read such items, use As with Item.
type DecodeError struct {
	Key  Item // the known key attributes, with the logical partition key; nil if none is known
	Item Item // as read, with the logical key
	Err  error
}

func (e *DecodeError) Error() string {
	if len(e.Key) == 0 {
		return "decode item: " + e.Err.Error()
	}
	var key []string
	for _, name := range slices.Sorted(maps.Keys(e.Key)) {
		key = append(key, name+" "+attribute.Describe(e.Key[name]))
	}
	return fmt.Sprintf("decode item with %s: %v", strings.Join(key, ", "), e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }

// decodeErrors are the items of a page that could not be decoded.
type decodeErrors []error

func (e decodeErrors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%d items of the page cannot be decoded, the first: %v", len(e), e[0])
}

func (e decodeErrors) Unwrap() []error { return e }

// BatchError lists the items of a batch that failed. Those of a BatchPut or BatchDelete were not written or deleted, or may not
// have been. Those of a BatchGet were not found or could not be read. Each has its own error. All other items succeeded.
type BatchError struct {
	Operation string         // "BatchPut", "BatchGet" or "BatchDelete"
	Failed    []BatchFailure // in the order of the batch
	Of        int            // the number of items in the batch
}

// BatchFailure is an item of a batch that failed, or may have failed.
type BatchFailure struct {
	Position int // in the batch, from 0
	Err      error
}

func (e *BatchError) Error() string {
	undone := "not written"
	switch e.Operation {
	case "BatchGet":
		undone = "not read"
	case "BatchDelete":
		undone = "not deleted"
	}
	first := e.Failed[0]
	return fmt.Sprintf("%d of %d items %s, the first at position %d: %v", len(e.Failed), e.Of, undone, first.Position, first.Err)
}

// batchError returns a BatchError, nil if nothing failed. errs has an error or nil for each item of the batch.
func batchError(operation string, errs []error) error {
	var failed []BatchFailure
	for i, err := range errs {
		if err != nil {
			failed = append(failed, BatchFailure{Position: i, Err: err})
		}
	}
	if failed == nil {
		return nil
	}
	return &BatchError{Operation: operation, Failed: failed, Of: len(errs)}
}

func (e *BatchError) Unwrap() []error {
	errs := make([]error, len(e.Failed))
	for i, f := range e.Failed {
		errs[i] = f.Err
	}
	return errs
}
