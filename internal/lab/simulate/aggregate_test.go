package simulate

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// begin returns a run of a scenario's first layout in mode aggregate.
func begin(t *testing.T, text string) *aggregate {
	t.Helper()
	s := parse(t, text)
	w, err := newWorld(&s, &s.Layouts[0])
	if err != nil {
		t.Fatal(err)
	}
	w.tally = newTally(&s, s.Layouts[0].Name)
	return newAggregate(w)
}

// checkTargets requires that keys have all their shards, where they lie by now, and that no operation is lost.
func (a *aggregate) checkTargets(t *testing.T) {
	t.Helper()
	for _, s := range a.plan.sources {
		l := a.layout
		l.Shards = a.fleet.width(s.key)
		shards := map[int]bool{}
		for _, x := range s.targets {
			shards[x.shard] = true
			if want := a.spell(nil, &l, s.key, a.now(), x.shard, nil); x.source != s || !bytes.Equal(x.place[:8], want[:8]) {
				t.Errorf("shard %d of %d is at %q, want %q; it is of this key: %v", x.shard, s.width, x.place, want, x.source == s)
			}
		}
		if len(shards) != s.width || s.width != l.Shards {
			t.Errorf("key %q has %d shards, and %d of them targets; want %d", s.key, s.width, len(shards), l.Shards)
		}
	}
	r := &a.tally.run
	if want, got := r.Carried+r.Offered-r.Accepted-r.Failed, a.waiting(); math.Abs(got-want) > 1e-6*r.Offered+1e-3 {
		t.Errorf("%v operations wait, want %v", got, want)
	}
}

// A key with a date begins anew at midnight, and grows from one shard on. Those that wait are adopted.
func TestGrowthAfterMidnight(t *testing.T) {
	a := begin(t, `
title: t
mode: aggregate
start: 2026-11-18T23:59:40Z
duration: 60s
load: [{per-second: 6000, keys: {date: {period: day}}}]
layouts: [{kind: adaptive}]
`)
	for range 55 {
		a.advance(time.Second)
		a.checkTargets(t)
	}
	if width := a.plan.sources[0].width; width < 4 {
		t.Errorf("the key of the second day has %d shards, want 4 and more", width)
	}
}

// A key grows whose only shard lies in several partitions, as its items were split.
func TestGrowthAfterSplits(t *testing.T) {
	a := begin(t, `
title: t
mode: aggregate
duration: 30m
load: [{per-second: 60, size: 50KB, items: random, keys: {one: hot}}]
layouts: [{kind: adaptive, shards: 1}]
`)
	a.advance(15*time.Minute + 10*time.Millisecond)
	s := a.plan.sources[0]
	if len(s.targets) < 3 || a.waiting() == 0 {
		t.Fatalf("the key has %d targets, and %v operations wait: want a split and some", len(s.targets), a.waiting())
	}
	a.fleet.records[s.key] = ledger.Record{Generation: 1, Read: 4, Write: 4}
	a.advance(10 * time.Second)
	a.checkTargets(t)
}
