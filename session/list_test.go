package session_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// Those who expire first come first, and leaving the loop is fine.
func TestListIsInTheOrderOfExpiry(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sessions := open(t, local.Start(t).Client(), session.Options{})
		for i := range 50 {
			create(t, sessions, "ann", session.WithIdle(time.Duration(1+i*7%50)*time.Minute))
		}
		var last time.Time
		n := 0
		for s, err := range sessions.List(t.Context()) {
			if err != nil || s.Expires.Before(last) {
				t.Fatalf("%v after %v, %v", s, last, err)
			}
			if last = s.Expires; n == 40 {
				break
			}
			n++
		}
		// Those who die while the list is being read are left out.
		all := 0
		for range sessions.List(t.Context()) {
			time.Sleep(2 * time.Minute)
			all++
		}
		if all < 15 || all > 30 {
			t.Errorf("listed %d of 50, of whom one dies every minute, at two minutes each", all)
		}
	})
}

// Pages are of those who lived when the first was read, and leave out who has died since.
func TestPages(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx := t.Context()
		client := start(t, local.Options{TTLInterval: never}).Client()
		key := []byte("sixteen bytes or more")
		sessions := open(t, client, session.Options{TokenKeys: [][]byte{key}})
		var all []session.Session[cart]
		for i := range 50 {
			all = append(all, create(t, sessions, "ann", session.WithIdle(time.Duration(i+1)*time.Minute)))
		}
		first, err := sessions.Page(ctx, 20, "")
		if err != nil || !slices.Equal(sorted(first.Sessions...), sorted(all[:20]...)) || first.Next == "" {
			t.Fatalf("got %d, %v", len(first.Sessions), err)
		}
		time.Sleep(30 * time.Minute)
		second, err := sessions.Page(ctx, 20, first.Next)
		if err != nil || !slices.Equal(sorted(second.Sessions...), sorted(all[30:40]...)) {
			t.Errorf("got %d, %v, want the ten that are alive", len(second.Sessions), err)
		}
		third, err := sessions.Page(ctx, 20, second.Next)
		if err != nil || !slices.Equal(sorted(third.Sessions...), sorted(all[40:]...)) || third.Next != "" {
			t.Errorf("got %d, %v, next %q", len(third.Sessions), err, third.Next)
		}

		other := openOn(t, client, session.Options{})
		unsigned, err := other.Page(ctx, 5, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{"x", ".", "zzz.", first.Next[1:], "1" + first.Next, first.Next + "A", unsigned.Next, "!.x"} {
			if _, err := sessions.Page(ctx, 20, token); !errors.Is(err, session.ErrToken) {
				t.Errorf("token %q: got %v", token, err)
			}
		}
		for _, limit := range []int{0, -1} {
			if _, err := sessions.Page(ctx, limit, ""); !errors.Is(err, session.ErrInput) {
				t.Errorf("limit %d: got %v", limit, err)
			}
		}
	})
}

// More shards, first for who lists, then for who creates: nothing is missed on the way, nor on the way back.
func TestShardsGrowAndShrink(t *testing.T) {
	client := local.Start(t).Client()
	few := open(t, client, session.Options{Shards: 2})
	many := openOn(t, client, session.Options{Shards: 40})
	var all []session.Session[cart]
	for range 40 {
		all = append(all, create(t, few, "ann"))
	}
	for range 40 {
		all = append(all, create(t, many, "ann"))
	}
	if got := handles(t, many.List(t.Context())); !slices.Equal(got, sorted(all...)) {
		t.Errorf("listed %d of %d", len(got), len(all))
	}
	for _, s := range all { // whoever touches or revokes, with however many shards
		s.Expires = s.Expires.Add(-time.Hour)
		if _, err := few.Touch(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	if n, err := many.Count(t.Context()); n != len(all) || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if n, err := few.RevokeUser(t.Context(), "ann"); n != len(all) || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	if n, err := many.Count(t.Context()); n != 0 || err != nil {
		t.Errorf("%d are left, %v", n, err)
	}
}
