package leaderboard

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// Settings that nobody should choose are refused, or work: no panic, no wrong board.
func TestWildOptions(t *testing.T) {
	opened := 0
	client := local.Start(t).Client()
	if err := Setup(t.Context(), client, Options{Table: table}); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(1000) {
		var options Options
		faulty.Wild(rand.New(rand.NewPCG(1, seed)), &options)
		options.Table, options.Index, options.Names = table, "", Names{}
		if seed%2 > 0 { // or hardly any would be left
			options.Mode, options.Period, options.EventTTL, options.Shards = Mode(seed%3), 0, 0, int(seed%5)
			options.Retry.Attempts, options.Retry.Base = 0, 0
		}
		if _, err := Open(&dynamodb.Client{}, options); err != nil {
			continue
		}
		boards, err := Open(client, options)
		if err != nil {
			t.Fatal(err)
		}
		board, err := boards.Board("board " + string(rune('A'+seed)))
		if err != nil {
			continue
		}
		opened++
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // for pauses of years
		_, failed := board.Submit(ctx, Submission{Player: "ada", Score: 3, ID: "m"})
		e, err := board.Get(ctx, "ada")
		if failed == nil && err == nil && e.Score != 3 {
			t.Errorf("seed %d: got %+v, %v: %+v", seed, e, err, options)
		}
		_, _ = board.Top(ctx, 5)
		cancel()
	}
	t.Logf("1,000 options, of which %d are accepted", opened)
	if opened < 100 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// Boards and players that look like the table's own names are told apart, or refused.
func TestHostileNames(t *testing.T) {
	boards := boardOf(t, Options{Mode: Sum, Shards: 2}).boards
	var names []string
	for _, part := range []string{"", "a", "#", "#SHARD_0", "#SHARD_", "#2024", "#2024-12-02", "#EVENT#", "EVENT#", "\x00", "日本", "\xff", " "} {
		names = append(names, part, "a"+part, part+"a", part+part)
	}
	names = append(names, strings.Repeat("x", 512), strings.Repeat("x", 513), strings.Repeat("x", 70_000))
	type place struct{ board, player string }
	want := map[place]int64{}
	tried := 0
	for i, name := range names {
		board, err := boards.Board(name)
		if err != nil {
			continue
		}
		for j, player := range names {
			if j%7 != i%7 { // a seventh of all pairs is enough
				continue
			}
			tried++
			score := int64(i*1000 + j)
			if _, err := board.Submit(t.Context(), Submission{Player: player, Score: score, ID: names[(i+j)%len(names)]}); err == nil {
				want[place{name, player}] = score
			}
		}
	}
	// Names that are in the list twice are submitted with another ID and add up: they are left out.
	count := map[string]int{}
	for _, name := range names {
		count[name]++
	}
	checked := 0
	for p, score := range want {
		if count[p.board] > 1 || count[p.player] > 1 {
			continue
		}
		checked++
		board, err := boards.Board(p.board)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := board.Get(t.Context(), p.player); err != nil || e.Score != score || e.Player != p.player {
			t.Errorf("board %.20q, player %.20q: got %+v, %v, want %d", p.board, p.player, e, err, score)
		}
	}
	t.Logf("%d pairs of names submitted, %d accepted, %d read back", tried, len(want), checked)
	if checked < 100 {
		t.Errorf("%d names were checked: too few for a test", checked)
	}
}

// The longest pauses that can be asked for end with the context.
func TestLongestPauses(t *testing.T) {
	client := local.Start(t).Client()
	open(t, client, Options{})
	busy := faulty.On(t, client, faulty.Always(faulty.Throttled).Of("TransactWriteItems"))
	boards := open(t, busy, Options{Mode: Sum, Retry: heatsink.Retry{Base: math.MaxInt64, Max: math.MaxInt64}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := named(t, boards, "galaxy").Submit(ctx, Submission{Player: "ada", Score: 1, ID: "m"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}
