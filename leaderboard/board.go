package leaderboard

import (
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
)

// Board is one board or, if its Boards have a Period, a board in one period. It is a small value that may be copied.
// Get one from Boards.Board.
type Board struct {
	boards *Boards
	name   string
	at     time.Time // in the period; zero: now
}

// At returns the board of the period that contains t. Without At, every operation uses the current period. If there are
// no periods, At changes nothing.
func (b Board) At(t time.Time) Board {
	b.at = t
	return b
}

// Name returns the board's name, without a period.
func (b Board) Name() string { return b.name }

// box is a board of one period: what its entries are stored and listed under.
type box struct {
	*Boards
	key     string
	expires time.Time // when its retention ends; zero: never
}

// box returns the board's box for reading it.
func (b Board) box() (box, error) {
	if b.at.IsZero() {
		return b.boards.box(b.name, time.Now())
	}
	return b.boards.box(b.name, b.at)
}

// box returns the box of a board that a time is in.
func (b *Boards) box(name string, at time.Time) (box, error) {
	period := b.options.Period
	if period == layout.NoBucket {
		return box{Boards: b, key: name}, nil
	}
	text, err := period.Text(at)
	if err != nil {
		return box{}, fmt.Errorf("%w: board %q: %w", ErrInput, name, err)
	}
	x := box{Boards: b, key: name + "#" + text}
	if b.options.Retention > 0 {
		x.expires = period.Next(at).Add(b.options.Retention)
	}
	return x, nil
}

// over reports whether the box's retention has ended. What DynamoDB has not deleted yet is not read any more: that
// could be a whole board, to be filtered out item by item.
func (x box) over() bool { return !x.expires.IsZero() && !time.Now().Before(x.expires) }

// like returns the key of a player's entry, and where it is listed.
func (x box) like(player string) heatsink.Item {
	names := x.options.Names
	return heatsink.Item{names.Player: text(player), names.Board: text(x.key), names.Listing: text(x.key)}
}
