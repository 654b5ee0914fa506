package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func TestAnEmptyBoard(t *testing.T) {
	board := boardOf(t, Options{Period: layout.Day})
	if got := top(t, board, 0); len(got) != 0 {
		t.Errorf("top: %v", got)
	}
	if page, err := board.Page(t.Context(), 10, ""); len(page.Entries) != 0 || page.Next != "" || err != nil {
		t.Errorf("page: %+v, %v", page, err)
	}
	if n, err := board.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("count: %d, %v", n, err)
	}
	for name, ask := range map[string]func(string) error{
		"Get":       func(p string) error { _, err := board.Get(t.Context(), p); return err },
		"Rank":      func(p string) error { _, err := board.Rank(t.Context(), p); return err },
		"RankAbout": func(p string) error { _, _, err := board.RankAbout(t.Context(), p); return err },
		"Around":    func(p string) error { _, err := board.Around(t.Context(), p, 3); return err },
	} {
		if err := ask("nobody"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `player "nobody" on board "galaxy#`) {
			t.Errorf("%s: got error %v", name, err)
		}
		if err := ask(""); !errors.Is(err, ErrInput) {
			t.Errorf("%s of no player: got error %v", name, err)
		}
	}
}

func TestReadsRefuseNegativeNumbers(t *testing.T) {
	board := boardOf(t, Options{})
	submit(t, board, Submission{Player: "ada"})
	_, top := board.Top(t.Context(), -1)
	_, page := board.Page(t.Context(), -1, "")
	_, around := board.Around(t.Context(), "ada", -1)
	for _, err := range []error{top, page, around} {
		if !errors.Is(err, ErrInput) {
			t.Errorf("got error %v", err)
		}
	}
}

func TestReadsTakeAnyNumber(t *testing.T) {
	board := boardOf(t, Options{})
	want := crowd(t, board, 30)
	if got := players(top(t, board, math.MaxInt)); !slices.Equal(got, want) {
		t.Errorf("top: got %q", got)
	}
	if page, err := board.Page(t.Context(), math.MaxInt, ""); err != nil || page.Next != "" || !slices.Equal(players(page.Entries), want) {
		t.Errorf("page: got %q, %v", players(page.Entries), err)
	}
	if got, err := board.Around(t.Context(), want[10], math.MaxInt); err != nil || !slices.Equal(players(got), want) {
		t.Errorf("around: got %q, %v", players(got), err)
	}
}

func TestReadsEndWithTheirContext(t *testing.T) {
	board := boardOf(t, Options{})
	submit(t, board, Submission{Player: "ada"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, top := board.Top(ctx, 1)
	_, page := board.Page(ctx, 1, "")
	_, rank := board.Rank(ctx, "ada")
	_, around := board.Around(ctx, "ada", 1)
	_, count := board.Count(ctx)
	_, reset := board.Reset(ctx, nil)
	remove := board.Remove(ctx, "ada")
	for i, err := range []error{top, page, rank, around, count, reset, remove} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d: got error %v", i, err)
		}
	}
}

// Reads are repeated when they are throttled or not answered, and say which shard it was when they give up.
func TestReadsUnderFaults(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		submit(t, named(t, open(t, client, Options{}), "galaxy"), Submission{Player: "ada", Score: 3})
		turn := 0
		flaky := faulty.On(t, client, func(faulty.Request) faulty.Fault {
			turn++
			return []faulty.Fault{faulty.None, faulty.ThrottledOnDemand, faulty.LostAnswer, faulty.BrokeDown}[turn%4]
		})
		board := named(t, open(t, flaky, Options{Retry: heatsink.Retry{Attempts: 200, Burst: 10_000}}), "galaxy")
		wantLines(t, "top", top(t, board, 5), "1 ada 3")
		if e, err := board.Rank(t.Context(), "ada"); err != nil || e.Rank != 1 {
			t.Errorf("got %+v, %v", e, err)
		}
		flaky.Decide(faulty.Always(faulty.Denied))
		want := `board "galaxy": Query leaderboards/ranking shard "galaxy#SHARD_`
		if _, err := board.Top(t.Context(), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v", err)
		}
	})
}

// crowd fills a board with n players, of whom many have the same score and time.
func crowd(t *testing.T, board Board, n int) []string {
	t.Helper()
	for i := range n {
		at := day.Add(time.Duration(i%3) * time.Second)
		submit(t, board, Submission{Player: fmt.Sprintf("player-%03d", i), Score: int64(i % 7), At: at})
	}
	return players(top(t, board, n))
}

func TestPagesAreTheBoard(t *testing.T) {
	board := boardOf(t, Options{Shards: 5, TokenKeys: [][]byte{[]byte("sixteen bytes...")}})
	want := crowd(t, board, 83)
	for _, size := range []int{1, 7, 50, 82, 83, 84, 0} {
		var got []string
		for token := ""; ; {
			page, err := board.Page(t.Context(), size, token)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, players(page.Entries)...)
			if token = page.Next; token == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %d: got %q, want %q", size, got, want)
		}
	}
	page, err := board.Page(t.Context(), 5, "")
	if err != nil {
		t.Fatal(err)
	}
	other := named(t, board.boards, "nebula")
	for _, token := range []string{"x", page.Next[:len(page.Next)-1], page.Next + "A"} {
		if _, err := board.Page(t.Context(), 5, token); !errors.Is(err, ErrToken) {
			t.Errorf("token %q: got error %v", token, err)
		}
	}
	if _, err := other.Page(t.Context(), 5, page.Next); !errors.Is(err, ErrToken) {
		t.Errorf("another board: got error %v", err)
	}
}

// A token is a point in the order: what changes above it does not shift the pages.
func TestPagesWhileTheBoardChanges(t *testing.T) {
	board := boardOf(t, Options{})
	want := crowd(t, board, 60)
	page, err := board.Page(t.Context(), 20, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		submit(t, board, Submission{Player: fmt.Sprint("late-", i), Score: 100})
	}
	if err := board.Remove(t.Context(), want[19]); err != nil { // where the page ended
		t.Fatal(err)
	}
	if page, err = board.Page(t.Context(), 20, page.Next); err != nil || !slices.Equal(players(page.Entries), want[20:40]) {
		t.Errorf("got %q, %v, want %q", players(page.Entries), err, want[20:40])
	}
}

// More shards: those who read with the new number find what was written with the old one, pages go on, and entries move
// as they change.
func TestShardsCanBeRaised(t *testing.T) {
	client := local.Start(t).Client()
	narrow := named(t, open(t, client, Options{Shards: 3}), "galaxy")
	want := crowd(t, narrow, 90)
	wide := named(t, open(t, client, Options{Shards: 20}), "galaxy")
	if got := players(top(t, wide, 90)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	page, err := narrow.Page(t.Context(), 30, "")
	if err != nil {
		t.Fatal(err)
	}
	if page, err = wide.Page(t.Context(), 60, page.Next); err != nil || !slices.Equal(players(page.Entries), want[30:]) {
		t.Errorf("got %q, %v", players(page.Entries), err)
	}
	for i, player := range slices.Backward(want) { // turn the board upside down
		submit(t, wide, Submission{Player: player, Score: int64(1000 + i)})
	}
	slices.Reverse(want)
	if got := players(top(t, wide, 90)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := 0; i < len(want); i += 10 {
		if e, err := wide.Rank(t.Context(), want[i]); err != nil || e.Rank != i+1 {
			t.Errorf("%s: %+v, %v, want rank %d", want[i], e, err, i+1)
		}
	}
}

func TestBoardsDoNotMix(t *testing.T) {
	boards := open(t, local.Start(t).Client(), Options{})
	names := []string{"galaxy", "galaxy#1", "galaxy#", "gal", "日本", "a#SHARD_x", strings.Repeat("n", 512)}
	for i, name := range names {
		submit(t, named(t, boards, name), Submission{Player: "ada", Score: int64(i)})
	}
	for i, name := range names {
		wantLines(t, name, top(t, named(t, boards, name), 0), fmt.Sprint("1 ada ", i))
	}
}

func TestBoardNamesThatCannotBe(t *testing.T) {
	boards := open(t, local.Start(t).Client(), Options{})
	for _, name := range []string{
		"", "\xff", strings.Repeat("n", 513), "galaxy#SHARD_3",
		"galaxy#2024", "galaxy#2024-12", "galaxy#2024-W49", "galaxy#2024-12-02", "galaxy#2024-12-02T15",
	} {
		if _, err := boards.Board(name); !errors.Is(err, ErrInput) {
			t.Errorf("%q: got error %v", name, err)
		}
	}
}
