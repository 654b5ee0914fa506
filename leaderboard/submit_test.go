package leaderboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// step is a submission and what becomes of it.
type step struct {
	score   int64
	after   time.Duration // the time of the submission, from day on
	changed bool
	stands  int64
}

// follow submits the steps for one player, one after another.
func follow(t *testing.T, board Board, steps ...step) {
	t.Helper()
	for i, s := range steps {
		out := submit(t, board, Submission{Player: "ada", Score: s.score, At: day.Add(s.after)})
		if out.Changed != s.changed || out.Entry.Score != s.stands || out.Entry.Player != "ada" {
			t.Errorf("step %d, %d: got %+v, want changed %v and %d", i, s.score, out, s.changed, s.stands)
		}
		if got, err := board.Get(t.Context(), "ada"); err != nil || got.Score != s.stands || !got.At.Equal(out.Entry.At) {
			t.Errorf("step %d: the board has %+v, %v", i, got, err)
		}
		if entries := top(t, board, 10); len(entries) != 1 || entries[0].Score != s.stands {
			t.Errorf("step %d: the index lists %q", i, lines(entries))
		}
	}
}

func TestBestKeepsTheBest(t *testing.T) { enginetest.Each(t, bestKeepsTheBest) }

func bestKeepsTheBest(t *testing.T, client *dynamodb.Client) {
	board := named(t, open(t, client, Options{}), "galaxy")
	enginetest.DropTable(t, client, table)
	follow(t, board,
		step{-5, 0, true, -5},
		step{-6, 0, false, -5},
		step{0, time.Second, true, 0},
		step{0, time.Minute, false, 0}, // the same, later
		step{0, 0, true, 0},            // the same, but earlier
		step{math.MaxInt64, time.Hour, true, math.MaxInt64},
		step{math.MinInt64, time.Hour, false, math.MaxInt64},
	)
}

func TestLatestKeepsTheLatest(t *testing.T) { enginetest.Each(t, latestKeepsTheLatest) }

func latestKeepsTheLatest(t *testing.T, client *dynamodb.Client) {
	board := named(t, open(t, client, Options{Mode: Latest}), "galaxy")
	enginetest.DropTable(t, client, table)
	follow(t, board,
		step{9, time.Hour, true, 9},
		step{10, time.Hour - time.Nanosecond, false, 9},
		step{3, time.Hour, true, 3}, // the same time: the last to arrive
		step{0, time.Hour + time.Nanosecond, true, 0},
		step{-7, 2 * time.Hour, true, -7},
		step{5, time.Minute, false, -7}, // a clock that went backwards
	)
}

func TestSumAddsUp(t *testing.T) { enginetest.Each(t, sumAddsUp) }

func sumAddsUp(t *testing.T, client *dynamodb.Client) {
	board := named(t, open(t, client, Options{Mode: Sum}), "galaxy")
	enginetest.DropTable(t, client, table)
	follow(t, board,
		step{0, 0, true, 0}, // zero puts the player on the board
		step{0, time.Hour, false, 0},
		step{7, time.Second, true, 7},
		step{-10, 0, true, -3},
		step{math.MaxInt64, 0, true, math.MaxInt64 - 3},
		step{3, 0, true, math.MaxInt64},
		step{math.MinInt64, 0, true, -1},
		step{math.MinInt64 + 1, 0, true, math.MinInt64},
	)
}

// A sum never wraps around, whatever is added: it stays as it is.
func TestSumRefusesToOverflow(t *testing.T) {
	board := boardOf(t, Options{Mode: Sum})
	submit(t, board, Submission{Player: "up", Score: math.MaxInt64 - 1})
	submit(t, board, Submission{Player: "down", Score: math.MinInt64 + 1})
	for _, s := range []Submission{
		{Player: "up", Score: 2},
		{Player: "up", Score: 2, ID: "match-1"},
		{Player: "down", Score: -2},
		{Player: "down", Score: math.MinInt64},
	} {
		if _, err := board.Submit(t.Context(), s); !errors.Is(err, ErrOverflow) {
			t.Errorf("%+v: got error %v", s, err)
		}
	}
	wantLines(t, "top", top(t, board, 0), fmt.Sprint("1 up ", math.MaxInt64-1), fmt.Sprint("2 down ", math.MinInt64+1))
}

// Of equal scores the earlier one comes first, whatever the order they arrive in; in a sum, the one that got there
// first.
func TestTiesGoToTheEarlier(t *testing.T) {
	for _, mode := range []Mode{Best, Latest, Sum} {
		t.Run(mode.String(), func(t *testing.T) {
			board := boardOf(t, Options{Mode: mode})
			for i, player := range []string{"third", "first", "fourth", "second"} {
				after := map[string]int{"first": 0, "second": 1, "third": 2, "fourth": 3}[player]
				submit(t, board, Submission{Player: player, Score: -4, At: day.Add(time.Duration(after) * time.Millisecond)})
				if got := top(t, board, 0); len(got) != i+1 {
					t.Fatalf("got %q", lines(got))
				}
			}
			wantLines(t, "top", top(t, board, 0), "1 first -4", "2 second -4", "3 third -4", "4 fourth -4")
		})
	}
}

func TestSubmitRefusesWhatCannotBe(t *testing.T) {
	board := boardOf(t, Options{Mode: Sum})
	long := strings.Repeat("x", 513)
	for name, s := range map[string]Submission{
		"the player is empty":              {Score: 1},
		"the player has 513 bytes":         {Player: long},
		"the player is not valid UTF-8":    {Player: "\xff"},
		"the player contains #EVENT#":      {Player: "ada#EVENT#7"},
		"the ID has 513 bytes":             {Player: "ada", ID: long},
		"the ID is not valid UTF-8":        {Player: "ada", ID: "\xff"},
		"want a year from 1970 to 2285":    {Player: "ada", At: time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)},
		"Options.Ahead allows only 1h0m0s": {Player: "ada", At: time.Now().Add(2 * time.Hour)},
		`the attribute name "ttl" is`:      {Player: "ada", Attributes: heatsink.Item{"ttl": number("1")}},
		`the attribute name "" is empty`:   {Player: "ada", Attributes: heatsink.Item{"": number("1")}},
	} {
		_, err := board.Submit(t.Context(), s)
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if n, err := board.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
}

// What DynamoDB refuses comes through, and the item is not touched.
func TestSubmitTooLarge(t *testing.T) {
	board := boardOf(t, Options{})
	essay := heatsink.Item{"essay": text(strings.Repeat("x", 400<<10))}
	_, err := board.Submit(t.Context(), Submission{Player: "ada", Attributes: essay})
	if err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("got error %v", err)
	}
	if _, err := board.Get(t.Context(), "ada"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got error %v", err)
	}
}

func TestAheadCanBeAnyTime(t *testing.T) {
	board := boardOf(t, Options{Ahead: -1})
	submit(t, board, Submission{Player: "ada", At: time.Now().Add(1000 * time.Hour)})
}

func TestAttributesStayWithTheScore(t *testing.T) {
	board := boardOf(t, Options{})
	name := func(s string) heatsink.Item { return heatsink.Item{"name": text(s), "size": number("7")} }
	submit(t, board, Submission{Player: "ada", Score: 5, Attributes: name("Ada")})
	submit(t, board, Submission{Player: "ada", Score: 4, Attributes: name("Worse")})
	submit(t, board, Submission{Player: "bob", Score: 4})
	entries := top(t, board, 0)
	ada, bob := entries[0].Attributes, entries[1].Attributes
	if len(ada) != 2 || textOf(ada["name"]) != "Ada" || bob != nil {
		t.Errorf("got %+v", entries)
	}
}

// Keys with the signs that keys are put together with, and any other text, are players like any other.
func TestOddPlayers(t *testing.T) {
	board := boardOf(t, Options{Mode: Sum})
	odd := []string{"#", "a#b", "galaxy#SHARD_3", "2024-12-02", "ada#2024", "\x00", " ", "日本語", strings.Repeat("y", 512), "EVENT#"}
	for i, player := range odd {
		submit(t, board, Submission{Player: player, Score: int64(-i), ID: "#EVENT#"})
		submit(t, board, Submission{Player: player, Score: int64(-i), ID: "#EVENT#"})
	}
	if got := players(top(t, board, 0)); !slices.Equal(got, odd) {
		t.Errorf("got %q", got)
	}
	for i, player := range odd {
		if got, err := board.Rank(t.Context(), player); err != nil || got.Rank != i+1 || got.Score != int64(-i) {
			t.Errorf("%q: %+v, %v", player, got, err)
		}
	}
}

func TestModesDoNotMix(t *testing.T) {
	client := local.Start(t).Client()
	for _, kept := range []Mode{Best, Latest, Sum} {
		board := named(t, open(t, client, Options{Mode: kept}), "board-"+kept.String())
		submit(t, board, Submission{Player: "ada", Score: 1, At: day})
		for _, other := range []Mode{Best, Latest, Sum} {
			if other == kept {
				continue
			}
			mixed := named(t, open(t, client, Options{Mode: other}), board.Name())
			for _, id := range []string{"", "match-1"} {
				_, err := mixed.Submit(t.Context(), Submission{Player: "ada", Score: 2, ID: id})
				if !errors.Is(err, ErrMode) || !strings.Contains(err.Error(), fmt.Sprintf("%q, want %q", kept, other)) {
					t.Errorf("%v on a %v board: got error %v", other, kept, err)
				}
			}
		}
		wantLines(t, kept.String(), top(t, board, 0), "1 ada 1")
	}
}

// Two processes and many goroutines race for the same players, with answers that are lost and requests that are
// throttled: each player ends at the best that was submitted, and the order is that of the bests.
func TestRacesEndAtTheBest(t *testing.T) {
	client := local.Start(t).Client()
	flaky := func() Client {
		turn := 0
		return faulty.On(t, client, func(faulty.Request) faulty.Fault {
			turn++
			return []faulty.Fault{faulty.None, faulty.None, faulty.LostAnswer, faulty.None, faulty.ThrottledOnDemand, faulty.None, faulty.BrokeDown, faulty.LostRequest}[turn%8]
		})
	}
	open(t, client, Options{})
	best := make(map[string]int64)
	var mu sync.Mutex
	var running sync.WaitGroup
	for process := range 2 {
		boards, err := Open(flaky(), Options{Table: table, Retry: heatsink.Retry{Attempts: 100, Burst: 10_000, Base: 1, Max: 1}})
		if err != nil {
			t.Fatal(err)
		}
		board := named(t, boards, "galaxy")
		for worker := range 4 {
			running.Go(func() {
				for i := range 60 {
					score := int64((i*7919+worker*104729+process*1299709)%2000 - 1000)
					s := Submission{Player: fmt.Sprintf("p%d", i%7), Score: score, At: day}
					if _, err := board.Submit(context.Background(), s); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if old, ok := best[s.Player]; !ok || s.Score > old {
						best[s.Player] = s.Score
					}
					mu.Unlock()
				}
			})
		}
	}
	running.Wait()
	var want []string
	for _, player := range slices.SortedFunc(maps.Keys(best), func(a, b string) int {
		return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(hashOf(b), hashOf(a)))
	}) {
		want = append(want, fmt.Sprintf("%d %s %d", len(want)+1, player, best[player]))
	}
	wantLines(t, "top", top(t, named(t, open(t, client, Options{}), "galaxy"), 0), want...)
}

// Two processes add to the same players at once: nothing is lost, and the order is that of the sums.
func TestSumsAddUpConcurrently(t *testing.T) {
	client := local.Start(t).Client()
	var running sync.WaitGroup
	for range 2 {
		board := named(t, open(t, client, Options{Mode: Sum}), "galaxy")
		for range 4 {
			running.Go(func() {
				for i := range 60 {
					s := Submission{Player: fmt.Sprint("p", i%3), Score: int64(i%3) - 1}
					if _, err := board.Submit(context.Background(), s); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	running.Wait()
	wantLines(t, "top", top(t, named(t, open(t, client, Options{Mode: Sum}), "galaxy"), 0), "1 p2 160", "2 p1 0", "3 p0 -160")
}

// A lost answer is asked for again, and what is told in the end is what happened to this submission.
func TestBestAfterALostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		open(t, client, Options{})
		flaky := faulty.On(t, client, nil)
		board := named(t, open(t, flaky, Options{}), "galaxy")
		for _, f := range []faulty.Fault{faulty.LostAnswer, faulty.BrokeDown, faulty.LostRequest, faulty.ThrottledOnDemand} {
			flaky.Decide(faulty.Script(f))
			out, err := board.Submit(t.Context(), Submission{Player: fmt.Sprint("player-", f), Score: 8})
			if err != nil || !out.Changed || out.Entry.Score != 8 {
				t.Errorf("%s: got %+v, %v", f, out, err)
			}
			flaky.Decide(faulty.Script(f))
			out, err = board.Submit(t.Context(), Submission{Player: fmt.Sprint("player-", f), Score: 7})
			if err != nil || out.Changed || out.Entry.Score != 8 {
				t.Errorf("%s, worse: got %+v, %v", f, out, err)
			}
		}
		flaky.Decide(faulty.Script(faulty.Denied))
		if _, err := board.Submit(t.Context(), Submission{Player: "ada"}); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("got error %v", err)
		}
	})
}

// A sum without an ID is not repeated after a lost answer: it may be counted, and the error says that this is not
// known.
func TestSumWithoutIDAfterALostAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		open(t, client, Options{})
		flaky := faulty.On(t, client, faulty.Script(faulty.LostAnswer))
		board := named(t, open(t, flaky, Options{Mode: Sum}), "galaxy")
		_, err := board.Submit(t.Context(), Submission{Player: "ada", Score: 8})
		if _, ok := errors.AsType[*heatsink.UnknownOutcomeError](err); !ok || flaky.Count("UpdateItem") != 1 {
			t.Errorf("got error %v after %d requests", err, flaky.Count("UpdateItem"))
		}
		flaky.Decide(faulty.Script(faulty.ThrottledOnDemand, faulty.ThrottledOnDemand)) // which is certain, and repeated
		if out := submit(t, board, Submission{Player: "ada", Score: 1}); out.Entry.Score != 9 {
			t.Errorf("got %+v", out)
		}
	})
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	for _, id := range []string{"", "match-1"} {
		board := boardOf(t, Options{Mode: Sum})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := board.Submit(ctx, Submission{Player: "ada", ID: id}); !errors.Is(err, context.Canceled) {
			t.Errorf("id %q: got error %v", id, err)
		}
	}
}

// An item that is not a board's own is an error that names it, not a score of zero.
func TestForeignItemsAreNamed(t *testing.T) {
	boards := open(t, local.Start(t).Client(), Options{})
	for missing, item := range map[string]heatsink.Item{
		`attribute "score" is not a score`: {"player": text("x"), "at": text(day.Format(timeLayout))},
		`attribute "at" is not a time`:     {"player": text("x"), "score": number("1")},
		`player "x"`:                       {"player": text("x"), "score": &types.AttributeValueMemberBOOL{Value: true}},
	} {
		if _, err := boards.entry(item); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("got error %v, want %s", err, missing)
		}
	}
}
