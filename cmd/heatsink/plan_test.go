package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/observed"
	"github.com/heatsink-go/heatsink/plan"

	"github.com/heatsink-go/heatsink/layout"
)

// Decision, reason and snippet take fewer than 20 lines, and say where there is more.
func TestPlanIsBrief(t *testing.T) {
	for _, args := range [][]string{
		{"--writes", "5000"},
		{"--writes", "10"},
		{"--writes", "5000", "--pattern", "counter", "--existing"},
		{"--writes", "1", "--reads", "20000", "--pattern", "mostly"},
		{"--writes", "1", "--reads", "20000", "--pattern", "mostly", "--stale", "-1s"},
		{"--writes", "10000", "--shards", "2", "--existing", "--pattern", "points"},
		{"--writes", "10000", "--index", "by-status", "--pattern", "times"},
	} {
		stdout, stderr, code := command(t, append([]string{"plan"}, args...)...)
		lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		if code != 0 || stderr != "" || len(lines) >= 20 || !strings.HasPrefix(lines[len(lines)-1], "--explain shows") {
			t.Errorf("%q: exit %d, stderr %q, %d lines:\n%s", args, code, stderr, len(lines), stdout)
		}
		if strings.Contains(stdout, "upper bound") || strings.Contains(stdout, "What it costs") {
			t.Errorf("%q: explained without being asked:\n%s", args, stdout)
		}
	}
	if _, stderr, code := command(t, "plan", "--writes", "5000", "--explain", "--json"); code != 2 || !strings.Contains(stderr, "give one of them") {
		t.Errorf("--explain and --json: exit %d, %q", code, stderr)
	}
}

// With --explain, the verdict comes first, then the numbers, the reasons and the snippet.
func TestPlanForPeople(t *testing.T) {
	stdout, stderr, code := command(t, "plan", "--explain", "--key", "PAGE_VIEWS", "--writes", "5000", "--reads", "10", "--item-size", "1KB", "--table", "views")
	if code != 0 || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	at := 0
	for _, want := range []string{
		"Spread PAGE_VIEWS over 17 shards drawn at random; first warm the table to 17,000 write units a second.\n\n",
		"load ", "on-demand, 4 partitions", "upper bound", "formula", "<- this plan", "Why", "Notes", "warm-first", "What it costs", "at least 5",
		"In Go", `Table:        "views",`, "layout.Layout{Shards: 17}",
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

// The shards that a key has are read along with the bare key.
func TestPlanOfExistingShards(t *testing.T) {
	stdout, stderr, code := command(t, "plan", "--shards", "4", "--existing", "--pattern", "points", "--writes", "5000")
	for _, want := range []string{"[]layout.Layout{{}, {Shards: 4, Strategy: layout.Calculated}}", "Remove a layout that was never written"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, %q, no %q in\n%s", code, stderr, want, stdout)
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
			WriteUnits: 10, ReadUnits: 20, WarmWrites: 30, WarmReads: 40, Partitions: 5, Index: true,
		},
		Read:       plan.Reading{Pattern: plan.Times, Items: 7, Window: 90 * 24 * time.Hour, Strong: true, Stale: -time.Second},
		MaxLatency: 50 * time.Millisecond, MaxDollars: 99.5,
		Assume: plan.Assumptions{
			Factor: 2, Confidence: 0.9, Target: 0.5, Average: 0.25, P50Millis: 3, P99Millis: 30,
			Prices: plan.Prices{Region: "eu-west-1", Date: "2026-09-01", MillionWrites: 0.7},
		},
		Names: plan.Names{Table: "t", PartitionKey: "p", SortKey: "s", Time: "at", Index: "by-status", TableKey: "order", Format: layout.PlainNumber()},
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
		{[]string{"--writes", "1", "--share", "150%"}, "want a share such as 30% or 0.3"},
		{[]string{"--writes", "1", "--share", "0.01", "--keys", "5"}, "--share is 0.01"},
		{[]string{"--writes", "1", "--share", "0.5", "--zipf", "1"}, "--share and --zipf both"},
		{[]string{"--writes", "1", "--zipf", "1"}, "--zipf needs --keys"},
		{[]string{"--writes", "1", "--window", "soon"}, "want a duration such as 90d, 24h or 50ms"},
		{[]string{"--writes", "1", "--window", "9999999d"}, "want a duration such as 90d"},
		{[]string{"--writes", "1", "--mode", "free"}, `--mode is "free"`},
		{[]string{"--writes", "1", "--mode", "provisioned"}, "give --provisioned-writes or --provisioned-reads"},
		{[]string{"--writes", "1", "--provisioned-writes", "5"}, "the table is on demand"},
		{[]string{"--writes", "1", "--query-p50", "9ms", "--query-p99", "2ms"}, "--query-p99 in ms is 2, less than the median of 9"},
		{[]string{"--writes", "1", "--pattern", "any"}, `--pattern is "any": it must be one of [points times lists counter mostly]`},
		{[]string{"--writes", "1", "--index", "i", "--strong"}, "--strong is set, but an index"},
		{[]string{"--writes", "1", "--format", "roman"}, `invalid argument "roman" for "--format" flag: want shard-hash, plain, dot or a template`},
		{[]string{"--writes", "1", "--format", "{key}{shard}"}, "there is no prefix before {shard}"},
		{[]string{"--writes", "1", "--format", "{key}[.{shard}]"}, "--format has BareZero, so that shard 0 has the bare key: leave it out, and set --existing if the key has items"},
		{[]string{"--writes", "1", "--factor", "0.1"}, "--factor is 0.1"},
		{[]string{"--writes", "1", "--fail-on", "often"}, `--fail-on: unknown severity "often"`},
		{[]string{"--writes", "1", "--prices", "nowhere.json"}, "--prices nowhere.json: no such file"},
		{[]string{"--writes", "1", "--prices", bad}, `unknown field "regoin"`},
		{[]string{"--writes", "1", "--prices", empty}, "it has no price; give fields"},
		{[]string{"--writes", "1", "now"}, `unknown command "now"`},
		{[]string{"--writes", "-1", "--reads", "-1"}, "heatsink: --writes is -1: it must be between 0 and 1000000000000; --reads is -1"},
		{[]string{"--writes", "1", "--shards", "99999999999"}, "--shards is 99999999999: "},
		{[]string{"--writes", "1", "--top", "2"}, "--top does nothing without --report"},
	} {
		stdout, stderr, code := command(t, append([]string{"plan"}, c.args...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
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
		var got []plan.KeyRate
		all := observed.Of(order)
		for _, k := range all.Hottest(9) {
			got = append(got, k.KeyRate)
		}
		want := []plan.KeyRate{
			{Key: "a", WriteUnits: 900, Throttles: 70},
			{Key: "b", WriteUnits: 400, ReadUnits: 20},
			{Key: "z", WriteBurst: 10},
			{Key: "c", WriteBurst: 5, Throttles: 3, Mixed: true},
		}
		if len(all) != 2 || !slices.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
	}
}

// planReport makes plans of a document in the form of audit's.
func planReport(t *testing.T, document auditDocument, args ...string) (plans []plan.Plan, text string) {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"plan", "--report", file}, args...)
	stdout, stderr, code := command(t, append(args, "--json")...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		var p plan.Plan
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	text, _, _ = command(t, append(args, "--explain")...)
	return plans, text
}

// hotDocument has a key that findings call critical, one at its limit, a bystander, one whose reads are refused, one item,
// and an index.
func hotDocument() auditDocument {
	const writes, reads = "TableWriteKeyRangeThroughputExceeded", "TableReadKeyRangeThroughputExceeded"
	table := heat.ResourceReport{Resource: heat.Resource{Table: "orders"}, Key: []string{"customer"}}
	table.Writes.Keys = []heat.KeyHeat{
		{Key: "refused", RateLow: 960, Units: 9600, Requests: 12000, Throttled: 2400, Reason: writes},
		{Key: "large", RateLow: 5000, Units: 25000, Requests: 10000},
		{Key: "beside", RateLow: 30, Units: 300, Requests: 340, Throttled: 40, Reason: writes},
		{Key: "VIEWS", RateLow: 1500, Items: 1},
		{Key: "critical", RateLow: 180},
		{Key: "reading", RateLow: 40},
	}
	table.Reads.Keys = []heat.KeyHeat{{Key: "reading", RateLow: 2900, Throttled: 500, Reason: reads}}
	index := heat.ResourceReport{Resource: heat.Resource{Table: "orders", Index: "byStatus"}, Key: []string{"status"}}
	index.Writes.Keys = []heat.KeyHeat{{Key: "ACTIVE", RateLow: 4000}, {Key: "DONE", RateLow: 1}}
	return auditDocument{
		Reports: []heat.Report{{Source: heat.Live, Resources: []heat.ResourceReport{table, index}}},
		Findings: []heat.Finding{{
			Kind: heat.SkewedTenant, Severity: heat.Critical, Resource: table.Resource, Direction: heat.Write, Key: "critical",
		}},
	}
}

// A plan does not contradict the findings that it is made from.
func TestPlanAgreesWithFindings(t *testing.T) {
	plans, text := planReport(t, hotDocument(), "--top", "99")
	by := make(map[string]*plan.Plan)
	for i := range plans {
		by[plans[i].Key] = &plans[i]
	}
	for key, want := range map[string]plan.Strategy{
		"refused": plan.Random, "critical": plan.Random, "large": plan.Random, "beside": plan.Leave, "VIEWS": plan.Counter,
		"reading": plan.Cached, "ACTIVE": plan.ShardedIndex, "DONE": plan.Leave,
	} {
		if p := by[key]; p == nil || p.Strategy != want || p.Shard != want.Spreads() || p.Shard && !p.Load.HotWrites != (key == "critical") {
			t.Errorf("%s: got %+v, want %s", key, p, want)
		}
	}
	if strings.Contains(text, "need not needed") || strings.Contains(text, "need        not needed") || !strings.Contains(text, "sharding    not needed") {
		t.Errorf("got %s", text)
	}
	if p := by["critical"]; p.Load.WriteUnits != 180 || p.Shards > 4 { // its partition is full of others
		t.Errorf("critical: got %+v", p)
	}
	if band := by["large"].Formulas.Band; band.From != 10 || band.To != 20 || band.More { // of writes with three units each
		t.Errorf("large: got %+v", band)
	}
	if snippet := by["ACTIVE"].Snippet; !strings.Contains(snippet, `PartitionKey: "customer"`) || !strings.Contains(snippet, `"status"`) || strings.Contains(snippet, `"sk"`) {
		t.Errorf("got %s", snippet)
	}
	// A pattern that is given is kept.
	if plans, _ = planReport(t, hotDocument(), "--top", "99", "--pattern", "lists"); slices.ContainsFunc(plans, func(p plan.Plan) bool { return p.Strategy == plan.Counter }) {
		t.Error("a counter in spite of --pattern lists")
	}
}

// --top is for all tables and indexes together: what is critical, then what is hottest, with a line between.
func TestPlanTopOfAll(t *testing.T) {
	plans, text := planReport(t, hotDocument(), "--top", "3")
	var keys []string
	for _, p := range plans {
		keys = append(keys, p.Key)
	}
	if want := []string{"critical", "large", "ACTIVE"}; !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	if !strings.Contains(text, "\n\nSpread large ") || !strings.Contains(text, "\n\nSpread ACTIVE ") {
		t.Errorf("no blank line in %s", text)
	}
}

// The capacity of a provisioned table comes from its report, whatever --mode says; without one it must be given.
func TestPlanOfAProvisionedReport(t *testing.T) {
	const (
		unknown = `{"source":"stream","resources":[{"table":"app","reads":{},"writes":{"keys":[{"key":"a","rateLow":5}]}}]}`
		known   = `{"source":"stream","resources":[{"table":"app","reads":{},"writes":{"keys":[{"key":"a","rateLow":5}]},"capacity":{"writeUnits":7000}}]}`
	)
	for _, c := range []struct{ report, mode, stdout, err string }{
		{known, "on-demand", `"mode":"provisioned"`, ""},
		{known, "provisioned", `"mode":"provisioned"`, ""},
		{unknown, "on-demand", `"mode":"on-demand"`, ""},
		{unknown, "provisioned", "", "give --provisioned-writes or --provisioned-reads"},
	} {
		var stdout bytes.Buffer
		root := newRoot()
		root.SetArgs([]string{"plan", "--report", "-", "--json", "--mode", c.mode})
		root.SetIn(strings.NewReader(c.report))
		root.SetOut(&stdout)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if !strings.Contains(stdout.String(), c.stdout) || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s of %s: got %s, %v", c.mode, c.report, &stdout, err)
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
		{"empty", ``, "stdin: not a report of heatsink audit --json or top --json: the input is empty"},
		{"broken", bare + `{"source":`, "not a report of heatsink audit --json or top --json: the JSON is cut off: unexpected EOF"},
		{"of a list", `[` + bare + `]`, "not a report of heatsink audit --json or top --json: json: cannot unmarshal array"},
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

// Keys of a report have items, unless the user says that they have none.
func TestPlanOfAReportReadsExistingItems(t *testing.T) {
	for flag, want := range map[string]bool{"": true, "--existing": true, "--existing=false": false} {
		document := hotDocument()
		document.Reports[0].Resources = document.Reports[0].Resources[:1]
		document.Reports[0].Resources[0].Writes.Keys = document.Reports[0].Resources[0].Writes.Keys[1:2]
		document.Reports[0].Resources[0].Reads.Keys = nil
		args := []string{"--top", "1"}
		if flag != "" {
			args = append(args, flag)
		}
		plans, _ := planReport(t, document, args...)
		if strings.Contains(plans[0].Snippet, "BareZero: true") != want {
			t.Errorf("%s: got %s", flag, plans[0].Snippet)
		}
	}
}

// A report that was saved after its load had ended is planned for by its busiest time.
func TestPlanOfAPausedReport(t *testing.T) {
	report := heat.Report{Source: heat.Stream, From: time.Unix(0, 0), To: time.Unix(140, 0), Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "app"}, Key: []string{"pk"}, Writes: heat.Flow{Units: 25_000, Requests: 25_000, Distinct: heat.Distinct{Keys: 2}, Keys: []heat.KeyHeat{
			{Key: "AUDIT", Units: 23_000, Low: 23_000, Requests: 23_000, RateLow: 1e-6, Rate: 1e-6, Share: 0.86, Busiest: 1150, Items: 250},
			{Key: "USER#1", Units: 2000, Low: 2000, Requests: 2000, RateLow: 1e-7, Rate: 1e-7, Share: 0.1, Busiest: 100, Items: 250},
		}},
	}}}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, "plan", "--report", file, "--top", "1")
	if code != 0 || !strings.HasPrefix(stdout, "Spread AUDIT over 5 shards drawn at random") || strings.Contains(stdout, "quota") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
