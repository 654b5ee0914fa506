package heatsink

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/place"
)

// ErrOptions is wrapped by what Open returns for options that contradict each other or lack something. What is wrong with
// the Layout itself wraps layout.ErrInvalid. The errors that wrap it say what and where; so do those below.
var ErrOptions = place.ErrOptions

// Errors of operations on one item.
var (
	// ErrItem is wrapped when an item lacks what its place is worked out from: a key, a time, an id.
	ErrItem = place.ErrItem
	// ErrNotFound is returned by Get, and by Update and Delete where the item has to be found first.
	ErrNotFound = errors.New("item not found")
	// ErrScattered is wrapped when an operation needs to know which shard an item is in, and the layout does not say.
	ErrScattered = place.ErrScattered
)

// Errors of reads of many items.
var (
	// ErrQuery is wrapped when a Query asks for something that cannot be, also if it is DynamoDB that finds so: then the
	// error is a *ShardError with its ValidationException.
	ErrQuery = errors.New("invalid query")
	// ErrToken is wrapped when a page token is damaged, forged, belongs to another query, or was issued when more shards
	// were read: begin with the first page.
	ErrToken = errors.New("invalid page token")
	// ErrTooManyRequests is wrapped when a read takes more requests than Query.MaxRequests allows. It is wrapped together
	// with ErrQuery if that was known before the first was sent.
	ErrTooManyRequests = errors.New("too many requests")
)

// ErrTooNarrow is wrapped, by any operation, when something shows that a key has items in more shards than the collection
// reads: its queries would miss them. Raise Layout.Shards or Width.Read wherever the key is read.
var ErrTooNarrow = place.ErrTooNarrow

// ShardError says which shard a request was for when it failed. The SDK's error is reachable with errors.As.
type ShardError struct {
	Operation string // "Query", "PutItem", …
	Table     string
	Index     string // empty for the table itself
	ShardKey  string
	Shard     int
	Attempts  int // how often it was tried
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
	return fmt.Sprintf("%s %s shard %q%s: %v", e.Operation, on, e.ShardKey, tries, e.Err)
}

func (e *ShardError) Unwrap() error { return e.Err }

// GatherError is the end of a read that could not reach every shard. With Query.Partial it comes beside what the others
// had: as the last pair of a sequence, or together with a page, a count or a fold. A request that DynamoDB rejects, as it
// would for any shard, ends a read with the *ShardError alone.
type GatherError struct {
	Shards []*ShardError // the shards that are missing, in order; at least one
	Of     int           // how many shards were to be read

	// Complete is how many of the items that were returned are surely all there are up to there. Behind them, items of
	// missing shards may be lacking in between.
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

// UnknownOutcomeError says that a write may or may not have happened: its answer was lost, and no later one told. Writes
// that are safe to do twice have been repeated, on the same shard; those that are not, such as an ADD, have not.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string { return "outcome unknown: " + e.Err.Error() }

func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// DecodeError is an item that does not fit the collection's type, or whose event time cannot be read. Query and Page go on
// behind it; other reads end with it. To read whatever is there, use As with Item.
type DecodeError struct {
	Key  Item // the key attributes that are known, with the logical partition key; nil where there was no key to go by
	Item Item // as it was read, with the logical key
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
	return fmt.Sprintf("%d items of the page do not decode, the first: %v", len(e), e[0])
}

func (e decodeErrors) Unwrap() []error { return e }

// BatchError lists the items of a BatchPut or BatchDelete that were not written or deleted, or may not have been, and those
// of a BatchGet that were not found or not read: see each one's error. All others were.
type BatchError struct {
	Operation string         // "BatchPut", "BatchGet" or "BatchDelete"
	Failed    []BatchFailure // in the order of the batch
	Of        int            // how many items the batch had
}

// BatchFailure is an item of a batch with which something is wrong.
type BatchFailure struct {
	Position int // in the batch
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
	return fmt.Sprintf("%d of %d items %s, the first at %d: %v", len(e.Failed), e.Of, undone, first.Position, first.Err)
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
