package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// spread says how many shards of a key each partition of its table has.
type spread []int

// newSpread finds out by reading an item that does not exist from every shard: half a read unit, which the shard's
// partition is charged for.
func newSpread(ctx context.Context, db *local.DB, layout layout.Layout, key string) (spread, error) {
	shardKeys, err := layout.ShardKeys(key, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, k := range shardKeys {
		_, err := db.Client().GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(demoTable),
			Key: heatsink.Item{
				"pk": &types.AttributeValueMemberS{Value: k},
				"sk": &types.AttributeValueMemberS{Value: "nothing"},
			},
		})
		if err != nil {
			return nil, err
		}
	}
	heat, err := db.Partitions(ctx, demoTable, time.Minute)
	if err != nil {
		return nil, err
	}
	s := make(spread, len(heat[0].Partitions))
	for i, p := range heat[0].Partitions {
		for _, second := range p.Seconds {
			s[i] += int(2 * second.ReadUnits)
		}
	}
	return s, nil
}

func (s spread) shards() int {
	n := 0
	for _, shards := range s {
		n += shards
	}
	return n
}

// occupied returns how many partitions have a shard.
func (s spread) occupied() int {
	n := 0
	for _, shards := range s {
		if shards > 0 {
			n++
		}
	}
	return n
}

// sharing returns how many shards are not alone on their partition.
func (s spread) sharing() int {
	n := 0
	for _, shards := range s {
		if shards > 1 {
			n += shards
		}
	}
	return n
}

// average returns how many partitions would be occupied on average, if the shards had other keys:
// P × (1 − (1 − 1/P)ᴺ).
func (s spread) average() float64 {
	p := float64(len(s))
	return p * (1 - math.Pow(1-1/p, float64(s.shards())))
}

func (s spread) String() string {
	if s.shards() == 1 {
		return fmt.Sprintf("Partitions: %d. The key is on one of them.", len(s))
	}
	text := fmt.Sprintf("Partitions: %d. The %d shards are on %d of them (expected: %.1f)", len(s), s.shards(), s.occupied(), s.average())
	if n := s.sharing(); n > 0 {
		text += fmt.Sprintf("; %d share a partition", n)
	}
	return text + "."
}
