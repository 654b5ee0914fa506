package meter_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/counter"
	"github.com/heatsink-go/heatsink/eventlog"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/leaderboard"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
	"github.com/heatsink-go/heatsink/session"
)

// Whatever a recipe sends, a Meter in its context has: as many requests as the client has sent, and as many units as the
// engine has charged. The first request of each operation is throttled, so that there is a retry to count.
func TestMetersSeeRecipes(t *testing.T) {
	type operation func(ctx context.Context) error
	for _, c := range []struct {
		name    string
		retries int
		open    func(t *testing.T, client *faulty.Client) operation
	}{
		{"counter, Add: a flusher sends requests of its own", 0, func(t *testing.T, client *faulty.Client) operation {
			options := counter.Options{Table: "counters", FoldEvery: -1}
			setUp(t, counter.Setup(t.Context(), client.Direct, options))
			c, err := counter.Open(client, options)
			setUp(t, err)
			t.Cleanup(func() { setUp(t, c.Close(context.Background())) })
			return func(ctx context.Context) error { return c.Add(ctx, "VIEWS", 1) }
		}},
		{"tally, AddOnce", 1, func(t *testing.T, client *faulty.Client) operation {
			options := counter.TallyOptions{Table: "tallies"}
			setUp(t, counter.SetupTally(t.Context(), client.Direct, options))
			tally, err := counter.OpenTally(client, options)
			setUp(t, err)
			return func(ctx context.Context) error { return tally.AddOnce(ctx, "VIEWS", 1, "id") }
		}},
		{"leaderboard, Submit with an ID", 1, func(t *testing.T, client *faulty.Client) operation {
			options := leaderboard.Options{Table: "boards", Mode: leaderboard.Sum}
			setUp(t, leaderboard.Setup(t.Context(), client.Direct, options))
			boards, err := leaderboard.Open(client, options)
			setUp(t, err)
			board, err := boards.Board("galaxy")
			setUp(t, err)
			return func(ctx context.Context) error {
				_, err := board.Submit(ctx, leaderboard.Submission{Player: "a", Score: 7, ID: "id"})
				return err
			}
		}},
		{"leaderboard, RankAbout", 1, func(t *testing.T, client *faulty.Client) operation {
			options := leaderboard.Options{Table: "boards"}
			setUp(t, leaderboard.Setup(t.Context(), client.Direct, options))
			boards, err := leaderboard.Open(client, options)
			setUp(t, err)
			board, err := boards.Board("galaxy")
			setUp(t, err)
			_, err = board.Submit(t.Context(), leaderboard.Submission{Player: "a", Score: 7})
			setUp(t, err)
			return func(ctx context.Context) error { _, _, err := board.RankAbout(ctx, "a"); return err }
		}},
		{"ratelimit, Allow", 1, func(t *testing.T, client *faulty.Client) operation {
			options := ratelimit.Options{Table: "limits", Limit: 5}
			setUp(t, ratelimit.Setup(t.Context(), client.Direct, options))
			limiter, err := ratelimit.Open(client, options)
			setUp(t, err)
			_, err = limiter.Allow(t.Context(), "key") // the first finds no item, for which errors report no units
			setUp(t, err)
			return func(ctx context.Context) error { _, err := limiter.Allow(ctx, "key"); return err }
		}},
		{"session, Create and ByUser", 1, func(t *testing.T, client *faulty.Client) operation {
			options := session.Options{Table: "sessions"}
			setUp(t, session.Setup(t.Context(), client.Direct, options))
			sessions, err := session.Open[string](client, options)
			setUp(t, err)
			return func(ctx context.Context) error {
				if _, err := sessions.Create(ctx, "ann", "data"); err != nil {
					return err
				}
				for _, err := range sessions.ByUser(ctx, "ann") {
					if err != nil {
						return err
					}
				}
				return nil
			}
		}},
		{"eventlog, AppendAll with ids and without", 1, func(t *testing.T, client *faulty.Client) operation {
			options := eventlog.Options{Table: "events"}
			setUp(t, eventlog.Setup(t.Context(), client.Direct, options))
			log, err := eventlog.Open[heatsink.Item](client, options)
			setUp(t, err)
			return func(ctx context.Context) error {
				now := time.Now()
				if _, err := log.Append(ctx, eventlog.Event[heatsink.Item]{Log: "app", At: now, ID: "a"}); err != nil {
					return err
				}
				_, err := log.AppendAll(ctx, []eventlog.Event[heatsink.Item]{{Log: "app", At: now, ID: "b"}, {Log: "app"}})
				return err
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db, err := local.New(local.Options{Physics: &local.Physics{}}) // which keeps books of what it charges
				setUp(t, err)
				t.Cleanup(func() { setUp(t, db.Close()) })
				client := faulty.On(t, db.Client(), faulty.Always(faulty.None))
				do := c.open(t, client)
				requests := len(client.Requests())
				reads, writes := charged(t, db)
				client.Decide(faulty.Script(faulty.Throttled))
				var meter heatsink.Meter
				if err := do(heatsink.WithMeter(t.Context(), &meter)); err != nil {
					t.Fatal(err)
				}
				cost := meter.Cost()
				if sent := len(client.Requests()) - requests; cost.Requests != sent || cost.Retries != c.retries || cost.Throttles != 1 {
					t.Errorf("got %+v, want %d requests, %d of them retries, and a throttle", cost, sent, c.retries)
				}
				readsAfter, writesAfter := charged(t, db)
				if cost.ReadUnits != readsAfter-reads || cost.WriteUnits != writesAfter-writes || cost.ReadUnits+cost.WriteUnits == 0 {
					t.Errorf("got %+v, the engine has charged %v read and %v write units", cost, readsAfter-reads, writesAfter-writes)
				}
			})
		})
	}
}

func setUp(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// charged returns the units that an engine has served in all of its tables and indexes.
func charged(t *testing.T, db *local.DB) (reads, writes float64) {
	t.Helper()
	list, err := db.Client().ListTables(context.Background(), &dynamodb.ListTablesInput{})
	setUp(t, err)
	for _, name := range list.TableNames {
		heats, err := db.Partitions(context.Background(), name, time.Hour)
		setUp(t, err)
		for _, heat := range heats {
			for _, p := range heat.Partitions {
				for _, s := range p.Seconds {
					reads += s.ReadUnits
					writes += s.WriteUnits
				}
			}
		}
	}
	return reads, writes
}
