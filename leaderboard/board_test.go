package leaderboard

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

const table = "leaderboards"

// open sets a table up and opens boards in it.
func open(t testing.TB, client Client, options Options) *Boards {
	t.Helper()
	options.Table = cmp.Or(options.Table, table)
	if tables, ok := client.(*dynamodb.Client); ok {
		if err := Setup(context.Background(), tables, options); err != nil {
			t.Fatal(err)
		}
	}
	boards, err := Open(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return boards
}

// boardOf opens one board in a table of its own, on an engine of its own.
func boardOf(t testing.TB, options Options) Board {
	t.Helper()
	return named(t, open(t, local.Start(t).Client(), options), "galaxy")
}

func named(t testing.TB, boards *Boards, name string) Board {
	t.Helper()
	board, err := boards.Board(name)
	if err != nil {
		t.Fatal(err)
	}
	return board
}

// day is a time to start from.
var day = time.Date(2024, 12, 2, 12, 0, 0, 0, time.UTC)

// submit brings a score that must not fail.
func submit(t testing.TB, board Board, s Submission) Outcome {
	t.Helper()
	out, err := board.Submit(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fill puts players of rising scores on a board, player-0000 with 0 and so on, as submissions would have, only faster.
func fill(t testing.TB, board Board, n int) {
	t.Helper()
	x, err := board.box()
	if err != nil {
		t.Fatal(err)
	}
	names := x.options.Names
	items := make([]heatsink.Item, n)
	for i := range items {
		player := fmt.Sprintf("player-%04d", i)
		items[i] = x.like(player)
		items[i][names.Mode] = text(x.options.Mode.String())
		items[i][names.Score] = number(fmt.Sprint(i))
		items[i][names.At] = text(day.Format(timeLayout))
		items[i][names.Place] = number(place(int64(i), tie(day, player)))
	}
	if err := x.entries.BatchPut(context.Background(), items); err != nil {
		t.Fatal(err)
	}
}

// lines returns entries as "rank player score", for comparing.
func lines(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, fmt.Sprintf("%d %s %d", e.Rank, e.Player, e.Score))
	}
	return all
}

func players(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Player)
	}
	return all
}

// wantLines fails unless entries are as described.
func wantLines(t testing.TB, what string, got []Entry, want ...string) {
	t.Helper()
	if !slices.Equal(lines(got), want) {
		t.Errorf("%s: got %q, want %q", what, lines(got), want)
	}
}

// top reads the first n.
func top(t testing.TB, board Board, n int) []Entry {
	t.Helper()
	entries, err := board.Top(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// 000-12: a leaderboard over twenty shards has the best score of every player, the highest first, a hundred unless told
// otherwise, and zero and less are scores like any other.
func TestBestOfEveryPlayerHighestFirst(t *testing.T) { enginetest.Each(t, bestOfEveryPlayer) }

func bestOfEveryPlayer(t *testing.T, client *dynamodb.Client) {
	boards := open(t, client, Options{})
	enginetest.DropTable(t, client, table)
	board := named(t, boards, "GAME#galaxy#SCORES")
	if boards.options.Shards != 20 {
		t.Errorf("%d shards by default, want 20", boards.options.Shards)
	}
	type score struct {
		player string
		score  int64
	}
	best := make(map[string]int64)
	for i := range 450 {
		s := score{fmt.Sprintf("player-%03d", i%150), int64(i*7919%1000 - 300)}
		if old, ok := best[s.player]; !ok || s.score > old {
			best[s.player] = s.score
		}
		submit(t, board, Submission{Player: s.player, Score: s.score, At: day})
	}
	submit(t, board, Submission{Player: "zero", At: day})
	submit(t, board, Submission{Player: "below", Score: -1, At: day}) // whose place is spelt in a way of its own
	submit(t, board, Submission{Player: "least", Score: math.MinInt64, At: day})
	submit(t, board, Submission{Player: "most", Score: math.MaxInt64, At: day})
	best["zero"], best["below"], best["least"], best["most"] = 0, -1, math.MinInt64, math.MaxInt64

	var want []score
	for player, s := range best {
		want = append(want, score{player, s})
	}
	slices.SortFunc(want, func(a, b score) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(hashOf(b.player), hashOf(a.player)))
	})
	var meter heatsink.Meter
	got, err := board.Top(heatsink.WithMeter(t.Context(), &meter), 0)
	if err != nil || len(got) != 100 || meter.Cost().Requests < 20 || meter.Cost().Requests > 23 {
		t.Fatalf("%d entries, %v, with %d requests", len(got), err, meter.Cost().Requests)
	}
	if items := meter.Cost().Items; items > 300 {
		t.Errorf("read %d items for the first 100 of %d", items, len(best))
	}
	got = got[:0]
	for entry, err := range board.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry)
	}
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i, e := range got {
		if e.Rank != i+1 || e.Player != want[i].player || e.Score != want[i].score {
			t.Fatalf("rank %d is %v, want %v", i+1, e, want[i])
		}
	}
}

// hashOf is what decides between players whose scores and times are the same.
func hashOf(player string) int { return layout.XXHash.Shard(player, 1_000_000) }
