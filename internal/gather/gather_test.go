package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// TestModel reads random shards in random stages, with too little memory, while entries are evicted at random, and compares
// the result with a sort of everything. Some stages gain shards, sooner or later, or fail to. Requests take a while.
func TestModel(t *testing.T) {
	evicted, late, failed := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		m := drawModel(rt)
		bubble.Test(t, func(*testing.T) {
			defer func() { evicted += m.evicted }()
			if err := m.check(); err != nil {
				rt.Error(err)
			}
		})
		for _, s := range m.stages {
			if s.fails {
				failed++
			} else if s.takes > 0 && len(s.more) > 0 {
				late++
			}
		}
	})
	if evicted == 0 || late == 0 || failed == 0 {
		t.Errorf("%d cursors were evicted, %d stages gained shards late, and %d failed to, want some of each", evicted, late, failed)
	}
}

// model is a read, and what it must return.
type model struct {
	store  *store
	config Config
	stages []modelStage
	along  []Source[item]
	gains  bool // stages may gain sources
	random *rand.Rand

	all     []place // without a limit
	fails   bool    // after all
	evicted int
}

// modelStage is a stage: its first sources, and what More returns after a while.
type modelStage struct {
	first, more []Source[item]
	takes       time.Duration
	fails       bool
}

func drawModel(t *rapid.T) *model {
	reverse := rapid.Bool().Draw(t, "reverse")
	m := &model{store: &store{}, gains: rapid.Bool().Draw(t, "gains")}
	if rapid.Bool().Draw(t, "filter") {
		m.store.passes = func(e Entry[item]) bool { return len(e.Value.id)%2 == 0 }
	}
	if takes := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 7).Draw(t, "takes"); len(takes) > 0 {
		m.store.delay = func(shard string, nth int64) time.Duration {
			return time.Duration(takes[(int(shard[len(shard)-1])+int(nth))%len(takes)]) * time.Millisecond
		}
	}
	var want []place
	draw := func(stage, first int) []Source[item] {
		shards := make([][]string, rapid.IntRange(0, 5).Draw(t, "shards"))
		for i := range shards {
			for range rapid.IntRange(0, 12).Draw(t, "entries") {
				shards[i] = append(shards[i], strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "sort")))
			}
			slices.Sort(shards[i])
		}
		sources := lists(m.store, reverse, rapid.IntRange(1, 300).Draw(t, "size"), shards...)
		for i := range sources {
			sources[i].Ordinal += first
			for j, e := range sources[i].Shard.(*list).all {
				if m.store.passes == nil || m.store.passes(e) {
					want = append(want, place{stage, e, first + i, j})
				}
			}
		}
		return sources
	}
	sorted := func() []place {
		slices.SortFunc(want, func(a, b place) int { return a.compare(b, reverse) })
		s := want
		want = nil
		return s
	}
	if rapid.IntRange(0, 3).Draw(t, "along") == 0 {
		m.along = draw(0, 100)
	}
	along := sorted()
	m.stages = make([]modelStage, rapid.IntRange(1, 3).Draw(t, "stages"))
	for i := range m.stages {
		s := &m.stages[i]
		s.first = draw(i, 0)
		if m.gains {
			s.takes = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3, 20}).Draw(t, "late")) * time.Millisecond
			s.fails = rapid.IntRange(0, 9).Draw(t, "fails") == 0
			if !s.fails && rapid.Bool().Draw(t, "more") {
				s.more = draw(i, len(s.first))
			}
		}
		own := sorted()
		if m.fails = m.fails || s.fails; m.fails {
			continue
		}
		for len(own) > 0 || i == len(m.stages)-1 && len(along) > 0 {
			next := &own
			if len(along) > 0 {
				along[0].stage = i
				if len(own) == 0 || along[0].compare(own[0], reverse) < 0 {
					next = &along
				}
			}
			m.all = append(m.all, (*next)[0])
			*next = (*next)[1:]
		}
	}
	m.config = Config{
		Reverse: reverse, Memory: rapid.SampledFrom([]int{1, 500, 5000, 0}).Draw(t, "memory"),
		MaxEntry: 300, MaxPage: 1000, Prefetch: rapid.IntRange(0, 3).Draw(t, "ahead"), Filter: "f",
		Limit: rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(t, "limit"),
	}
	if rapid.Bool().Draw(t, "hedge") {
		m.config.Hedge = func() bool { return true }
	}
	m.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return m
}

func (m *model) plan() Stages[item] {
	plan := Stages[item]{Count: len(m.stages), Along: m.along}
	plan.Open = func(_ context.Context, i int) ([]Source[item], error) { return m.stages[i].first, nil }
	if m.gains {
		plan.More = func(ctx context.Context, i int) ([]Source[item], error) {
			s := m.stages[i]
			select {
			case <-time.After(s.takes):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if s.fails {
				return nil, errFatal
			}
			return s.more, nil
		}
	}
	return plan
}

// check reads everything, and returns what is wrong with it.
func (m *model) check() error {
	c, random := m.config, m.random
	g, err := New(context.Background(), c, m.plan())
	if err != nil {
		return err
	}
	defer g.Close()
	want, fails := m.all, m.fails
	if c.Limit > 0 {
		fails = fails && len(want) < c.Limit
		want = want[:min(c.Limit, len(want))]
	}
	keep := func() int { return random.IntN(4) * random.IntN(3) }
	for n := 0; ; n++ {
		if n < len(m.all) && !g.More() {
			return fmt.Errorf("entry %d of %d: there may be no more", n, len(m.all))
		}
		last := n == len(want) && fails
		if random.IntN(2) == 0 && !last {
			if ready, err := g.Ready(); err != nil || ready != (n < len(want)) {
				return fmt.Errorf("entry %d of %d: ready %t, %v", n, len(want), ready, err)
			}
		}
		if random.IntN(3) == 0 {
			m.evicted += g.Evict(keep)
		}
		e, ok, err := g.Next()
		if last {
			if err != errFatal { // unchanged
				return fmt.Errorf("after entry %d: got %v, want the error of a stage", n, err)
			}
			return nil
		}
		if err != nil || ok != (n < len(want)) {
			return fmt.Errorf("entry %d of %d: %t, %v", n, len(want), ok, err)
		}
		if !ok {
			break
		}
		w := want[n]
		of := len(m.stages[w.stage].first) + len(m.stages[w.stage].more)
		if at := g.Place(); e != w.entry || at != (Place{w.stage, of, w.ordinal}) {
			return fmt.Errorf("entry %d is %v at %+v, want %+v of %d", n, e, at, w, of)
		}
		if held := g.requests.memory.held; held < 0 {
			return fmt.Errorf("%d bytes held", held)
		}
	}
	if r := g.requests.memory.reserved; c.Hedge == nil && g.requests.underWay == 0 && r != (reservation{}) {
		return fmt.Errorf("%+v reserved, with no request under way", r)
	}
	if c.Limit == 0 && (g.requests.memory.held != 0 || g.evicted != 0 || g.requests.underWay != 0 || g.More()) {
		return fmt.Errorf("at the end, %d bytes held, %d cursors evicted, %d requests under way, more: %t",
			g.requests.memory.held, g.evicted, g.requests.underWay, g.More())
	}
	return nil
}

// place is an entry's place in the order.
type place struct {
	stage   int
	entry   Entry[item]
	ordinal int
	nth     int // in its shard, in the direction of the read
}

// compare is the order. Reversed stages are opened in reverse order, so their numbers go up all the same.
func (p place) compare(q place, reverse bool) int {
	c := cmp.Or(strings.Compare(p.entry.Sort, q.entry.Sort), cmp.Compare(p.ordinal, q.ordinal))
	if reverse {
		c = -c
	}
	return cmp.Or(cmp.Compare(p.stage, q.stage), c, cmp.Compare(p.nth, q.nth))
}

// Sources that run along are merged with all stages, each entry as soon as it is the least.
func TestAlong(t *testing.T) {
	s := &store{}
	stages := [][]Source[item]{lists(s, false, 1, []string{"b", "e"}), lists(s, false, 1, []string{"a", "c"})}
	along := lists(s, false, 1, []string{"c", "d", "f"})
	along[0].Ordinal, along[0].Name = 7, "along"
	plan := Stages[item]{Count: 2, Along: along, Open: func(_ context.Context, i int) ([]Source[item], error) { return stages[i], nil }}
	got, err := read(t.Context(), Config{}, plan)
	if want := "b|0|0 c|0|0 d|0|1 e|0|1 a|0|0 c|0|1 f|0|2"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	plan.Count = 0
	if got, err := read(t.Context(), Config{}, plan); len(got) != 0 || err != nil {
		t.Errorf("without a stage: got %v, %v", got, err)
	}
}

// A stage is opened when it is needed: a limit that the first one meets leaves the others alone, and the error of Open
// ends the read.
func TestOpen(t *testing.T) {
	s := &store{}
	opened := 0
	plan := Stages[item]{Count: 5, Open: func(_ context.Context, i int) ([]Source[item], error) {
		if opened++; i == 2 {
			return nil, errFatal
		}
		return lists(s, false, 1, numbers(10), numbers(10)), nil
	}}
	if got, err := read(t.Context(), Config{Limit: 5}, plan); err != nil || len(got) != 5 || opened != 1 {
		t.Errorf("got %d entries, %v, with %d stages opened, want 5 of one", len(got), err, opened)
	}
	if got, err := read(t.Context(), Config{Limit: 50}, plan); !errors.Is(err, errFatal) || len(got) > 40 {
		t.Errorf("got %d entries, %v, want the third stage's error", len(got), err)
	}
}

// An allowance ends a read with what it took so far, and says where it would have gone on.
func TestAllowance(t *testing.T) {
	s := &store{}
	plan := Stages[item]{Count: 3, Open: func(_ context.Context, i int) ([]Source[item], error) {
		return lists(s, false, 1, numbers(1), numbers(1)), nil
	}}
	_, err := read(t.Context(), Config{Limit: 100, MaxRequests: 1}, plan)
	if e, ok := errors.AsType[*AllowanceError](err); !ok || *e != (AllowanceError{More: 2}) {
		t.Errorf("one request: got %v, want none sent and 2 to come", err)
	}
	for _, ahead := range []int{0, 1} { // also where the stage that is short of requests was opened ahead
		got, err := read(t.Context(), Config{Limit: 100, MaxRequests: 5, Prefetch: ahead}, plan)
		if e, ok := errors.AsType[*AllowanceError](err); !ok || *e != (AllowanceError{Sent: 4, Returned: 4, More: 2, Stage: 2}) || len(got) != 4 {
			t.Errorf("five requests: got %d entries, %v, want 4 and the third stage", len(got), err)
		}
	}
	long := Stages[item]{Count: 3, Open: func(_ context.Context, i int) ([]Source[item], error) {
		return lists(s, false, 1, numbers(1+i*200)), nil
	}}
	s.passes = func(e Entry[item]) bool { return e.Sort == "000000" }
	_, err = read(t.Context(), Config{Limit: 100, MaxRequests: 3, Prefetch: 1, Memory: 1 << 10}, long)
	if e, ok := errors.AsType[*AllowanceError](err); !ok || e.Stage != 1 || e.Sent != 3 {
		t.Errorf("got %v, want to end in the second stage, which was opened ahead", err)
	}
}

// A shard that is lost ends the read, or is done without; any other error ends it in any case.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		err     error
		lost    func(error) bool
		partial bool
		want    error
		entries int
	}{
		{"lost", errLost, lost, false, &MissingError{Shards: []error{errLost}, Of: 3}, 0},
		{"lost, but partial", errLost, lost, true, &MissingError{Shards: []error{errLost}, Of: 3}, 8},
		{"fatal", errFatal, lost, true, errFatal, 0},
		{"nobody knows", errLost, nil, true, errLost, 0},
	} {
		s := &store{fail: func(shard string, _ int64) error {
			if shard == "shard 1" {
				return test.err
			}
			return nil
		}}
		c := Config{Lost: test.lost, Partial: test.partial}
		got, err := read(t.Context(), c, once(lists(s, false, 1, numbers(4), numbers(4), numbers(4))))
		if fmt.Sprintf("%#v", err) != fmt.Sprintf("%#v", test.want) || len(got) != test.entries {
			t.Errorf("%s: got %d entries, %#v, want %d and %#v", test.name, len(got), err, test.entries, test.want)
		}
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v does not lead to the shard's error", test.name, err)
		}
	}
}

// The end of the context says who was waited for, and everything has ended when Close returns.
func TestContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &store{delay: func(shard string, _ int64) time.Duration {
			if shard == "shard 0" {
				return time.Second
			}
			return time.Hour
		}}
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errFatal)
		defer cancel()
		_, err := read(ctx, Config{}, once(lists(s, false, 1, numbers(4), numbers(4), numbers(4))))
		e, ok := errors.AsType[*WaitError](err)
		if !ok || e.Waiting != 2 || e.Of != 3 || e.First != "shard 1" || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errFatal) {
			t.Errorf("got %v, want 2 of 3 that have not answered, and why", err)
		}
	})
}

// The first requests are under way when New returns: shards take as long as the slowest.
func TestShardsAreReadTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := &store{delay: func(string, int64) time.Duration { return time.Second }}
		shards := make([][]string, 16)
		for i := range shards {
			shards[i] = numbers(3)
		}
		start := time.Now()
		if got, err := read(context.Background(), Config{}, once(lists(s, false, 1, shards...))); err != nil || len(got) != 48 || time.Since(start) != time.Second {
			t.Errorf("%d entries, %v after %v, want 48 after a second", len(got), err, time.Since(start))
		}
	})
}

// A filter that lets nothing pass makes pages larger, up to a bound.
func TestPagesGrowWhileAllIsFilteredOut(t *testing.T) {
	s := &store{passes: func(e Entry[item]) bool { return e.Sort == "099999" }}
	got, err := read(t.Context(), Config{Limit: 1, Filter: "last", Memory: math.MaxInt32}, once(lists(s, false, 1, numbers(100_000))))
	if err != nil || len(got) != 1 || s.fetches.Load() > 20 {
		t.Errorf("got %v, %v with %d fetches, want the last entry with 20 at most", got, err, s.fetches.Load())
	}
}

// No more requests are sent than are allowed, ahead of their time or not.
func TestAllowanceIsKept(t *testing.T) {
	for most := 4; most < 40; most++ {
		s := &store{passes: func(e Entry[item]) bool { return e.Sort != "000003" }}
		c := Config{Limit: 1000, MaxRequests: most, Memory: 40, MaxEntry: 1, MaxPage: 10, Filter: "f", Hedge: func() bool { return true }}
		got, err := read(t.Context(), c, once(lists(s, false, 1, numbers(90), numbers(90), numbers(90), numbers(90))))
		e, ok := errors.AsType[*AllowanceError](err)
		if !ok || e.Sent > most || s.fetches.Load() > int64(most) || e.Returned != len(got) || e.More < 1 || e.More > 4 {
			t.Fatalf("%d allowed, %d sent: got %v after %d entries", most, s.fetches.Load(), err, len(got))
		}
	}
}

// A shard's first page may be a bet on small entries. Any other waits until there is memory for the most that it may bring.
func TestOnlyFirstPagesAreBets(t *testing.T) {
	g, err := New(t.Context(), Config{Memory: 10_000, MaxEntry: 1000, MaxPage: 1000, FirstPages: 100}, once(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	g.config.History.sizes.saw(pageOf(1))
	g.requests.memory.reserve(reservation{likely: 1, worst: 1000 * LeastPages})
	cu := &cursor[item]{}
	if _, fits := g.request(cu); !fits {
		t.Error("there is no memory for a first page")
	}
	cu.begun = true
	if _, fits := g.request(cu); fits {
		t.Error("there is memory for a second page, beyond what it may bring")
	}
}
