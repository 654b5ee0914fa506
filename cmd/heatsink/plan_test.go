package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/plan"
)

// The verdict comes first, then the numbers, the reasons and the snippet.
func TestPlanForPeople(t *testing.T) {
	stdout, stderr, code := command(t, "plan", "--key", "PAGE_VIEWS", "--writes", "5000", "--reads", "10", "--item-size", "1KB", "--table", "views")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	at := 0
	for _, want := range []string{
		"Spread PAGE_VIEWS over 17 shards drawn at random; first warm the table to 17,000 write units a second.\n\n",
		"load ", "on-demand, 4 partitions", "upper bound", "formula", "<- this plan", "Why", "Notes", "warm-first", "What it costs", "at least 5",
		"In Go", `Table:        "views",`, "heatsink.Layout{Shards: 17}",
	} {
		i := strings.Index(stdout[at:], want)
		if i < 0 {
			t.Fatalf("no %q after %d in:\n%s", want, at, stdout)
		}
		at += i
	}
}

func TestPlanJSON(t *testing.T) {
	stdout, stderr, code := command(t, "plan", "--writes", "5000", "--mode", "provisioned", "--provisioned-writes", "10000", "--json")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	var p plan.Plan
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatal(err)
	}
	if p.Strategy != plan.Random || p.Partitions != 10 || p.Waste == nil || p.Waste.Wasted != 9000 || p.Snippet == "" {
		t.Errorf("got %+v", p)
	}
	// Every name that the help promises is there.
	for _, name := range []string{"verdict", "shard", "strategy", "shards", "choice", "need", "reasons", "notes", "load", "partitions", "formulas", "ways", "recommended", "peak", "read", "unsharded", "trade", "ranking", "costs", "snippet", "assumed", "waste"} {
		if !strings.Contains(stdout, `"`+name+`":`) {
			t.Errorf("no %q in %s", name, stdout)
		}
	}
}

func TestPlanFailOn(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--writes", "10000", "--shards", "2"}, 0, ""},
		{[]string{"--writes", "10000", "--shards", "2", "--fail-on", "critical"}, 1, "--fail-on critical: too-few-shards"},
		{[]string{"--writes", "10000", "--shards", "2", "--fail-on", "info"}, 1, "too-few-shards"},
		{[]string{"--writes", "10000", "--fail-on", "critical"}, 0, ""},
		{[]string{"--writes", "10000", "--fail-on", "warning"}, 1, "warm-first"},
		{[]string{"--writes", "10", "--fail-on", "info"}, 0, ""},
		{[]string{"--writes", "10000", "--shards", "2", "--fail-on", "critical", "--json"}, 1, "too-few-shards"},
	} {
		stdout, stderr, code := command(t, append([]string{"plan"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || c.want == "" && stderr != "" || stdout == "" {
			t.Errorf("%q: exit %d, stderr %q, %d bytes on stdout", c.args, code, stderr, len(stdout))
		}
	}
}

// Every flag reaches the workload.
func TestPlanFlags(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(prices, []byte(`{"region": "eu-west-1", "date": "2026-09-01", "millionWrites": 0.7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var f planFlags
	cmd := newPlan()
	cmd.ResetFlags()
	f.register(cmd)
	err := cmd.ParseFlags([]string{
		"--key", "K", "--writes", "1.5", "--reads", "2.5", "--item-size", "2.5KB", "--items-per-day", "30", "--keys", "100", "--share", "30%", "--zipf", "1.1",
		"--shards", "4", "--throttles", "5", "--unpredictable", "--atomic", "--existing",
		"--mode", "provisioned", "--provisioned-writes", "10", "--provisioned-reads", "20", "--warm-writes", "30", "--warm-reads", "40", "--partitions", "5", "--index", "by-status",
		"--pattern", "times", "--items", "7", "--window", "90d", "--strong", "--stale", "-1s", "--max-latency", "50ms", "--max-cost", "99.5",
		"--factor", "2", "--confidence", "0.9", "--target", "50%", "--average", "25%", "--query-p50", "3ms", "--query-p99", "30ms", "--prices", prices,
		"--table", "t", "--partition-key", "p", "--sort-key", "s", "--time", "at", "--table-key", "order", "--format", "plain",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.read()
	want := plan.Workload{
		Key: "K", Writes: 1.5, Reads: 2.5, ItemBytes: 2560, ItemsPerDay: 30, Keys: 100, Share: 0.3, Zipf: 1.1,
		Shards: 4, Throttles: 5, Unpredictable: true, Atomic: true, Existing: true,
		Table: plan.Table{
			Mode: plan.Provisioned, Provisioned: plan.Throughput{WriteUnits: 10, ReadUnits: 20},
			Warm: plan.Throughput{WriteUnits: 30, ReadUnits: 40}, Partitions: 5, Index: true,
		},
		Read:   plan.Reading{Pattern: plan.Times, Items: 7, Window: 90 * 24 * time.Hour, Strong: true, Stale: -time.Second},
		Limits: plan.Limits{Latency: 50 * time.Millisecond, Dollars: 99.5},
		Assume: plan.Assumptions{
			Factor: 2, Confidence: 0.9, Target: 0.5, Average: 0.25, Latency: plan.Latency{P50: 3 * time.Millisecond, P99: 30 * time.Millisecond},
			Prices: plan.Prices{Region: "eu-west-1", Date: "2026-09-01", MillionWrites: 0.7},
		},
		Names: plan.Names{Table: "t", PartitionKey: "p", SortKey: "s", Time: "at", Index: "by-status", TableKey: "order", Format: plan.PlainNumber},
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// The defaults that the help shows are those of the package: flags that are not given change nothing.
func TestPlanDefaults(t *testing.T) {
	stdout, _, _ := command(t, "plan", "--writes", "5000", "--reads", "10", "--json")
	p, err := plan.For(plan.Workload{Writes: 5000, Reads: 10})
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(p)
	if err != nil || strings.TrimSpace(stdout) != string(want) {
		t.Errorf("got %s, want %s, %v", stdout, want, err)
	}
}

// What is wrong is said in the words of the command, in one line.
func TestPlanMistakes(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte(`{"regoin": "eu-west-1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "give --writes or --reads a second"},
		{[]string{"--writes", "-5"}, "--writes is -5"},
		{[]string{"--writes", "many"}, `invalid argument "many" for "--writes"`},
		{[]string{"--writes", "NaN"}, "--writes is NaN"},
		{[]string{"--writes", "1", "--item-size", "0"}, "want a size such as 700B"},
		{[]string{"--writes", "1", "--item-size", "1GB"}, "want a size such as 700B"},
		{[]string{"--writes", "1", "--item-size", "500KB"}, "--item-size is 512000"},
		{[]string{"--writes", "1", "--share", "150%"}, "want a part such as 30% or 0.3"},
		{[]string{"--writes", "1", "--share", "0.01", "--keys", "5"}, "--share is 0.01"},
		{[]string{"--writes", "1", "--share", "0.5", "--zipf", "1"}, "--share and --zipf both"},
		{[]string{"--writes", "1", "--zipf", "1"}, "--zipf needs --keys"},
		{[]string{"--writes", "1", "--window", "soon"}, "want a duration such as 90d, 24h or 50ms"},
		{[]string{"--writes", "1", "--window", "9999999d"}, "want a duration such as 90d"},
		{[]string{"--writes", "1", "--mode", "free"}, `--mode is "free"`},
		{[]string{"--writes", "1", "--mode", "provisioned"}, "--provisioned-writes or --provisioned-reads is missing"},
		{[]string{"--writes", "1", "--provisioned-writes", "5"}, "the table is on demand"},
		{[]string{"--writes", "1", "--pattern", "any"}, `--pattern is "any": it must be one of [points times lists counter mostly]`},
		{[]string{"--writes", "1", "--index", "i", "--strong"}, "--strong is set, but an index"},
		{[]string{"--writes", "1", "--format", "roman"}, `--format is "roman"`},
		{[]string{"--writes", "1", "--factor", "0.1"}, "--factor is 0.1"},
		{[]string{"--writes", "1", "--fail-on", "often"}, `--fail-on: unknown severity "often"`},
		{[]string{"--writes", "1", "--prices", "nowhere.json"}, "--prices nowhere.json: no such file"},
		{[]string{"--writes", "1", "--prices", bad}, `unknown field "regoin"`},
		{[]string{"--writes", "1", "--prices", empty}, "no price in it"},
		{[]string{"--writes", "1", "now"}, `unknown command "now"`},
		{[]string{"--writes", "-1", "--reads", "-1"}, "; --reads is -1"},
	} {
		stdout, stderr, code := command(t, append([]string{"plan"}, c.args...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

// Of several reports those with rates of keys are used, of a key those of the source that knows best, throttles from any.
func TestPlanOfSeveralReports(t *testing.T) {
	report := func(source heat.Source, writes ...heat.KeyHeat) heat.Report {
		return heat.Report{Source: source, Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "app"}, Key: []string{"id"}, Writes: heat.Flow{Keys: writes},
		}}}
	}
	insights := report(heat.Insights, heat.KeyHeat{Key: "a", RateLow: 3000, Throttled: 70}, heat.KeyHeat{Key: "b", RateLow: 600}, heat.KeyHeat{Key: "c", RateLow: 5, Throttled: 3})
	stream := report(heat.Stream, heat.KeyHeat{Key: "a", RateLow: 900}, heat.KeyHeat{Key: "b", RateLow: 500})
	live := report(heat.Live, heat.KeyHeat{Key: "b", RateLow: 400})
	live.Resources[0].Reads.Keys = []heat.KeyHeat{{Key: "b", RateLow: 20}}
	scan := report(heat.Scan)
	scan.Resources[0].Stored = &heat.Stored{Items: 7}
	other := report(heat.Stream, heat.KeyHeat{Key: "z", Second: 10})
	other.Resources[0].Index = "byStatus"
	for _, order := range [][]heat.Report{{scan, insights, stream, live, other}, {other, live, stream, insights, scan}} {
		all := observations(order)
		slices.SortFunc(all, func(a, b *observation) int { return strings.Compare(a.resource.Index, b.resource.Index) })
		want := []plan.KeyRate{{Key: "a", WriteUnits: 900, Throttles: 70}, {Key: "b", WriteUnits: 400, ReadUnits: 20}, {Key: "c", WriteUnits: 5, Throttles: 3}}
		if len(all) != 2 || !slices.Equal(all[0].hottest(9), want) || !slices.Equal(all[1].hottest(9), []plan.KeyRate{{Key: "z", WriteUnits: 10}}) {
			t.Errorf("got %+v", all)
		}
	}
}

// What audit writes, what top writes, and a report as it is can be read; nothing else can.
func TestPlanReadsReports(t *testing.T) {
	const bare = `{"source":"stream","resources":[{"table":"app","reads":{},"writes":{"keys":[{"key":"a","rateLow":5}]}}]}`
	for _, c := range []struct{ name, text, want string }{
		{"bare", bare, "a"},
		{"of top", `{"source":"stream"}` + "\n" + bare + "\n", "a"},
		{"of audit", `{"reports":[{"source":"scan"},` + bare + `],"findings":[]}`, "a"},
		{"of no rates", `{"reports":[{"source":"scan"},{"source":"cloudwatch"}]}`, "a report from scan or cloudwatch has no rates of keys"},
		{"of none", `{"reports":[]}`, "not a report"},
		{"of nothing", `{"reports":[{}]}`, "not a report"},
		{"of another form", `{"report":` + bare + `}`, "not a report"},
		{"empty", ``, "EOF"},
		{"broken", bare + `{"source":`, "unexpected EOF"},
		{"of a list", `[` + bare + `]`, "cannot unmarshal array"},
	} {
		var stdout, stderr bytes.Buffer
		root := newRoot()
		root.SetArgs([]string{"plan", "--report", "-", "--json"})
		root.SetIn(strings.NewReader(c.text))
		root.SetOut(&stdout)
		root.SetErr(&stderr)
		err := root.ExecuteContext(t.Context())
		if c.want == "a" {
			if err != nil || !strings.Contains(stdout.String(), `"key":"a"`) {
				t.Errorf("%s: got %s, %v", c.name, stdout.String(), err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestPlanHelp(t *testing.T) {
	stdout, stderr, code := command(t, "plan", "--help")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	for _, want := range []string{"--writes", "--pattern", "points", "heatsink plan --writes 5000 --item-size 1KB", "--fail-on", "exit code is 1", "2026-08-31"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in:\n%s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) { // the examples work
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "heatsink plan --")
		if !ok || strings.Contains(args, "|") {
			continue
		}
		fields := strings.Fields(strings.ReplaceAll("plan --"+args, "'", ""))
		if stdout, stderr, code := command(t, fields...); code != 0 && !strings.Contains(args, "--fail-on") || stdout == "" {
			t.Errorf("%q: exit %d, %s", fields, code, stderr)
		}
	}
}
