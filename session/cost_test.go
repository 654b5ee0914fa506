package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// What each operation costs, in requests and units, is what doc.go and docs/recipes/session.md say.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		name            string
		options         session.Options
		note            int // bytes in each session
		create, get     string
		eventual        string
		touch, noTouch  string
		update, change  string
		expire          string
		revoke, nothing string
		count, byUser   string
		revokeUser      string // of one session
	}{
		{
			name:   "plain",
			create: "1 requests, 0 read units, 3 write units", get: "1 requests, 1 read units, 0 write units",
			eventual: "1 requests, 0.5 read units, 0 write units",
			touch:    "1 requests, 0 read units, 5 write units", noTouch: "0 requests, 0 read units, 0 write units",
			update: "1 requests, 0 read units, 3 write units", change: "2 requests, 1 read units, 3 write units",
			expire: "1 requests, 0 read units, 5 write units",
			revoke: "1 requests, 0 read units, 3 write units", nothing: "1 requests, 0 read units, 0 write units",
			count: "25 requests, 12.5 read units, 0 write units", byUser: "1 requests, 0.5 read units, 0 write units",
			revokeUser: "3 requests, 1 read units, 3 write units",
		},
		{
			name: "strict", options: session.Options{StrictRevocation: true},
			create: "2 requests, 1 read units, 3 write units", get: "2 requests, 2 read units, 0 write units",
			eventual: "2 requests, 1.5 read units, 0 write units",
			touch:    "2 requests, 1 read units, 5 write units", noTouch: "0 requests, 0 read units, 0 write units",
			update: "2 requests, 1 read units, 3 write units", change: "3 requests, 2 read units, 3 write units",
			expire: "1 requests, 0 read units, 5 write units",
			revoke: "1 requests, 0 read units, 3 write units", nothing: "1 requests, 0 read units, 0 write units",
			count: "25 requests, 12.5 read units, 0 write units", byUser: "2 requests, 1.5 read units, 0 write units",
			revokeUser: "4 requests, 1.5 read units, 4 write units",
		},
		{
			name: "of 5 KB", note: 4500,
			create: "1 requests, 0 read units, 15 write units", get: "1 requests, 2 read units, 0 write units",
			eventual: "1 requests, 1 read units, 0 write units",
			touch:    "1 requests, 0 read units, 25 write units", noTouch: "0 requests, 0 read units, 0 write units",
			update: "1 requests, 0 read units, 15 write units", change: "2 requests, 2 read units, 15 write units",
			expire: "1 requests, 0 read units, 25 write units",
			revoke: "1 requests, 0 read units, 15 write units", nothing: "1 requests, 0 read units, 0 write units",
			count: "25 requests, 13 read units, 0 write units", byUser: "1 requests, 1 read units, 0 write units",
			revokeUser: "3 requests, 1.5 read units, 15 write units",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				sessions := open(t, local.Start(t).Client(), c.options)
				data := cart{Note: strings.Repeat("n", c.note)}
				var s session.Session[cart]
				var err error
				check := func(what, want string, op func(ctx context.Context)) {
					t.Helper()
					got := metered(op)
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if got := units(got); got != want {
						t.Errorf("%s: got %s, want %s", what, got, want)
					}
				}
				check("create", c.create, func(ctx context.Context) { s, err = sessions.Create(ctx, "ann", data) })
				check("get", c.get, func(ctx context.Context) { s, err = sessions.Get(ctx, s.ID) })
				check("get eventually", c.eventual, func(ctx context.Context) { s, err = sessions.Get(ctx, s.ID, session.Eventual) })
				check("touch at once", c.noTouch, func(ctx context.Context) { s, err = sessions.Touch(ctx, s) })
				time.Sleep(3 * time.Minute)
				check("touch", c.touch, func(ctx context.Context) { s, err = sessions.Touch(ctx, s) })
				check("update", c.update, func(ctx context.Context) { s, err = sessions.Update(ctx, s) })
				check("change", c.change, func(ctx context.Context) {
					s, err = sessions.Change(ctx, s.ID, func(c *cart) error { c.Items++; return nil })
				})
				check("count", c.count, func(ctx context.Context) { _, err = sessions.Count(ctx) })
				check("list", c.count, func(ctx context.Context) {
					for _, err = range sessions.List(ctx) {
					}
				})
				check("by user", c.byUser, func(ctx context.Context) {
					for _, err = range sessions.ByUser(ctx, "ann") {
					}
				})
				check("expire", c.expire, func(ctx context.Context) { s, err = sessions.Expire(ctx, s, time.Now().Add(time.Minute)) })
				check("revoke", c.revoke, func(ctx context.Context) { err = sessions.Revoke(ctx, s.ID) })
				check("revoke nothing", c.nothing, func(ctx context.Context) { err = sessions.Revoke(ctx, s.ID) })
				if s, err = sessions.Create(t.Context(), "ann", data); err != nil {
					t.Fatal(err)
				}
				check("revoke user", c.revokeUser, func(ctx context.Context) { _, err = sessions.RevokeUser(ctx, "ann") })
			})
		})
	}
}

// 000-13, 000-14: the sessions are counted with 25 COUNT queries side by side, whose pages are summed.
func TestCountAsksAllShardsAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := local.Start(t)
		plain := open(t, db.Client(), session.Options{})
		const n = 200
		for range n { // 200 × 16 KB are 128 KB a shard: no more than a page each
			if _, err := plain.Create(t.Context(), "", cart{Note: strings.Repeat("n", 16000)}); err != nil {
				t.Fatal(err)
			}
		}
		const each = 5 * time.Millisecond
		watch := faulty.On(t, db.Client(), nil)
		watch.Delay(faulty.Exactly(each))
		sessions := openOn(t, watch, session.Options{})
		began := time.Now()
		got, err := sessions.Count(t.Context())
		if err != nil || got != n {
			t.Errorf("counted %d, %v, want %d", got, err, n)
		}
		if took := time.Since(began); took != each || watch.Count("Query") != 25 {
			t.Errorf("took %v and %d queries, want %v and 25", took, watch.Count("Query"), each)
		}

		// One shard holds 3.2 MB now: four pages.
		plain = open(t, db.Client(), session.Options{Table: "one", Shards: 1})
		for range n {
			if _, err := plain.Create(t.Context(), "", cart{Note: strings.Repeat("n", 16000)}); err != nil {
				t.Fatal(err)
			}
		}
		watch = faulty.On(t, db.Client(), nil)
		got, err = openOn(t, watch, session.Options{Table: "one", Shards: 1}).Count(t.Context())
		if err != nil || got != n || watch.Count("Query") != 4 {
			t.Errorf("one shard: counted %d, %v with %d queries, want %d with 4", got, err, watch.Count("Query"), n)
		}
	})
}

// A page view every ten seconds: the throttled touch writes one in 18 of what touching every time would.
func TestTouchEverySoOften(t *testing.T) {
	const hours = 1
	load := func(t *testing.T, every time.Duration) (cost heatsink.Cost) {
		bubble.Test(t, func(t *testing.T) {
			sessions := open(t, start(t, local.Options{TTLInterval: time.Hour}).Client(), session.Options{TouchEvery: every})
			s := create(t, sessions, "ann")
			cost = metered(func(ctx context.Context) {
				for range hours * 360 {
					time.Sleep(10 * time.Second)
					if _, err := sessions.Visit(ctx, s.ID); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
		return cost
	}
	seldom, always := load(t, 0), load(t, -1)
	t.Logf("one view every 10 s for %d hour: touched every 3 minutes: %s; every time: %s", hours, units(seldom), units(always))
	if seldom.WriteUnits != hours*20*5 || always.WriteUnits != hours*360*5 || seldom.ReadUnits != hours*360 {
		t.Errorf("got %s, and %s without a throttle", units(seldom), units(always))
	}
}
