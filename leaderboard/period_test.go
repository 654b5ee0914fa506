package leaderboard

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// A board by the hour, day, week, month or year has what was scored in it, and starts empty when the next begins; the
// board of all time has everything.
func TestPeriods(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // time starts on 2000-01-01, a Saturday
		client := local.Start(t).Client()
		for _, c := range []struct {
			period layout.Bucket
			next   time.Time
			key    string
		}{
			{layout.Hour, time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC), "galaxy#2000-01-01T00"},
			{layout.Day, time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC), "galaxy#2000-01-01"},
			{layout.Week, time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC), "galaxy#1999-W52"},
			{layout.Month, time.Date(2000, 2, 1, 0, 0, 0, 0, time.UTC), "galaxy#2000-01"},
			{layout.Year, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), "galaxy#2000"},
		} {
			board := named(t, open(t, client, Options{Period: c.period, Ahead: -1}), "galaxy")
			start := c.period.Start(time.Now())
			for i, at := range []time.Time{start, c.next.Add(-1), c.next, start.Add(-1)} {
				submit(t, board, Submission{Player: fmt.Sprint("p", i), Score: int64(-i), At: at})
			}
			wantLines(t, c.period.String(), top(t, board, 0), "1 p0 0", "2 p1 -1")
			wantLines(t, c.period.String()+" before", top(t, board.At(start.Add(-1)), 0), "1 p3 -3")
			wantLines(t, c.period.String()+" after", top(t, board.At(c.next), 0), "1 p2 -2")
			if x, err := board.box(); err != nil || x.key != c.key {
				t.Errorf("%s is stored as %q, %v, want %q", c.period, x.key, err, c.key)
			}
		}
	})
}

// The board that is read is that of now, at every call anew.
func TestTheDayTurns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		board := named(t, open(t, lazy(t), Options{Period: layout.Day}), "galaxy")
		time.Sleep(24*time.Hour - time.Second)
		submit(t, board, Submission{Player: "ada", Score: 5})
		wantLines(t, "today", top(t, board, 0), "1 ada 5")
		page, err := board.Page(t.Context(), 1, "")
		if err != nil {
			t.Fatal(err)
		}
		yesterday := time.Now()
		time.Sleep(time.Second)
		wantLines(t, "tomorrow", top(t, board, 0))
		wantLines(t, "yesterday", top(t, board.At(yesterday), 0), "1 ada 5")
		submit(t, board, Submission{Player: "ada", Score: 3})
		wantLines(t, "tomorrow", top(t, board, 0), "1 ada 3")
		late := submit(t, board, Submission{Player: "bob", Score: 6, At: yesterday}) // told late
		if !late.Changed {
			t.Error("a late score was dropped")
		}
		submit(t, board.At(yesterday), Submission{Player: "eve", Score: 7}) // the board's time is the submission's
		wantLines(t, "yesterday", top(t, board.At(yesterday), 0), "1 eve 7", "2 bob 6", "3 ada 5")
		if page.Next != "" {
			if _, err := board.Page(t.Context(), 1, page.Next); !errors.Is(err, ErrToken) {
				t.Errorf("yesterday's token: got error %v", err)
			}
		}
	})
}

// lazy returns the client of an engine that looks for expired items once an hour, so that virtual days take no time.
func lazy(t *testing.T) *dynamodb.Client {
	t.Helper()
	db, err := local.New(local.Options{TTLInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db.Client()
}

// A board is there until its retention is over. Then it is empty, whatever DynamoDB has deleted yet, reading it sends
// nothing, and submissions are refused.
func TestRetention(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db, err := local.New(local.Options{TTLInterval: 9 * 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		board := named(t, open(t, db.Client(), Options{Period: layout.Day, Retention: 7 * 24 * time.Hour}), "galaxy")
		forever := named(t, open(t, db.Client(), Options{Period: layout.Day}), "nebula")
		first := time.Now()
		for _, b := range []Board{board, forever} {
			submit(t, b, Submission{Player: "ada", Score: 5})
		}
		time.Sleep(8*24*time.Hour - time.Second)
		wantLines(t, "the last second", top(t, board.At(first), 0), "1 ada 5")
		time.Sleep(time.Second)

		var meter heatsink.Meter
		ctx := heatsink.WithMeter(t.Context(), &meter)
		old := board.At(first)
		entries, err := old.Top(ctx, 0)
		page, errPage := old.Page(ctx, 0, "")
		n, errCount := old.Count(ctx)
		_, errRank := old.Rank(ctx, "ada")
		if len(entries)+len(page.Entries)+n != 0 || err != nil || errPage != nil || errCount != nil || !errors.Is(errRank, ErrNotFound) {
			t.Errorf("got %v, %v; %v, %v; %d, %v; %v", entries, err, page, errPage, n, errCount, errRank)
		}
		if _, err := old.Submit(ctx, Submission{Player: "bob"}); !errors.Is(err, ErrOver) {
			t.Errorf("got error %v", err)
		}
		if requests := meter.Cost().Requests; requests != 0 {
			t.Errorf("%d requests", requests)
		}
		if n := stored(t, db.Client()); n != 2 {
			t.Errorf("%d items, want 2: DynamoDB takes its time", n)
		}
		time.Sleep(48 * time.Hour)
		if n := stored(t, db.Client()); n != 1 {
			t.Errorf("%d items, want 1", n)
		}
		wantLines(t, "for ever", top(t, forever.At(first), 0), "1 ada 5")
	})
}

// stored returns how many items the table has.
func stored(t *testing.T, client *dynamodb.Client) int {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Items)
}

func TestPeriodsThatCannotBe(t *testing.T) {
	board := boardOf(t, Options{Period: layout.Year})
	for _, at := range []time.Time{time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if _, err := board.At(at).Top(t.Context(), 1); !errors.Is(err, ErrInput) {
			t.Errorf("%v: got error %v", at, err)
		}
	}
}
