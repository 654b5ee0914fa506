package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

func TestRemove(t *testing.T) {
	boards := open(t, local.Start(t).Client(), Options{Mode: Sum})
	board, other := named(t, boards, "galaxy"), named(t, boards, "nebula")
	for _, b := range []Board{board, other} {
		submit(t, b, Submission{Player: "ada", Score: 5, ID: "match-1"})
		submit(t, b, Submission{Player: "bob", Score: 4})
	}
	for range 2 { // removing who is not there is no error
		if err := board.Remove(t.Context(), "ada"); err != nil {
			t.Error(err)
		}
		wantLines(t, "top", top(t, board, 0), "1 bob 4")
	}
	wantLines(t, "the other board", top(t, other, 0), "1 ada 5", "2 bob 4")
	if out := submit(t, board, Submission{Player: "ada", Score: 5, ID: "match-1"}); out.Changed || out.Entry.Player != "ada" {
		t.Errorf("a submission from before came back: %+v", out)
	}
	submit(t, board, Submission{Player: "ada", Score: 1})
	wantLines(t, "top", top(t, board, 0), "1 bob 4", "2 ada 1")
	if err := board.Remove(t.Context(), ""); !errors.Is(err, ErrInput) {
		t.Errorf("got error %v", err)
	}
}

func TestReset(t *testing.T) {
	boards := open(t, local.Start(t).Client(), Options{})
	board, other := named(t, boards, "galaxy"), named(t, boards, "nebula")
	for i := range 200 {
		submit(t, board, Submission{Player: fmt.Sprint("p", i), Score: int64(i)})
	}
	submit(t, other, Submission{Player: "ada", Score: 5})
	var told []int
	n, err := board.Reset(t.Context(), func(deleted int) { told = append(told, deleted) })
	if n != 200 || err != nil || len(told) != 200 || told[0] != 1 || told[199] != 200 {
		t.Errorf("%d deleted, %v, told %d times", n, err, len(told))
	}
	wantLines(t, "top", top(t, board, 0))
	wantLines(t, "the other board", top(t, other, 0), "1 ada 5")
	if n, err := board.Reset(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	submit(t, named(t, open(t, boards.client, Options{Mode: Latest}), "galaxy"), Submission{Player: "p1"}) // of any mode now
}

// A reset that is cancelled, or fails, says how far it came, has nothing running any more, and can go on.
func TestResetGoesOn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := local.Start(t).Client()
		open(t, client, Options{})
		deletes := 0
		flaky := faulty.On(t, client, faulty.Decide(func(faulty.Request) faulty.Fault {
			if deletes++; deletes == 100 {
				return faulty.Denied
			}
			return []faulty.Fault{faulty.None, faulty.ThrottledOnDemand, faulty.LostAnswer}[deletes%3]
		}).Of("DeleteItem"))
		board := named(t, open(t, flaky, Options{Retry: heatsink.Retry{Attempts: 200, Burst: 10_000}}), "galaxy")
		for i := range 150 {
			submit(t, board, Submission{Player: fmt.Sprint("p", i), Score: int64(i)})
		}
		ctx, cancel := context.WithCancel(context.Background())
		first, err := board.Reset(ctx, func(deleted int) {
			if deleted == 20 {
				cancel()
			}
		})
		if first < 20 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d deleted, %v", first, err)
		}
		if _, err := board.Reset(context.Background(), nil); err == nil {
			t.Error("no error, but one delete was refused")
		}
		if _, err := board.Reset(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if n, err := board.Count(t.Context()); n != 0 || err != nil {
			t.Errorf("%d left, %v", n, err)
		}
	})
}

// What the index is late to list is found by looking again.
func TestResetLooksAgain(t *testing.T) {
	client := local.Start(t).Client()
	board := named(t, open(t, client, Options{Shards: 1}), "galaxy")
	late := &lateIndex{Client: client, board: board}
	submit(t, board, Submission{Player: "ada"})
	n, err := named(t, open(t, late, Options{Shards: 1}), "galaxy").Reset(t.Context(), nil)
	if n != 2 || err != nil || late.queries != 3 {
		t.Errorf("%d deleted, %v, after %d queries", n, err, late.queries)
	}
	wantLines(t, "top", top(t, board, 0))
}

// lateIndex is a client to whom a player appears after the first Query.
type lateIndex struct {
	Client
	board   Board
	queries int
}

func (c *lateIndex) Query(ctx context.Context, in *dynamodb.QueryInput, opts ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := c.Client.Query(ctx, in, opts...)
	if c.queries++; c.queries == 1 {
		_, err = c.board.Submit(ctx, Submission{Player: "late"})
	}
	return out, err
}

// A panic of progress is the caller's, and leaves nothing running.
func TestResetPanics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		board := boardOf(t, Options{})
		for i := range 40 {
			submit(t, board, Submission{Player: fmt.Sprint("p", i)})
		}
		defer func() {
			if p := recover(); p != "enough" {
				t.Errorf("got %v", p)
			}
		}()
		_, _ = board.Reset(t.Context(), func(int) { panic("enough") })
	})
}
