package leaderboard

import (
	"context"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// Rank returns a player's entry with the exact Rank, or ErrNotFound. It counts all players above, in the index. That
// takes one request per shard, and one more for every further megabyte of a shard. It costs a read unit for about 60
// entries, and at least half a unit per shard. For rank 100 that is little. For rank 1,000,000 it is 16,000 units: use
// RankAbout there.
func (b Board) Rank(ctx context.Context, player string) (Entry, error) {
	x, entry, err := b.find(ctx, player)
	if err != nil {
		return Entry{}, err
	}
	above, err := x.entries.Count(ctx, heatsink.Query{MaxRequests: anyNumber, Key: x.key, Sort: heatsink.Greater(number(entry.place))})
	if err != nil {
		return Entry{}, fmt.Errorf("rank of player %q on board %q: %w", player, x.key, err)
	}
	entry.Rank = above + 1
	return entry, nil
}

// RankAbout returns a player's entry with an estimate of the Rank, and the standard deviation of that estimate. Two of
// three estimates are within one deviation, and 19 of 20 within two. RankAbout counts the players above in the player's
// own shard, and multiplies by the number of shards. It therefore costs a few requests at most, and the units of Rank
// divided by the number of shards. With 20 shards, the deviation at rank 1,000,000 is 4,400, less than half a percent.
// At rank 100 it is 44.
//
// The error of the estimate is the same for every call for a player, so estimates do not flicker. After Options.Shards
// was raised, estimates are wrong until most entries have changed. With Options.Adaptive the number changes by itself, so
// RankAbout returns ErrOptions: use Rank.
func (b Board) RankAbout(ctx context.Context, player string) (entry Entry, deviation int, err error) {
	if b.boards.options.Adaptive != nil {
		return Entry{}, 0, fmt.Errorf("%w: rank of player %q on board %q: an estimate takes shards that are alike, but with Adaptive those "+
			"that were added last have the fewest entries: use Rank, or a fixed number of Shards", ErrOptions, player, b.name)
	}
	x, entry, err := b.find(ctx, player)
	if err != nil {
		return Entry{}, 0, err
	}
	layout := x.options.collection().Layout
	shard, err := layout.ShardKey(x.key, b.at, layout.Shard(player))
	if err != nil {
		return Entry{}, 0, fmt.Errorf("rank of player %q on board %q: %w", player, x.key, err)
	}
	above, err := x.index.Count(ctx, shard, func(in *dynamodb.QueryInput) {
		in.KeyConditionExpression = aws.String("#listing = :shard AND #place > :place")
		in.ExpressionAttributeNames = map[string]string{"#listing": x.options.Names.Listing, "#place": x.options.Names.Place}
		in.ExpressionAttributeValues = heatsink.Item{":shard": text(shard), ":place": number(entry.place)}
	})
	if err != nil {
		return Entry{}, 0, fmt.Errorf("rank of player %q on board %q: %w", player, x.key, err)
	}
	entry.Rank, deviation = estimate(above, x.options.Shards)
	return entry, deviation, nil
}

// estimate returns the rank that so many above in one of the shards mean, and its standard deviation. The number above
// in one shard is binomially distributed, Bin(above in all, 1/shards); where none was seen, one is assumed for the
// deviation.
func estimate(above, shards int) (rank, deviation int) {
	n := float64(shards)
	return above*shards + 1, int(math.Ceil(math.Sqrt(float64(max(above, 1)) * n * (n - 1))))
}
