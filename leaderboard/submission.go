package leaderboard

import (
	"fmt"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Submission is a score that came in.
type Submission struct {
	// Player is whose score it is: 1 to 512 bytes of UTF-8, without "#EVENT#". A team or a country is a player, too, as
	// far as one key goes: 500 changes a second at most.
	Player string

	// Score is the score; in mode Sum, what to add to it. Zero puts a player on the board who is not there yet.
	Score int64

	// At is when the score was made, in the years 1970 to 2285. It decides ties, the period and, in mode Latest, which
	// one is the latest. Default: the time that Board.At was given, or else now.
	At time.Time

	// ID makes a submission in mode Sum count once, however often it is submitted for that player to that board: the
	// number of a match, or of the message that told of it. 512 bytes at most. Without one, a submission whose answer
	// is lost is not repeated: the error is a heatsink.UnknownOutcomeError. In the other modes it does not matter.
	ID string

	// Attributes are kept with the entry as long as the score is, such as a name to show. In modes Best and Latest they
	// replace all that an earlier submission brought along; in mode Sum each stays until another of its name arrives.
	// They make every entry of a board larger, and reads of it dearer.
	Attributes heatsink.Item
}

// Outcome is what became of a submission.
type Outcome struct {
	// Entry is the player's entry from now on, without a Rank.
	Entry Entry

	// Changed is whether the submission has changed it. A score that is not better, or not later, does not, and neither
	// does one whose ID was counted already. If an answer was lost and the entry is equal to the submission, it is true.
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
		return s, fmt.Errorf("%w: the time %v is %v ahead of the clock, Options.Ahead allows %v",
			ErrInput, s.At, ahead, options.Ahead)
	}
	for name := range s.Attributes {
		if name == "" || slices.Contains(options.Names.all(), name) {
			return s, fmt.Errorf("%w: an attribute cannot be called %q, the board's own is", ErrInput, name)
		}
	}
	return s, nil
}
