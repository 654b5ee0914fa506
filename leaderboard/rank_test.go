package leaderboard

import (
	"fmt"
	"math"
	"testing"

	"github.com/heatsink-go/heatsink"
)

func TestRank(t *testing.T) {
	board := boardOf(t, Options{Shards: 5})
	for i, player := range crowd(t, board, 40) {
		e, err := board.Rank(t.Context(), player)
		if err != nil || e.Rank != i+1 || e.Player != player {
			t.Errorf("%s: got %+v, %v, want rank %d", player, e, err, i+1)
		}
	}
}

// Estimates are as far off as they say: of 2,000 players, two of three within one deviation and 19 of 20 within two.
func TestRankAboutIsAsFarOffAsItSays(t *testing.T) {
	board := boardOf(t, Options{})
	const n = 2000
	fill(t, board, n)
	var one, two, all int
	var meter heatsink.Meter
	for rank := 101; rank <= n; rank += 7 {
		e, deviation, err := board.RankAbout(heatsink.WithMeter(t.Context(), &meter), fmt.Sprintf("player-%04d", n-rank))
		if err != nil {
			t.Fatal(err)
		}
		off := math.Abs(float64(e.Rank - rank))
		all++
		if off <= float64(deviation) {
			one++
		}
		if off <= 2*float64(deviation) {
			two++
		}
	}
	t.Logf("%d estimates: %d within one deviation, %d within two", all, one, two)
	if one < all*58/100 || two < all*90/100 {
		t.Errorf("of %d estimates %d are within one deviation and %d within two", all, one, two)
	}
	if requests := meter.Cost().Requests; requests != 2*all {
		t.Errorf("%d requests for %d estimates", requests, all)
	}
}

func TestEstimate(t *testing.T) {
	for _, c := range []struct{ above, shards, rank, deviation int }{
		{0, 1, 1, 0},
		{41, 1, 42, 0}, // one shard is everybody
		{0, 20, 1, 20},
		{5, 20, 101, 44},
		{50_000, 20, 1_000_001, 4359},
	} {
		if rank, deviation := estimate(c.above, c.shards); rank != c.rank || deviation != c.deviation {
			t.Errorf("%d above in one of %d: got %d ± %d, want %d ± %d", c.above, c.shards, rank, deviation, c.rank, c.deviation)
		}
	}
}
