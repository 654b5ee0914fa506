package leaderboard

import (
	"errors"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// These errors are wrapped by errors that say what is wrong and where. Errors of DynamoDB are wrapped as they are.
var (
	// ErrOptions is wrapped if options contradict each other or a required option is missing.
	ErrOptions = heatsink.ErrOptions
	// ErrTable is wrapped if the table does not exist or lacks something that a leaderboard needs.
	ErrTable = schema.ErrMismatch
	// ErrInput is wrapped if a board, a player, a time, a number or an attribute is invalid.
	ErrInput = errors.New("invalid input")
	// ErrNotFound is wrapped if the player is not on the board.
	ErrNotFound = heatsink.ErrNotFound
	// ErrMode is wrapped if the stored score has another mode. A board keeps its mode until it is reset.
	ErrMode = errors.New("the board has another mode")
	// ErrOverflow is wrapped if a sum would not fit an int64. Nothing was added.
	ErrOverflow = errors.New("the sum would not fit an int64")
	// ErrOver is wrapped if a submission is for a period whose retention is over.
	ErrOver = errors.New("the board's retention is over")
	// ErrToken is wrapped if a page token is damaged, forged, or belongs to another board.
	ErrToken = heatsink.ErrToken
)
