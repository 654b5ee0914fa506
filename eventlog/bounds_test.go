package eventlog_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// desert is a client of a table without a single event.
type desert struct {
	eventlog.Client
	queries atomic.Int64
}

func (d *desert) Query(ctx context.Context, _ *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	d.queries.Add(1)
	return &dynamodb.QueryOutput{}, ctx.Err()
}

// The newest events of a log whose name is misspelt are not looked for in every hour of ten years.
func TestNewestOfAMisspeltLog(t *testing.T) {
	client := &desert{}
	logs := open(t, client, eventlog.Options{Bucket: layout.Hour, Shards: 8, Retention: 10 * 365 * 24 * time.Hour})
	_, err := logs.Newest(t.Context(), "OSP_LOG", 50)
	if n := client.queries.Load(); !errors.Is(err, heatsink.ErrTooManyRequests) || n > 10_000 || !strings.Contains(err.Error(), "OSP_LOG") {
		t.Errorf("got %v after %d requests, want %v after 10,000", err, n, heatsink.ErrTooManyRequests)
	}
	client.queries.Store(0)
	q := eventlog.Query{Log: "OSP_LOG"}
	_, err1 := logs.Count(t.Context(), q)
	_, err2 := logs.Distribution(t.Context(), q)
	_, err3 := eventlog.CountBy(t.Context(), logs, q, func(event) int { return 0 })
	for _, err := range []error{err1, err2, err3} {
		if n := client.queries.Load(); !errors.Is(err, heatsink.ErrTooManyRequests) || !errors.Is(err, eventlog.ErrQuery) || n > 0 {
			t.Errorf("got %v after %d requests, want %v after none", err, n, heatsink.ErrTooManyRequests)
		}
	}
	if plan, err := logs.Plan(t.Context(), eventlog.Query{Log: "OSP_LOG", From: time.Now().AddDate(-1, 0, 0)}); err != nil || plan.Shards < 70_000 {
		t.Errorf("plan: %+v, %v", plan, err)
	}
}

// Pages that may not send many requests are short, and have everything when put together.
func TestShortPages(t *testing.T) {
	logs := setup(t, local.Start(t).Client(), eventlog.Options{Bucket: layout.Day, Shards: 2, Precision: time.Second})
	all := every(72*time.Hour, noon, "LOG", 10)
	appendAll(t, logs, all)
	for _, newest := range []bool{false, true} {
		want := all
		if newest {
			want = reversed(all)
		}
		q := eventlog.Query{Log: "LOG", From: noon, To: noon.AddDate(0, 0, 27).Add(time.Second), Newest: newest, Limit: 100, MaxRequests: 14}
		if got := inPages(t, logs, q); !slices.Equal(got, want) {
			t.Errorf("newest %t: got %v", newest, got)
		}
		q.MaxRequests = 3
		if page, err := logs.Page(t.Context(), q, ""); err != nil || len(page.Events) != 1 || page.Next == "" {
			t.Errorf("newest %t: got %v, %v, want one event and more", newest, page, err)
		}
		q.Limit, q.MaxRequests = math.MaxInt, 1000
		if got := inPages(t, logs, q); !slices.Equal(got, want) {
			t.Errorf("newest %t: with the largest limit: got %v", newest, got)
		}
	}
}

// A Tail may have slept for longer than a read may take.
func TestTailFromLongAgo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := &desert{}
		logs := open(t, client, eventlog.Options{Bucket: layout.Hour, Shards: 2, Settle: time.Second})
		tail, err := logs.Tail("LOG", eventlog.TailOptions{From: time.Now().AddDate(-1, 0, 0), GiveUp: -1})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, err := range tail.Events(ctx) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		if n := client.queries.Load(); n < 2*365*24 {
			t.Errorf("%d requests, want one for each shard of a year", n)
		}
	})
}
