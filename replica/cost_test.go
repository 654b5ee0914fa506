package replica_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/replica"
)

// What each operation costs, in requests and units, is what doc.go and docs/recipes/replica.md say.
func TestCosts(t *testing.T) {
	for _, c := range []struct {
		name                    string
		bytes                   int
		put, lazy, change       string
		get, latest, current    string
		lagging, refresh, empty string
		del                     string
		repair, repairOne       string
	}{
		{
			name: "of 1 KB", bytes: 800,
			put: "11 requests, 0 read units, 11 write units", lazy: "1 requests, 0 read units, 1 write units",
			change: "12 requests, 1 read units, 11 write units",
			get:    "1 requests, 0.5 read units, 0 write units", latest: "1 requests, 1 read units, 0 write units",
			current: "1 requests, 0.5 read units, 0 write units",
			lagging: "3 requests, 1.5 read units, 1 write units", refresh: "3 requests, 1.5 read units, 1 write units",
			empty:  "2 requests, 1.5 read units, 0 write units",
			del:    "11 requests, 0 read units, 11 write units",
			repair: "11 requests, 11 read units, 0 write units", repairOne: "12 requests, 11 read units, 1 write units",
		},
		{
			name: "of 10 KB", bytes: 10_000,
			put: "11 requests, 0 read units, 110 write units", lazy: "1 requests, 0 read units, 10 write units",
			change: "12 requests, 3 read units, 110 write units",
			get:    "1 requests, 1.5 read units, 0 write units", latest: "1 requests, 3 read units, 0 write units",
			current: "1 requests, 1.5 read units, 0 write units",
			lagging: "3 requests, 4.5 read units, 10 write units", refresh: "3 requests, 4.5 read units, 10 write units",
			empty:  "2 requests, 1.5 read units, 0 write units",
			del:    "11 requests, 0 read units, 110 write units",
			repair: "11 requests, 33 read units, 0 write units", repairOne: "12 requests, 31 read units, 10 write units",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				client := setup(t, replica.Options{})
				posts := openOn(t, client, replica.Options{})
				one := openOn(t, client, replica.Options{Copies: 1}) // for what depends on the copy
				data := post{Title: strings.Repeat("x", c.bytes)}
				var version replica.Version
				var err error
				check := func(what, want string, op func(ctx context.Context)) {
					t.Helper()
					cost := metered(op)
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if got := units(cost); got != want {
						t.Errorf("%s: got %s, want %s", what, got, want)
					}
				}
				check("put", c.put, func(ctx context.Context) { version, err = posts.Put(ctx, "a", data) })
				check("get", c.get, func(ctx context.Context) { _, err = posts.Get(ctx, "a") })
				check("get latest", c.latest, func(ctx context.Context) { _, err = posts.Get(ctx, "a", replica.Latest) })
				check("get at least", c.current, func(ctx context.Context) { _, err = posts.Get(ctx, "a", replica.AtLeast(version)) })
				check("put lazily", c.lazy, func(ctx context.Context) { version, err = posts.Put(ctx, "a", data, replica.Lazy) })
				check("get at least what a copy has not", c.lagging, func(ctx context.Context) { _, err = one.Get(ctx, "a", replica.AtLeast(version)) })
				check("change", c.change, func(ctx context.Context) {
					_, err = posts.Change(ctx, "a", func(p *post) error { p.Likes++; return nil })
				})
				time.Sleep(2 * time.Minute)
				check("get from an old copy", c.refresh, func(ctx context.Context) { _, err = one.Get(ctx, "a") })
				check("get nothing", c.empty, func(ctx context.Context) { _, _ = one.Get(ctx, "nothing") })
				check("repair nothing", c.repair, func(ctx context.Context) { _, err = posts.Repair(ctx, "a") })
				drop(t, client.Direct, copyKey("a", 3))
				check("repair one", c.repairOne, func(ctx context.Context) { _, err = posts.Repair(ctx, "a") })
				check("delete", c.del, func(ctx context.Context) { _, err = posts.Delete(ctx, "a") })
			})
		})
	}
}
