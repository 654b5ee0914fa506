package leaderboard_test

import (
	"context"
	"fmt"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/cache"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/leaderboard"
	"github.com/heatsink-go/heatsink/local"
)

func Example() {
	ctx := context.Background()
	db, err := local.New(local.Options{}) // or a *dynamodb.Client of your own account
	if err != nil {
		panic(err)
	}
	defer db.Close()
	options := leaderboard.Options{Table: "leaderboards"}
	if err := leaderboard.Setup(ctx, db.Client(), options); err != nil {
		panic(err)
	}
	boards, err := leaderboard.Open(db.Client(), options)
	if err != nil {
		panic(err)
	}
	board, err := boards.Board("galaxy-race")
	if err != nil {
		panic(err)
	}
	for player, score := range map[string]int64{"ada": 4200, "bob": -30, "cy": 0, "di": 9000} {
		if _, err := board.Submit(ctx, leaderboard.Submission{Player: player, Score: score}); err != nil {
			panic(err)
		}
	}
	worse, err := board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 100})
	fmt.Println("ada has", worse.Entry.Score, "changed:", worse.Changed, err)

	top, err := board.Top(ctx, 3)
	for _, e := range top {
		fmt.Println(e.Rank, e.Player, e.Score)
	}
	around, err := board.Around(ctx, "cy", 1)
	fmt.Println(around[0].Player, "is above cy,", around[2].Player, "below", err)
	// Output:
	// ada has 4200 changed: false <nil>
	// 1 di 9000
	// 2 ada 4200
	// 3 cy 0
	// ada is above cy, bob below <nil>
}

// open returns boards in an engine of their own, for the examples.
func open(options leaderboard.Options) (*leaderboard.Boards, func() error) {
	db, err := local.New(local.Options{})
	if err != nil {
		panic(err)
	}
	options.Table = "leaderboards"
	if err := leaderboard.Setup(context.Background(), db.Client(), options); err != nil {
		panic(err)
	}
	boards, err := leaderboard.Open(db.Client(), options)
	if err != nil {
		panic(err)
	}
	return boards, db.Close
}

// Boards of the week, kept for four weeks after it.
func ExampleBoard_At() {
	boards, done := open(leaderboard.Options{Period: layout.Week, Retention: 4 * 7 * 24 * time.Hour})
	defer done()
	ctx := context.Background()
	board, _ := boards.Board("galaxy-race")

	now := time.Now()
	_, _ = board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 7, At: now.Add(-7 * 24 * time.Hour)})
	_, _ = board.Submit(ctx, leaderboard.Submission{Player: "bob", Score: 5})

	thisWeek, _ := board.Top(ctx, 10)
	lastWeek, _ := board.At(now.Add(-7*24*time.Hour)).Top(ctx, 10)
	fmt.Println(thisWeek[0].Player, lastWeek[0].Player)
	// Output: bob ada
}

// Points that are added up, each match once, however often its message is delivered.
func ExampleBoard_Submit_sum() {
	boards, done := open(leaderboard.Options{Mode: leaderboard.Sum})
	defer done()
	ctx := context.Background()
	board, _ := boards.Board("season-9")

	for _, match := range []string{"match-1", "match-2", "match-1"} {
		out, err := board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 3, ID: match})
		fmt.Println(match, out.Changed, out.Entry.Score, err)
	}
	// Output:
	// match-1 true 3 <nil>
	// match-2 true 6 <nil>
	// match-1 false 6 <nil>
}

// What everybody looks at is read once in ten seconds, however many look.
func ExampleBoard_Top_cached() {
	boards, done := open(leaderboard.Options{})
	defer done()
	ctx := context.Background()
	board, _ := boards.Board("galaxy-race")
	_, _ = board.Submit(ctx, leaderboard.Submission{Player: "ada", Score: 7})

	top100 := cache.New[[]leaderboard.Entry](cache.Options{TTL: 10 * time.Second})
	defer top100.Close()
	var meter heatsink.Meter
	for range 1000 {
		top, err := top100.Get(heatsink.WithMeter(ctx, &meter), board.Name(), func(ctx context.Context) ([]leaderboard.Entry, error) {
			return board.Top(ctx, 100)
		})
		if err != nil || top[0].Player != "ada" {
			panic(err)
		}
	}
	fmt.Println(meter.Cost().Requests, "requests")
	// Output: 20 requests
}

// A whole board in pages.
func ExampleBoard_Page() {
	boards, done := open(leaderboard.Options{})
	defer done()
	ctx := context.Background()
	board, _ := boards.Board("galaxy-race")
	for i := range 5 {
		_, _ = board.Submit(ctx, leaderboard.Submission{Player: fmt.Sprint("player-", i), Score: int64(i)})
	}

	for token := ""; ; {
		page, err := board.Page(ctx, 2, token)
		if err != nil {
			panic(err)
		}
		var names []string
		for _, e := range page.Entries {
			names = append(names, e.Player)
		}
		fmt.Println(names)
		if token = page.Next; token == "" {
			break
		}
	}
	// Output:
	// [player-4 player-3]
	// [player-2 player-1]
	// [player-0]
}

// Less is better: laps are submitted as negative milliseconds.
func ExampleBoard_Rank() {
	boards, done := open(leaderboard.Options{})
	defer done()
	ctx := context.Background()
	board, _ := boards.Board("fastest-lap")
	for player, lap := range map[string]time.Duration{"ada": 61_200 * time.Millisecond, "bob": 59_900 * time.Millisecond} {
		_, _ = board.Submit(ctx, leaderboard.Submission{Player: player, Score: -lap.Milliseconds()})
	}

	ada, err := board.Rank(ctx, "ada")
	fmt.Println(ada.Rank, time.Duration(-ada.Score)*time.Millisecond, err)
	// Output: 2 1m1.2s <nil>
}
