package leaderboard

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
)

// Entry is what a board has of a player.
type Entry struct {
	// Rank is the player's rank, the first being 1: one more than there are players above. It is 0 where it is not
	// known, as finding out takes a request for each shard: Top, All and Rank say it, the others do not. Players share
	// a rank if their scores, their times and the hashes of their names are all the same.
	Rank int

	Player string
	Score  int64

	// At is the time of the submission that the score is from; of a Sum, of the one that was added last.
	At time.Time

	// Attributes are what submissions brought along, nil if they did not.
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
		return e, fmt.Errorf("entry of player %q: attribute %q is no score: %w", e.Player, names.Score, err)
	}
	if e.At, err = time.Parse(timeLayout, textOf(item[names.At])); err != nil {
		return e, fmt.Errorf("entry of player %q: attribute %q is no time: %w", e.Player, names.At, err)
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
