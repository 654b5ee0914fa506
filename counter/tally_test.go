package counter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

func openTally(t testing.TB, client Client, options TallyOptions) *Tally {
	t.Helper()
	tally, err := OpenTally(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// 003-10, X03, X04: COUNTER#VIEWS over ten shards, each the item COUNTER#VIEWS#SHARD#n, COUNT. Of k increments at the
// same time the total is k; shards that are not there count nothing.
func TestTallyOfViews(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		options := TallyOptions{Table: "views", SortKey: "sk", Format: layout.SharpNumber()}
		if err := SetupTally(t.Context(), client, options); err != nil {
			t.Fatal(err)
		}
		enginetest.DropTable(t, client, "views")
		views := openTally(t, client, options)
		if n, err := views.Total(t.Context(), "COUNTER#VIEWS"); err != nil || n != 0 {
			t.Errorf("before anything: got %d, %v", n, err)
		}
		const k = 300
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for range k / 10 {
					if err := views.Add(t.Context(), "COUNTER#VIEWS", 1); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if n, err := views.Total(t.Context(), "COUNTER#VIEWS"); err != nil || n != k {
			t.Errorf("got %d, %v, want %d", n, err, k)
		}
		shards, err := views.Shards(t.Context(), "COUNTER#VIEWS")
		if err != nil || len(shards) != 10 {
			t.Fatalf("got %v, %v, want ten shards", shards, err)
		}
		for i, want := range shards {
			key := map[string]types.AttributeValue{"pk": text(fmt.Sprintf("COUNTER#VIEWS#SHARD#%d", i)), "sk": text("COUNT")}
			out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("views"), Key: key, ConsistentRead: aws.Bool(true)})
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := out.Item["count"].(*types.AttributeValueMemberN); !ok || got.Value != fmt.Sprint(want) {
				t.Errorf("shard %d is %v, want a count of %d", i, out.Item, want)
			}
		}
	})
}

// 004-18, X23: leaderboard#game-1 over ten items by itemId, ADD score 1; shards that were never written count 0.
func TestTallyOfAScore(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, client *dynamodb.Client) {
		options := TallyOptions{Table: "scores", PartitionKey: "itemId", Attribute: "score", Format: layout.PlainNumber()}
		if err := SetupTally(t.Context(), client, options); err != nil {
			t.Fatal(err)
		}
		enginetest.DropTable(t, client, "scores")
		scores := openTally(t, client, options)
		for range 3 { // so that most shards are not there
			if err := scores.Add(t.Context(), "leaderboard#game-1", 1); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := scores.Total(t.Context(), "leaderboard#game-1"); err != nil || n != 3 {
			t.Errorf("got %d, %v, want 3", n, err)
		}
		shards, err := scores.Shards(t.Context(), "leaderboard#game-1")
		if err != nil || len(shards) != 10 || !slices.Contains(shards, 0) {
			t.Fatalf("got %v, %v, want ten with zeros among them", shards, err)
		}
		for i, n := range shards {
			key := map[string]types.AttributeValue{"itemId": text(fmt.Sprintf("leaderboard#game-1#%d", i))}
			out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("scores"), Key: key, ConsistentRead: aws.Bool(true)})
			if err != nil || (out.Item != nil) != (n > 0) {
				t.Errorf("shard %d is %v, %v, want a score of %d", i, out.Item, err, n)
			}
		}
	})
}

// A tally of a table that somebody else made, with a local client.
func aTally(t testing.TB, options TallyOptions) (*Tally, *faulty.Client) {
	t.Helper()
	client := faulty.On(t, local.Start(t).Client(), nil)
	options.Table = "tallies"
	if err := SetupTally(context.Background(), client, options); err != nil {
		t.Fatal(err)
	}
	return openTally(t, client, options), client
}

func TestTallyModes(t *testing.T) {
	for _, c := range []struct {
		name      string
		mode      Mode
		faults    []faulty.Fault
		uncertain bool  // an Add is
		total     int64 // of five Adds
	}{
		{"at least once, lost answer", AtLeastOnce, []faulty.Fault{faulty.LostAnswer}, false, 6},
		{"at least once, lost request", AtLeastOnce, []faulty.Fault{faulty.LostRequest}, false, 5},
		{"at most once, lost answer", AtMostOnce, []faulty.Fault{faulty.LostAnswer}, true, 5},
		{"at most once, lost request", AtMostOnce, []faulty.Fault{faulty.LostRequest}, true, 4},
		{"at most once, throttled", AtMostOnce, []faulty.Fault{faulty.Throttled, faulty.Throttled}, false, 5},
		{"transaction, lost answer", Transaction, []faulty.Fault{faulty.LostAnswer, faulty.LostAnswer}, false, 5},
		{"transaction, lost request", Transaction, []faulty.Fault{faulty.LostRequest}, false, 5},
		{"transaction, throttled", Transaction, []faulty.Fault{faulty.Throttled, faulty.Throttled}, false, 5},
		{"transaction, unanswered", Transaction, []faulty.Fault{faulty.UnansweredDone}, false, 5},
		{"transaction, given up", Transaction, []faulty.Fault{faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer, faulty.LostAnswer}, true, 5},
		{"transaction, refused", Transaction, []faulty.Fault{faulty.Denied}, false, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				tally, client := aTally(t, TallyOptions{Mode: c.mode})
				operation := "UpdateItem"
				if c.mode == Transaction {
					operation = "TransactWriteItems"
				}
				client.Decide(faulty.Script(c.faults...).Of(operation))
				uncertain := false
				for range 5 {
					err := tally.Add(t.Context(), "VIEWS", 1)
					if failed, ok := errors.AsType[*AddError](err); err != nil && !ok || ok && failed.Uncertain != errors.Is(err, ErrUncertain) {
						t.Errorf("got %v", err)
					}
					uncertain = uncertain || errors.Is(err, ErrUncertain)
				}
				if uncertain != c.uncertain {
					t.Errorf("an Add was uncertain: %v, want %v", uncertain, c.uncertain)
				}
				if n, err := tally.Total(t.Context(), "VIEWS"); err != nil || n != c.total {
					t.Errorf("got %d, %v, want %d", n, err, c.total)
				}
			})
		})
	}
}

// Whoever retries with the token of what is counted counts it once, in whatever process.
func TestAddOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tally, client := aTally(t, TallyOptions{})
		again := openTally(t, client, TallyOptions{Table: "tallies"})
		for range 3 {
			for i := range 20 {
				if err := tally.AddOnce(t.Context(), "VIEWS", 1, fmt.Sprint("view-", i)); err != nil {
					t.Fatal(err)
				}
				if err := again.AddOnce(t.Context(), "VIEWS", 1, fmt.Sprint("view-", i)); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(3 * time.Minute)
		}
		if n, err := tally.Total(t.Context(), "VIEWS"); err != nil || n != 20 {
			t.Errorf("got %d, %v, want 20", n, err)
		}
		err := tally.AddOnce(t.Context(), "VIEWS", 2, "view-1")
		if err == nil || errors.Is(err, ErrUncertain) || !strings.Contains(err.Error(), "IdempotentParameterMismatch") {
			t.Errorf("the token of something else: got %v", err)
		}
		for _, token := range []string{"", strings.Repeat("x", 37)} {
			if err := tally.AddOnce(t.Context(), "VIEWS", 1, token); !errors.Is(err, heatsink.ErrItem) {
				t.Errorf("token %q: got %v", token, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := tally.AddOnce(ctx, "VIEWS", 1, "late"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUncertain) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTallyReset(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tally, client := aTally(t, TallyOptions{})
		if n, err := tally.Reset(t.Context(), "VIEWS"); err != nil || n != 0 {
			t.Errorf("of nothing: got %d, %v", n, err)
		}
		for _, delta := range []int64{5, -2, 0, 100} {
			if err := tally.Add(t.Context(), "VIEWS", delta); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := tally.Reset(t.Context(), "VIEWS"); err != nil || n != 103 {
			t.Errorf("got %d, %v, want 103", n, err)
		}
		if n, err := tally.Total(t.Context(), "VIEWS"); err != nil || n != 0 {
			t.Errorf("afterwards: got %d, %v", n, err)
		}
		single := openTally(t, client, TallyOptions{Table: "tallies", Shards: 1})
		if err := single.Add(t.Context(), "LIKES", 1); err != nil {
			t.Fatal(err)
		}
		client.Decide(faulty.Script(faulty.LostAnswer).Of("UpdateItem"))
		if _, err := single.Reset(t.Context(), "LIKES"); !errors.As(err, new(*heatsink.UnknownOutcomeError)) {
			t.Errorf("got %v", err)
		}
	})
}

// X03: a counter that was overwritten by something else is an error, not a total.
func TestTallyOfSomethingElse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tally, client := aTally(t, TallyOptions{Shards: 1})
		put := func(v types.AttributeValue) {
			t.Helper()
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String("tallies"), Item: map[string]types.AttributeValue{"pk": text("VIEWS#SHARD_0"), "count": v},
			}); err != nil {
				t.Fatal(err)
			}
		}
		put(&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"increment": number(wideOf(1))}})
		if _, err := tally.Total(t.Context(), "VIEWS"); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "VIEWS#SHARD_0") {
			t.Errorf("a map: got %v", err)
		}
		if err := tally.Add(t.Context(), "VIEWS", 1); err == nil || errors.Is(err, ErrUncertain) {
			t.Errorf("an Add to a map: got %v", err)
		}
		put(number(wideOf(math.MaxInt64)))
		if err := tally.Add(t.Context(), "VIEWS", 1); err != nil {
			t.Fatal(err)
		}
		if _, err := tally.Total(t.Context(), "VIEWS"); !errors.Is(err, ErrOverflow) {
			t.Errorf("too large: got %v", err)
		}
	})
}

func TestTallyCosts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tally, client := aTally(t, TallyOptions{})
		weak := openTally(t, client, TallyOptions{Table: "tallies", Eventual: true})
		for _, x := range []struct {
			name        string
			do          func(ctx context.Context) error
			requests    int
			read, write float64
		}{
			{"Add", func(ctx context.Context) error { return tally.Add(ctx, "VIEWS", 1) }, 1, 0, 1},
			{"AddOnce", func(ctx context.Context) error { return tally.AddOnce(ctx, "VIEWS", 1, "a") }, 1, 0, 2},
			{"AddOnce again", func(ctx context.Context) error { return tally.AddOnce(ctx, "VIEWS", 1, "a") }, 1, 2, 0},
			{"Total", func(ctx context.Context) error { return second(tally.Total(ctx, "VIEWS")) }, 10, 10, 0},
			{"Total, eventually", func(ctx context.Context) error { return second(weak.Total(ctx, "VIEWS")) }, 10, 5, 0},
		} {
			var meter heatsink.Meter
			if err := x.do(heatsink.WithMeter(t.Context(), &meter)); err != nil {
				t.Fatal(err)
			}
			if got := meter.Cost(); got.Requests != x.requests || got.ReadUnits != x.read || got.WriteUnits != x.write {
				t.Errorf("%s: got %+v, want %d requests, %v and %v units", x.name, got, x.requests, x.read, x.write)
			}
		}
	})
}

func TestTallyOptions(t *testing.T) {
	client := &dynamodb.Client{}
	for name, c := range map[string]struct {
		options TallyOptions
		wants   string
	}{
		"no table":   {TallyOptions{}, "Table is empty"},
		"sort value": {TallyOptions{Table: "t", SortValue: "COUNT"}, "SortKey is empty"},
		"same":       {TallyOptions{Table: "t", Attribute: "pk"}, "must differ"},
		"shards":     {TallyOptions{Table: "t", Shards: -1}, "Shards is -1"},
		"mode":       {TallyOptions{Table: "t", Mode: 7}, "Mode is 7"},
	} {
		if _, err := OpenTally(client, c.options); err == nil || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: got %v, want %q", name, err, c.wants)
		}
	}
	if _, err := OpenTally(nil, TallyOptions{Table: "t"}); !errors.Is(err, heatsink.ErrOptions) {
		t.Errorf("no client: got %v", err)
	}
}
