package leaderboard

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Entry is the score of a player on a board.
type Entry struct {
	// Rank is one more than the number of players above; the first rank is 1. Only Top, All and Rank set it, because it
	// takes a request per shard; elsewhere it is 0. Players share a rank if their scores, their times and the hashes of
	// their names are all equal.
	Rank int

	Player string
	Score  int64

	// At is the time of the submission that set the score. In mode Sum, it is the time of the last submission that was
	// added.
	At time.Time

	// Attributes are the attributes of submissions, nil if there are none.
	Attributes heatsink.Item

	place string
}

// timeLayout has as many digits for every time, so that times are ordered as texts are.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// entry returns what an item says.
func (b *Boards) entry(item heatsink.Item) (Entry, error) {
	names := b.options.Names
	var e Entry
	e.Player = textOf(item[names.Player])
	e.place = textOf(item[names.Place])
	var err error
	if e.Score, err = strconv.ParseInt(textOf(item[names.Score]), 10, 64); err != nil {
		return e, fmt.Errorf("entry of player %q: attribute %q is not a score: %w", e.Player, names.Score, err)
	}
	if e.At, err = time.Parse(timeLayout, textOf(item[names.At])); err != nil {
		return e, fmt.Errorf("entry of player %q: attribute %q is not a time: %w", e.Player, names.At, err)
	}
	own := names.all()
	for name, value := range item {
		if !slices.Contains(own, name) {
			if e.Attributes == nil {
				e.Attributes = make(heatsink.Item)
			}
			e.Attributes[name] = value
		}
	}
	return e, nil
}

// number and text make attribute values, textOf takes either apart.

func number(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func textOf(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberS:
		return v.Value
	}
	return ""
}
