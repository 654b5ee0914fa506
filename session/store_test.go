package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/enginetest"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// 000-13: sessions over 25 shards. All living are listed and counted, and one is found by its id with one request.
func TestLife(t *testing.T) { enginetest.Each(t, life) }

func life(t *testing.T, client *dynamodb.Client) {
	ctx := t.Context()
	sessions := open(t, client, session.Options{Table: "heatsink-sessions"})
	enginetest.DropTable(t, client, "heatsink-sessions")
	var all []session.Session[cart]
	for i := range 60 {
		s, err := sessions.Create(ctx, fmt.Sprint("user-", i%7), cart{Items: i})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	cost := metered(func(ctx context.Context) {
		s, err := sessions.Get(ctx, all[42].ID)
		if err != nil || s != all[42] {
			t.Errorf("got %+v, %v, want %+v", s, err, all[42])
		}
	})
	if cost.Requests != 1 {
		t.Errorf("found with %d requests", cost.Requests)
	}
	if got := handles(t, sessions.List(ctx)); !slices.Equal(got, sorted(all...)) {
		t.Errorf("listed %d of 60: %v", len(got), got)
	}
	if n, err := sessions.Count(ctx); n != 60 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	var mine []session.Session[cart]
	for i := 3; i < 60; i += 7 {
		mine = append(mine, all[i])
	}
	if got := handles(t, sessions.ByUser(ctx, "user-3")); !slices.Equal(got, sorted(mine...)) {
		t.Errorf("user-3 has %v", got)
	}
	changed, err := sessions.Change(ctx, all[0].ID, func(c *cart) error { c.Note = "é"; return nil })
	if err != nil || changed.Data != (cart{Note: "é"}) || changed.Version == all[0].Version {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	if err := sessions.Revoke(ctx, all[0].ID); err != nil {
		t.Error(err)
	}
	if _, err := sessions.Get(ctx, all[0].ID); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("revoked: %v", err)
	}
	if n, err := sessions.RevokeUser(ctx, "user-3"); n != len(mine) || err != nil {
		t.Errorf("revoked %d of user-3, %v, want %d", n, err, len(mine))
	}
	if n, err := sessions.Count(ctx); n != 59-len(mine) || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
}

// The table does not have the ids, so that who can read it cannot use the sessions.
func TestIDsAreNotStored(t *testing.T) {
	client := local.Start(t).Client()
	sessions := open(t, client, session.Options{})
	s, err := sessions.Create(t.Context(), "ann", cart{Items: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.ID) < 26 {
		t.Errorf("the id %q is short", s.ID)
	}
	stored, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: new("sessions")})
	if err != nil || len(stored.Items) != 1 {
		t.Fatal(stored, err)
	}
	for name, value := range stored.Items[0] {
		if strings.Contains(fmt.Sprintf("%+v", value), s.ID) {
			t.Errorf("attribute %s has the id", name)
		}
	}
	for name, text := range map[string]string{"String": s.String(), "%v": fmt.Sprintf("%v", s), "%+v": fmt.Sprintf("%+v", s), "JSON": asJSON(t, s)} {
		if strings.Contains(text, s.ID) {
			t.Errorf("%s has the id: %s", name, text)
		}
		if !strings.Contains(text, s.Handle) {
			t.Errorf("%s lacks the handle: %s", name, text)
		}
	}
	for s, err := range sessions.List(t.Context()) {
		if err != nil || s.ID != "" {
			t.Errorf("listed with the id %q, %v", s.ID, err)
		}
	}
	if _, err := sessions.Get(t.Context(), s.Handle); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("the handle opens the session: %v", err)
	}
	// What was kept as JSON is good enough to go on with.
	var kept session.Session[cart]
	if err := json.Unmarshal([]byte(asJSON(t, s)), &kept); err != nil {
		t.Fatal(err)
	}
	kept.Data.Items = 2
	if _, err := sessions.Update(t.Context(), kept); err != nil {
		t.Error(err)
	}
	if err := sessions.RevokeHandle(t.Context(), kept.Handle); err != nil {
		t.Error(err)
	}
	if _, err := sessions.Get(t.Context(), s.ID); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("after RevokeHandle: %v", err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPlainIDs(t *testing.T) {
	sessions := open(t, local.Start(t).Client(), session.Options{PlainIDs: true, StrictRevocation: true})
	s := create(t, sessions, "ann", session.WithID("SESSION#1#SHARD_3"))
	if s.Handle != s.ID {
		t.Errorf("got %+v", s)
	}
	if got, err := sessions.Get(t.Context(), "SESSION#1#SHARD_3"); err != nil || got != s {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := sessions.RevokeUser(t.Context(), "ann"); err != nil { // makes a marker
		t.Fatal(err)
	}
	if _, err := sessions.Get(t.Context(), "user#ann"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a marker: %v", err)
	}
	if err := sessions.RevokeHandle(t.Context(), "user#ann"); !errors.Is(err, session.ErrInput) {
		t.Errorf("revoke a marker: %v", err)
	}
	if _, err := sessions.Create(t.Context(), "ann", cart{}, session.WithID("user#ann")); !errors.Is(err, session.ErrInput) {
		t.Errorf("create a marker: %v", err)
	}
}

// What comes in a cookie may be anything.
func TestStrangeIDs(t *testing.T) {
	sessions := open(t, local.Start(t).Client(), session.Options{})
	create(t, sessions, "ann")
	for name, c := range map[string]struct {
		id       string
		requests int
	}{
		"empty": {"", 0}, "long": {strings.Repeat("x", 1025), 0}, "huge": {strings.Repeat("x", 1<<20), 0}, "not text": {"\xff\xfe", 0},
		"NUL": {"a\x00", 0}, "unknown": {"AAAAAAAAAAAAAAAAAAAAAAAAAA", 1}, "key": {"SESSIONS#SHARD_1", 1}, "marker": {"user#ann", 1},
		"expression": {"#expires > :now", 1}, "longest": {strings.Repeat("é", 512), 1},
	} {
		cost := metered(func(ctx context.Context) {
			if s, err := sessions.Visit(ctx, c.id); !errors.Is(err, session.ErrNotFound) || s != (session.Session[cart]{}) {
				t.Errorf("%s: got %v, %v", name, s, err)
			}
		})
		if cost.Requests != c.requests {
			t.Errorf("%s: %d requests, want %d", name, cost.Requests, c.requests)
		}
		if err := sessions.Revoke(t.Context(), c.id); err != nil {
			t.Errorf("revoke %s: %v", name, err)
		}
	}
	if n, err := sessions.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("%d sessions are left, %v", n, err)
	}
}

// Users are called all sorts of things.
func TestStrangeUsers(t *testing.T) {
	for _, strict := range []bool{false, true} {
		sessions := open(t, local.Start(t).Client(), session.Options{StrictRevocation: strict, Settle: -1})
		users := []string{"ann", "ann#SHARD_3", "ann#1", "#", "USER#ann#2024-12-02", "ünï", "ann.1", strings.Repeat("u", 1024), "user#ann", " "}
		for _, user := range users {
			create(t, sessions, user)
		}
		create(t, sessions, "") // nobody's
		for _, user := range users {
			if got := handles(t, sessions.ByUser(t.Context(), user)); len(got) != 1 {
				t.Errorf("%q has %d sessions", user, len(got))
			}
			if n, err := sessions.RevokeUser(t.Context(), user); n != 1 || err != nil {
				t.Errorf("revoked %d of %q, %v", n, user, err)
			}
		}
		if n, err := sessions.Count(t.Context()); n != 1 || err != nil {
			t.Errorf("%d are left, %v", n, err)
		}
		for _, user := range []string{"\xff", strings.Repeat("u", 1025), "a\x001"} {
			if _, err := sessions.Create(t.Context(), user, cart{}); !errors.Is(err, session.ErrInput) || !strings.Contains(err.Error(), "the user") {
				t.Errorf("create for %q: %v", user[:1], err)
			}
		}
		for _, user := range []string{"", "\xff"} {
			if _, err := sessions.RevokeUser(t.Context(), user); !errors.Is(err, session.ErrInput) {
				t.Errorf("revoke %q: %v", user, err)
			}
			for _, err := range sessions.ByUser(t.Context(), user) {
				if !errors.Is(err, session.ErrInput) {
					t.Errorf("list %q: %v", user, err)
				}
			}
		}
	}
}

// An id that is taken stays taken, by whoever lives under it and, for a while, by whoever was revoked.
func TestCreateNeverReplaces(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, start(t, local.Options{TTLInterval: never}).Client(), session.Options{})
		taken := session.WithID("taken")
		first := create(t, sessions, "ann", taken)
		again := func() error { return second(sessions.Create(t.Context(), "bob", cart{Items: 7}, taken)) }
		if err := again(); !errors.Is(err, session.ErrExists) {
			t.Errorf("alive: got %v", err)
		}
		if s, err := sessions.Get(t.Context(), "taken"); err != nil || s != first {
			t.Errorf("got %v, %v, want it unharmed", s, err)
		}
		time.Sleep(30 * time.Minute)
		if err := again(); err != nil {
			t.Errorf("expired: %v", err)
		}
		// Who still has the first session in hand does not reach the second.
		for what, err := range map[string]error{
			"touch":  second(sessions.Touch(t.Context(), first)),
			"update": second(sessions.Update(t.Context(), first)),
			"expire": second(sessions.Expire(t.Context(), first, time.Now().Add(time.Second))),
			"end":    second(sessions.Expire(t.Context(), first, time.Now())),
		} {
			if !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if s, err := sessions.Get(t.Context(), "taken"); err != nil || s.User != "bob" || s.Data.Items != 7 || time.Until(s.Expires) != 30*time.Minute {
			t.Errorf("got %v, %v", s, err)
		}
		if err := sessions.Revoke(t.Context(), "taken"); err != nil {
			t.Fatal(err)
		}
		if err := again(); !errors.Is(err, session.ErrExists) {
			t.Errorf("revoked: got %v", err)
		}
		time.Sleep(time.Hour)
		if err := again(); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

func TestCreateOnceUnderOneID(t *testing.T) {
	sessions := open(t, local.Start(t).Client(), session.Options{})
	var all sync.WaitGroup
	var created atomic.Int64
	for i := range 20 {
		all.Go(func() {
			switch _, err := sessions.Create(t.Context(), fmt.Sprint(i), cart{}, session.WithID("one")); {
			case err == nil:
				created.Add(1)
			case !errors.Is(err, session.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if created.Load() != 1 {
		t.Errorf("created %d times", created.Load())
	}
}

func TestCreateRefusesNonsense(t *testing.T) {
	sessions := open(t, local.Start(t).Client(), session.Options{})
	_, err := sessions.Create(t.Context(), "\xff", cart{}, session.WithID(""), session.WithIdle(time.Millisecond), session.WithMaxAge(-1))
	for _, want := range []string{"the id: it is empty", "the user: it is not valid UTF-8", "the idle time: is 1ms", "the maximum age: is -1ns"} {
		if !errors.Is(err, session.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	odd, err := session.Open[map[string]func()](local.Start(t).Client(), session.Options{Table: "sessions"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := odd.Create(t.Context(), "ann", nil); err == nil {
		t.Error("created with a function in it")
	}
	function, err := session.Open[func()](local.Start(t).Client(), session.Options{Table: "sessions"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := function.Create(t.Context(), "ann", func() {}); !errors.Is(err, session.ErrInput) || !strings.Contains(err.Error(), "type func() has no DynamoDB form") {
		t.Errorf("created of a function: got %v", err)
	}
	if _, err := function.Update(t.Context(), session.Session[func()]{Handle: "s", Version: create(t, sessions, "bob").Version, Data: func() {}}); !errors.Is(err, session.ErrInput) || !strings.Contains(err.Error(), "type func() has no DynamoDB form") {
		t.Errorf("updated with a function: got %v", err)
	}
	if _, err := sessions.Create(t.Context(), "ann", cart{Note: strings.Repeat("x", 400<<10)}); err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("too large: got %v", err)
	}
	s := create(t, sessions, "ann")
	s.Data.Note = strings.Repeat("x", 400<<10)
	if _, err := sessions.Update(t.Context(), s); err == nil || !strings.Contains(err.Error(), "size") {
		t.Errorf("updated to too large: got %v", err)
	}
	if got, err := sessions.Get(t.Context(), s.ID); err != nil || got.Data != (cart{}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []session.Session[cart]{{}, {ID: s.ID}, {Handle: s.Handle, Version: "1"}, {Handle: s.Handle, Version: "a.b.c.d"}, {Handle: "user#ann", Version: s.Version}} {
		for what, err := range map[string]error{
			"touch":  second(sessions.Touch(t.Context(), bad)),
			"update": second(sessions.Update(t.Context(), bad)),
			"expire": second(sessions.Expire(t.Context(), bad, time.Now())),
		} {
			if !errors.Is(err, session.ErrInput) {
				t.Errorf("%s of %+v: %v", what, bad, err)
			}
		}
	}
}

// Everything that an operation sends ends with its context.
func TestContextEnds(t *testing.T) {
	sessions := open(t, local.Start(t).Client(), session.Options{StrictRevocation: true})
	s := create(t, sessions, "ann")
	s.Expires = s.Expires.Add(-20 * time.Minute) // so that a touch is due
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"create":      second(sessions.Create(ctx, "ann", cart{})),
		"get":         second(sessions.Get(ctx, s.ID)),
		"visit":       second(sessions.Visit(ctx, s.ID)),
		"touch":       second(sessions.Touch(ctx, s)),
		"update":      second(sessions.Update(ctx, s)),
		"change":      second(sessions.Change(ctx, s.ID, func(*cart) error { return nil })),
		"expire":      second(sessions.Expire(ctx, s, time.Now().Add(time.Minute))),
		"revoke":      sessions.Revoke(ctx, s.ID),
		"revoke user": second(sessions.RevokeUser(ctx, "ann")),
		"count":       second(sessions.Count(ctx)),
		"page":        second(sessions.Page(ctx, 1, "")),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, err := range sessions.List(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: got %v", err)
		}
	}
}

// Data of another type than they were stored with are an error that says so, and can be revoked.
func TestForeignData(t *testing.T) {
	client := local.Start(t).Client()
	sessions := open(t, client, session.Options{})
	s := create(t, sessions, "ann")
	texts, err := session.Open[[]string](client, session.Options{Table: "sessions"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = texts.Get(t.Context(), s.ID)
	if wrong, ok := errors.AsType[*heatsink.DecodeError](err); !ok || len(wrong.Item) != 1 || !strings.Contains(err.Error(), s.Handle) {
		t.Errorf("got %v", err)
	}
	pairs := 0
	for _, err := range texts.List(t.Context()) {
		if pairs++; !errors.As(err, new(*heatsink.DecodeError)) {
			t.Errorf("listed: %v", err)
		}
	}
	if n, err := texts.RevokeUser(t.Context(), "ann"); n != 1 || err != nil || pairs != 1 {
		t.Errorf("revoked %d, %v, listed %d", n, err, pairs)
	}
}
