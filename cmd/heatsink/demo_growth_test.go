package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink"
)

// Each decision is shown once. One that does not make the key wider says why.
func TestGrowthShows(t *testing.T) {
	var out bytes.Buffer
	to, g := newScreen(&out), new(growth)
	if n := g.show(to); n != 1 || out.Len() > 0 {
		t.Errorf("before any decision: %d shards, %q", n, out.String())
	}
	g.decided(context.Background(), heatsink.Decision{Reason: "grow", From: 1, To: 32, Rate: 7984, Throttled: 0.9})
	g.decided(context.Background(), heatsink.Decision{Reason: "futility", From: 32, To: 32, Rate: 8000, Throttled: 0.25})
	if n := g.show(to); n != 32 {
		t.Errorf("got %d shards, want 32", n)
	}
	want := "  heatsink grows the key from 1 shard to 32: 7,984 WCU/s, of which 90 % are throttled\n" +
		"  heatsink: futility: 8,000 WCU/s, of which 25 % are throttled\n"
	if g.show(to); out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestGrownText(t *testing.T) {
	widths := func(all ...int) (seconds []rates) {
		for _, w := range all {
			seconds = append(seconds, rates{Width: w})
		}
		return seconds
	}
	for _, c := range []struct {
		seconds []rates
		want    string
	}{
		{widths(1, 1, 1, 1, 32, 32), "Within 3 s of being hot the key had 32 shards. No process was restarted."},
		{widths(1, 1, 16, 64), "Within 2 s of being hot the key had 64 shards. No process was restarted."},
		{widths(8), "Within 1 s of being hot the key had 8 shards. No process was restarted."}, // a machine that lets nobody look
		{widths(1, 1, 1), "The key has not grown: this machine was too busy to make it hot."},
	} {
		if got := grownText(c.seconds, 2*time.Second); got != c.want {
			t.Errorf("%v: got %q, want %q", c.seconds, got, c.want)
		}
	}
}

// The cold part of a load comes first, and has its own rate.
func TestLoadIsColdFirst(t *testing.T) {
	l := load{perSecond: 1000, units: 8, runIn: time.Second, measured: 4 * time.Second}.growing()
	for _, c := range []struct {
		put  int
		want time.Duration
	}{
		{0, 0}, {1, 20 * time.Millisecond}, {99, 1980 * time.Millisecond}, {100, 2 * time.Second}, {101, 2001 * time.Millisecond},
	} {
		if got := l.due(c.put); got != c.want {
			t.Errorf("put %d is offered after %v, want %v", c.put, got, c.want)
		}
	}
	if l.runIn != 7*time.Second || l.measured != 3*time.Second {
		t.Errorf("got %+v, want 7 s and then 3 s", l)
	}
	if quick := (load{perSecond: 1000, runIn: time.Second, measured: time.Second}).growing(); quick.runIn+quick.measured != 7*time.Second {
		t.Errorf("got %+v, want 7 s in all", quick)
	}
}
