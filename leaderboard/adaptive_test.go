package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/lab"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A board that grows while players submit is read as one without shards would be, in every mode, and nothing of the control
// items beside it shows.
func TestAdaptiveBoardGrows(t *testing.T) {
	for _, c := range []struct {
		name string
		mode Mode
		id   bool
	}{{"best", Best, false}, {"latest", Latest, false}, {"sum", Sum, false}, {"sum with IDs", Sum, true}} {
		t.Run(c.name, func(t *testing.T) {
			client := local.Start(t).Client()
			options := Options{Mode: c.mode, Adaptive: &heatsink.Adaptive{}}
			grower, writer := open(t, client, options), open(t, client, options)
			const players = 40
			score := map[int]int64{}
			for round, width := range []int{1, 4, 16} {
				if _, err := grower.Ledgers().Grow(t.Context(), "galaxy", time.Time{}, width, "a test"); err != nil {
					t.Fatal(err)
				}
				for i := range players {
					if round > 0 && i%3 > 0 {
						continue // and stays where it is
					}
					s := Submission{Player: fmt.Sprintf("player-%02d", i), Score: int64(100*round + i), At: day.Add(time.Duration(round) * time.Hour)}
					if c.id {
						s.ID = fmt.Sprint("match-", round)
					}
					boards := []*Boards{grower, writer}[i%2]
					out := submit(t, named(t, boards, "galaxy"), s)
					if score[i] = s.Score; c.mode == Sum {
						score[i] = out.Entry.Score
					}
					if !out.Changed || out.Entry.Attributes != nil {
						t.Errorf("got %+v, want it changed and without attributes", out)
					}
				}
			}
			board := named(t, open(t, client, options), "galaxy")
			got, err := board.Top(t.Context(), players)
			if err != nil || len(got) != players {
				t.Fatalf("got %d entries, %v, want %d", len(got), err, players)
			}
			for i, e := range got {
				var n int
				if _, err := fmt.Sscanf(e.Player, "player-%d", &n); err != nil || e.Score != score[n] || e.Rank != i+1 || e.Attributes != nil {
					t.Errorf("at %d: got %+v, want the score %d and no attributes", i+1, e, score[n])
				}
				if i > 0 && got[i-1].Score < e.Score {
					t.Errorf("%+v is behind %+v", e, got[i-1])
				}
			}
			if n, err := board.Count(t.Context()); err != nil || n != players {
				t.Errorf("counted %d, %v", n, err)
			}
			if e, err := board.Rank(t.Context(), got[7].Player); err != nil || e.Rank != 8 {
				t.Errorf("got rank %d, %v, want 8", e.Rank, err)
			}
			if near, err := board.Around(t.Context(), got[7].Player, 2); err != nil || len(near) != 5 || near[0].Player != got[5].Player {
				t.Errorf("around %s: got %+v, %v", got[7].Player, near, err)
			}
			shards := map[string]bool{}
			for _, item := range scanned(t, client) {
				if key := textOf(item["listing"]); key != "" {
					shards[key] = true
				}
			}
			if len(shards) < 5 { // seven of the players know of 16
				t.Errorf("entries are listed under %d keys, want a few more than 4", len(shards))
			}
			if n, err := board.Reset(t.Context(), nil); err != nil || n != players {
				t.Errorf("removed %d, %v, want %d", n, err, players)
			}
			if ledger, err := grower.Ledgers().Show(t.Context(), "galaxy", time.Time{}); err != nil || ledger.Width.Read != 16 {
				t.Errorf("after a reset the ledger is %+v, %v", ledger, err)
			}
		})
	}
}

// Boards that had a fixed number of shards become adaptive where they are.
func TestAdaptiveBoardAdoptsShards(t *testing.T) {
	client := local.Start(t).Client()
	fixed := named(t, open(t, client, Options{}), "galaxy")
	fill(t, fixed, 200)
	board := named(t, open(t, client, Options{Shards: 20, Adaptive: &heatsink.Adaptive{}}), "galaxy")
	for i := range 50 {
		submit(t, board, Submission{Player: fmt.Sprintf("player-%04d", i), Score: int64(1000 + i)})
	}
	got, err := board.Top(t.Context(), 300)
	if err != nil || len(got) != 200 || got[0].Score != 1049 || got[50].Score != 199 || got[199].Score != 50 {
		t.Errorf("got %d entries, %v, want 200 in order", len(got), err)
	}
	if n, err := board.Count(t.Context()); err != nil || n != 200 {
		t.Errorf("counted %d, %v", n, err)
	}
	if _, err := Open(client, Options{Table: table, Adaptive: &heatsink.Adaptive{Keep: -1}}); !errors.Is(err, ErrOptions) {
		t.Errorf("got %v", err)
	}
}

// What cannot be right is refused.
func TestAdaptiveBoardRefuses(t *testing.T) {
	board := boardOf(t, Options{Adaptive: &heatsink.Adaptive{}})
	submit(t, board, Submission{Player: "ada", Score: 1})
	if _, _, err := board.RankAbout(t.Context(), "ada"); !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "use Rank") {
		t.Errorf("RankAbout: got %v", err)
	}
	for _, boards := range []Board{board, boardOf(t, Options{})} {
		if _, err := boards.Submit(t.Context(), Submission{Player: "_hs#C#ranking", Score: 1}); !errors.Is(err, ErrInput) {
			t.Errorf("a player with the key of a control item: got %v", err)
		}
	}
	if _, err := boardOf(t, Options{}).boards.Ledgers().Show(t.Context(), "galaxy", time.Time{}); !errors.Is(err, ErrOptions) {
		t.Errorf("ledgers of boards that have none: got %v", err)
	}
}

// A board whose scores all change at 2,000 a second grows out of one key by itself, and then takes all of them.
func TestAdaptiveBoardFollowsItsLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{Physics: &local.Physics{NoSplits: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		warmTables(t, db.Client())
		watch := &lab.Watch{Latency: 5 * time.Millisecond}
		boards, err := Open(db.Client(watch.Option), Options{Table: table, Adaptive: &heatsink.Adaptive{}})
		if err != nil {
			t.Fatal(err)
		}
		board := named(t, boards, "galaxy")
		score := func(ctx context.Context, i int) error {
			_, err := board.Submit(ctx, Submission{Player: loadPlayer(i), Score: time.Now().UnixNano()})
			return err
		}
		load := lab.Load{PerSecond: 2000, Measured: time.Second}
		first := load.Sustain(t.Context(), watch, score)
		between := lab.Load{PerSecond: 2000, Measured: 7 * time.Second}.Sustain(t.Context(), watch, score)
		last := load.Sustain(t.Context(), watch, score)
		ledger, err := boards.Ledgers().Show(t.Context(), "galaxy", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("first second  %v", first)
		t.Logf("next seconds  %v", between)
		t.Logf("last second   %v; width %v", last, ledger.Width)
		if rate := last.AcceptedPerSecond(); rate < 0.97*2000 || last.Failed > 0 {
			t.Errorf("the board took %.0f a second of 2,000, %d failed", rate, last.Failed)
		}
		if ledger.Width.Write < 8 {
			t.Errorf("got width %v, want 8 or more: 4,000 units a second are offered", ledger.Width)
		}
		if n, err := board.Count(t.Context()); err != nil || n != 500 {
			t.Errorf("counted %d, %v, want 500", n, err)
		}
	})
}

// scanned returns what a table holds besides control items.
func scanned(t *testing.T, client *dynamodb.Client) []heatsink.Item {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table)})
	if err != nil || out.LastEvaluatedKey != nil {
		t.Fatal("the table is larger than a page: ", err)
	}
	var items []heatsink.Item
	for _, item := range out.Items {
		if !layout.IsControl(textOf(item["player"])) {
			items = append(items, item)
		}
	}
	return items
}
