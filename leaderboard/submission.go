package leaderboard

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Submission is a new score of a player.
type Submission struct {
	// Player is the player: 1 to 512 bytes of UTF-8, without "#EVENT#". A player may also be a team or a country. One
	// player accepts at most 500 changes per second.
	Player string

	// Score is the score or, in mode Sum, the amount to add. A score of 0 puts a new player on the board.
	Score int64

	// At is the time of the score, in the years 1970 to 2285. It decides ties, the period and, in mode Latest, which
	// score is kept. Default: the time of Board.At, or else now.
	At time.Time

	// ID identifies a submission in mode Sum, such as the number of a match or a message. A submission with an ID is
	// counted once per player and board, however often it is submitted. At most 512 bytes. Without an ID, a submission
	// whose answer is lost is not repeated; the error is a heatsink.UnknownOutcomeError. Other modes ignore it.
	ID string

	// Attributes are stored with the score, such as a name to show. In modes Best and Latest they replace all
	// attributes of the earlier submission. In mode Sum, each attribute stays until a new one with its name arrives.
	// Attributes make the entries of a board larger, and reads more expensive.
	Attributes heatsink.Item
}

// Outcome is the result of a submission.
type Outcome struct {
	// Entry is the player's entry after the submission, without a Rank.
	Entry Entry

	// Changed is set if the submission has changed the entry. It is not set if the score was not better or not later,
	// or if the ID was already counted. If an answer was lost and the entry equals the submission, it is set.
	Changed bool
}

// complete returns the submission with its defaults, or what is wrong with it.
func (s Submission) complete(b Board) (Submission, error) {
	options := b.boards.options
	if err := checkPlayer(s.Player); err != nil {
		return s, err
	}
	if s.ID != "" {
		if err := checkName("ID", s.ID); err != nil {
			return s, err
		}
	}
	now := time.Now()
	if s.At.IsZero() {
		s.At = b.at
	}
	if s.At.IsZero() {
		s.At = now
	}
	s.At = s.At.UTC()
	if err := checkTime(s.At); err != nil {
		return s, err
	}
	if ahead := s.At.Sub(now); options.Ahead >= 0 && ahead > options.Ahead {
		return s, fmt.Errorf("%w: the time %v is %v ahead of this machine's clock, but Options.Ahead allows only %v",
			ErrInput, s.At, ahead, options.Ahead)
	}
	for name := range s.Attributes {
		if name == "" || slices.Contains(options.Names.all(), name) {
			return s, fmt.Errorf("%w: the attribute name %q is empty or one of the board's own: rename the attribute", ErrInput, name)
		}
	}
	return s, nil
}
