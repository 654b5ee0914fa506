package session_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/session"
)

// Sessions over virtual days, compared with a map: created, touched, read, changed, expired and revoked, by who has
// read them just now or long ago, while DynamoDB deletes the dead early or late, and requests arrive a second time.
func TestModel(t *testing.T) {
	var virtual time.Duration
	rapid.Check(t, func(rt *rapid.T) {
		rapid.SyncTest(rt, func(rt *rapid.T) { // a bubble for each check: rapid gives up after a day, of whatever clock it sees
			began := time.Now()
			db, err := local.New(local.Options{TTLInterval: rapid.SampledFrom([]time.Duration{10 * time.Minute, never}).Draw(rt, "TTL interval")})
			if err != nil {
				rt.Fatal(err)
			}
			defer db.Close()
			newModel(rt, db).run()
			virtual += time.Since(began)
		})
	})
	t.Logf("%v of virtual time", virtual)
}

// modelled is what the model knows of a session.
type modelled struct {
	session.Session[cart] // as it is stored
	ended                 bool
}

func (l *modelled) living() bool { return !l.ended && time.Now().Before(l.Expires) }

type model struct {
	*rapid.T
	ctx      context.Context
	client   *faulty.Client
	sessions *session.Store[cart]
	options  session.Options
	lives    []*modelled             // all that ever were
	revoked  map[string]time.Time    // until when the ids of the revoked are taken
	unsure   map[string]time.Time    // until when they may be
	held     []session.Session[cart] // what clients have in hand, new or old
}

func newModel(rt *rapid.T, db *local.DB) *model {
	m := &model{T: rt, ctx: context.Background(), client: faulty.On(rt, db.Client(), nil), revoked: make(map[string]time.Time), unsure: make(map[string]time.Time)}
	m.options = session.Options{
		Table:            "sessions",
		Idle:             rapid.SampledFrom([]time.Duration{0, time.Minute, 5 * time.Hour}).Draw(rt, "idle"),
		MaxAge:           rapid.SampledFrom([]time.Duration{0, 0, 2 * time.Hour}).Draw(rt, "max age"),
		TouchEvery:       rapid.SampledFrom([]time.Duration{0, -1, 10 * time.Minute}).Draw(rt, "touch every"),
		Shards:           rapid.SampledFrom([]int{1, 3}).Draw(rt, "shards"),
		StrictRevocation: rapid.Bool().Draw(rt, "strict"),
		PlainIDs:         rapid.Bool().Draw(rt, "plain ids"),
		Settle:           -1,
	}
	if err := session.Setup(m.ctx, db.Client(), m.options); err != nil {
		rt.Fatal(err)
	}
	var err error
	if m.sessions, err = session.Open[cart](m.client, m.options); err != nil {
		rt.Fatal(err)
	}
	return m
}

func (m *model) run() {
	m.Repeat(map[string]func(*rapid.T){
		"create": m.create, "get": m.get, "visit": m.visit, "touch": m.touch, "update": m.update, "change": m.change, "expire": m.expire,
		"revoke": m.revoke, "revokeUser": m.revokeUser, "sleep": m.sleep, "again": m.again, "page": m.page,
		"check": m.check,
	})
	m.check(m.T)
}

var (
	users = rapid.SampledFrom([]string{"", "ann", "bob", "eve#SHARD_0"})
	ids   = rapid.SampledFrom([]string{"", "", "one", "two#SHARD_1", "three"})
	times = rapid.Custom(func(t *rapid.T) time.Duration {
		unit := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour}).Draw(t, "unit")
		return time.Duration(rapid.IntRange(0, 60).Draw(t, "n")) * unit
	})
)

func roundUp(t time.Time) time.Time { return t.Add(time.Second - 1).Truncate(time.Second) }

func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// want fails unless an operation ended as it should have: nil, or an error that is want.
func (m *model) want(rt *rapid.T, what string, got, want error) {
	rt.Helper()
	if want == nil && got != nil || !errors.Is(got, want) {
		rt.Fatalf("%s: got error %v, want %v", what, got, want)
	}
}

// of returns the session that a client has in hand if it still lives.
func (m *model) of(s session.Session[cart]) *modelled {
	for _, l := range m.lives {
		if l.living() && l.Handle == s.Handle && l.Created.Equal(s.Created) && l.birth() == birth(s) {
			return l
		}
	}
	return nil
}

func birth(s session.Session[cart]) string { return s.Version[:8] }

func (l *modelled) birth() string { return birth(l.Session) }

// byID returns the living session with an id.
func (m *model) byID(id string) *modelled {
	for _, l := range m.lives {
		if l.living() && l.ID == id {
			return l
		}
	}
	return nil
}

func (m *model) create(rt *rapid.T) {
	id, user, items := ids.Draw(rt, "id"), users.Draw(rt, "user"), rapid.IntRange(0, 9).Draw(rt, "items")
	idle, maxAge := m.options.Idle, m.options.MaxAge
	var options []session.CreateOption
	if id != "" {
		options = append(options, session.WithID(id))
	}
	if rapid.Bool().Draw(rt, "own terms") {
		idle, maxAge = max(time.Second, times.Draw(rt, "own idle")), times.Draw(rt, "own max age").Truncate(time.Second)
		options = append(options, session.WithIdle(idle), session.WithMaxAge(maxAge))
	}
	idle = cmp.Or(idle, 30*time.Minute)
	now := time.Now()
	taken := id != "" && (m.byID(id) != nil || now.Truncate(time.Second).Before(m.revoked[id]))
	s, err := m.sessions.Create(m.ctx, user, cart{Items: items}, options...)
	if taken {
		m.want(rt, "create", err, session.ErrExists)
		return
	}
	if errors.Is(err, session.ErrExists) && now.Before(m.unsure[id]) {
		return
	}
	m.want(rt, "create", err, nil)
	idle = (idle + time.Second - 1).Truncate(time.Second)
	want := session.Session[cart]{
		ID: s.ID, Handle: s.Handle, Version: s.Version, User: user, Data: cart{Items: items}, Created: now.Truncate(time.Second).UTC(), Idle: idle,
	}
	if maxAge > 0 {
		want.Deadline = roundUp(now.Add(maxAge)).UTC()
	}
	want.Expires = earlier(roundUp(now.Add(idle)), want.Deadline).UTC()
	if s != want || id != "" && s.ID != id {
		rt.Fatalf("created %+v, want %+v", s, want)
	}
	m.lives = append(m.lives, &modelled{Session: s})
	m.hold(s)
}

func (m *model) hold(s session.Session[cart]) { m.held = append(m.held, s) }

// draw returns a session that some client has in hand.
func (m *model) draw(rt *rapid.T) session.Session[cart] {
	if len(m.held) == 0 {
		rt.Skip("nobody has a session")
	}
	return m.held[rapid.IntRange(max(0, len(m.held)-12), len(m.held)-1).Draw(rt, "held")]
}

func (m *model) get(rt *rapid.T) {
	id := m.draw(rt).ID
	got, err := m.sessions.Get(m.ctx, id)
	if l := m.byID(id); l == nil {
		m.want(rt, "get", err, session.ErrNotFound)
	} else if m.want(rt, "get", err, nil); got != l.Session {
		rt.Fatalf("got %+v, want %+v", got, l.Session)
	} else {
		m.hold(got)
	}
}

// due is whether a touch is to be written that lets s live until expires.
func (m *model) due(s session.Session[cart], expires time.Time) bool {
	every := cmp.Or(m.options.TouchEvery, s.Idle/10)
	moved := expires.Sub(s.Expires)
	return moved > 0 && (moved >= min(every, s.Idle/2) || expires.Equal(s.Deadline))
}

// touched is what a touch of s returns, and makes of the session. It is nil if there is none.
func (m *model) touched(s session.Session[cart]) *session.Session[cart] {
	now := time.Now()
	expires := earlier(roundUp(now.Add(s.Idle)), s.Deadline).UTC()
	if !m.due(s, expires) {
		if !now.Before(s.Expires) {
			return nil
		}
		return &s
	}
	l := m.of(s)
	if l == nil {
		return nil
	}
	if l.Expires.Before(expires) {
		l.Expires = earlier(expires, l.Deadline)
	}
	s.Expires = l.Expires
	return &s
}

func (m *model) touch(rt *rapid.T) {
	s := m.draw(rt)
	want := m.touched(s)
	got, err := m.sessions.Touch(m.ctx, s)
	m.compareTouch(rt, got, err, want)
}

func (m *model) compareTouch(rt *rapid.T, got session.Session[cart], err error, want *session.Session[cart]) {
	if want == nil {
		m.want(rt, "touch", err, session.ErrNotFound)
		return
	}
	m.want(rt, "touch", err, nil)
	got.Deadline = want.Deadline // who hears of a new one, and who does not, is of no consequence
	if got != *want {
		rt.Fatalf("touched %+v, want %+v", got, *want)
	}
	m.hold(got)
}

func (m *model) visit(rt *rapid.T) {
	id := m.draw(rt).ID
	var want *session.Session[cart]
	if l := m.byID(id); l != nil {
		want = m.touched(l.Session)
	}
	got, err := m.sessions.Visit(m.ctx, id)
	m.compareTouch(rt, got, err, want)
}

func (m *model) update(rt *rapid.T) {
	s := m.draw(rt)
	s.Data.Items = rapid.IntRange(10, 99).Draw(rt, "items")
	got, err := m.sessions.Update(m.ctx, s)
	switch l := m.of(s); {
	case l == nil:
		m.want(rt, "update", err, session.ErrNotFound)
	case l.Version != s.Version:
		m.want(rt, "update", err, session.ErrConflict)
		if got != l.Session {
			rt.Fatalf("the conflict is with %+v, want %+v", got, l.Session)
		}
	default:
		m.want(rt, "update", err, nil)
		if got.Version == s.Version || got.Data != s.Data {
			rt.Fatalf("updated %+v to %+v", s, got)
		}
		l.Data, l.Version = got.Data, got.Version
		m.hold(got)
	}
}

func (m *model) change(rt *rapid.T) {
	id := m.draw(rt).ID
	got, err := m.sessions.Change(m.ctx, id, func(c *cart) error { c.Items++; return nil })
	l := m.byID(id)
	if l == nil {
		m.want(rt, "change", err, session.ErrNotFound)
		return
	}
	m.want(rt, "change", err, nil)
	l.Data.Items++
	l.Version = got.Version
	if got != l.Session {
		rt.Fatalf("changed to %+v, want %+v", got, l.Session)
	}
}

func (m *model) expire(rt *rapid.T) {
	s, at := m.draw(rt), time.Now().Add(times.Draw(rt, "in"))
	l := m.of(s)
	got, err := m.sessions.Expire(m.ctx, s, at)
	if l == nil {
		m.want(rt, "expire", err, session.ErrNotFound)
		return
	}
	m.want(rt, "expire", err, nil)
	at = roundUp(at).UTC()
	if !time.Now().Before(at) {
		m.end(l)
		return
	}
	l.Expires = earlier(l.Expires, at)
	if l.Deadline.IsZero() || at.Before(l.Deadline) {
		l.Deadline = at
	}
	if got.Deadline.After(at) || got.Deadline.IsZero() {
		rt.Fatalf("expires at %v, got %+v", at, got)
	}
	m.hold(got)
}

// end marks a session as revoked.
func (m *model) end(l *modelled) {
	l.ended = true
	m.revoked[l.ID] = roundUp(time.Now().Add(time.Hour))
}

func (m *model) revoke(rt *rapid.T) {
	s := m.draw(rt)
	var err error
	if rapid.Bool().Draw(rt, "by handle") {
		err = m.sessions.RevokeHandle(m.ctx, s.Handle)
	} else {
		err = m.sessions.Revoke(m.ctx, s.ID)
	}
	m.want(rt, "revoke", err, nil)
	if l := m.byID(s.ID); l != nil {
		m.end(l)
	} else if m.expiredUnder(s.ID) {
		m.unsure[s.ID] = roundUp(time.Now().Add(time.Hour)) // if its item is there, its id is taken again
	}
}

// expiredUnder reports whether an item of an expired session may still be there under an id.
func (m *model) expiredUnder(id string) bool {
	for _, l := range slices.Backward(m.lives) {
		if l.ID == id {
			return !l.ended
		}
	}
	return false
}

func (m *model) revokeUser(rt *rapid.T) {
	user := cmp.Or(users.Draw(rt, "user"), "ann")
	want := 0
	for _, l := range m.lives {
		if l.living() && l.User == user {
			want++
			m.end(l)
		}
	}
	n, err := m.sessions.RevokeUser(m.ctx, user)
	if m.want(rt, "revoke user", err, nil); n != want {
		rt.Fatalf("revoked %d of %s, want %d", n, user, want)
	}
}

func (m *model) sleep(rt *rapid.T) { time.Sleep(times.Draw(rt, "for")) }

// again sends a write again, as long as its signature is good. Nothing comes of it.
func (m *model) again(rt *rapid.T) {
	writes := writesOf(m.client)
	first := slices.IndexFunc(writes, func(w faulty.Request) bool { return time.Since(w.At) < 15*time.Minute })
	if first < 0 {
		rt.Skip("nothing was written lately")
	}
	_ = writes[rapid.IntRange(first, len(writes)-1).Draw(rt, "write")].Again()
	m.check(rt)
}

func (m *model) page(rt *rapid.T) {
	limit, token, got := rapid.IntRange(1, 5).Draw(rt, "limit"), "", map[string]bool{}
	for {
		page, err := m.sessions.Page(m.ctx, limit, token)
		m.want(rt, "page", err, nil)
		if len(page.Sessions) > limit {
			rt.Fatalf("a page of %d has %d", limit, len(page.Sessions))
		}
		for _, s := range page.Sessions {
			got[s.Handle] = true
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if want := m.handles(func(*modelled) bool { return true }); !maps.Equal(got, want) {
		rt.Fatalf("pages of %v, want %v", got, want)
	}
}

func (m *model) handles(which func(*modelled) bool) map[string]bool {
	all := map[string]bool{}
	for _, l := range m.lives {
		if l.living() && which(l) {
			all[l.Handle] = true
		}
	}
	return all
}

// check compares what is listed and counted with who lives.
func (m *model) check(rt *rapid.T) {
	got, last := map[string]bool{}, time.Time{}
	for s, err := range m.sessions.List(m.ctx) {
		m.want(rt, "list", err, nil)
		if got[s.Handle] || s.Expires.Before(last) {
			rt.Fatalf("%v is listed twice or out of order, after %v", s, last)
		}
		got[s.Handle], last = true, s.Expires
		stored := m.lives[slices.IndexFunc(m.lives, func(l *modelled) bool { return l.living() && l.Handle == s.Handle })].Session
		if s.ID = stored.ID; s != stored {
			rt.Fatalf("listed %+v, want %+v", s, stored)
		}
	}
	if want := m.handles(func(*modelled) bool { return true }); !maps.Equal(got, want) {
		rt.Fatalf("listed %v, want %v", got, want)
	}
	if n, err := m.sessions.Count(m.ctx); n != len(got) || err != nil {
		rt.Fatalf("counted %d, %v, want %d", n, err, len(got))
	}
	for _, user := range []string{"ann", "bob", "eve#SHARD_0"} {
		got := map[string]bool{}
		for s, err := range m.sessions.ByUser(m.ctx, user) {
			m.want(rt, "by user", err, nil)
			got[s.Handle] = true
		}
		if want := m.handles(func(l *modelled) bool { return l.User == user }); !maps.Equal(got, want) {
			rt.Fatalf("%s has %v, want %v", user, got, want)
		}
	}
}
