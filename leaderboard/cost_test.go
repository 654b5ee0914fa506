package leaderboard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// What operations cost on a board of 3,000 players over 20 shards: exactly, except that ordered reads may ask a shard
// once more that has more than its share. What the client sends is what the meter says.
func TestCosts(t *testing.T) {
	var watch lab.Watch
	client := local.Start(t).Client(watch.Option)
	best := named(t, open(t, client, Options{}), "galaxy")
	sum := named(t, open(t, client, Options{Mode: Sum}), "points")
	fill(t, best, 3000)
	submits := func(board Board, score int64, id string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := board.Submit(ctx, Submission{Player: "new", Score: score, ID: id, At: day})
			return err
		}
	}
	for _, c := range []struct {
		name          string
		do            func(ctx context.Context) error
		requests      int
		items         int
		reads, writes float64
		more          int // requests that there may be on top, each of half a unit and 13 items at most, or cancelled
	}{
		{name: "Submit, new", do: submits(best, -1, ""), requests: 1, writes: 2},
		{name: "Submit, better", do: submits(best, 0, ""), requests: 1, writes: 3},
		{name: "Submit, not better: 1 that errors do not report", do: submits(best, 0, ""), requests: 1},
		{name: "Submit, sum, new", do: submits(sum, 1, ""), requests: 1, writes: 2},
		{name: "Submit, sum", do: submits(sum, 1, ""), requests: 1, writes: 3},
		{name: "Submit, sum with an ID", do: submits(sum, 1, "a"), requests: 2, items: 1, reads: 1, writes: 6},
		{name: "Submit, sum with an ID again", do: submits(sum, 1, "a"), requests: 2, items: 1, reads: 1},
		{name: "Get", requests: 1, items: 1, reads: 1, do: func(ctx context.Context) error {
			_, err := best.Get(ctx, "new")
			return err
		}},
		{name: "Top 100", requests: 20, more: 3, items: 240, reads: 10, do: func(ctx context.Context) error {
			_, err := best.Top(ctx, 100)
			return err
		}},
		{name: "Page of 100", requests: 20, more: 3, items: 240, reads: 10, do: func(ctx context.Context) error {
			_, err := best.Page(ctx, 100, "")
			return err
		}},
		{name: "Around, 5 on each side", requests: 41, more: 3, items: 81, reads: 21, do: func(ctx context.Context) error {
			_, err := best.Around(ctx, "player-1500", 5)
			return err
		}},
		{name: "Rank, of the first", requests: 21, items: 1, reads: 11, do: func(ctx context.Context) error {
			_, err := best.Rank(ctx, "player-2999")
			return err
		}},
		{name: "Rank, of the 3000th", requests: 21, items: 3000, reads: 48, do: func(ctx context.Context) error {
			_, err := best.Rank(ctx, "player-0000")
			return err
		}},
		{name: "RankAbout, of the 3000th", requests: 2, items: 139, reads: 3, do: func(ctx context.Context) error {
			_, _, err := best.RankAbout(ctx, "player-0000")
			return err
		}},
		{name: "Count", requests: 20, items: 3001, reads: 47, do: func(ctx context.Context) error {
			_, err := best.Count(ctx)
			return err
		}},
		{name: "Reset, of one", requests: 41, items: 1, reads: 20, writes: 2, do: func(ctx context.Context) error {
			_, err := sum.Reset(ctx, nil)
			return err
		}},
		{name: "Remove", requests: 1, writes: 2, do: func(ctx context.Context) error { return best.Remove(ctx, "new") }},
		{name: "Remove, of nobody", requests: 1, writes: 1, do: func(ctx context.Context) error { return best.Remove(ctx, "new") }},
	} {
		var meter heatsink.Meter
		before := watch.Traffic()
		if err := c.do(heatsink.WithMeter(t.Context(), &meter)); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		after, cost := watch.Traffic(), meter.Cost()
		requests, writes := after.Requests-before.Requests, after.WriteUnits-before.WriteUnits
		t.Logf("%-48s %d requests, %d items read, %v RCU, %v WCU", c.name, requests, cost.Items, cost.ReadUnits, writes)
		if cost.WriteUnits != c.writes || writes != c.writes {
			t.Errorf("%s: %v WCU, the meter says %v; want %v", c.name, writes, cost.WriteUnits, c.writes)
		}
		within := func(what string, got, least, most float64) {
			if got < least || got > most {
				t.Errorf("%s: %v %s, want %v to %v", c.name, got, what, least, most)
			}
		}
		more := float64(c.more)
		within("requests", float64(requests), float64(c.requests), float64(c.requests)+more)
		within("requests metered", float64(cost.Requests), float64(c.requests), float64(c.requests)+more)
		within("RCU", cost.ReadUnits, c.reads, c.reads+more/2)
		within("items", float64(cost.Items), float64(c.items), float64(c.items)+13*more)
	}
}

// A submission that changes nothing costs the table a unit and the index none.
func TestNoImprovementLeavesTheIndexAlone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		board := named(t, open(t, db.Client(), Options{}), "galaxy")
		submit(t, board, Submission{Player: "ada", Score: 10})
		time.Sleep(time.Minute)
		for range 50 {
			if submit(t, board, Submission{Player: "ada", Score: 9}).Changed {
				t.Fatal("changed")
			}
		}
		heats, err := db.Partitions(t.Context(), table, 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		units := make(map[string]float64)
		for _, heat := range heats {
			for _, partition := range heat.Partitions {
				for _, second := range partition.Seconds {
					units[heat.Index] += second.WriteUnits
				}
			}
		}
		if units[""] != 50 || units[defaultIndex] != 0 {
			t.Errorf("write units by index: %v, want 50 for the table", units)
		}
	})
}

// The documents' leaderboard puts every score into one of 20 shards and reads all of them to find the top. The recipe
// reads little more than what it returns.
func TestTopReadsNearNItems(t *testing.T) {
	db := local.Start(t)
	if err := db.CreateTable(t.Context(), "scores", "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	scores, err := heatsink.Open[heatsink.Item](db.Client(), heatsink.Options{
		Table: "scores", PartitionKey: "pk", SortKey: "sk", Layout: layout.Layout{Shards: 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	board := named(t, open(t, db.Client(), Options{}), "galaxy")
	fill(t, board, 2000)
	var puts []heatsink.Item
	for i := range 4000 {
		player, score := fmt.Sprintf("player-%04d", i%2000), i*7919%10_000
		puts = append(puts, heatsink.Item{
			"pk": text("GAME#galaxy#SCORES"), "sk": text(fmt.Sprintf("2024-12-02T12:00:00.%06dZ#%s", i, player)),
			"playerId": text(player), "gameId": text("galaxy"), "score": number(fmt.Sprint(score)),
			"timestamp": text(fmt.Sprintf("2024-12-02T12:00:00.%06dZ", i)),
		})
	}
	if err := scores.BatchPut(t.Context(), puts); err != nil {
		t.Fatal(err)
	}
	var all heatsink.Meter
	var ours heatsink.Cost
	for _, err := range scores.Query(heatsink.WithMeter(t.Context(), &all), heatsink.Query{Key: "GAME#galaxy#SCORES"}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{1, 10, 100, 1000} {
		var meter heatsink.Meter
		if got, err := board.Top(heatsink.WithMeter(t.Context(), &meter), n); len(got) != n || err != nil {
			t.Fatalf("%d entries, %v", len(got), err)
		}
		cost, whole := meter.Cost(), all.Cost()
		t.Logf("top %d: %d items, %v RCU; the documents' way: %d items, %v RCU",
			n, cost.Items, cost.ReadUnits, whole.Items, whole.ReadUnits)
		if most := 3*n + 3*20; meter.Cost().Items > most {
			t.Errorf("top %d: %d items were read, more than %d", n, meter.Cost().Items, most)
		}
		if n == 100 {
			ours = meter.Cost()
		}
	}
	if all.Cost().Items != 4000 || all.Cost().ReadUnits < 5*ours.ReadUnits {
		t.Errorf("all: %+v, top 100: %+v", all.Cost(), ours)
	}
}
