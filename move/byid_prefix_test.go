package move_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/move"
)

// dated are keys of which some begin with POST#2026: one is that prefix, and one is a little shorter.
var dated = []string{"POST#2026", "POST#2026-01", "POST#2026-02", "POST#202", "POST#2025-12", "POST"}

// rightly compares the number of shards of each key with what is wanted, and reads every item back.
func (x *town) rightly(c *heatsink.Collection[user], want map[string]int) {
	x.t.Helper()
	most := map[string]int{}
	for pk := range x.shards() {
		key, number, _ := strings.Cut(pk, "#SHARD_")
		n := 0
		_, _ = fmt.Sscan(number, &n)
		most[key] = max(most[key], n+1)
	}
	for _, key := range append(x.keys, "POST#2026-03") {
		if most[key] == 0 || (want[key] > 1) != (most[key] > 1) || most[key] > max(want[key], 1) {
			x.t.Errorf("key %s has items up to shard %d, want %d shards", key, most[key]-1, max(want[key], 1))
		}
	}
	for id, value := range x.want {
		if got, err := c.Get(context.Background(), user{Key: id[0], ID: id[1]}); err != nil || got.Value != value {
			x.t.Errorf("%v is %+v, %v, want %d", id, got, err, value)
		}
	}
}

// Only keys that begin with the prefix move, while programs use them all. A key that comes later is born in its new shards. What
// is damaged elsewhere is no reason not to move.
func TestMovePrefixByID(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.keys = dated
		c := x.program(bare)
		x.fill(c, 180)
		x.raw(heatsink.Item{"pk": text("POST#SHARD_3"), "sk": text("astray")}) // it begins with POST#SH, but is a shard of POST
		end := x.start(bare, bare)
		m := x.mover(move.Options{Collection: users(bare), Prefixes: map[string]int{"POST#2026": 8, "POST#SH": 4}, Segments: 3, Wait: true})
		forecast, err := m.Plan(t.Context())
		if err != nil || !forecast.Exact || forecast.Moves < 60 || forecast.Moves > 130 || forecast.Blocked != 0 || forecast.Listed < 90 || forecast.Listed > 150 {
			t.Errorf("forecast %+v, %v, want about 7/8 of 90 moves", forecast, err)
		}
		var later sync.WaitGroup
		for n, after := range []time.Duration{5 * time.Minute, 70 * time.Minute, 140 * time.Minute} {
			later.Go(func() {
				time.Sleep(after)
				for i := range 20 {
					x.put(c, user{Key: "POST#2026-03", ID: fmt.Sprint("later", n, i), Value: 1 + i})
				}
			})
		}
		result, err := m.Run(t.Context())
		if err != nil || !result.Done || result.Late != 0 || result.Moved < 60 || result.Moved > 150 || result.Stage.Now.Prefixes["POST#2026"] != 8 {
			t.Fatalf("%+v, %v", result, err)
		}
		later.Wait()
		end()
		eight := map[string]int{"POST#2026": 8, "POST#2026-01": 8, "POST#2026-02": 8, "POST#2026-03": 8}
		report, err := m.Verify(t.Context())
		if err != nil || report.Damaged() != 1 || report.Findings[0].Stored != "POST#SHARD_3" {
			t.Errorf("verified %+v, %v, want the one that is astray", report, err)
		}
		x.erase("POST#SHARD_3", "astray")
		x.rightly(c, eight)

		// A longer prefix and a key of its own count before the shorter prefix.
		o := move.Options{Collection: users(bare), Widths: map[string]int{"POST#2026-02": 3}, Prefixes: map[string]int{"POST#2026-": 2}, Segments: 3, Wait: true}
		if result, err = x.mover(o).Run(t.Context()); err != nil || !result.Done {
			t.Fatalf("%+v, %v", result, err)
		}
		x.rightly(c, map[string]int{"POST#2026": 8, "POST#2026-01": 2, "POST#2026-02": 3, "POST#2026-03": 2})
		if report, err = x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 || report.Right != int64(len(x.want)) {
			t.Errorf("verified %+v, %v", report, err)
		}

		// With one shard for the prefix and what is under it, everything is as it was, and the record has no prefix any more.
		o = move.Options{Collection: users(bare), Widths: map[string]int{"POST#2026-02": 1}, Prefixes: map[string]int{"POST#2026-": 1, "POST#2026": 1, "POST#SH": 1}, Wait: true}
		if result, err = x.mover(o).Run(t.Context()); err != nil || !result.Done || len(result.Stage.Now.Prefixes)+len(result.Stage.Now.Widths) > 0 {
			t.Fatalf("%+v, %v", result, err)
		}
		x.rightly(c, nil)
	})
}

// A move of a prefix goes back from its middle, and only the keys that begin with it. Marks of deleted items go.
func TestBackOfAPrefix(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.keys = dated
		c := x.program(bare)
		x.fill(c, 180)
		for i := range 20 {
			x.put(c, user{Key: "POST#2026-03", ID: fmt.Sprint("n", i), Value: 1})
		}
		end := x.start(bare, bare)
		o := move.Options{Collection: users(bare), Prefixes: map[string]int{"POST#2026": 8}, WCU: 10, Segments: 2, Wait: true}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second) // it is announced for 75
		defer cancel()
		result, err := x.mover(o).Run(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || result.Moved < 10 || result.Stage.Name != "split" {
			t.Fatalf("%+v, %v, want some moves", result, err)
		}
		if _, err := x.mover(move.Options{Collection: users(bare), Prefixes: map[string]int{"POST#2025": 8}}).Run(t.Context()); !errors.Is(err, move.ErrStage) ||
			!strings.Contains(err.Error(), `keys that begin with "POST#2026" over 8`) {
			t.Errorf("another prefix meanwhile: %v, want ErrStage that names the prefix", err)
		}
		back, err := x.mover(o).Back(t.Context())
		if err != nil || !back.Done || back.Moved < result.Moved {
			t.Errorf("back: %+v, %v", back, err)
		}
		end()
		x.rightly(c, nil)
		if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 || report.Right != int64(len(x.want)) {
			t.Errorf("verified %+v, %v", report, err)
		}
	})
}

// Marks of items that are deleted while a prefix moves go in the end, also with a mover of another process, which knows the prefix from the
// checkpoint alone.
func TestDeadItemsOfAPrefixGo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		x.keys = dated
		c := x.program(bare)
		x.fill(c, 120)
		o := move.Options{Collection: users(bare), Prefixes: map[string]int{"POST#2026": 4}, Segments: 2}
		deleted := 0
		for n := 0; ; n++ {
			result, err := x.mover(o).Run(t.Context())
			if err != nil || n > 20 {
				t.Fatalf("%+v, %v", result, err)
			}
			if result.Done {
				break
			}
			if result.Stage.Name == "split" {
				for id := range x.want {
					if deleted < 40 && strings.HasPrefix(id[0], "POST#2026") {
						if _, err := c.Delete(t.Context(), user{Key: id[0], ID: id[1]}); err != nil {
							t.Fatal(err)
						}
						delete(x.want, id)
						deleted++
					}
				}
			}
			time.Sleep(63 * time.Minute)
		}
		if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 || deleted != 40 || report.Right != int64(len(x.want)) {
			t.Errorf("verified %+v, %v, with %d deleted", report, err, deleted)
		}
		x.shards()
	})
}

// A prefix of a list gets its own number of shards as well. The bare key is one of them, so that its items stay, and others are appended to all.
func TestMovePrefixOfAList(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		x := found(t)
		list := layout.Layout{}
		c := x.program(list)
		n := 0
		add := func(keys ...string) {
			for _, key := range keys {
				n++
				if _, err := c.Put(t.Context(), user{Key: key, ID: fmt.Sprintf("v%05d", n), Value: n}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 40 {
			add("P#1", "P#2", "Q")
		}
		o := move.Options{Collection: users(list), Prefixes: map[string]int{"P#": 4}}
		stages := map[string]bool{}
		for done := false; !done; {
			result, err := x.mover(o).Run(t.Context())
			if err != nil || len(stages) > 6 {
				t.Fatalf("%+v, %v", result, err)
			}
			stages[result.Stage.Name], done = true, result.Done
			add("P#1", "P#3", "Q")
			time.Sleep(63 * time.Minute)
		}
		add("P#1", "P#3", "Q")
		most := x.shards()
		spread := func(key string) int { return most[key+"#SHARD_1"] + most[key+"#SHARD_2"] + most[key+"#SHARD_3"] }
		if spread("P#1") == 0 || spread("P#3") == 0 || most["P#2"] != 40 || most["Q"] != n/3 {
			t.Errorf("items are in %v, want what was appended in four shards of the keys with the prefix", most)
		}
		for key, want := range map[string]int{"P#1": n / 3, "P#2": 40, "P#3": n/3 - 40, "Q": n / 3} {
			if got, err := c.Count(t.Context(), heatsink.Query{Key: key, Consistent: true}); err != nil || got != want {
				t.Errorf("%s has %d items, %v, want %d", key, got, err, want)
			}
		}
		if report, err := x.mover(o).Verify(t.Context()); err != nil || report.Damaged() != 0 {
			t.Errorf("verified %+v, %v", report, err)
		}
	})
}
