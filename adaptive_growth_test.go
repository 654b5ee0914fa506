package heatsink

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// decided collects decisions.
type decided struct {
	mu  sync.Mutex
	all []Decision
}

func (d *decided) take(_ context.Context, made Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, made)
}

func (d *decided) reasons(key string) (reasons []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, made := range d.all {
		if made.Key == key {
			reasons = append(reasons, made.Reason)
		}
	}
	return reasons
}

// onPhysics starts an engine whose partitions throttle.
func onPhysics(t *testing.T, partitions int) *local.DB {
	t.Helper()
	db := startWith(t, local.Options{Physics: &local.Physics{OnDemandPartitions: partitions, NoSplits: true, TableWrites: -1, TableReads: -1}})
	makeTable(t, db.Client(), "items")
	return db
}

// loaded offers write units to keys through some processes for a while. The items have 40 KB, which keeps the requests few.
// It returns how many puts were throttled in each second.
func loaded(t *testing.T, processes []*Collection[Item], seconds int, perSecond map[string]int) (throttled []int) {
	t.Helper()
	const units = 40
	body := strings.Repeat("x", units*1024-200)
	throttled = make([]int, seconds+10)
	var mu sync.Mutex
	var wg sync.WaitGroup
	begin, n := time.Now(), 0
	for key, rate := range perSecond {
		for i := range rate * seconds / units {
			n++
			c, item, at := processes[n%len(processes)], ov("pk", key, "sk", fmt.Sprintf("%d-%05d", begin.UnixNano(), n), "b", body), time.Duration(i*units)*time.Second/time.Duration(rate)
			wg.Go(func() {
				time.Sleep(at)
				var m Meter
				_, _ = c.Put(WithMeter(context.Background(), &m), item)
				mu.Lock()
				defer mu.Unlock()
				throttled[min(int(at/time.Second), len(throttled)-1)] += min(m.Cost().Throttles, 1)
			})
		}
	}
	wg.Wait()
	return throttled[:seconds]
}

// A hot key grows by itself, in all processes, until nothing is throttled. A cold one does not, and nothing is stored for it.
func TestHotKeysGrow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := onPhysics(t, 100)
		var made decided
		var log logText
		processes := make([]*Collection[Item], 4)
		for i := range processes {
			processes[i] = openItems(t, db.Client(), Options{Adaptive: &Adaptive{Decided: made.take}, Logger: log.logger()})
		}
		throttled := loaded(t, processes, 20, map[string]int{"hot": 6000, "cold": 20, "warm": 300})
		late := 0
		for _, n := range throttled[10:] {
			late += n
		}
		if late > 30 {
			t.Errorf("puts were throttled in each second: %v, want at most 2 %% after 10 s", throttled)
		}
		if slices.Max(throttled[:5]) == 0 {
			t.Errorf("puts were throttled in each second: %v, want some at first, else this tests nothing", throttled)
		}
		keys := storedKeys(t, db.Client(), "items")
		for key, want := range map[string]int{
			"_hs#L#table##hot": 1, "_hs#H#table##hot": 1, "_hs#H#table##warm": 1,
			"_hs#L#table##cold": 0, "_hs#H#table##cold": 0, "_hs#L#table##warm": 0, "cold#SHARD_1": 0, "warm#SHARD_1": 0,
		} {
			if keys[key] != want {
				t.Errorf("%d items have the key %s, want %d", keys[key], key, want)
			}
		}
		ledger, err := processes[0].Ledgers().Show(context.Background(), "hot", time.Time{})
		if err != nil || ledger.Width.Write < 8 || ledger.Width.Write > 64 || ledger.By == "" || ledger.Why == "" {
			t.Errorf("got %+v, %v, want 16 shards or so", ledger, err)
		}
		calm := func(r string) bool { return r == "calm" } // after each growth
		if got := slices.DeleteFunc(made.reasons("hot"), calm); int64(len(got)) != ledger.Generation || slices.ContainsFunc(got, func(r string) bool { return r != "grow" }) {
			t.Errorf("told %v of %d growths", got, ledger.Generation)
		}
		if got := slices.Concat(made.reasons("cold"), made.reasons("warm")); len(got) > 0 {
			t.Errorf("told %v of keys that are not hot", got)
		}
		var last Decision // that made the key grow; what comes after says that it is calm
		for _, d := range made.all {
			if d.Reason == "grow" {
				last = d
			}
		}
		if last.To != ledger.Width.Write || last.From < 1 || last.Rate < 3000 || !strings.Contains(log.String(), "it grows to") {
			t.Errorf("told %+v, and logged %s", last, log.String())
		}
		shards := 0
		for key := range keys {
			if strings.HasPrefix(key, "hot#SHARD_") {
				shards++
			}
		}
		if shards < ledger.Width.Write/2 {
			t.Errorf("%d shards have items, want most of %d", shards+1, ledger.Width.Write)
		}
	})
}

// DryRun and Frozen tell what would be, MaxWidth and PerMinute bound it.
func TestGrowthIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		adaptive Adaptive
		widest   int
		reason   string
	}{
		"dry run":    {Adaptive{DryRun: true}, 1, "dry run"},
		"frozen":     {Adaptive{Frozen: true}, 1, "frozen"},
		"max width":  {Adaptive{MaxWidth: 2}, 2, "at maximum"},
		"per minute": {Adaptive{PerMinute: 1}, 64, "budget"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				db := onPhysics(t, 100)
				var made decided
				c.adaptive.Decided = made.take
				var log logText
				p := openItems(t, db.Client(), Options{Adaptive: &c.adaptive, Logger: log.logger()})
				offered := map[string]int{"a": 3000}
				if name == "per minute" { // of which one has to wait
					offered["b"] = 2990
				}
				loaded(t, []*Collection[Item]{p}, 14, offered)
				widths, reasons := 0, slices.Concat(made.reasons("a"), made.reasons("b"))
				for _, key := range []string{"a", "b"} {
					l, err := p.Ledgers().Show(context.Background(), key, time.Time{})
					if err != nil || l.Width.Write > c.widest {
						t.Errorf("%s: got %+v, %v, want %d shards at most", key, l, err, c.widest)
					}
					widths += l.Width.Write
				}
				if c.widest == 1 && widths != 2 || name == "per minute" && slices.Index(reasons, "grow") < 0 {
					t.Errorf("%d shards, and decided %v", widths, reasons)
				}
				grown := 0
				for _, r := range reasons {
					if r == "grow" {
						grown++
					}
				}
				if name == "per minute" && grown != 1 {
					t.Errorf("%d growths in a minute, want one: %v", grown, reasons)
				}
				if !slices.Contains(reasons, c.reason) || !strings.Contains(log.String(), c.reason) {
					t.Errorf("decided %v and logged %q, want %q", reasons, log.String(), c.reason)
				}
			})
		})
	}
}

// A hot key of an index grows by the throttles of the index.
func TestHotIndexGrows(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := startWith(t, local.Options{Physics: &local.Physics{OnDemandPartitions: 100, NoSplits: true, TableWrites: -1, TableReads: -1}})
		makeTable(t, db.Client(), "items", byIndex(false))
		var made decided
		c := openItems(t, db.Client(), Options{
			Index: Index{Name: "listing"}, Layout: layout.Layout{Strategy: layout.Calculated}, Adaptive: &Adaptive{Decided: made.take},
		})
		var wg sync.WaitGroup
		body := strings.Repeat("x", 40*1024-200)
		for i := range 15 * 3000 / 40 {
			wg.Go(func() {
				time.Sleep(time.Duration(i*40) * time.Second / 3000)
				_, _ = c.Put(context.Background(), ov("id", fmt.Sprint("i", i), "pk", "hot", "sk", fmt.Sprint(i), "b", body))
			})
		}
		wg.Wait()
		l, err := c.Ledgers().Show(context.Background(), "hot", time.Time{})
		if err != nil || l.Width.Write < 4 {
			t.Errorf("got %+v, %v after %v, want growth", l, err, made.reasons("hot"))
		}
	})
}

// A time bucket after a hot one begins as wide as it was needed, before its first write.
func TestBucketBeginsWide(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		db := onPhysics(t, 100)
		c := openItems(t, db.Client(), Options{
			Layout: layout.Layout{Bucket: layout.Hour}, EventTime: EventTime{Attribute: "at", Unit: UnixSeconds}, Adaptive: &Adaptive{},
		})
		hour := time.Now().UTC().Truncate(time.Hour)
		time.Sleep(time.Until(hour.Add(59*time.Minute + 30*time.Second)))
		var wg sync.WaitGroup
		body := strings.Repeat("x", 40*1024-300)
		var mu sync.Mutex
		throttled := map[time.Time]int{}
		for i := range 50 * 3000 / 40 {
			wg.Go(func() {
				time.Sleep(time.Duration(i*40) * time.Second / 3000)
				at := time.Now()
				var m Meter
				_, _ = c.Put(WithMeter(context.Background(), &m), ov("pk", "hot", "sk", fmt.Sprintf("%05d", i), "at", int(at.Unix()), "b", body))
				mu.Lock()
				defer mu.Unlock()
				throttled[at.UTC().Truncate(time.Hour)] += min(m.Cost().Throttles, 1)
			})
		}
		next := hour.Add(time.Hour)
		wg.Go(func() { // as the bucket begins, for it may grow further later
			time.Sleep(time.Until(next))
			l, err := c.Ledgers().Show(context.Background(), "hot", next)
			if err != nil || l.Width.Write < 4 || !strings.Contains(l.Why, "before was wide") {
				t.Errorf("got %+v, %v, want a bucket that begins wide", l, err)
			}
		})
		wg.Wait()
		if throttled[hour] == 0 || throttled[next] > throttled[hour]/10 {
			t.Errorf("throttled: %v, want some in the first hour and next to none in the next", throttled)
		}
	})
}
