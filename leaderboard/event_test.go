package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

func TestAnIDCountsOnce(t *testing.T) { enginetest.Each(t, anIDCountsOnce) }

func anIDCountsOnce(t *testing.T, client *dynamodb.Client) {
	boards := open(t, client, Options{Mode: Sum})
	enginetest.DropTable(t, client, table)
	board := named(t, boards, "galaxy")
	for i, c := range []struct {
		board   Board
		player  string
		score   int64
		id      string
		changed bool
		stands  int64
	}{
		{board, "ada", 5, "match-1", true, 5},
		{board, "ada", 5, "match-1", false, 5},
		{board, "ada", 9, "match-1", false, 5}, // the ID counts, not what came with it
		{board, "bob", 3, "match-1", true, 3},  // the other side of the match
		{board, "ada", 2, "match-2", true, 7},
		{board, "ada", 5, "match-1", false, 7}, // also behind another
		{named(t, boards, "nebula"), "ada", 5, "match-1", true, 5},
		{board, "ada", 0, "match-3", false, 7}, // nothing to count
		{board, "eve", 0, "match-3", true, 0},
	} {
		out := submit(t, c.board, Submission{Player: c.player, Score: c.score, ID: c.id})
		if out.Changed != c.changed || out.Entry.Score != c.stands || out.Entry.Player != c.player {
			t.Errorf("%d: got %+v, want changed %v and %d", i, out, c.changed, c.stands)
		}
	}
	wantLines(t, "top", top(t, board, 0), "1 ada 7", "2 bob 3", "3 eve 0")
}

// An ID is remembered for EventTTL, however far back its period is, and then forgotten.
func TestIDsAreForgotten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		board := named(t, open(t, lazy(t), Options{Mode: Sum, EventTTL: 3 * time.Hour}), "galaxy")
		send := func() bool {
			long := time.Now().Add(-1000 * time.Hour)
			return submit(t, board, Submission{Player: "ada", Score: 1, ID: "match-1", At: long}).Changed
		}
		if !send() {
			t.Error("the first was not counted")
		}
		time.Sleep(3*time.Hour - 2*time.Second)
		if send() {
			t.Error("counted again before EventTTL is over")
		}
		time.Sleep(2 * time.Hour)
		if !send() {
			t.Error("not counted after EventTTL is over and the item is gone")
		}
	})
}

// Every submission is sent several times, by several processes at once, through a client that loses answers, breaks
// down and is throttled: each counts once, exactly.
func TestIDsCountExactlyUnderFaults(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		open(t, client, Options{Mode: Sum})
		var running sync.WaitGroup
		for process := range 3 {
			turn := process
			flaky := faulty.On(t, client, func(faulty.Request) faulty.Fault {
				turn++
				return []faulty.Fault{
					faulty.None, faulty.LostAnswer, faulty.Late, faulty.ThrottledOnDemand, faulty.BrokeDown, faulty.None, faulty.LostRequest, faulty.Conflict,
				}[turn*7%11%8]
			})
			flaky.Delay(faulty.Exactly(time.Minute).Of(faulty.Late))
			board := named(t, open(t, flaky, Options{Mode: Sum, Retry: heatsink.Retry{Attempts: 200, Burst: 10_000}}), "galaxy")
			for range 2 {
				running.Go(func() {
					for i := range 40 {
						s := Submission{Player: fmt.Sprint("p", i%3), Score: int64(i) - 5, ID: fmt.Sprint("match-", i)}
						if _, err := board.Submit(context.Background(), s); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}
		running.Wait()
		time.Sleep(time.Minute) // until what is late has arrived
		want := map[string]int64{}
		for i := range 40 {
			want[fmt.Sprint("p", i%3)] += int64(i) - 5
		}
		for _, e := range top(t, named(t, open(t, client, Options{Mode: Sum}), "galaxy"), 0) {
			if e.Score != want[e.Player] {
				t.Errorf("%s has %d, want %d", e.Player, e.Score, want[e.Player])
			}
			delete(want, e.Player)
		}
		if len(want) > 0 {
			t.Errorf("missing: %v", want)
		}
	})
}

// What a transaction is told, and what Submit makes of it.
func TestTransactionFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		faults   []faulty.Fault
		requests int
		changed  bool
		err      string // "": none
		unknown  bool
	}{
		{name: "lost answer", faults: []faulty.Fault{faulty.LostAnswer}, requests: 2, changed: true}, // by the first request, and it says so
		{name: "throttled", faults: []faulty.Fault{faulty.ThrottledOnDemand, faulty.Conflict}, requests: 3, changed: true},
		{name: "forbidden", faults: []faulty.Fault{faulty.Denied}, requests: 1, err: "AccessDenied"},
		{name: "never answered", faults: []faulty.Fault{faulty.LostAnswer, faulty.LostRequest, faulty.BrokeDown}, requests: 3, err: "3 attempts", unknown: true},
		{name: "always throttled", faults: []faulty.Fault{faulty.ThrottledOnDemand, faulty.ThrottledOnDemand, faulty.Conflict}, requests: 3, err: "3 attempts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := local.Start(t).Client()
				open(t, client, Options{})
				flaky := faulty.On(t, client, faulty.Script(c.faults...))
				board := named(t, open(t, flaky, Options{Mode: Sum, Retry: heatsink.Retry{Attempts: 3}}), "galaxy")
				out, err := board.Submit(t.Context(), Submission{Player: "ada", Score: 8, ID: "match-1"})
				_, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err)
				if n := flaky.Count("TransactWriteItems"); n != c.requests || out.Changed != c.changed || unknown != c.unknown {
					t.Errorf("got %+v, %v, after %d requests", out, err, n)
				}
				if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q", err, c.err)
				}
				if again := submit(t, board, Submission{Player: "ada", Score: 8, ID: "match-1"}); again.Entry.Score != 8 {
					t.Errorf("submitted again: %+v", again)
				}
			})
		})
	}
}

// An attempt that takes too long is given up and repeated; it is counted once all the same.
func TestTransactionTimeout(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		open(t, client, Options{})
		slow := faulty.On(t, client, faulty.Script(faulty.UnansweredDone))
		board := named(t, open(t, slow, Options{Mode: Sum, Retry: heatsink.Retry{Timeout: time.Second}}), "galaxy")
		out, err := board.Submit(t.Context(), Submission{Player: "ada", Score: 8, ID: "match-1"})
		if err != nil || !out.Changed || out.Entry.Score != 8 || slow.Count("TransactWriteItems") != 2 {
			t.Errorf("got %+v, %v, after %d requests", out, err, slow.Count("TransactWriteItems"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		slow.Decide(faulty.Script(faulty.UnansweredDone))
		_, err = board.Submit(ctx, Submission{Player: "ada", Score: 8, ID: "match-2"})
		if _, unknown := errors.AsType[*heatsink.UnknownOutcomeError](err); !unknown || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v", err)
		}
	})
}

// After the transaction, reading back may fail: the score is counted, and the error says so.
func TestReadingBackFails(t *testing.T) {
	client := local.Start(t).Client()
	open(t, client, Options{})
	flaky := faulty.On(t, client, faulty.Script(faulty.None, faulty.Denied))
	board := named(t, open(t, flaky, Options{Mode: Sum}), "galaxy")
	_, err := board.Submit(t.Context(), Submission{Player: "ada", Score: 8, ID: "match-1"})
	if err == nil || !strings.Contains(err.Error(), "the score is counted, but the entry could not be read") {
		t.Errorf("got error %v", err)
	}
	if e, err := board.Get(t.Context(), "ada"); err != nil || e.Score != 8 {
		t.Errorf("got %+v, %v", e, err)
	}
}
