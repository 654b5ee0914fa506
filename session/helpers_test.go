package session_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// cart is what the sessions of these tests hold.
type cart struct {
	Items int
	Note  string
}

// start starts an engine that ends with the test.
func start(t testing.TB, options local.Options) *local.DB {
	t.Helper()
	db, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// open returns a store on a new table.
func open(t testing.TB, client *dynamodb.Client, options session.Options) *session.Store[cart] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "sessions")
	if err := session.Setup(context.Background(), client, options); err != nil {
		t.Fatal(err)
	}
	return openOn(t, client, options)
}

// openOn returns a store on a table that is there.
func openOn(t testing.TB, client session.Client, options session.Options) *session.Store[cart] {
	t.Helper()
	options.Table = cmp.Or(options.Table, "sessions")
	sessions, err := session.Open[cart](client, options)
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// create creates a session.
func create(t testing.TB, sessions *session.Store[cart], user string, options ...session.CreateOption) session.Session[cart] {
	t.Helper()
	s, err := sessions.Create(context.Background(), user, cart{}, options...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// handles returns the handles of sessions, sorted.
func handles(t testing.TB, sessions iter.Seq2[session.Session[cart], error]) []string {
	t.Helper()
	var all []string
	for s, err := range sessions {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.Handle)
	}
	slices.Sort(all)
	return all
}

// sorted returns the handles of some sessions, sorted.
func sorted(sessions ...session.Session[cart]) []string {
	var all []string
	for _, s := range sessions {
		all = append(all, s.Handle)
	}
	slices.Sort(all)
	return all
}

// metered returns what an operation costs.
func metered(op func(ctx context.Context)) heatsink.Cost {
	var meter heatsink.Meter
	op(heatsink.WithMeter(context.Background(), &meter))
	return meter.Cost()
}

func units(c heatsink.Cost) string {
	return fmt.Sprintf("%d requests, %v read units, %v write units", c.Requests, c.ReadUnits, c.WriteUnits)
}
