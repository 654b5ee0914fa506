package eventlog

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// What can be wrong with what the caller passed in. The errors that wrap them say what and where.
var (
	// ErrOptions is wrapped by what Open and Setup return for options that contradict each other or lack something.
	ErrOptions = heatsink.ErrOptions
	// ErrEvent is wrapped when an event cannot be appended as it is.
	ErrEvent = errors.New("invalid event")
	// ErrQuery is wrapped when a Query asks for something that cannot be.
	ErrQuery = heatsink.ErrQuery
	// ErrToken is wrapped when a position or page token is damaged, forged, or belongs to something else.
	ErrToken = heatsink.ErrToken
	// ErrTable is wrapped when the table is not what the options need.
	ErrTable = schema.ErrMismatch
)

// DecodeError is a stored event that does not fit the log's type. A Tail that is ranged over again goes on behind it.
// To read whatever there is, open the log with heatsink.Item for its type.
type DecodeError struct {
	Log      string
	SortKey  string
	Item     heatsink.Item // as it was read, without the attributes that the log added
	Position string        // where a Tail goes on behind the event; empty in other reads
	Err      error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("log %q: event %q: %v", e.Log, e.SortKey, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }
