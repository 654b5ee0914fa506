package eventlog

import (
	"errors"
	"fmt"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// These errors are wrapped by errors that say what is wrong with an argument, and where.
var (
	// ErrOptions is wrapped by errors of Open and Setup if options contradict each other or a required option is
	// missing.
	ErrOptions = heatsink.ErrOptions
	// ErrEvent is wrapped if an event is invalid.
	ErrEvent = errors.New("invalid event")
	// ErrQuery is wrapped if a Query is invalid.
	ErrQuery = heatsink.ErrQuery
	// ErrToken is wrapped if a position or page token is damaged, forged, or belongs to another log or query.
	ErrToken = heatsink.ErrToken
	// ErrTable is wrapped if the table lacks something that the options need.
	ErrTable = schema.ErrMismatch
)

// DecodeError reports a stored event that does not fit the log's type. A Tail continues after it when you range over it
// again. To read such events, open the log with heatsink.Item as its type.
type DecodeError struct {
	Log      string
	SortKey  string
	Item     heatsink.Item // as stored, without the attributes that the log added
	Position string        // position of a Tail after the event; empty in other reads
	Err      error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("log %q: event %q: %v", e.Log, e.SortKey, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }
