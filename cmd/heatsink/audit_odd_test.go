package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local/partitions"
)

// evil is what a terminal would obey: a sequence that clears it, one in eight bits, and text that runs backwards.
const evil = "a\x1b[2J\x9b2J\u202eb"

// obeyed returns the first character that a terminal would obey, or that is no character, if there is any.
func obeyed(text string) (rune, bool) {
	for i, c := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); c == utf8.RuneError && size == 1 || c != '\n' && !unicode.IsPrint(c) {
			return c, true
		}
	}
	return 0, false
}

// Nothing that a key, an index or a server has in it is obeyed by the terminal.
func TestAuditAndTopPrintNoControlCharacters(t *testing.T) {
	now := time.Now()
	flow := heat.Flow{
		Units: 5000, Requests: 5000, Throttled: 50, Throttles: []heat.ThrottleCount{{Reason: evil, Count: 50}},
		Keys:     []heat.KeyHeat{{Key: evil + "#SHARD_9", Units: 5000, RateLow: 2000, Rate: 2000, Refused: 3, Reason: evil, Requests: 5000, Share: 1}},
		Distinct: heat.Distinct{Keys: 2},
	}
	report := heat.Report{
		Source: evil, From: now.Add(-time.Minute), To: now, Notes: []string{evil},
		Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: evil, Index: evil}, Key: []string{evil}, Writes: flow, Reads: flow,
			Stored:   &heat.Stored{Items: 500, Fraction: 1, Keys: []heat.KeyItems{{Key: evil, Items: 500, Low: 500, Share: 1}}},
			Patterns: []heat.Pattern{{Shape: evil, Example: evil, Items: 500, Distinct: heat.Distinct{Keys: 1}}},
		}},
	}
	if err := report.Fold(heat.Layout{Layout: layout.Layout{Shards: 4}}); err != nil {
		t.Fatal(err)
	}
	findings := heat.Explain(report, heat.Rules{})
	if len(findings) < 3 {
		t.Fatalf("got %+v", findings)
	}
	var out strings.Builder
	writeReports(newScreen(&out), []heat.Report{report}, findings, 10)
	round := topRound{Report: report, Partitions: []partitions.Heat{{
		Table: evil, Index: evil, Partitions: []partitions.Partition{{Lower: evil}},
	}}}
	view := top{table: evil, keys: 10}
	for _, line := range view.lines(newScreen(&out), round) {
		out.WriteString(line + "\n")
	}
	for line := range strings.Lines(out.String()) {
		if c, found := obeyed(line); found {
			t.Errorf("%q has %q", line, c)
		}
	}
}

// A time of nothing, and a key that is none, are refused: they would be taken for the default, or hide a hot key.
func TestAuditRefusesWhatMeansNothing(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--stream", "--follow", "0s"}, "--follow 0s: want more than 0"},
		{[]string{"--cloudwatch", "--last", "0"}, "--last 0s: want more than 0"},
		{[]string{"--export", "a.json", "--key", "pk", "--key", "sk"}, `table "orders" has one partition key, but --key gives ["pk" "sk"]`},
		{[]string{"--export", "a.json", "--key", "pk", "--key", "byStatus=a", "--key", "byStatus=a"}, `--key names "a" twice for "orders/byStatus"`},
	} {
		_, stderr, code := command(t, append([]string{"audit", "orders", "--endpoint", "http://127.0.0.1:1"}, test.args...)...)
		if code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit %d, %q, want %q", test.args, code, stderr, test.want)
		}
	}
}

// The name of a file is no command to the terminal either.
func TestAuditOfAnOddlyNamedExport(t *testing.T) {
	noAccount(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\x1b[2J.json"), []byte(`{"Item":{"pk":{"S":"a"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := command(t, "audit", "orders", "--export", filepath.Join(dir, "*.json"), "--key", "pk")
	if c, found := obeyed(stderr); found || code != 0 {
		t.Errorf("exit %d, %q has %q", code, stderr, c)
	}
	if err := os.WriteFile(filepath.Join(dir, "b\x1b[2J.json"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code = command(t, "audit", "orders", "--export", filepath.Join(dir, "b*.json"), "--key", "pk")
	if c, found := obeyed(stderr); found || code != 2 {
		t.Errorf("exit %d, %q has %q", code, stderr, c)
	}
}

// The rate of a key has the time of the headline if the source has stopped. Else its time is named.
func TestAuditNamesTheTimeOfRates(t *testing.T) {
	now := time.Now()
	report := heat.Report{
		Source: heat.Stream, From: now.Add(-50 * time.Second), To: now, Ended: true,
		Resources: []heat.ResourceReport{{
			Resource: heat.Resource{Table: "shop"},
			Writes:   heat.Flow{Units: 18_500, Keys: []heat.KeyHeat{{Key: "LIKES#viral", Units: 10_500, Low: 10_500, RateLow: 76.7, Share: 0.5676}}},
		}},
	}
	for _, test := range []struct {
		source heat.Source
		ended  bool
		want   string
	}{
		{heat.Stream, true, "LIKES#viral  10,500 write units  210.0/s  56.8%"},
		{heat.Engine, false, "LIKES#viral  10,500 write units  76.7/s lately  56.8%"},
	} {
		report.Source, report.Ended = test.source, test.ended
		var out strings.Builder
		writeReports(newScreen(&out), []heat.Report{report}, nil, 10)
		if !strings.Contains(out.String(), test.want) || !strings.Contains(out.String(), "18,500 write units in 50s (370.0/s)") {
			t.Errorf("%s: want %q: %s", test.source, test.want, out.String())
		}
	}
}

// The keys of a source that has stopped are in the order of what is printed of them, before the list is cut.
func TestAuditSortsByWhatItPrints(t *testing.T) {
	report := heat.Report{Source: heat.Stream, Ended: true, Resources: []heat.ResourceReport{{
		Resource: heat.Resource{Table: "market"},
		Writes: heat.Flow{Units: 400, Keys: []heat.KeyHeat{
			{Key: "late", Units: 20, RateLow: 9}, {Key: "early", Units: 250, RateLow: 1}, {Key: "middle", Units: 130, RateLow: 5},
		}},
		Reads: heat.Flow{Units: 7, Throttled: 3},
	}}}
	var out bytes.Buffer
	writeReports(newScreen(&out), []heat.Report{report}, nil, 2)
	early, middle := strings.Index(out.String(), "early"), strings.Index(out.String(), "middle")
	if early < 0 || middle < early || strings.Contains(out.String(), "late ") {
		t.Errorf("got %s", out.String())
	}
	if !strings.Contains(out.String(), "), 7 read units") {
		t.Errorf("reads do not follow a comma: %s", out.String())
	}
}

// Partitions that were throttled some seconds ago come before idle ones.
func TestTopShowsTheBusiestPartitions(t *testing.T) {
	now := time.Unix(2000, 0)
	h := partitions.Heat{Table: "market", PartitionWrites: 1000, PartitionReads: 3000}
	for id := range uint64(64) {
		h.Partitions = append(h.Partitions, partitions.Partition{ID: id + 1})
	}
	h.Partitions[40].Seconds = []partitions.Second{{Start: now.Add(-4 * time.Second), WriteUnits: 1000, WriteThrottled: 50}}
	h.Partitions[50].Seconds = []partitions.Second{{Start: now.Add(-4 * time.Second), WriteThrottled: 50}}
	lines := (&top{table: "market", keys: 2}).partitionLines(&screen{}, &h, now)
	if len(lines) != 4 || !strings.Contains(lines[1], "#41 ") || !strings.Contains(lines[2], "#51 ") {
		t.Errorf("got %s", strings.Join(lines, "\n"))
	}
}
