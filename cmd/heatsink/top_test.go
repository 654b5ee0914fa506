package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// serveHotKey runs a server whose partitions take five writes a second, and writes to one key until it is refused.
func serveHotKey(t *testing.T, args ...string) (url string) {
	t.Helper()
	s := serve(t, append([]string{"--physics", "--partition-writes", "5", "--partitions", "2"}, args...)...)
	c := client(s.url, "local", "local")
	if err := createTable(t.Context(), c, "things"); err != nil {
		t.Fatal(err)
	}
	if err := putThing(t.Context(), c, "PAGE#viral", strings.Repeat("x", 100<<10)); err != nil { // owed for 20 seconds
		t.Fatal(err)
	}
	for range 20 {
		if err := putThing(t.Context(), c, "PAGE#viral", ""); err == nil {
			t.Fatal("a partition that owes took a write")
		}
	}
	return s.url
}

// From a server with physics, top shows what a stream does not: reads, refusals and their reasons, and partitions.
func TestTopOfAnEngine(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	stdout, stderr, code := command(t, "top", "things", "--endpoint", url, "--last", "300ms", "--every", "200ms")
	for _, want := range []string{
		"things, source: engine", "things writes:", "PAGE#viral", "throttled: TableWriteKeyRangeThroughputExceeded", "things: 2 partitions, 0 splits",
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d: no %q in\n%s%s", code, want, stdout, stderr)
		}
	}

	stdout, stderr, code = command(t, "top", "things", "--endpoint", url, "--last", "300ms", "--every", "200ms", "--json", "--hash-keys", "secret")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var round topRound
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &round); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, stderr)
	}
	if round.Source != heat.Engine || len(round.Partitions) != 1 || len(round.Resources) != 1 || strings.Contains(stdout, "viral") {
		t.Fatalf("got %s", stdout)
	}
	// A plan needs to know how much the table takes already.
	if c := round.Resources[0].Capacity; c == nil || !c.OnDemand || c.WarmWrites == 0 || c.WarmReads == 0 {
		t.Errorf("got capacity %+v", c)
	}
	if key := round.Resources[0].Writes.Keys[0]; key.Throttled != 20 || key.Units < 100 || key.Items != 1 {
		t.Errorf("got %+v", key)
	}
}

// Plain lines end with findings, and audit reads what the engine has counted: both judge by what its partitions take.
func TestFindingsOfAnEngine(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	stdout, stderr, code := command(t, "top", "things", "--endpoint", url, "--once", "--every", "200ms")
	if code != 0 || !strings.Contains(stdout, "critical: Partition key 'PAGE#viral' has ") || !strings.Contains(stdout, "\n  do: ") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for _, test := range []struct {
		flags   []string
		sources []heat.Source
	}{
		{nil, []heat.Source{heat.Engine, heat.Scan}},
		{[]string{"--engine"}, []heat.Source{heat.Engine}},
		{[]string{"--cloudwatch"}, []heat.Source{heat.CloudWatch}},
		{[]string{"--scan"}, []heat.Source{heat.Scan}},
	} {
		stdout, stderr, code := command(t, append([]string{"audit", "things", "--endpoint", url, "--json"}, test.flags...)...)
		var document auditDocument
		if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != 0 {
			t.Fatalf("%v: exit %d, %v, %s", test.flags, code, err, stderr)
		}
		var sources []heat.Source
		for _, r := range document.Reports {
			sources = append(sources, r.Source)
			if r.Limits.WriteUnits != 5 {
				t.Errorf("%v: %s has limits %+v", test.flags, r.Source, r.Limits)
			}
		}
		if !slices.Equal(sources, test.sources) {
			t.Errorf("%v: got %v", test.flags, sources)
		}
		worst, _ := heat.Worst(document.Findings)
		if sources[0] == heat.Engine && (worst != heat.Critical || document.Findings[0].Key != "PAGE#viral") {
			t.Errorf("%v: got %v", test.flags, document.Findings)
		}
	}
	plain := serve(t).url
	if err := createTable(t.Context(), client(plain, "local", "local"), "things"); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "audit", "things", "--endpoint", plain, "--engine"); code != 2 || !strings.Contains(stderr, "does not report its heat") {
		t.Errorf("without physics: exit %d, %s", code, stderr)
	}
	if stdout, stderr, code := command(t, "audit", "things", "--endpoint", plain); code != 0 || strings.Contains(stdout+stderr, "engine") {
		t.Errorf("without physics: exit %d, %s%s", code, stdout, stderr)
	}
	hidden, _, _ := command(t, "audit", "things", "--endpoint", url, "--engine", "--hash-keys", "secret", "--json")
	if strings.Contains(hidden, "viral") || !strings.Contains(hidden, `"critical"`) {
		t.Errorf("got %s", hidden)
	}
}

// Plain lines have one line for a key with its shards, however many there are: of those that heatsink writes, and of layouts
// that it is told.
func TestTopFoldsShards(t *testing.T) {
	t.Parallel()
	s := serve(t, "--physics")
	c := client(s.url, "local", "local")
	if err := createTable(t.Context(), c, "things"); err != nil {
		t.Fatal(err)
	}
	for i := range 64 {
		for _, key := range []string{fmt.Sprint("POLL#SHARD_", i/2), fmt.Sprint("VOTE.", 1+i/16)} {
			if err := putThing(t.Context(), c, key, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		args      []string
		want, not string
	}{
		{[]string{"--keys", "2"}, "POLL  32 shards, the fullest takes 3 %", "POLL#SHARD"},
		{[]string{"--layout", "{key}.{shard1}"}, "VOTE  4 shards, the fullest takes 25 %", "VOTE."},
		{nil, "VOTE.3", "VOTE  "},
	} {
		stdout, stderr, code := command(t, append([]string{"top", "things", "--endpoint", s.url, "--once"}, test.args...)...)
		if code != 0 || !strings.Contains(stdout, test.want) || strings.Contains(stdout, test.not) {
			t.Errorf("%v: exit %d, %s: want %q and no %q in\n%s", test.args, code, stderr, test.want, test.not, stdout)
		}
	}
}

// A table that does not exist, or has no stream, is an error and not an empty list for ever.
func TestTopOfNothing(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	url := serveHotKey(t)
	for _, test := range []struct{ args, want string }{
		{"top nothing --last 1s --endpoint " + url, `table "nothing" not found at http://127.0.0.1`},
		{"top things --stream --last 1s --endpoint " + url, "stream"},
		{"top things --last 1s --endpoint http://127.0.0.1:1", `describe table "things"`},
	} {
		if _, stderr, code := command(t, strings.Fields(test.args)...); code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

func TestServeHeat(t *testing.T) {
	t.Parallel()
	url := serveHotKey(t)
	for _, test := range []struct {
		method, query string
		status        int
		want          string
	}{
		{http.MethodGet, "", http.StatusOK, `"source":"engine"`},
		{http.MethodGet, "?table=things", http.StatusOK, `"PAGE#viral"`},
		{http.MethodGet, "?table=nothing", http.StatusOK, `"resources":[]`},
		{http.MethodPost, "", http.StatusMethodNotAllowed, "GET only"},
	} {
		if status, body := ask(t, test.method, url+heatPath+test.query); status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%s %s: %d %s", test.method, test.query, status, body)
		}
	}
}

// What is refused comes first, cold keys are left out, and an engine that leaves its limits out draws empty bars.
func TestTopLines(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 1, 0, time.UTC)
	flow := func(throttled int64, keys ...heat.KeyHeat) heat.Flow {
		return heat.Flow{
			Units: 100, Requests: 100, Throttled: throttled, Keys: keys,
			Trend: []heat.Point{{From: now.Add(-time.Second), For: time.Second, Units: 100, Throttled: throttled}},
		}
	}
	round := topRound{
		Report: heat.Report{To: now, Source: heat.Engine, Notes: []string{"a note\x1b"}, Resources: []heat.ResourceReport{
			{Resource: heat.Resource{Table: "orders"}, Writes: flow(0, heat.KeyHeat{Key: "cold"}, heat.KeyHeat{Key: "warm", RateLow: 40, Consumed: 40})},
			{
				Resource: heat.Resource{Table: "orders", Index: "byStatus"},
				Writes: flow(7, heat.KeyHeat{Key: "OPEN", RateLow: 2258, Throttled: 7, Consumed: 950, Second: 986, Refused: 7, Reason: "IndexWriteKeyRangeThroughputExceeded"},
					heat.KeyHeat{Key: "BURST", RateLow: 501, Throttled: 7, Consumed: 490, Second: 868, Refused: 7, Reason: "IndexWriteKeyRangeThroughputExceeded"}),
			},
		}},
		Partitions: []partitions.Heat{{Table: "orders", Partitions: []partitions.Partition{{ID: 1}}}},
	}
	lines := (&top{table: "orders", keys: 10}).lines(&screen{}, round)
	want := []string{
		"orders, source: engine",
		"orders/byStatus writes: 100 units/s, 7/s throttled",
		"986.0/s    0.0%  ####################  OPEN  demand 2258/s, 7.0/s throttled: IndexWriteKeyRangeThroughputExceeded",
		"868.0/s    0.0%  #################...  BURST  demand 868/s, 7.0/s throttled: IndexWriteKeyRangeThroughputExceeded",
		"orders writes: 100 units/s",
		"40.0/s    0.0%  #...................  warm",
		"orders: 1 partition, 0 splits",
		"....................",
		"critical: Partition key 'OPEN' has at least ",
		"  do: shard the index's key",
		`note: "a note\x1b"`,
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines: %s", len(lines), strings.Join(lines, "\n"))
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("line %d: got %q, want %q", i, lines[i], want[i])
		}
	}
}

func TestTopRefusesWhatIsWrong(t *testing.T) {
	for args, want := range map[string]string{
		"top t --every 1ms":      "--every 1ms: want at least 100ms",
		"top t -n 0":             "--keys 0: want 1 to 1000",
		"top t --last -1s":       "--last -1s: want 0 or more",
		"top t --hash-keys= ":    "--hash-keys: want a secret",
		"top t --every 1ms -n 0": "--keys 0: want 1 to 1000",
		"top t --once --last 1s": "--once and --last contradict each other",
		"top t --layout {key}":   "--layout \"{key}\" has no {shard}",
		"top t --layout nothing": "--layout \"nothing\"",
	} {
		if _, stderr, code := command(t, strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}
