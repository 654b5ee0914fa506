package leaderboard

import (
	"errors"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/schema"
)

// What can go wrong beside DynamoDB. The errors that wrap them say what and where.
var (
	// ErrOptions is wrapped when options contradict each other or lack something.
	ErrOptions = heatsink.ErrOptions
	// ErrTable is wrapped when there is no such table, or it is not what a leaderboard needs.
	ErrTable = schema.ErrMismatch
	// ErrInput is wrapped when a board, a player, a time, a number or an attribute cannot be.
	ErrInput = errors.New("invalid input")
	// ErrNotFound is wrapped when a player is not on the board.
	ErrNotFound = heatsink.ErrNotFound
	// ErrMode is wrapped when the board has the player's score in another mode: a board has one, until it is reset.
	ErrMode = errors.New("the board is kept in another mode")
	// ErrOverflow is wrapped when a sum would leave the range of int64. Nothing was added.
	ErrOverflow = errors.New("the sum would overflow")
	// ErrOver is wrapped when a submission is for a period whose retention is over: its board is gone.
	ErrOver = errors.New("the board's retention is over")
	// ErrToken is wrapped when a page token is damaged, forged, or belongs to another board.
	ErrToken = heatsink.ErrToken
)
