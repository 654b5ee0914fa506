package session_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// Settings that nobody should choose are refused, or work: no panic, no wait without end, no session that outlives its
// revocation.
func TestWildOptions(t *testing.T) {
	opened := 0
	for seed := range uint64(1000) {
		bubble.Test(t, func(t *testing.T) {
			var options session.Options
			faulty.Wild(rand.New(rand.NewPCG(1, seed)), &options)
			options.Table, options.Names = "sessions", session.Names{}
			if seed%2 > 0 { // or hardly any would be left
				options.Shards, options.Idle, options.Retry.Attempts = int(seed%5), 0, 0
			}
			if _, err := session.Open[cart](&dynamodb.Client{}, options); err != nil {
				return
			}
			opened++
			sessions := open(t, local.Start(t).Client(), options)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := sessions.Create(ctx, "ann", cart{Items: 1})
			if err != nil {
				return
			}
			if got, err := sessions.Get(ctx, s.ID); err == nil && got.Data.Items != 1 {
				t.Errorf("seed %d: got %+v of %+v", seed, got, options)
			}
			_, _ = sessions.Touch(ctx, s)
			if err := sessions.Revoke(ctx, s.ID); err != nil {
				return
			}
			if got, err := sessions.Get(ctx, s.ID); err == nil {
				t.Errorf("seed %d: got %+v after it was revoked: %+v", seed, got, options)
			}
		})
	}
	t.Logf("1,000 options, of which %d are accepted", opened)
	if opened < 100 {
		t.Errorf("%d options are accepted: too few for a test", opened)
	}
}

// Ids and users that look like the table's own keys are sessions like any other, or refused.
func TestHostileIDs(t *testing.T) {
	for _, plain := range []bool{false, true} {
		sessions := open(t, local.Start(t).Client(), session.Options{PlainIDs: plain, StrictRevocation: true, Settle: -1})
		var ids []string
		for _, part := range []string{"", "a", "#", "user#", "user#ann", "SESSIONS", "SESSIONS#SHARD_0", "\x00", "日本", "\xff", " "} {
			ids = append(ids, part, "b"+part, part+"b")
		}
		ids = append(ids, strings.Repeat("x", 2048), strings.Repeat("x", 2049), strings.Repeat("x", 70_000))
		want := map[string]int{}
		for i, id := range ids {
			user := ids[len(ids)-1-i]
			if _, err := sessions.Create(t.Context(), user, cart{Items: i}, session.WithID(id)); err == nil {
				want[id] = i
			}
			if len(user) > 0 && i%5 == 0 {
				_, _ = sessions.RevokeUser(t.Context(), "nobody "+user) // must not touch a session
			}
		}
		for id, items := range want {
			if got, err := sessions.Get(t.Context(), id); err != nil || got.Data.Items != items || got.ID != id {
				t.Errorf("id %.40q: got %+v, %v, want %d", id, got, err, items)
			}
		}
		t.Logf("%d ids, of which %d are accepted", len(ids), len(want))
		if len(want) < 10 || len(want) == len(ids) {
			t.Errorf("%d of %d ids are accepted", len(want), len(ids))
		}
	}
}
