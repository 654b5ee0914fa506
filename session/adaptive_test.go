package session_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// lists returns how many sessions are listed under each key of the index.
func lists(t *testing.T, client *dynamodb.Client) map[string]int {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("sessions")})
	if err != nil || out.LastEvaluatedKey != nil {
		t.Fatal("the table is larger than a page: ", err)
	}
	counts := map[string]int{}
	for _, item := range out.Items {
		if key, ok := item["list"].(*types.AttributeValueMemberS); ok {
			counts[key.Value]++
		}
	}
	return counts
}

// A list that grows while sessions live has each of them once. A touch moves a session to the shard that it has now, at
// the cost of any other touch; nothing else moves it, and a revoked one does not come back.
func TestAdaptiveListGrows(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client := start(t, local.Options{}).Client()
		options := session.Options{Adaptive: &heatsink.Adaptive{}}
		sessions := open(t, client, options)
		var all []session.Session[cart]
		for range 40 {
			all = append(all, create(t, sessions, "ann"))
		}
		if got := lists(t, client); len(got) != 1 || got["SESSIONS"] != 40 {
			t.Errorf("before it grows, sessions are listed under %v", got)
		}
		if _, err := sessions.Ledgers().Grow(t.Context(), session.ListKey, time.Time{}, 8, "a test"); err != nil {
			t.Fatal(err)
		}
		for i := range all {
			changed, err := sessions.Change(t.Context(), all[i].ID, func(c *cart) error { c.Items++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			changed.ID, all[i] = all[i].ID, changed
		}
		if got := lists(t, client); len(got) != 1 {
			t.Errorf("a change of data moves sessions: they are listed under %v", got)
		}
		time.Sleep(10 * time.Minute)
		for i := range all[:30] {
			cost := metered(func(ctx context.Context) {
				touched, err := sessions.Touch(ctx, all[i])
				if err != nil {
					t.Fatal(err)
				}
				all[i] = touched
			})
			if i > 0 && (cost.Requests != 1 || cost.WriteUnits != 5) { // the first reads the charter, too
				t.Errorf("a touch costs %s, want 1 request and 5 write units", units(cost))
			}
		}
		if got := lists(t, client); len(got) < 6 || got["SESSIONS"] < 10 {
			t.Errorf("after touches of 30 sessions, they are listed under %v, want 8 keys, and the other 10 where they were", got)
		}
		for _, s := range all[:5] {
			if err := sessions.Revoke(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
			if _, err := sessions.Touch(t.Context(), s); err != nil && !errors.Is(err, session.ErrNotFound) {
				t.Fatal(err)
			}
		}
		time.Sleep(4 * time.Minute)
		for _, s := range all[:5] {
			if _, err := sessions.Touch(t.Context(), s); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("touched a revoked session: %v", err)
			}
		}
		other := openOn(t, client, options) // which knows of no ledger yet
		want := sorted(all[5:]...)
		if got := handles(t, other.List(t.Context())); !slices.Equal(got, want) {
			t.Errorf("listed %d sessions, want these %d", len(got), len(want))
		}
		if n, err := other.Count(t.Context()); err != nil || n != 35 {
			t.Errorf("counted %d, %v, want 35", n, err)
		}
		if got := handles(t, other.ByUser(t.Context(), "ann")); !slices.Equal(got, want) {
			t.Errorf("listed %d sessions of the user, want these %d", len(got), len(want))
		}
		var paged []session.Session[cart]
		for token := ""; ; {
			page, err := other.Page(t.Context(), 7, token)
			if err != nil {
				t.Fatal(err)
			}
			if paged = append(paged, page.Sessions...); page.Next == "" {
				break
			}
			token = page.Next
		}
		if got := sorted(paged...); !slices.Equal(got, want) {
			t.Errorf("pages have %d sessions, want these %d", len(got), len(want))
		}
		if n, err := other.RevokeUser(t.Context(), "ann"); err != nil || n != 35 {
			t.Errorf("revoked %d, %v, want 35", n, err)
		}
	})
}

// A list that had a fixed number of shards becomes adaptive where it is.
func TestAdaptiveListAdoptsShards(t *testing.T) {
	client := start(t, local.Options{}).Client()
	fixed := open(t, client, session.Options{})
	var all []session.Session[cart]
	for range 100 {
		all = append(all, create(t, fixed, ""))
	}
	sessions := openOn(t, client, session.Options{Shards: 25, Adaptive: &heatsink.Adaptive{}})
	all = append(all, create(t, sessions, ""), create(t, sessions, ""))
	if got := handles(t, sessions.List(t.Context())); !slices.Equal(got, sorted(all...)) {
		t.Errorf("listed %d sessions, want these %d", len(got), len(all))
	}
	if n, err := sessions.Count(t.Context()); err != nil || n != len(all) {
		t.Errorf("counted %d, %v, want %d", n, err, len(all))
	}
}

// Control items are no sessions, also where ids are stored as they are.
func TestControlItemsAreNoSessions(t *testing.T) {
	client := start(t, local.Options{}).Client()
	sessions := open(t, client, session.Options{PlainIDs: true, Adaptive: &heatsink.Adaptive{}})
	create(t, sessions, "")
	const id = "_hs#C#living"
	if _, err := sessions.Create(t.Context(), "", cart{}, session.WithID(id)); !errors.Is(err, session.ErrInput) || !strings.Contains(err.Error(), "reserved") {
		t.Errorf("create: got %v", err)
	}
	if _, err := sessions.Get(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("get: got %v", err)
	}
	if err := sessions.RevokeHandle(t.Context(), id); !errors.Is(err, session.ErrInput) {
		t.Errorf("revoke: got %v", err)
	}
	if n, err := sessions.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("counted %d, %v, want 1", n, err)
	}
	if _, err := session.Open[cart](client, session.Options{Table: "sessions", Adaptive: &heatsink.Adaptive{Keep: -1}}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("got %v", err)
	}
	if _, err := openOn(t, client, session.Options{}).Ledgers().Show(t.Context(), session.ListKey, time.Time{}); !errors.Is(err, session.ErrOptions) {
		t.Errorf("the ledger of a list that has none: got %v", err)
	}
}

// Touches that are too many for one key make the list wider, and move their sessions along. Then none is throttled.
func TestAdaptiveListFollowsItsLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := start(t, local.Options{
			Physics:     &local.Physics{OnDemandPartitions: 64, NoSplits: true, TableWrites: -1, TableReads: -1},
			TTLInterval: time.Hour,
		})
		options := session.Options{Adaptive: &heatsink.Adaptive{}, TouchEvery: -1}
		open(t, db.Client(), options)
		var stores []*session.Store[cart]
		for range 3 {
			stores = append(stores, openOn(t, db.Client(), options))
		}
		var mu sync.Mutex
		var living []session.Session[cart]
		throttles := map[string]int{}
		run := func(what string, n, rate int, do func(ctx context.Context, i int, s *session.Store[cart]) error) {
			var all sync.WaitGroup
			failed := 0
			for i := range n {
				all.Go(func() {
					var meter heatsink.Meter
					err := do(heatsink.WithMeter(t.Context(), &meter), i, stores[i%len(stores)])
					mu.Lock()
					defer mu.Unlock()
					throttles[what] += meter.Cost().Throttles
					if err != nil {
						failed++
					}
				})
				time.Sleep(time.Second / time.Duration(rate))
			}
			all.Wait()
			ledger, err := stores[0].Ledgers().Show(t.Context(), session.ListKey, time.Time{})
			t.Logf("%-14s %d throttles, %d failed; width %v, %v", what, throttles[what], failed, ledger.Width, err)
		}
		login := func(ctx context.Context, i int, s *session.Store[cart]) error {
			made, err := s.Create(ctx, fmt.Sprint("user-", i), cart{})
			if err == nil {
				mu.Lock()
				living = append(living, made)
				mu.Unlock()
			}
			return err
		}
		touch := func(ctx context.Context, i int, s *session.Store[cart]) error {
			_, err := s.Visit(ctx, living[i%len(living)].ID)
			return err
		}
		run("logins", 800, 200, login) // all under one key
		time.Sleep(5 * time.Minute)
		run("first touches", 20_000, 800, touch)
		run("later touches", 2400, 800, touch)
		if n := throttles["later touches"]; n > 24 {
			t.Errorf("%d of 2,400 touches were throttled, want a few at most", n)
		}
		ledger, err := stores[0].Ledgers().Show(t.Context(), session.ListKey, time.Time{})
		if err != nil || ledger.Width.Write < 4 {
			t.Errorf("got %+v, %v, want a width of 4 or more: 1,600 units a second are offered", ledger, err)
		}
	})
}
