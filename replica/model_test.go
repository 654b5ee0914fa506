package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/replica"
)

// Items and their copies over virtual hours, written and read by processes with different numbers of copies, while requests
// are throttled, lost, late and repeated, copies are lost, and DynamoDB deletes what is over. Whatever is read was the
// primary's at some time in the last MaxStale, and is what was demanded.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rapid.SyncTest(rt, func(rt *rapid.T) {
			options := local.Options{TTLInterval: rapid.SampledFrom([]time.Duration{time.Minute, 100 * 24 * time.Hour}).Draw(rt, "TTL interval")}
			if lag := rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(rt, "lag"); lag > 0 {
				options.Lag = &local.Lag{Max: lag, Seed: rapid.Uint64().Draw(rt, "lag seed")}
			}
			db, err := local.New(options)
			if err != nil {
				rt.Fatal(err)
			}
			defer db.Close()
			m := newModel(rt, db)
			m.lags = options.Lag != nil
			defer m.client.Wait()
			m.Repeat(map[string]func(*rapid.T){
				"put": m.put, "change": m.change, "delete": m.remove, "get": m.get, "demand": m.demand, "repair": m.repair,
				"sleep": m.sleep, "again": m.again, "lose": m.lose, "faults": m.faults, "": m.sample,
			})
			m.settle(rt)
		})
	})
}

// state is what the primary was, from when it was first seen.
type state struct {
	version replica.Version // 0 if there was none
	title   string          // "" if it was deleted
	until   time.Time       // when it was last seen; something else may have followed at once
}

type model struct {
	*rapid.T
	ctx      context.Context
	client   *faulty.Client
	stores   []*replica.Store[post]
	direct   *replica.Store[post] // nothing goes wrong with its requests
	maxStale time.Duration
	lags     bool    // eventually consistent reads return older data
	past     []state // the last is what is there now
	tries    map[string]bool
	newest   replica.Version // that a writer or reader has heard of
	settled  [3]int          // by store: the state in past that all its copies had when a write was acknowledged
	n        int
}

func newModel(rt *rapid.T, db *local.DB) *model {
	m := &model{
		T: rt, ctx: context.Background(), client: faulty.On(rt, db.Client(), nil), tries: make(map[string]bool),
		maxStale: rapid.SampledFrom([]time.Duration{2 * time.Second, time.Minute, 2 * time.Hour}).Draw(rt, "max stale"),
	}
	for _, copies := range []int{1, 2, 5} {
		posts, err := replica.Open[post](m.client, replica.Options{Table: "posts", Copies: copies, MaxStale: m.maxStale})
		if err != nil {
			rt.Fatal(err)
		}
		m.stores = append(m.stores, posts)
	}
	var err error
	if m.direct, err = replica.Open[post](m.client.Direct, replica.Options{Table: "posts"}); err != nil {
		rt.Fatal(err)
	}
	if err := replica.Setup(m.ctx, db.Client(), replica.Options{Table: "posts"}); err != nil {
		rt.Fatal(err)
	}
	m.past = []state{{until: time.Now()}}
	return m
}

// sample looks at the primary, which writes that arrive late may change at any time.
func (m *model) sample(rt *rapid.T) {
	item, err := m.direct.Get(m.ctx, "viral", replica.Latest)
	if err != nil && !errors.Is(err, replica.ErrNotFound) {
		rt.Fatal(err)
	}
	now := state{version: item.Version, title: item.Data.Title, until: time.Now()}
	last := &m.past[len(m.past)-1]
	if last.version == now.version {
		last.until = now.until
		return
	}
	if now.version != 0 && now.version < last.version {
		rt.Fatalf("version %d came after %d", now.version, last.version)
	}
	if now.title != "" && !m.tries[now.title] {
		rt.Fatalf("nobody wrote %q", now.title)
	}
	m.past = append(m.past, now)
}

func (m *model) store(rt *rapid.T) int { return rapid.IntRange(0, len(m.stores)-1).Draw(rt, "store") }

// wrote checks how a write of a store ended, and notes its version.
func (m *model) wrote(rt *rapid.T, store int, lazy bool, title string, version replica.Version, err error) {
	unknown := errors.As(err, new(*heatsink.UnknownOutcomeError))
	lagging := errors.As(err, new(*replica.LaggingError))
	m.sample(rt)
	switch {
	case err == nil || lagging:
		if version <= m.newest {
			rt.Fatalf("version %d after %d", version, m.newest)
		}
		m.newest = version
		if there := versionOf(rt, m.client.Direct, "viral"); there < version { // also of what is deleted or has expired since
			rt.Fatalf("%q was acknowledged as version %d, but the primary has version %d", title, version, there)
		}
		for i := 0; i <= store && err == nil && !lazy; i++ { // stores before it have fewer copies
			m.settled[i] = len(m.past) - 1
		}
	case !unknown && version != 0:
		rt.Fatalf("version %d with %v", version, err)
	}
}

func (m *model) newTitle() string {
	m.n++
	title := fmt.Sprint("title ", m.n)
	m.tries[title] = true
	return title
}

func (m *model) put(rt *rapid.T) {
	store, title := m.store(rt), m.newTitle()
	var options []replica.WriteOption
	lazy := rapid.Bool().Draw(rt, "lazy")
	if lazy {
		options = append(options, replica.Lazy)
	}
	if rapid.IntRange(0, 3).Draw(rt, "expires") == 0 {
		options = append(options, replica.ExpireAt(time.Now().Add(m.time(rt)+time.Second)))
	}
	on := m.past[len(m.past)-1].version
	if rapid.IntRange(0, 2).Draw(rt, "conditional") == 0 {
		options = append(options, replica.IfVersion(on))
	}
	version, err := m.stores[store].Put(m.ctx, "viral", post{Title: title}, options...)
	m.wrote(rt, store, lazy, title, version, err)
}

func (m *model) change(rt *rapid.T) {
	store, title := m.store(rt), m.newTitle()
	item, err := m.stores[store].Change(m.ctx, "viral", func(p *post) error { p.Title = title; return nil })
	if err == nil && item.Data.Title != title {
		rt.Fatalf("changed to %+v, want %q", item, title)
	}
	m.wrote(rt, store, false, title, item.Version, err)
}

func (m *model) remove(rt *rapid.T) {
	store := m.store(rt)
	version, err := m.stores[store].Delete(m.ctx, "viral")
	m.wrote(rt, store, false, "", version, err)
}

// read checks what a reader got: what the primary was at some time in the last MaxStale, and not before all copies had
// something newer, unless reads of copies lag.
func (m *model) read(rt *rapid.T, store int, began time.Time, demanded replica.Version, item replica.Item[post], err error) {
	gone := errors.Is(err, replica.ErrNotFound)
	if err != nil && !gone {
		return // a fault that retries did not overcome
	}
	m.sample(rt)
	if !gone && item.Version < demanded {
		rt.Fatalf("got version %d, want at least %d", item.Version, demanded)
	}
	oldest := began.Add(-m.maxStale - m.step())
	since := m.settled[store]
	if m.lags {
		since = 0
	}
	for _, s := range m.past[since:] {
		if s.until.Before(oldest) {
			continue
		}
		if gone && s.title == "" || !gone && s.version == item.Version && s.title == item.Data.Title {
			return
		}
	}
	rt.Fatalf("got %+v, %v, which the primary was not since %v, nor since state %d: %+v", item, err, oldest, since, m.past)
}

func (m *model) get(rt *rapid.T) {
	store, began := m.store(rt), time.Now()
	item, err := m.stores[store].Get(m.ctx, "viral")
	m.read(rt, store, began, 0, item, err)
}

func (m *model) demand(rt *rapid.T) {
	store, began := m.store(rt), time.Now()
	item, err := m.stores[store].Get(m.ctx, "viral", replica.AtLeast(m.newest))
	if errors.Is(err, replica.ErrVersion) {
		rt.Fatal(err)
	}
	m.read(rt, store, began, m.newest, item, err)
}

func (m *model) repair(rt *rapid.T) { _, _ = m.stores[m.store(rt)].Repair(m.ctx, "viral") }

func (m *model) time(rt *rapid.T) time.Duration {
	unit := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, m.maxStale / 8, time.Minute}).Draw(rt, "unit")
	return time.Duration(rapid.IntRange(0, 20).Draw(rt, "n")) * unit
}

func (m *model) sleep(rt *rapid.T) {
	for left := m.time(rt); left > 0; left -= m.step() {
		time.Sleep(min(left, m.step()))
		m.sample(rt)
	}
}

// step is how often the primary is looked at.
func (m *model) step() time.Duration { return max(time.Second, m.maxStale/10) }

// again delivers an earlier write of the last half hour once more: DynamoDB refuses older signatures.
func (m *model) again(rt *rapid.T) {
	requests := m.client.Requests()
	if len(requests) == 0 {
		rt.Skip("nothing was sent")
	}
	r := requests[rapid.IntRange(0, len(requests)-1).Draw(rt, "request")]
	if r.Fault != faulty.Late && time.Since(r.At) < 30*time.Minute { // the SDK cannot send one that is still under way again
		_ = r.Again()
	}
}

// lose deletes a copy. A late write may bring it back as it was, for MaxStale at most.
func (m *model) lose(rt *rapid.T) {
	m.settled = [3]int{}
	drop(rt, m.client.Direct, copyKey("viral", rapid.IntRange(0, 4).Draw(rt, "copy")))
}

func (m *model) faults(rt *rapid.T) {
	seed := rapid.Uint64().Draw(rt, "seed")
	percent := rapid.SampledFrom([]int{0, 20, 60}).Draw(rt, "percent")
	random := rand.New(rand.NewPCG(1, seed))
	m.client.Decide(faulty.Random(random, percent, faulty.Throttled, faulty.LostRequest, faulty.LostAnswer, faulty.BrokeDown, faulty.Late, faulty.Denied))
	m.client.Delay(faulty.UpTo(random, 10*time.Minute).Of(faulty.Late))
}

// settle ends all faults: then reads return what the primary has, at the latest after MaxStale, and Repair is thorough.
func (m *model) settle(rt *rapid.T) {
	m.client.Decide(nil)
	m.client.Delay(nil)
	m.client.Wait()
	m.sample(rt)
	time.Sleep(m.maxStale + time.Second)
	m.sample(rt)
	now := m.past[len(m.past)-1]
	for _, posts := range m.stores {
		for range 5 {
			item, err := posts.Get(m.ctx, "viral")
			if now.title == "" && !errors.Is(err, replica.ErrNotFound) || now.title != "" && (err != nil || item.Version != now.version || item.Data.Title != now.title) {
				rt.Fatalf("in the end got %+v, %v, want %+v", item, err, now)
			}
		}
		if _, err := posts.Repair(m.ctx, "viral"); err != nil {
			rt.Fatal(err)
		}
		if n, err := posts.Repair(m.ctx, "viral"); n != 0 || err != nil {
			rt.Fatalf("repaired %d again, %v", n, err)
		}
	}
}
