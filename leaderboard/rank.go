package leaderboard

import (
	"context"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
)

// Rank returns a player's entry with the exact Rank, or ErrNotFound. It counts everybody above, in the index: a request
// for each shard, and for every further megabyte of one; a read unit for about 60 entries, and half of one for each
// shard at least. That is nothing for the hundredth and 16,000 units for the millionth: RankAbout is for those.
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

// RankAbout returns a player's entry with an estimate of the Rank, and how far that may be off: one standard deviation,
// so that two of three estimates are within it and 19 of 20 within twice as much. It counts those above in the player's
// shard alone, where every player is as likely to be as in any other, and takes them times the number of shards. So it
// costs a request, or a few, and the units of Rank divided by the number of shards. For the millionth of 20 shards the
// deviation is 4,400, less than half a percent; for the hundredth it is 44.
//
// The same player gets the same error at every call, so estimates do not flicker. After Options.Shards was raised,
// estimates are wrong until most entries have changed.
func (b Board) RankAbout(ctx context.Context, player string) (entry Entry, deviation int, err error) {
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
