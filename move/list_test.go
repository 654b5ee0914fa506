package move_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

var (
	listBare    = layout.Layout{}
	listFour    = layout.Layout{Shards: 4}
	listSixteen = layout.Layout{Shards: 16}
	listSharp   = layout.Layout{Shards: 4, Format: layout.SharpNumber()}
)

// ledger is what appenders of a list were told is stored, in the order in which they were told.
type ledger struct {
	x    *town
	mu   sync.Mutex
	told map[string][]string // by key
	next int

	appends, reads atomic.Int64
}

func newLedger(x *town) *ledger { return &ledger{x: x, told: map[string][]string{}} }

// append appends n items with sort keys that no other has, and notes those that are acknowledged.
func (l *ledger) append(c *heatsink.Collection[user], n int) {
	l.mu.Lock()
	key := l.x.keys[l.next%len(l.x.keys)]
	var items []user
	for range n {
		items = append(items, user{Key: key, ID: fmt.Sprintf("e%06d", l.next), Value: l.next, Text: "text"})
		l.next++
	}
	l.mu.Unlock()
	var err error
	if n == 1 {
		_, err = c.Put(context.Background(), items[0])
	} else {
		err = c.BatchPut(context.Background(), items)
	}
	if err != nil {
		l.x.t.Errorf("append: %v", err)
		return
	}
	l.appends.Add(int64(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		l.told[key] = append(l.told[key], item.ID)
	}
}

// read compares a strong read with what was acknowledged before it began: each of those once, and nothing twice.
func (l *ledger) read(c *heatsink.Collection[user], key string) bool {
	l.mu.Lock()
	told := l.told[key][:len(l.told[key]):len(l.told[key])]
	l.mu.Unlock()
	got := map[string]int{}
	last := ""
	for u, err := range c.Query(context.Background(), heatsink.Query{Key: key, Consistent: true}) {
		if err != nil {
			l.x.t.Errorf("read of %s: %v", key, err)
			return false
		}
		if got[u.ID]++; u.ID <= last || u.Text != "text" || fmt.Sprintf("e%06d", u.Value) != u.ID {
			l.x.t.Errorf("read of %s: %+v behind %s", key, u, last)
			return false
		}
		last = u.ID
	}
	for _, id := range told {
		if got[id] != 1 {
			l.x.t.Errorf("read of %s: item %s, which was acknowledged before, is there %d times, in %d items", key, id, got[id], len(got))
			return false
		}
	}
	l.reads.Add(1)
	return true
}

// start lets appenders and readers work, one of each for each layout, with random pauses up to the given one.
func (l *ledger) start(pause time.Duration, with ...layout.Layout) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, w := range with {
		random := rand.New(rand.NewPCG(uint64(i), 9))
		wait := rand.New(rand.NewPCG(uint64(i), 10))
		appender, reader := l.x.program(w), l.x.program(w)
		all.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(time.Duration(random.Int64N(int64(pause))))
				l.append(appender, 1+random.IntN(2)*random.IntN(5))
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(time.Duration(wait.Int64N(int64(12 * pause))))
				if !l.read(reader, l.x.keys[wait.IntN(len(l.x.keys))]) {
					return
				}
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// check compares the table with what was acknowledged: each item once, in a shard of the layout, without a mark of a move.
func (l *ledger) check(now layout.Layout) map[string]int {
	l.x.t.Helper()
	got, shards := map[[2]string]int{}, map[string]int{}
	for _, item := range l.x.stored() {
		pk, sk := item["pk"].(*types.AttributeValueMemberS).Value, item["sk"].(*types.AttributeValueMemberS).Value
		if layout.IsControl(pk) {
			continue
		}
		at, err := now.Parse(pk)
		if err != nil || at.Shard >= max(now.Shards, 1) || item["_hs_f"] != nil || item["_hs_d"] != nil {
			l.x.t.Errorf("stored %s, %s: %v: %v", pk, sk, item, err)
		}
		got[[2]string{at.Key, sk}]++
		shards[pk]++
	}
	all := 0
	for key, told := range l.told {
		all += len(told)
		for _, id := range told {
			if n := got[[2]string{key, id}]; n != 1 {
				l.x.t.Errorf("item %s of %s is in the table %d times", id, key, n)
			}
		}
	}
	if all != len(got) {
		l.x.t.Errorf("%d items in the table, want %d", len(got), all)
	}
	return shards
}

// A list of thousands of items moves to any other layout, while programs append and read without a pause. Every strong read lists each item
// that was acknowledged before it, once.
func TestMoveList(t *testing.T) {
	for name, test := range map[string]struct {
		from, to layout.Layout
		batches  int      // of 100 items, before the move begins
		moves    [2]int64 // at least and at most
	}{
		"to shards":         {listBare, listFour, 20, [2]int64{2_000, 5_000}},
		"to more shards":    {listFour, listSixteen, 10, [2]int64{0, 0}},
		"to fewer shards":   {listSixteen, listFour, 20, [2]int64{1_400, 3_500}},
		"to another format": {listFour, listSharp, 10, [2]int64{1_000, 4_000}},
		"to none":           {listFour, listBare, 10, [2]int64{1_000, 4_000}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				l := newLedger(x)
				first := x.program(test.from)
				for range test.batches {
					l.append(first, 100)
				}
				to := test.to
				if to == listBare {
					to = bare
				}
				end := l.start(90*time.Second, test.from, test.from, test.from)
				m := x.mover(move.Options{Collection: users(test.from), To: to, Wait: true})
				passes := 4
				if name == "to shards" || name == "to another format" { // some keys are refused from then on
					passes = 5
				}
				forecast, err := m.Plan(t.Context())
				if err != nil || forecast.Moves+forecast.MovesMargin < test.moves[0] || forecast.Moves-forecast.MovesMargin > test.moves[1] || forecast.Waits != 4*62*time.Minute || forecast.Passes != passes {
					t.Errorf("forecast %+v, %v", forecast, err)
				}
				began := time.Now()
				result, err := m.Run(t.Context())
				if err != nil || !result.Done || result.Stage.Name != "settled" || result.Late != 0 || result.Moved < test.moves[0] || result.Moved > test.moves[1] {
					t.Errorf("%+v, %v", result, err)
				}
				if took := time.Since(began); took < 4*62*time.Minute || took > 4*62*time.Minute+20*time.Minute {
					t.Errorf("it took %v, want four waits of 62 minutes and little more", took)
				}
				end()
				shards := l.check(test.to)
				report, err := m.Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != l.appends.Load() {
					t.Errorf("verified %+v, %v, want %d right", report, err, l.appends.Load())
				}
				if err := m.Finish(t.Context()); err != nil {
					t.Error(err)
				}
				late := x.program(test.to)
				for _, key := range x.keys {
					l.read(late, key)
				}
				if l.reads.Load() < 60 || l.appends.Load() < int64(100*test.batches)+500 {
					t.Errorf("%d reads, %d appends: too few to mean anything", l.reads.Load(), l.appends.Load())
				}
				t.Logf("%d appended, %d exact reads, %d moved (forecast %d), %d marks dropped, %.0f write and %.0f read units (forecast %.0f and %.0f), in %v: %v",
					l.appends.Load(), l.reads.Load(), result.Moved, forecast.Moves, result.Dropped, result.WriteUnits, result.ReadUnits, forecast.WriteUnits, forecast.ReadUnits, result.Took, shards)
			})
		})
	}
}

// A mover of a list that is killed at any moment goes on, and two at once do no harm.
func TestMoveListGoesOnAfterKills(t *testing.T) {
	for seed := range uint64(2) {
		bubble.Test(t, func(t *testing.T) {
			x := found(t)
			l := newLedger(x)
			l.append(x.program(listSixteen), 400)
			end := l.start(60*time.Second, listSixteen, listSixteen)
			var kills, moved atomic.Int64
			var movers sync.WaitGroup
			for i := range uint64(2) {
				movers.Go(func() {
					random := rand.New(rand.NewPCG(seed, i))
					var result move.Result
					for n := 0; !result.Done; n++ {
						if n > 500 {
							t.Errorf("it has not ended: %+v", result)
							return
						}
						m := x.mover(move.Options{Collection: users(listSixteen), To: listFour, WCU: 15, RCU: 20, Segments: 4})
						ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(25*time.Second))))
						var err error
						result, err = m.Run(ctx)
						moved.Add(result.Moved)
						killed := ctx.Err() != nil
						cancel()
						switch {
						case killed:
							kills.Add(1)
						case err != nil:
							t.Error(err)
							return
						case !result.Done:
							time.Sleep(time.Duration(random.Int64N(int64(30 * time.Minute))))
						}
					}
				})
			}
			movers.Wait()
			end()
			l.check(listFour)
			if kills.Load() < 5 {
				t.Errorf("seed %d: %d kills: too few to mean anything", seed, kills.Load())
			}
			t.Logf("seed %d: %d kills, %d moved, %d appended, %d exact reads", seed, kills.Load(), moved.Load(), l.appends.Load(), l.reads.Load())
		})
	}
}

// lead takes a list of sixteen shards to a stage of a move to four.
func (l *ledger) lead(stage string) *move.Mover {
	l.x.t.Helper()
	m := l.x.mover(move.Options{Collection: users(listSixteen), To: listFour, Segments: 2})
	for range 10 {
		result, err := m.Run(context.Background())
		if err != nil {
			l.x.t.Fatal(err)
		}
		if result.Stage.Name == stage {
			return m
		}
		time.Sleep(63 * time.Minute)
	}
	l.x.t.Fatalf("stage %s was not reached", stage)
	return nil
}

// entry returns an item of a list as it is stored, in a shard of ACTIVE.
func entry(shard int, id, value string) heatsink.Item {
	return heatsink.Item{"pk": text(fmt.Sprint("ACTIVE#SHARD_", shard)), "sk": text(id), "value": number(value)}
}

// Two items with one sort key do not move onto each other: the move does not end before somebody has decided.
func TestMoveListOfTwins(t *testing.T) {
	home := listFour.Shard("twin")
	for name, test := range map[string]struct {
		items   []heatsink.Item
		clashes int // how many keep the move from ending
		want    int // items with the sort key, in the end
	}{
		"in two old shards":                    {[]heatsink.Item{entry(8, "twin", "1"), entry(9, "twin", "2")}, 1, 1},
		"in an old shard and in the new one":   {[]heatsink.Item{entry(8, "twin", "1"), entry(home, "twin", "2")}, 1, 1},
		"in three shards":                      {[]heatsink.Item{entry(8, "twin", "1"), entry(9, "twin", "2"), entry(home, "twin", "3")}, 2, 1},
		"the same item twice":                  {[]heatsink.Item{entry(8, "twin", "1"), entry(9, "twin", "1")}, 0, 1},
		"the same item in its new home":        {[]heatsink.Item{entry(8, "twin", "1"), entry(home, "twin", "1.0")}, 0, 1},
		"the same item in old shards and home": {[]heatsink.Item{entry(8, "twin", "1"), entry(9, "twin", "1"), entry(home, "twin", "1")}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				x := found(t)
				l := newLedger(x)
				l.append(x.program(listSixteen), 100)
				values := map[string]bool{}
				for _, item := range test.items {
					x.raw(item)
					values[item["value"].(*types.AttributeValueMemberN).Value[:1]] = true
				}
				kept := func() (n int) { // how many different contents are there, and live
					have := map[string]bool{}
					for _, item := range x.stored() {
						if item["sk"].(*types.AttributeValueMemberS).Value == "twin" && item["_hs_f"] == nil {
							have[item["value"].(*types.AttributeValueMemberN).Value[:1]] = true
						}
					}
					return len(have)
				}
				o := move.Options{Collection: users(listSixteen), To: listFour, Wait: true}
				var movers sync.WaitGroup
				if test.clashes > 0 {
					for range 2 {
						movers.Go(func() {
							result, err := x.mover(o).Run(t.Context())
							if !errors.Is(err, move.ErrDamage) || result.Stage.Name != "split" || result.Doubled != int64(test.clashes) || len(result.Findings) != test.clashes || result.Findings[0].Kind != "doubled" {
								t.Errorf("%+v, %v, want %d items that are doubled", result, err, test.clashes)
								return
							}
							for _, says := range []string{"ACTIVE#SHARD_", fmt.Sprintf("ACTIVE#SHARD_%d\"", home), "twin", "another sort key", "keep the stage from ending"} {
								if !strings.Contains(err.Error(), says) {
									t.Errorf("%v, want that it says %q", err, says)
								}
							}
						})
					}
					movers.Wait()
					if n := kept(); n != len(values) {
						t.Fatalf("%d of %d items are left: %v", n, len(values), x.stored())
					}
					report, err := x.mover(o).Verify(t.Context())
					if err != nil || report.Doubled != 1 || report.Damaged() != 1 {
						t.Errorf("verified %+v, %v, want one that is doubled", report, err)
					}
					time.Sleep(2 * time.Hour) // it may be closed by now, but it does not get further
					if result, err := x.mover(o).Run(t.Context()); !errors.Is(err, move.ErrDamage) || result.Stage.Name != "split" {
						t.Errorf("%+v, %v, want that it does not end", result, err)
					}
					for _, shard := range []int{8, 9} { // somebody decides
						x.erase(fmt.Sprint("ACTIVE#SHARD_", shard), "twin")
					}
				}
				for range 2 {
					movers.Go(func() {
						if result, err := x.mover(o).Run(t.Context()); err != nil || !result.Done {
							t.Errorf("%+v, %v", result, err)
						}
					})
				}
				movers.Wait()
				if n := kept(); n != test.want {
					t.Errorf("%d items with the sort key, want %d", n, test.want)
				}
				report, err := x.mover(o).Verify(t.Context())
				if err != nil || report.Damaged() != 0 || report.Right != 101 {
					t.Errorf("verified %+v, %v", report, err)
				}
			})
		})
	}
}

// Two movers freeze two items with one sort key at the same time. One of them comes first, and the other makes its item live again.
func TestMoveListThaws(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		l := newLedger(x)
		l.append(x.program(listSixteen), 20)
		var thawed atomic.Int64
		var both sync.WaitGroup
		both.Add(2)
		var meet [2]sync.Once
		client := rendezvous{x.client, func(shard string) {
			for i, s := range []string{"ACTIVE#SHARD_8", "ACTIVE#SHARD_9"} {
				if shard == s {
					meet[i].Do(func() {
						both.Done()
						both.Wait()
					})
				}
			}
		}, &thawed}
		x.raw(entry(8, "twin", "1"))
		x.raw(entry(9, "twin", "2"))
		m, err := move.New(client, move.Options{Collection: users(listSixteen), To: listFour})
		if err != nil {
			t.Fatal(err)
		}
		result, err := m.Run(t.Context())
		if !errors.Is(err, move.ErrDamage) || result.Doubled != 1 || thawed.Load() != 1 {
			t.Errorf("%+v, %v, %d thawed, want one", result, err, thawed.Load())
		}
		live := map[string]bool{}
		for _, item := range x.stored() {
			if item["sk"].(*types.AttributeValueMemberS).Value == "twin" && item["_hs_f"] == nil {
				live[item["value"].(*types.AttributeValueMemberN).Value] = true
			}
		}
		if len(live) != 2 {
			t.Errorf("the live items are %v, want both", live)
		}
	})
}

// rendezvous is a client that lets two items be frozen at the same time, and counts what is thawed.
type rendezvous struct {
	move.Client
	freezes func(shard string)
	thawed  *atomic.Int64
}

func (r rendezvous) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := r.Client.UpdateItem(ctx, in, with...)
	if err != nil || in.Key["sk"] == nil {
		return out, err
	}
	if v, ok := in.Key["sk"].(*types.AttributeValueMemberS); ok && v.Value == "twin" {
		if strings.HasPrefix(*in.UpdateExpression, "REMOVE") {
			r.thawed.Add(1)
		} else {
			r.freezes(in.Key["pk"].(*types.AttributeValueMemberS).Value)
		}
	}
	return out, err
}

// A list does not go back, and says why.
func TestListDoesNotGoBack(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		l := newLedger(x)
		l.append(x.program(listSixteen), 40)
		m := l.lead("split")
		if _, err := m.Back(t.Context()); !errors.Is(err, move.ErrStage) || !strings.Contains(err.Error(), "a list does not go back") || !strings.Contains(err.Error(), "let the move end") {
			t.Errorf("going back: %v, want ErrStage", err)
		}
		if stage, err := m.Stage(t.Context()); err != nil || stage.Name != "split" {
			t.Errorf("stage %+v, %v", stage, err)
		}
	})
}

// Verify finds damage of every kind in a list, and nothing else.
func TestVerifyFindsPlantedDamageInLists(t *testing.T) {
	marked := func(item heatsink.Item, mark string) heatsink.Item {
		item["_hs_f"] = text(mark)
		return item
	}
	stub := func(shard int, id string) heatsink.Item {
		item := marked(entry(shard, id, "1"), "s")
		delete(item, "value")
		return item
	}
	home := listFour.Shard("odd")
	other := (home + 1) % 4
	for stage, all := range map[string]map[string][]heatsink.Item{
		"split": {
			"misplaced":   {entry(16, "odd", "1")},
			"unexplained": {{"pk": text("CONFIG"), "sk": text("odd")}},
			"marks":       {marked(entry(other, "odd", "1"), "z")},
			"lost":        {stub(9, "odd")},
			"doubled":     {entry(9, "odd", "1"), marked(entry(10, "odd", "2"), "z")},
			"":            {entry(9, "odd", "1"), marked(entry(10, "odd", "1"), "z"), entry(home, "odd", "1"), stub(11, "odd")},
		},
		"settling": {
			"stranded": {entry(9, "odd", "1")},
			"lost":     {marked(entry(9, "odd", "1"), "z")},
			"doubled":  {entry(other, "odd", "1"), entry(home, "odd", "1")},
			"":         {stub(9, "odd"), entry(home, "odd", "1")},
		},
		"sweeping": {
			"stranded": {entry(9, "odd", "1")},
			"leftover": {stub(9, "odd")},
			"doubled":  {entry(other, "odd", "1"), entry(home, "odd", "1")},
			"":         {entry(other, "odd", "1")},
		},
	} {
		for kind, items := range all {
			t.Run(stage+" "+kind, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					x := found(t)
					l := newLedger(x)
					l.append(x.program(listSixteen), 40)
					m := l.lead(stage)
					report, err := m.Verify(t.Context())
					if err != nil || report.Damaged() != 0 || report.Right != 40 {
						t.Fatalf("before the damage: %+v, %v", report, err)
					}
					for _, item := range items {
						x.raw(item)
					}
					report, err = m.Verify(t.Context())
					kinds := map[string]int{}
					for _, f := range report.Findings {
						kinds[f.Kind]++
						if !strings.Contains(f.Key, "odd") {
							t.Errorf("found %+v", f)
						}
					}
					if err != nil || kind != "" && (report.Damaged() != 1 || kinds[kind] != 1) || kind == "" && report.Damaged() != 0 {
						t.Errorf("got %+v, %v, want one %q", report, err, kind)
					}
				})
			})
		}
	}
}

// What is no list cannot become one, and the other way round.
func TestMoveListRefusesStrategies(t *testing.T) {
	x := struct{ move.Client }{}
	for name, test := range map[string]struct {
		from, to layout.Layout
		says     string
	}{
		"a list to ids":         {listFour, eight, "is a list"},
		"ids to a list":         {four, listSixteen, "Calculated"},
		"a list to a list":      {listFour, listSixteen, ""},
		"a list to no shards":   {listFour, bare, ""},
		"a list to no shards 2": {listFour, layout.Layout{Format: layout.SharpNumber()}, ""},
	} {
		_, err := move.New(x, move.Options{Collection: users(test.from), To: test.to})
		if test.says == "" && err != nil || test.says != "" && (!errors.Is(err, heatsink.ErrOptions) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want that it says %q", name, err, test.says)
		}
	}
}
