package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/peer"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{100, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v: got %v, want %v", test.values, got, test.want)
		}
	}
}

func samples(perSecond ...float64) []sample {
	var s []sample
	for _, v := range perSecond {
		s = append(s, sample{perSecond: v, p50: time.Millisecond, p99: 2 * time.Millisecond})
	}
	return s
}

// A machine that is slow for one round slows both, and must not change the ratio.
func TestMedianRatioPairsRounds(t *testing.T) {
	a, b := samples(300, 30, 330), samples(100, 10, 110)
	if got := medianRatio(a, b, throughput); got != 3 {
		t.Errorf("got %v, want 3", got)
	}
}

func TestNewSample(t *testing.T) {
	h := newHistogram()
	for i := 1; i <= 1000; i++ {
		h.RecordValue(int64(i) * int64(time.Microsecond))
	}
	s := newSample(h, 2*time.Second)
	if s.perSecond != 500 {
		t.Errorf("got %v requests/s, want 500", s.perSecond)
	}
	for _, q := range []struct{ got, want time.Duration }{{s.p50, 500 * time.Microsecond}, {s.p99, 990 * time.Microsecond}} {
		if math.Abs(float64(q.got-q.want)) > float64(q.want)/500 {
			t.Errorf("got quantile %v, want %v", q.got, q.want)
		}
	}
}

func contestantOf(name string, perSecond float64) *contestant {
	c := newContestant(peer.Engine{Name: name}, comparedItems)
	c.starts = []time.Duration{50 * time.Millisecond, 40 * time.Millisecond, 900 * time.Millisecond}
	c.idle, c.loaded = 41e6, 45e6
	for _, w := range compared {
		c.samples[w.name] = samples(perSecond)
	}
	return c
}

func TestComparisonGoals(t *testing.T) {
	all := field{contestantOf("heatsink", 1000), contestantOf("dynoxide", 200), contestantOf("dynamodb-local", 150), contestantOf("empty", 2000)}
	got := map[string]string{}
	for _, g := range comparisonGoals(all, compared) {
		got[g.What] = g.Verdict
	}
	want := map[string]string{
		"put: heatsink / dynoxide": "ok", "get: heatsink / dynoxide": "ok", "query: heatsink / dynoxide": "ok",
		"update: heatsink / dynoxide": "", "batch: heatsink / dynoxide": "",
		"put: heatsink / dynamodb-local": "missed", "get: heatsink / dynamodb-local": "", "query: heatsink / dynamodb-local": "",
		"update: heatsink / dynamodb-local": "", "batch: heatsink / dynamodb-local": "",
		"get: heatsink / empty":           "missed",
		"heatsink: start to first answer": "ok",
		"heatsink: idle memory":           "missed",
	}
	for what, verdict := range want {
		if v, ok := got[what]; !ok || v != verdict {
			t.Errorf("%s: got %q, want %q", what, v, verdict)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d goals, want %d: %v", len(got), len(want), got)
	}
	if goals := comparisonGoals(all[1:], compared); len(goals) > 0 {
		t.Errorf("without heatsink: got goals %v, want none", goals)
	}
}

// Dynalite and the client have a processor each, so that requests of dynalite are judged by the processor time that they take. Where the
// system does not tell it, there is no such goal.
func TestProcessorGoals(t *testing.T) {
	taking := func(name string, server time.Duration) *contestant {
		c := contestantOf(name, 1000)
		for i := range c.samples["get"] {
			c.samples["get"][i].server = server
		}
		return c
	}
	for _, c := range []struct {
		heatsink, dynalite time.Duration
		want               string
	}{
		{20 * time.Microsecond, 80 * time.Microsecond, "ok"},
		{20 * time.Microsecond, 70 * time.Microsecond, "missed"},
		{0, 0, "none"},
	} {
		got := "none"
		for _, g := range comparisonGoals(field{taking("heatsink", c.heatsink), taking("dynalite", c.dynalite)}, compared) {
			if g.What == "get: processor time of dynalite / heatsink" {
				got = g.Verdict
			}
		}
		if got != c.want {
			t.Errorf("%v beside %v: got %s, want %s", c.heatsink, c.dynalite, got, c.want)
		}
	}
}

// Nothing may be slower than in an earlier run, on a machine that may be another.
func TestGoalsSince(t *testing.T) {
	of := func(all ...*contestant) *report {
		r := newReport(options{})
		r.add(all, compared[:2])
		return r
	}
	for name, c := range map[string]struct {
		before, now *report
		want        string
	}{
		"as fast":         {of(contestantOf("heatsink", 1000)), of(contestantOf("heatsink", 950)), "ok"},
		"slower":          {of(contestantOf("heatsink", 1000)), of(contestantOf("heatsink", 850)), "missed"},
		"slower machine":  {of(contestantOf("heatsink", 1000), contestantOf("empty", 2000)), of(contestantOf("heatsink", 500), contestantOf("empty", 1000)), "ok"},
		"another machine": {of(contestantOf("heatsink", 1000), contestantOf("empty", 2000)), of(contestantOf("heatsink", 1000), contestantOf("empty", 3000)), "missed"},
	} {
		goals := c.now.goalsSince(c.before)
		if len(goals) != 2 || goals[0].Verdict != c.want || goals[0].What != "put: heatsink now / before" {
			t.Errorf("%s: got %+v, want two that are %s", name, goals, c.want)
		}
	}
}

func TestReadReport(t *testing.T) {
	r := newReport(options{})
	r.add(field{contestantOf("heatsink", 1000)}, compared)
	file := filepath.Join(t.TempDir(), "before.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.writeJSON(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"-before", file}, io.Discard)
	if err != nil || o.before.perSecond("get", "heatsink") != 1000 {
		t.Errorf("got %+v, %v", o.before, err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-before", file}, {"-before", file + ".none"}, {"-before", file, "-growth"}} {
		if _, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
}

func TestGrowthGoals(t *testing.T) {
	small, large := contestantOf("heatsink", 1000), contestantOf("heatsink", 500)
	small.stored, large.stored = 10, 1_000_000
	large.idle, large.loaded = 40e6, 540e6
	goals := growthGoals(small, large, grown[:1])
	if len(goals) != 2 {
		t.Fatalf("got %d goals, want 2: %v", len(goals), goals)
	}
	if g := goals[0]; g.Value != 2 || g.Verdict != "missed" {
		t.Errorf("cost of a put: got %v %s, want 2 missed", g.Value, g.Verdict)
	}
	if g := goals[1]; g.Value != 500 || g.Verdict != "missed" {
		t.Errorf("memory per item: got %v %s, want 500 missed", g.Value, g.Verdict)
	}
}

func TestReport(t *testing.T) {
	all := field{contestantOf("heatsink", 1000), contestantOf("dynalite", 100)}
	r := newReport(options{conns: 16, rounds: 1, duration: time.Second})
	r.skip("dynoxide", errors.New("not installed"))
	r.add(all, compared)
	r.Goals = comparisonGoals(all, compared)
	if !r.missed() {
		t.Error("the memory goal is missed, the report does not say so")
	}
	if !r.skipped("dynoxide") || r.skipped("heatsink") {
		t.Errorf("got skipped %v, want dynoxide", r.Skipped)
	}

	var text bytes.Buffer
	if err := r.writeText(&text); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"dynoxide: SKIPPED: not installed",
		"heatsink 50.0 41.0 45.0 5000",
		"get dynalite 100 1000 2000 - -",
		"get: heatsink / dynalite 10.00 x update:",
		"update: heatsink / dynalite 10.00 x query:",
		"heatsink: idle memory 41.00 MB <= 40 missed",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, &text)
		}
	}

	var encoded bytes.Buffer
	if err := r.writeJSON(&encoded); err != nil {
		t.Fatal(err)
	}
	var decoded report
	if err := json.Unmarshal(encoded.Bytes(), &decoded); err != nil {
		t.Fatal(err)
	}
	if len(decoded.Results) != len(compared)*len(all) || len(decoded.Goals) != len(r.Goals) {
		t.Errorf("got %d results and %d goals back", len(decoded.Results), len(decoded.Goals))
	}
}
